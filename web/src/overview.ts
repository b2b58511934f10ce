// SPDX-License-Identifier: Apache-2.0
// The top of the page: what the input was, and how full each memory got.
import type { App } from "./app.js";
import { add, h, shorten } from "./dom.js";
import { MEMORIES } from "./findings.js";
import { bytes, count, counted, mb, pair, percent } from "./format.js";
import { statement } from "./statements.js";

function card(key: string, label: string, value: string, ...notes: (Node | string)[]): HTMLElement {
  return h("div", { class: "fact", "data-key": key }, h("dt", {}, label), h("dd", {}, h("span", { class: "fact-value" }, value), ...notes.map((note) => h("span", { class: "fact-note" }, note))));
}

function meter(pct: number): HTMLElement {
  const fill = h("span", { class: pct > 90 ? "meter-fill full" : "meter-fill" });
  fill.style.width = `${Math.min(100, pct)}%`;
  return h("span", { class: "meter", "aria-hidden": "true" }, fill);
}

export function facts(app: App): HTMLElement {
  const { findings, facts: f } = app.model;
  const box = h("dl", { class: "facts" });
  for (const memory of MEMORIES) {
    const highest = findings.peak[memory];
    if (!highest || (memory !== "DRAM" && !highest.allocated_per_bank_MB)) continue;
    for (const peak of highest.devices?.length ? highest.devices.slice(0, 4) : [highest]) {
      const capacity = peak.capacity_per_bank_MB ?? 0;
      const used = peak.allocated_per_bank_MB;
      const chip = used * peak.banks * 1048576;
      const least = peak.lower_bound ? "≥ " : "";
      if (!capacity) add(box, card(`peak.${memory}`, `${memory} peak`, least + bytes(chip)));
      else add(box, card(`peak.${memory}`, `${memory} peak`, least + percent(peak.utilization_pct, 100), meter(peak.utilization_pct), `${least}${mb(used)} of ${mb(capacity)} MB per bank`, `${pair(chip, capacity * peak.banks * 1048576)} per chip`));
    }
  }
  add(box, card("operations", "Operations", count(findings.operations.total), f.has_runs ? `in ${counted(findings.runs.length, "run")}` : "", findings.input.deallocations > 0 ? `${counted(findings.input.deallocations, "deallocation")} hidden` : ""));
  if (findings.weights.count) add(box, card("weights", "Weights", bytes(findings.weights.bytes), counted(findings.weights.count, "tensor"), "logical size"));
  return box;
}

function configuration(app: App): string {
  const parts = MEMORIES.map((memory) => {
    const config = app.model.findings.memory[memory];
    return config?.capacity_per_bank_MB ? `${memory} ${count(config.banks)} × ${mb(config.capacity_per_bank_MB)} MB` : "";
  });
  return parts.filter(Boolean).join(" · ");
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
      h("p", { class: "source", "data-key": "config" }, configuration(app)),
    ),
    buttons,
  );
}

// What the input lacks; one that lacks nothing is among the other checks.
export function inputNotes(app: App): HTMLElement | null {
  const { rebuilt } = app.model.facts;
  if (!rebuilt && app.model.statements("input").every((s) => s.severity === "ok")) return null;
  const why = rebuilt === "rough" ? "This page was made from the JSON files of a report, without its log and its findings." : "This page was made from the JSON files of a report, without its log.";
  return h("section", { id: "input", class: "note-box", "aria-label": app.model.facts.topics.input }, ...app.model.statements("input").map((s) => statement(app, s)), rebuilt && h("p", { class: "muted" }, why));
}
