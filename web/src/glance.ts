// SPDX-License-Identifier: Apache-2.0
// Every question the analyses answer, with its answer in a sentence and the way to the part of the page that shows it.
import type { App } from "./app.js";
import { add, h, shorten } from "./dom.js";
import type { Basis, Findings, OpRef } from "./findings.js";
import { count, counted, number } from "./format.js";
import { fragmentationWords } from "./fragmentation.js";
import { lateWords } from "./late.js";
import { layerWords } from "./layers.js";
import { basisMark, capitalized, section } from "./links.js";
import { LEAK_RUNS, leakWords, mostRuns, programWords } from "./runs.js";
import { wasteWords } from "./waste.js";

// "found": something to change; "told": how it is; "fine": looked for and not there; "untold": the log cannot tell.
type State = "found" | "told" | "fine" | "untold";
type Answer = [State, string, Basis | null];

const MARK: Record<State, string> = { found: "●", told: "·", fine: "✓", untold: "?" };
const untold = (why: string): Answer => ["untold", why, null];
const name = (op: OpRef): string => `${op.index === null ? "" : `#${count(op.index)} `}${shorten(op.mlir_op ?? "?", 60)}${op.loc ? ` at ${shorten(op.loc, 60)}` : ""}`;

function attribution({ peak, top_consumers: top }: Findings): Answer {
  const cause = peak.DRAM?.caused_by;
  if (!peak.DRAM) return untold("The log shows no DRAM state.");
  const most = top.DRAM?.[0];
  if (!cause && !most) return untold("No operation of the log changed DRAM.");
  const raised = cause ? `The DRAM peak was raised by ${name(cause)}, by ${number(cause.effect_MB)} MB per bank` : "What raised the DRAM peak is not told";
  return ["told", `${raised}${most && most.index !== cause?.index ? `; most was added by ${name(most)}, ${number(most.effect_MB)} MB` : ""}.`, "derived"];
}

function liveSet({ live_at_peak: live }: Findings): Answer {
  const dram = live.DRAM;
  if (!dram) return untold("What is alive at the peak cannot be told.");
  return ["told", `${dram.explained_pct.toFixed(1)} % of the DRAM peak is explained, by ${counted(dram.tensors, "tensor")}.`, "derived"];
}

function outOfMemory(app: App): Answer {
  const all = app.model.findings.incidents;
  if (!all.length) return ["fine", "Nothing went wrong: the log holds no error message of the runtime.", "measured"];
  const first = all.findIndex((i) => i.kind !== "fatal");
  const words = app.model.facts.incidents[Math.max(0, first)];
  const ways = all[Math.max(0, first)].ways?.length ?? 0;
  return ["found", `${capitalized(words?.title ?? all[0].kind)}${words?.verdict ? `, ${words.verdict}` : ""}${ways ? `; ${counted(ways, "way")} out` : ""}${all.length > 1 ? `; ${counted(all.length - 1, "more incident")}` : ""}.`, "measured"];
}

function late({ late_frees: found }: Findings): Answer {
  if (!found) return untold("When tensors were freed cannot be told.");
  return [found.tensors.length ? "found" : "fine", lateWords(found), found.basis];
}

function runsAnswer({ programs = [], runs }: Findings): Answer {
  if (!runs.length) return untold("The log shows no program run.");
  const most = programs.reduce((best, p) => (p.runs > best.runs ? p : best), programs[0]);
  if (!most) return ["told", `${counted(runs.length, "run")}.`, "measured"];
  return ["told", `${shorten(most.program ?? "Operations outside every program", 60)}: ${programWords(most)}${programs.length > 1 ? `; ${counted(programs.length - 1, "more program")}` : ""}.`, "measured"];
}

function leaks({ leaks: all, programs = [], input }: Findings): Answer {
  if (input.kind === "live") return untold("Samples of what processes hold do not tell a leak from use.");
  if (all.length) return ["found", `${leakWords(all[0])}${all[0].index === null ? "" : `: ${name(all[0])}`}.`, "derived"];
  return mostRuns(programs) < LEAK_RUNS ? untold("Too few runs to tell a leak.") : ["fine", `No leak over ${counted(mostRuns(programs), "run")}.`, "derived"];
}

function advice({ advice: all }: Findings): Answer {
  if (!all) return untold("Without the frees no advice can be given.");
  if (!all.length) return ["fine", "Nothing that is sure to help.", null];
  return ["found", `${counted(all.length, "change")} would help; the first takes ${number(Math.round((all[0].saves_per_bank_MB ?? 0) * 1000) / 1000)} MB per bank off the peak.`, all[0].basis];
}

export function glance(app: App): HTMLElement {
  const f = app.model.findings;
  const rows: [string, string, Answer][] = [
    ["Out of memory", "incident", outOfMemory(app)],
    ["What raised the peak", "consumers", attribution(f)],
    ["What is live then", "peaks", liveSet(f)],
    ["Late frees", "late", late(f)],
    ["Runs", "runs", runsAnswer(f)],
    ["Leaks", "runs", leaks(f)],
    ["Layers", "layers", f.layers ? [f.layers.odd_count ? "found" : "told", layerWords(f.layers), f.layers.basis] : ["told", "No block of operations repeats.", null]],
    ["Fragmentation", "fragmentation", f.fragmentation ? [f.fragmentation.largest_request.states_that_would_refuse_it ? "found" : "fine", fragmentationWords(f.fragmentation), f.fragmentation.worst.basis] : untold(f.peak.DRAM ? "How the free memory is cut up is not in the samples." : "The log shows no DRAM state.")],
    ["Waste", "waste", f.waste_at_peak ? [f.waste_at_peak.top.length ? "found" : "fine", wasteWords(f.waste_at_peak), f.waste_at_peak.basis] : untold("What of the peak is wasted cannot be told.")],
    ["Advice", "advice", advice(f)],
  ];
  const list = h("ul", { class: "glance" });
  for (const [title, id, [state, text, basis]] of rows) {
    const go = (): void => document.getElementById(id)?.scrollIntoView({ block: "start" });
    add(list, h("li", { "data-finding": title, "data-state": state }, h("span", { class: `glance-mark glance-${state}`, role: "img", "aria-label": state }, MARK[state]), h("button", { type: "button", class: "link", click: go }, title), h("span", {}, text), basis ? basisMark(basis) : h("span", {})));
  }
  return section("findings", "Findings", null, list);
}
