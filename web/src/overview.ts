// SPDX-License-Identifier: Apache-2.0
// The top of the page: what the run was, what went wrong, and the few numbers everybody asks for.
import type { App } from "./app.js";
import { add, h, longText, shorten } from "./dom.js";
import { bytes, count, counted, logLine, mb, number, percent } from "./format.js";
import { liveBar } from "./live.js";
import { MEMORIES, type Incident, type OpRef } from "./model.js";

// A button that selects the operation everywhere on the page.
export function opLink(app: App, op: OpRef, limit = 80): HTMLElement {
  const name = shorten(op.mlir_op ?? "?", limit);
  if (op.index === null) return h("span", { class: "mono" }, `${name} (log line ${op.line === null ? "?" : count(op.line)})`);
  const index = op.index;
  return h("button", { type: "button", class: "link mono", "data-op": index, click: () => app.select(index) }, `#${count(index)} ${name}`);
}

export function opWithPlace(app: App, op: OpRef): HTMLElement {
  const box = h("span", {}, opLink(app, op));
  if (op.loc) add(box, " at ", h("span", { class: "mono" }, shorten(op.loc, 120)));
  if (op.index !== null && op.line !== null) add(box, h("span", { class: "muted" }, ` (${logLine(op.line)})`));
  return box;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

// ---- Incident -------------------------------------------------------------------------------------------------------

// Two or three sentences with the numbers that decide.
function story(incident: Incident): string[] {
  const need = incident.needed_per_bank_B;
  const free = incident.free_per_bank_B;
  const largest = incident.largest_free_block_B;
  const short = incident.shortfall_per_bank_B;
  const lines: string[] = [];
  if (incident.kind === "l1_clash" && incident.static_buffers_end != null && incident.l1_buffer_at != null) {
    lines.push(`Circular buffers reach up to address ${count(incident.static_buffers_end)}, but an L1 buffer starts at ${count(incident.l1_buffer_at)}.`);
    if (short !== null) lines.push(`They overlap by ${bytes(short)} per core.`);
    return lines;
  }
  if (incident.kind === "l1_overflow" && incident.static_buffers_end != null && incident.l1_size_B != null) {
    return [`Circular buffers grow to ${bytes(incident.static_buffers_end)}; a core has ${bytes(incident.l1_size_B)}.`];
  }
  if (need !== null) {
    let text = `It needed ${bytes(need)} per bank in one block`;
    if (largest !== null) text += `; the largest free block was ${bytes(largest)}`;
    lines.push(short !== null ? `${text}: ${bytes(short)} per bank short.` : `${text}.`);
  }
  if (free !== null && incident.bank_size_B !== null) {
    lines.push(`${bytes(free)} of ${bytes(incident.bank_size_B)} per bank was free${incident.verdict === "fragmented" ? ", but in pieces" : ""}.`);
  }
  return lines;
}

// Needed, largest block and free on one scale: the picture of "why not".
function needBars(incident: Incident): HTMLElement | null {
  const rows: [string, number | null, string][] = [
    ["needed in one block", incident.needed_per_bank_B, "incident"],
    ["largest free block", incident.largest_free_block_B, "largest"],
    ["free in all", incident.free_per_bank_B, "free"],
  ];
  const known = rows.filter((row): row is [string, number, string] => row[1] !== null);
  if (known.length < 2) return null;
  const top = Math.max(...known.map((row) => row[1]), 1);
  const list = h("dl", { class: "need" });
  for (const [label, value, kind] of known) {
    const bar = h("span", { class: `need-bar need-${kind}` });
    bar.style.width = `${Math.max(0.4, (value / top) * 100)}%`;
    add(list, h("dt", {}, label), h("dd", {}, h("span", { class: "need-track" }, bar), h("span", { class: "num" }, bytes(value))));
  }
  return list;
}

// The weights alone do not fit: no layout or order of operations can help.
function weightsDoNotFit(app: App, incident: Incident): string | null {
  const dram = app.model.findings.memory.DRAM;
  const weights = app.model.findings.weights;
  if (!dram || incident.memory !== "DRAM" || weights.MB <= dram.capacity_total_MB) return null;
  return `The ${counted(weights.count, "weight")} of the model take ${bytes(weights.bytes)} in their own data types; all ${count(dram.banks)} banks together hold ${bytes(dram.capacity_total_MB * 1048576)}. They cannot all be on this device.`;
}

function incidentCard(app: App, incident: Incident, i: number): HTMLElement {
  const words = app.model.facts.incidents[i];
  const verdict = words?.verdict ?? "";
  const [kind, reason] = [verdict.split(":")[0], verdict.split(":").slice(1).join(":").trim()];
  const hint = weightsDoNotFit(app, incident);
  const live = incident.memory ? app.model.findings.live_at_peak[incident.memory] : undefined;
  return h(
    "article",
    { class: "incident", "aria-label": "Incident" },
    h("h2", {}, h("span", { class: "incident-mark", "aria-hidden": true }, "✕"), capitalized(words?.title ?? incident.kind), kind && h("span", { class: "verdict", "data-verdict": incident.verdict ?? "" }, kind)),
    incident.operation && h("p", { class: "incident-op" }, "In ", opWithPlace(app, incident.operation)),
    h("p", { class: "incident-story" }, [reason && `${capitalized(reason)}.`, ...story(incident)].filter(Boolean).join(" ")),
    hint && h("p", { class: "incident-hint" }, hint),
    h(
      "div",
      { class: "incident-columns" },
      needBars(incident),
      i === 0 && live && live.allocated_per_bank_MB > 0 && h("div", { class: "incident-live" }, h("h3", {}, `What filled ${incident.memory ?? ""}`), liveBar(app, live, app.banks(incident.memory!), 4)),
    ),
    h("details", { class: "incident-text" }, h("summary", {}, `Message, ${logLine(incident.line)}${incident.copies > 1 ? `, seen ${count(incident.copies)} times` : ""}`), longText(incident.text)),
  );
}

export function incidents(app: App): HTMLElement | null {
  const all = app.model.findings.incidents;
  if (!all.length) return null;
  const box = h("section", { id: "incident", "aria-label": "What went wrong" });
  // The one that ran out of memory tells most; the rest is often its echo.
  const order = all.map((incident, i) => ({ incident, i })).sort((a, b) => Number(a.incident.kind === "fatal") - Number(b.incident.kind === "fatal"));
  add(box, incidentCard(app, order[0].incident, order[0].i));
  if (order.length > 1) {
    const rest = h("details", { class: "more-incidents" }, h("summary", {}, `${counted(order.length - 1, "more incident")} in this log`));
    for (const { incident, i } of order.slice(1, 51)) {
      add(rest, h("p", {}, h("b", {}, capitalized(app.model.facts.incidents[i]?.title ?? incident.kind)), ` · ${logLine(incident.line)} · `, incident.operation && opLink(app, incident.operation), " ", h("span", { class: "muted" }, shorten(incident.text, 300))));
    }
    if (order.length > 51) add(rest, h("p", { class: "muted" }, `… and ${count(order.length - 51)} more; findings.json lists all of them.`));
    add(box, rest);
  }
  return box;
}

// ---- Numbers --------------------------------------------------------------------------------------------------------

function card(key: string, label: string, value: string, note: string): HTMLElement {
  return h("div", { class: "fact", "data-key": key }, h("dt", {}, label), h("dd", {}, h("span", { class: "fact-value" }, value), h("span", { class: "fact-note" }, note)));
}

export function facts(app: App): HTMLElement {
  const { findings } = app.model;
  const box = h("dl", { class: "facts" });
  add(box, card("operations", "Operations", count(findings.operations.total), `${counted(findings.runs.length, "run")}, ${count(findings.input.deallocations)} frees left out`));
  for (const memory of ["DRAM", "L1"] as const) {
    const peak = findings.peak[memory];
    if (!peak) continue;
    add(box, card(`peak.${memory}`, `Peak ${memory}`, mb(peak.allocated_per_bank_MB), `per bank, ${percent(peak.utilization_pct, 100)} · ${bytes(peak.allocated_total_MB * 1048576)} in all`));
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
      h("p", { class: "source", "data-key": "config" }, configuration(app)),
    ),
    buttons,
  );
}

// What would have helped, the largest saving first.
export function advice(app: App): HTMLElement | null {
  const all = app.model.facts.rebuilt === "rough" ? [] : (app.model.findings.advice ?? []);
  if (!all.length) return null;
  const list = h("ol", { class: "advice" });
  for (const one of all) {
    const op = one.operation?.index != null ? opLink(app, one.operation) : null;
    add(list, h("li", {}, h("span", {}, shorten(one.text, 400), op && " ", op), one.saves_per_bank_MB !== null && h("span", { class: "num" }, h("b", {}, `−${bytes(one.saves_per_bank_MB * 1048576)}`), h("span", { class: "muted" }, " per bank")), h("span", { class: "muted" }, one.basis)));
  }
  return h("section", { id: "advice", class: "card", "aria-labelledby": "advice-title" }, h("h2", { id: "advice-title" }, "What would help"), list);
}

// What the log cannot tell, and what in it was not understood.
export function notes(app: App): HTMLElement | null {
  const { facts: f, findings } = app.model;
  const d = findings.diagnostics;
  const list = h("ul", { class: "notes" });
  if (f.missing) add(list, h("li", {}, `This log holds ${f.holds}. ${capitalized(f.missing)}`));
  if (f.rebuilt) add(list, h("li", {}, `This page was rebuilt from the JSON files of a report, which hold no deallocations: ${f.rebuilt === "rough" ? "what is live at the peak and how much of it is padding cannot be told, and a peak between two operations is not in them" : "the largest free block between two operations and padding over time cannot be told"}. The log itself gives the whole page: ttmem html LOG.`));
  if (findings.input.truncated) add(list, h("li", {}, "The log ends in the middle: what came after is not in this report."));
  if (findings.input.trace_replay) add(list, h("li", {}, "Parts of the run were replayed from a trace; replayed operations print nothing and are not in this report."));
  if (d.unparsed_lines) add(list, h("li", {}, `${counted(d.unparsed_lines, "line")} could not be read, the first: `, d.notes.slice(0, 3).map((n) => `line ${count(n.line)} "${shorten(n.text, 80)}"`).join(", ")));
  if (d.blocks_without_operation) add(list, h("li", {}, `${counted(d.blocks_without_operation, "memory state")} came without an operation line.`));
  for (const leak of findings.leaks) {
    add(list, h("li", {}, `Every run leaves ${mb(leak.per_run_MB)} per bank behind (seen over ${counted(leak.runs_seen, "run")}, confidence ${leak.confidence})`, leak.index !== null && ": ", leak.index !== null && opWithPlace(app, leak), "."));
  }
  return list.children.length ? h("section", { class: "note-box", "aria-label": "Notes" }, list) : null;
}
