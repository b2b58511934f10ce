// SPDX-License-Identifier: Apache-2.0
// Every question the analyses answer, with its answer in a sentence and the way to the part of the page that shows it.
import type { App } from "./app.js";
import { add, h, shorten } from "./dom.js";
import type { Basis, OpRef } from "./findings.js";
import { count, counted, number } from "./format.js";
import { fragmentationWords } from "./fragmentation.js";
import { lateWords } from "./late.js";
import { layerWords } from "./layers.js";
import { basisMark, capitalized, section } from "./links.js";
import type { Model } from "./model.js";
import { LEAK_RUNS, leakWords, mostRuns, NO_RUNS, programWords } from "./runs.js";
import { wasteWords } from "./waste.js";

// "found": something to change; "told": how it is; "fine": looked for and not there; "untold": the log cannot tell.
type State = "found" | "told" | "fine" | "untold";
type Answer = [State, string, Basis | null];

const MARK: Record<State, string> = { found: "●", told: "·", fine: "✓", untold: "?" };
const untold = (why: string): Answer => ["untold", why, null];
const NO_STATE = "The log shows no DRAM state.";
const name = (op: OpRef): string => `${op.index === null ? "" : `#${count(op.index)} `}${shorten(op.mlir_op ?? "?", 60)}${op.loc ? ` at ${shorten(op.loc, 60)}` : ""}`;

function attribution({ findings: { peak, top_consumers: top }, statesPerOperation, unknown }: Model): Answer {
  const cause = peak.DRAM?.caused_by;
  if (!peak.DRAM) return untold(NO_STATE);
  if (!statesPerOperation) return untold(unknown);
  const most = top.DRAM?.[0];
  if (!cause && !most) return ["told", "No operation of the log added to DRAM.", "measured"];
  const raised = cause ? `The DRAM peak was raised by ${name(cause)}, by ${number(cause.effect_MB)} MB per bank` : "What raised the DRAM peak is not told";
  return ["told", `${raised}${most && most.index !== cause?.index ? `; most was added by ${name(most)}, ${number(most.effect_MB)} MB` : ""}.`, "derived"];
}

function liveSet({ findings, unknown }: Model): Answer {
  const dram = findings.live_at_peak.DRAM;
  if (!dram) return untold(unknown);
  if (!dram.allocated_per_bank_MB) return ["told", "DRAM is empty.", "derived"];
  return ["told", `${dram.explained_pct.toFixed(1)} % of the DRAM peak is explained, by ${counted(dram.tensors, "tensor")}.`, "derived"];
}

function wentWrong({ findings, facts, ofCompiledProgram, unknown }: Model): Answer {
  const all = findings.incidents;
  if (!all.length && !ofCompiledProgram && !findings.recording) return untold(unknown); // captures and samples hold no messages
  if (!all.length) return ["fine", `Nothing: the ${ofCompiledProgram ? "log" : "recording"} holds no error message of the runtime.`, "measured"];
  const first = all.findIndex((i) => i.kind !== "fatal");
  const words = facts.incidents[Math.max(0, first)];
  const ways = all[Math.max(0, first)].ways?.length ?? 0;
  return ["found", `${capitalized(words?.title ?? all[0].kind)}${words?.verdict ? `, ${words.verdict}` : ""}${ways ? `; ${counted(ways, "way")} out` : ""}${all.length > 1 ? `; ${counted(all.length - 1, "more incident")}` : ""}.`, "measured"];
}

function late({ findings: { late_frees: found }, unknown }: Model): Answer {
  if (!found) return untold(unknown);
  return [found.tensors.length ? "found" : "fine", lateWords(found), found.basis];
}

function runsAnswer({ findings: { programs = [], runs }, ofCompiledProgram }: Model): Answer {
  if (!ofCompiledProgram) return untold(NO_RUNS);
  if (!runs.length) return untold("The log shows no program run.");
  const most = programs.reduce((best, p) => (p.runs > best.runs ? p : best), programs[0]);
  if (!most) return ["told", `${counted(runs.length, "run")}.`, "measured"];
  return ["told", `${shorten(most.program ?? "Operations outside every program", 60)}: ${programWords(most)}${programs.length > 1 ? `; ${counted(programs.length - 1, "more program")}` : ""}.`, "measured"];
}

function leaks({ findings: { leaks: all, programs = [] }, ofCompiledProgram }: Model): Answer {
  if (!ofCompiledProgram) return untold(NO_RUNS);
  if (all.length) return ["found", `${leakWords(all[0])}${all[0].index === null ? "" : `: ${name(all[0])}`}.`, "derived"];
  return mostRuns(programs) < LEAK_RUNS ? untold("Too few runs to tell a leak.") : ["fine", `No leak over ${counted(mostRuns(programs), "run")}.`, "derived"];
}

function layers({ findings: { layers: found }, layersKnown, unknown }: Model): Answer {
  if (found) return [found.odd_count ? "found" : "told", layerWords(found), found.basis];
  return layersKnown ? ["told", "No block of operations repeats.", null] : untold(unknown);
}

function fragmentation({ findings: { fragmentation: found, peak }, unknown }: Model): Answer {
  if (!found) return untold(peak.DRAM ? unknown : NO_STATE);
  return [found.largest_request.states_that_would_refuse_it ? "found" : "fine", fragmentationWords(found), found.worst.basis];
}

function waste({ findings: { waste_at_peak: found }, unknown }: Model): Answer {
  return found ? [found.top.length ? "found" : "fine", wasteWords(found), found.basis] : untold(unknown);
}

function advice({ findings: { advice: all }, unknown }: Model): Answer {
  if (!all) return untold(unknown);
  if (!all.length) return ["fine", "Nothing that is sure to help.", null];
  return ["found", `${counted(all.length, "change")} would help; the first takes ${number(Math.round((all[0].saves_per_bank_MB ?? 0) * 1000) / 1000)} MB per bank off the peak.`, all[0].basis];
}

export function glance(app: App): HTMLElement {
  const { model } = app;
  const rows: [string, string, Answer][] = [
    ["What went wrong", "incident", wentWrong(model)],
    ["What raised the peak", "consumers", attribution(model)],
    ["What is live then", "peaks", liveSet(model)],
    ["Late frees", "late", late(model)],
    ["Runs", "runs", runsAnswer(model)],
    ["Leaks", "runs", leaks(model)],
    ["Layers", "layers", layers(model)],
    ["Fragmentation", "fragmentation", fragmentation(model)],
    ["Waste", "waste", waste(model)],
    ["Advice", "advice", advice(model)],
  ];
  const list = h("ul", { class: "glance" });
  for (const [title, id, [state, text, basis]] of rows) {
    const go = (): void => document.getElementById(id)?.scrollIntoView({ block: "start" });
    const here = (id !== "incident" || model.findings.incidents.length > 0) && (id !== "advice" || (model.findings.advice ?? []).length > 0);
    add(list, h("li", { "data-finding": title, "data-state": state }, h("span", { class: `glance-mark glance-${state}`, role: "img", "aria-label": state }, MARK[state]), here ? h("button", { type: "button", class: "link", click: go }, title) : h("span", {}, title), h("span", {}, text), basis ? basisMark(basis) : h("span", {})));
  }
  return section("findings", "Findings", null, list);
}
