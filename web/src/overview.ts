// SPDX-License-Identifier: Apache-2.0
// The top of the page: what the run was, the few numbers everybody asks for, what would help, and what the log cannot tell.
import type { App } from "./app.js";
import { add, h, shorten } from "./dom.js";
import { MEMORIES } from "./findings.js";
import { bytes, count, counted, mb, measured, number, percent } from "./format.js";
import { basisMark, capitalized, lineLink, opLink, section } from "./links.js";

// ---- Numbers --------------------------------------------------------------------------------------------------------

function card(key: string, label: string, value: string, note: string): HTMLElement {
  return h("div", { class: "fact", "data-key": key }, h("dt", {}, label), h("dd", {}, h("span", { class: "fact-value" }, value), h("span", { class: "fact-note" }, note)));
}

export function facts(app: App): HTMLElement {
  const { findings } = app.model;
  const box = h("dl", { class: "facts" });
  add(box, card("operations", "Operations", count(findings.operations.total), `${app.model.ofCompiledProgram ? `${counted(findings.runs.length, "run")}, ` : ""}${counted(findings.input.deallocations, "free")} left out`));
  for (const memory of ["DRAM", "L1"] as const) {
    const peak = findings.peak[memory];
    if (!peak) continue;
    add(box, card(`peak.${memory}`, `Peak ${memory}`, mb(peak.allocated_per_bank_MB), `per bank, ${percent(peak.utilization_pct, 100)} · ${measured(peak.allocated_total_MB)} in all`));
  }
  if (findings.weights.count) add(box, card("weights", "Model weights", bytes(findings.weights.bytes), `${counted(findings.weights.count, "tensor")}, without padding`));
  const padding = findings.padding.at_peak;
  if (padding.padded_MB > 0 && app.model.facts.rebuilt !== "rough") add(box, card("padding", "Tile padding at peak", bytes(padding.overhead_MB * 1048576), `${percent(padding.overhead_pct, 100)} on top of ${bytes(padding.unpadded_MB * 1048576)}`));
  if (findings.leaks.length) {
    const worst = findings.leaks[0];
    add(box, card("leak", "Left behind per run", mb(worst.per_run_MB), `per bank, over ${counted(worst.runs_seen, "run")} (${worst.confidence})`));
  }
  return box;
}

function configuration(app: App): string {
  return MEMORIES.map((memory) => {
    const config = app.model.findings.memory[memory];
    return config ? `${memory} ${count(config.banks)} × ${number(config.capacity_per_bank_MB)} MB` : "";
  })
    .filter(Boolean)
    .join(" · ");
}

export function header(app: App, buttons: HTMLElement): HTMLElement {
  const { facts: f, findings } = app.model;
  return h(
    "header",
    { class: "top" },
    h(
      "div",
      { class: "top-text" },
      h("h1", {}, shorten(f.name, 120)),
      h("p", { class: "source" }, h("span", { class: "mono" }, shorten(f.source, 200)), findings.input.lines > 0 && ` · ${bytes(findings.input.bytes)}, ${counted(findings.input.lines, "line")}`),
      !app.model.ofCompiledProgram && !f.missing && h("p", { class: "source" }, capitalized(f.holds)),
      h("p", { class: "source", "data-key": "config" }, configuration(app)),
    ),
    buttons,
  );
}

// What would have helped, the largest saving first.
export function advice(app: App): HTMLElement | null {
  const all = app.model.findings.advice ?? [];
  if (!all.length) return null;
  const list = h("ol", { class: "advice" });
  for (const one of all) {
    const saves = one.saves_per_bank_MB;
    add(
      list,
      h(
        "li",
        {},
        h("span", { class: "advice-saves num" }, saves !== null && h("b", {}, `−${bytes(saves * 1048576)}`), saves !== null && h("span", { class: "muted" }, " per bank")),
        h("span", { class: "advice-text" }, shorten(one.text, 400), one.operation?.index != null && " ", one.operation?.index != null && opLink(app, one.operation, 40)),
        basisMark(one.basis),
      ),
    );
  }
  return section("advice", "What would help", null, list);
}

// What the log cannot tell, and what in it was not understood.
export function notes(app: App): HTMLElement | null {
  const { facts: f, findings } = app.model;
  const d = findings.diagnostics;
  const list = h("ul", { class: "notes" });
  if (f.missing) add(list, h("li", {}, `Input: ${f.holds}. ${capitalized(f.missing)}`));
  if (f.rebuilt) add(list, h("li", {}, `This page was rebuilt from the JSON files of a report, which hold no deallocations: ${f.rebuilt === "rough" ? "what is live at the peak, what of it is padding or waste, late frees and the operation behind a leak cannot be told, and a peak between two operations is not in them" : "the largest free block between two operations and padding over time cannot be told"}. The log itself gives the whole page: ttmem html LOG.`));
  if (findings.input.truncated) add(list, h("li", {}, "The log ends in the middle: what came after is not in this report."));
  if (findings.input.trace_replay) add(list, h("li", {}, "Parts of the run were replayed from a trace; replayed operations print nothing and are not in this report."));
  if (d.unparsed_lines) add(list, h("li", {}, `${counted(d.unparsed_lines, "line")} could not be read, the first: `, ...d.notes.slice(0, 3).flatMap((n, i) => [i ? ", " : "", lineLink(app, n.line), ` "${shorten(n.text, 80)}"`])));
  if (d.blocks_without_operation) add(list, h("li", {}, `${counted(d.blocks_without_operation, "memory state")} came without an operation line.`));
  return list.children.length ? h("section", { class: "note-box", "aria-label": "Notes" }, list) : null;
}
