// SPDX-License-Identifier: Apache-2.0
// The runs of each program, and the level at which they start.
import type { App } from "./app.js";
import { add, h } from "./dom.js";
import { figure, unit } from "./figures.js";
import type { Program, Run, Statement } from "./findings.js";
import { count, mb } from "./format.js";
import { rangeButton } from "./links.js";
import { saved } from "./save.js";
import { longTable } from "./tables.js";

const SHOWN = 8;

const runsOf = (app: App, of: { program: string | null; rank: number; graph?: number | null }): Run[] => app.model.findings.runs.filter((r) => r.program === of.program && r.rank === of.rank && (of.graph === undefined || r.graph === of.graph));

function runTable(app: App, program: Program): HTMLElement {
  const level = (value: number | null): HTMLElement | string => (value === null ? "–" : figure(app, value, "DRAM"));
  const rows = runsOf(app, program).map((run, i) => {
    const { first_index: first, last_index: last } = run;
    const shown = first !== null && last !== null;
    return [h("span", {}, count(run.run), h("span", { class: "muted" }, !run.finished ? " not finished" : i < program.warm_up_runs ? " warm-up" : "")), level(run.start_MB), level(run.peak_MB), level(run.end_MB), shown ? count(last - first + 1) : "–", shown ? rangeButton(app, first, last, "Show") : ""];
  });
  return longTable("Runs", [["run"], [h("span", {}, "DRAM at start, ", unit(app)), "num"], ["peak", "num"], ["at end", "num"], ["operations", "num"], [""]], rows, SHOWN);
}

// Programs are told by their number in findings.json. Of one run its statement says it all.
export function programRuns(app: App, s: Statement): HTMLElement | null {
  const program = s.id === "runs.program" ? app.model.findings.programs[s.number ?? 0] : undefined;
  if (!program || runsOf(app, program).length < 2) return null;
  const box = runTable(app, program);
  box.dataset.program = program.program ?? "";
  return box;
}

// The level at the start of each run as bars, the lowest just visible. The first run starts before the weights are there.
export function startLevels(app: App, s: Statement): HTMLElement | null {
  const leak = s.id === "leak.run" ? app.model.findings.leaks[s.number ?? 0] : undefined;
  const levels = leak ? runsOf(app, leak).flatMap((r) => (r.start_MB === null ? [] : [r.start_MB])).slice(1).slice(-60) : [];
  if (levels.length < 2) return null;
  const low = Math.min(...levels);
  const range = Math.max(...levels) - low || 1;
  const words = `DRAM at the start of the last ${count(levels.length)} runs: ${mb(levels[0])} → ${mb(levels[levels.length - 1])} MB per bank`;
  const box = h("div", { class: "spark", role: "img", "aria-label": words });
  for (const level of levels) {
    const bar = h("span", { title: `${mb(level)} MB per bank` });
    bar.style.height = `${8 + ((level - low) / range) * 92}%`;
    add(box, bar);
  }
  return saved(app, h("figure", { class: "spark-box" }, box, h("figcaption", { class: "muted" }, words)), "DRAM at the start of each run");
}
