// SPDX-License-Identifier: Apache-2.0
// Runs of the same program folded: warm-up against steady state; and what every run leaves behind.
import type { App } from "./app.js";
import { add, h, shorten } from "./dom.js";
import type { Leak, Program, Run } from "./findings.js";
import { column, count, counted, mb, number } from "./format.js";
import { basisMark, opWithPlace, rangeButton, section } from "./links.js";
import { table } from "./tables.js";

const MOST_ROWS = 12;

// Neighbouring runs that rise equally far above their start and start equally much above the one before.
interface Fold {
  first: Run;
  last: Run;
  runs: number;
  step: number; // 0.001 MB from start to start
}

const milli = (mb: number | null): number => (mb === null ? NaN : Math.round(mb * 1000));
const rise = (run: Run): number => milli(run.peak_MB) - milli(run.start_MB);

// The log prints thousandths of a MB: equal steps may differ by one.
const alike = (a: number, b: number): boolean => (Number.isNaN(a) ? Number.isNaN(b) : Math.abs(a - b) <= 1);

function foldRuns(runs: Run[]): Fold[] {
  const folds: Fold[] = [];
  for (const run of runs) {
    const fold = folds.at(-1);
    const step = fold ? milli(run.start_MB) - milli(fold.last.start_MB) : 0;
    if (fold && alike(rise(fold.last), rise(run)) && fold.last.finished === run.finished && (fold.runs === 1 || alike(fold.step, step))) {
      fold.step = fold.runs === 1 ? step : fold.step;
      fold.last = run;
      fold.runs++;
    } else folds.push({ first: run, last: run, runs: 1, step: 0 });
  }
  return folds;
}

const runsOf = (runs: Run[], p: Program): Run[] => runs.filter((r) => r.program === p.program && r.rank === p.rank && (r.graph ?? null) === p.graph);

const span = (from: number | null, to: number | null): string => (from === null || to === null ? "–" : from === to ? column(from) : `${column(from)} … ${column(to)}`);

// Runs that rise equally far; one alone proves no steady state.
const alikeRuns = ({ runs, warm_up_runs: warm, odd_runs: odd = 0 }: Program): number => runs - warm - odd;

function programTable(app: App, program: Program): HTMLElement {
  const runs = runsOf(app.model.findings.runs, program);
  const steady = alikeRuns(program) < 2 ? Infinity : (runs[program.warm_up_runs]?.run ?? Infinity);
  const usual = milli(program.last_peak_MB) - milli(program.last_start_MB);
  const what = (run: Run): string => {
    if (!run.finished) return "not finished";
    if (runs.length === 1) return "the only one";
    if (steady === Infinity) return "like no other yet";
    return run.run < steady ? "warm-up" : alike(rise(run), usual) ? "steady" : "not like the others";
  };
  const folds = foldRuns(runs);
  const rows = folds.slice(0, MOST_ROWS).map((fold) => {
    const { first, last } = fold;
    const words = [what(last), Math.abs(fold.step) > 1 && `each starts ${number(Math.abs(fold.step) / 1000)} MB ${fold.step > 0 ? "higher" : "lower"}`].filter(Boolean);
    const show = first.first_index !== null && last.last_index !== null ? rangeButton(app, first.first_index, last.last_index, "Show") : "";
    return [fold.runs > 1 ? `${count(first.run)} – ${count(last.run)}` : count(first.run), words.join(", "), span(first.start_MB, last.start_MB), span(first.peak_MB, last.peak_MB), span(first.end_MB, last.end_MB), first.first_index === null || first.last_index === null ? "–" : count(first.last_index - first.first_index + 1), show];
  });
  return h(
    "div",
    { "data-program": program.program ?? "", "data-rank": program.rank },
    table("Runs, equal neighbours folded", [["run"], ["what"], ["DRAM at start", "num"], ["highest", "num"], ["at end", "num"], ["operations", "num"], [""]], rows),
    folds.length > MOST_ROWS && h("p", { class: "muted" }, `… and ${counted(runs.length - folds.slice(0, MOST_ROWS).reduce((n, f) => n + f.runs, 0), "more run")} that fold no further; findings.json lists each.`),
  );
}

// Warm-up and steady state of one program in a sentence.
export function programWords(program: Program): string {
  const { runs, warm_up_runs: warm, odd_runs: odd = 0 } = program;
  const same = alikeRuns(program);
  const peak = program.peak_MB === null ? "" : `; the highest DRAM is ${number(program.peak_MB)} MB per bank, in run ${count(program.peak_run)}`;
  if (runs === 1) return `one run${peak}`;
  if (same < 2) return `${counted(runs, "run")}, no two of them alike yet${peak}`;
  const steady = program.last_start_MB !== null && program.last_peak_MB !== null ? ` that rise from ${number(program.last_start_MB)} to ${number(program.last_peak_MB)} MB per bank` : "";
  return `${counted(runs, "run")}: ${warm ? `${count(warm)} of warm-up, then ${count(same)}` : odd ? `${count(same)} of them` : "all of them"} alike${steady}${odd ? `, ${count(odd)} not like them` : ""}${peak}`;
}

// The level at the start of each run as bars, the lowest just visible.
function startLevels(runs: Run[]): HTMLElement | null {
  const levels = runs.map((r) => r.start_MB).filter((v): v is number => v !== null);
  if (levels.length < 3) return null;
  const shown = levels.slice(-60);
  const low = Math.min(...shown);
  const range = Math.max(...shown) - low || 1;
  const box = h("div", { class: "spark", role: "img", "aria-label": `DRAM at the start of the last ${shown.length} runs: from ${number(shown[0])} to ${number(shown.at(-1)!)} MB per bank` });
  for (const level of shown) {
    const bar = h("span", { title: `${number(level)} MB per bank` });
    bar.style.height = `${8 + ((level - low) / range) * 92}%`;
    add(box, bar);
  }
  return h("figure", { class: "spark-box" }, box, h("figcaption", { class: "muted" }, `DRAM at the start of each run: ${number(shown[0])} → ${number(shown.at(-1)!)} MB per bank`));
}

export function leakWords(leak: Leak): string {
  const left = leak.runs_until_full;
  const who = leak.program != null && leak.first_run !== undefined && leak.last_run !== undefined ? `Every run of ${shorten(leak.program, 60)}` : "Every run";
  return `${who} leaves ${mb(leak.per_run_MB)} per bank behind, seen over ${counted(leak.runs_seen, "run")} (confidence ${leak.confidence})${left != null ? `; after ${count(left)} more the memory is full` : ""}`;
}

function culprits(app: App, leak: Leak): HTMLElement {
  const all = leak.culprits ?? [];
  if (leak.index === null) return h("p", {}, "Which operation it is cannot be told.");
  if (all.length < 2) return h("p", {}, "What stays is a result of ", opWithPlace(app, leak), leak.others_would_fit ? "; others of that size would fit too." : ".");
  const list = h("ul", { class: "plain" });
  for (const one of all) add(list, h("li", { "data-culprit": one.index ?? -1 }, `${mb(Math.round(one.per_run_MB * 1000) / 1000)} per bank, ${counted(one.tensors_per_run, "tensor")} each run: `, opWithPlace(app, one)));
  return h("div", {}, h("p", {}, `What stays are results of ${counted(all.length, "operation")}${leak.others_would_fit ? "; others would add up too" : ""}:`), list);
}

function leakCard(app: App, leak: Leak): HTMLElement {
  const runs = app.model.findings.runs;
  const at = leak.index;
  const own = at === null ? undefined : runs.find((r) => r.first_index !== null && r.last_index !== null && at >= r.first_index && at <= r.last_index);
  // The start levels tell from the second run on: the first one starts before the weights are there.
  const same = own ? runs.filter((r) => r.program === own.program && r.rank === own.rank && r.graph === own.graph).slice(1) : [];
  return h("article", { class: "leak", "data-per-run": leak.per_run_MB }, h("p", {}, h("b", {}, `${leakWords(leak)}.`), " ", basisMark("derived")), culprits(app, leak), startLevels(same));
}

// Of captures, recordings and samples.
export const NO_RUNS = "Unknown: nothing tells where a run begins and ends.";

// Runs of one program that can prove a leak, as in src/analyze/findings.h.
export const LEAK_RUNS = 5;

export const mostRuns = (programs: readonly { runs: number }[]): number => Math.max(0, ...programs.map((p) => p.runs));

export function runs(app: App): HTMLElement {
  const { programs = [], leaks, runs: all } = app.model.findings;
  if (!app.model.ofCompiledProgram) return section("runs", "Runs and leaks", null, h("p", { class: "muted" }, NO_RUNS));
  const box = section("runs", "Runs and leaks", all.length ? "measured" : null);
  if (!all.length) {
    add(box, h("p", { class: "muted" }, "The log shows no program run."));
    return box;
  }
  for (const leak of leaks) add(box, leakCard(app, leak));
  if (!leaks.length) add(box, h("p", { class: "muted", "data-key": "no-leak" }, mostRuns(programs) < LEAK_RUNS ? "Too few runs to tell a leak: it takes five of one program, one of warm-up and three equal rises after it." : `No leak: over ${counted(mostRuns(programs), "run")} no level at the start of a run rises by the same amount again and again.`));
  for (const program of programs.slice(0, 8)) {
    const title = h("h3", {}, h("span", { class: "mono" }, shorten(program.program ?? "outside every program", 80)), app.model.facts.ranks.length > 1 && h("span", { class: "muted" }, ` on rank ${count(program.rank)}`), program.graph !== null && programs.length > 1 && h("span", { class: "muted" }, ` graph ${count(program.graph)}`));
    add(box, title, h("p", { "data-key": "program" }, `${programWords(program)}.`), programTable(app, program));
  }
  if (programs.length > 8) add(box, h("p", { class: "muted" }, `… and ${counted(programs.length - 8, "more program")} in findings.json.`));
  return box;
}
