// SPDX-License-Identifier: Apache-2.0
// A card per memory: its highest state, who raised it, and what was alive then.
import type { App } from "./app.js";
import { add, h } from "./dom.js";
import { counted, mb, measured, number, percent } from "./format.js";
import { liveBar } from "./live.js";
import { MEMORIES, type Memory } from "./findings.js";
import { lineLink, opWithPlace } from "./links.js";

function peakCard(app: App, memory: Memory): HTMLElement | null {
  const peak = app.model.findings.peak[memory];
  const live = app.model.findings.live_at_peak[memory];
  if (!peak) return null;
  const where = app.model.facts.peaks[memory];
  const body = h("dl", { class: "pairs" });
  const pair = (label: string, ...value: (Node | string)[]) => add(body, h("dt", {}, label), h("dd", {}, ...value));
  pair("allocated", h("b", {}, `${mb(peak.allocated_per_bank_MB)} per bank`), ` · ${measured(peak.allocated_total_MB)} over ${counted(peak.banks, "bank")} · `, lineLink(app, peak.line));
  if (peak.in_operation_peak) pair("inside an operation", h("b", {}, `${mb(Math.round(peak.in_operation_peak.allocated_per_bank_MB * 1000) / 1000)} per bank`), ` as the error message says · `, lineLink(app, peak.in_operation_peak.line));
  if (peak.caused_by) pair("raised by", opWithPlace(app, peak.caused_by), ` by ${number(peak.caused_by.effect_MB)} MB per bank`, peak.caused_by.inside ? h("span", {}, ", inside ", opWithPlace(app, peak.caused_by.inside)) : "");
  else if (peak.allocated_per_bank_MB > 0) pair("raised by", app.model.statesPerOperation ? "no operation: it was there from the start, or came between two states" : "unknown from this kind of input");
  pair("free", `${mb(peak.free_per_bank_MB)} per bank`);
  if (app.model.holesKnown) pair("largest free block", `${mb(peak.largest_free_per_bank_MB)} per bank`, peak.free_per_bank_MB > 0 ? ` (${percent(peak.largest_free_per_bank_MB, peak.free_per_bank_MB)} of what is free)` : "");
  else pair("largest free block", "unknown from this kind of input");
  const meter = h("span", { class: "meter-fill" });
  meter.style.width = `${Math.min(100, peak.utilization_pct)}%`;
  const showInChart = (): void => {
    app.set({ memory, op: peak.caused_by?.index ?? (where && where.element >= 0 ? where.element : null) });
    document.getElementById("timeline")?.scrollIntoView({ block: "start" });
  };
  const look = h("button", { type: "button", class: "small", click: showInChart }, "Show in chart");
  return h(
    "article",
    { class: "card peak", "data-memory": memory },
    h("div", { class: "card-head" }, h("h3", {}, memory), h("span", { class: "meter", role: "img", "aria-label": `${percent(peak.utilization_pct, 100)} used` }, meter), h("span", { class: "num" }, percent(peak.utilization_pct, 100)), peak.allocated_per_bank_MB > 0 && look),
    body,
    live && live.allocated_per_bank_MB > 0 && h("h4", {}, "What is live at that moment"),
    live && live.allocated_per_bank_MB > 0 && liveBar(app, live, peak.banks, 8),
  );
}

export function peaks(app: App): HTMLElement {
  const box = h("section", { id: "peaks", "aria-labelledby": "peaks-title" }, h("h2", { id: "peaks-title" }, "Peaks"));
  const grid = h("div", { class: "peak-grid" });
  const empty: string[] = [];
  for (const memory of MEMORIES) {
    const peak = app.model.findings.peak[memory];
    if (peak && peak.allocated_per_bank_MB === 0 && !peak.in_operation_peak) empty.push(memory);
    else add(grid, peakCard(app, memory));
  }
  add(box, grid, empty.length > 0 && h("p", { class: "muted", "data-key": "empty-memories" }, `Never used: ${empty.join(", ")}.`));
  if (!grid.children.length && !empty.length) add(box, h("p", { class: "muted" }, "The log shows no memory state."));
  return box;
}
