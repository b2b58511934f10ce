// SPDX-License-Identifier: Apache-2.0
// What went wrong: the verdict in sentences, drawn to scale, and the smallest changes with which it would not have happened.
import type { App } from "./app.js";
import { barList, type Bar } from "./bars.js";
import { corePicture } from "./core.js";
import { add, h, longText, shorten } from "./dom.js";
import type { Incident } from "./findings.js";
import { bytes, count, counted } from "./format.js";
import { basisMark, capitalized, lineLink, opWithPlace } from "./links.js";
import { liveBar } from "./live.js";

// Two or three sentences with the numbers that decide.
function story(incident: Incident, buffers: string): string[] {
  const need = incident.needed_per_bank_B;
  const free = incident.free_per_bank_B;
  const largest = incident.largest_free_block_B;
  const short = incident.shortfall_per_bank_B;
  const lines: string[] = [];
  if (incident.kind === "l1_clash" && incident.static_buffers_end != null && incident.l1_buffer_at != null) {
    lines.push(`${buffers} reach up to address ${count(incident.static_buffers_end)}, but an L1 buffer starts at ${count(incident.l1_buffer_at)}.`);
    if (short !== null) lines.push(`They overlap by ${bytes(short)} per core.`);
    return lines;
  }
  if (incident.kind === "l1_overflow" && incident.static_buffers_end != null && incident.l1_size_B != null) {
    return [`${buffers} grow to ${bytes(incident.static_buffers_end)}; a core has ${bytes(incident.l1_size_B)}.`];
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
  const bars = rows.flatMap(([label, value, kind]): Bar[] => (value === null ? [] : [{ label, value, text: bytes(value), kind }]));
  return bars.length < 2 ? null : barList(bars);
}

// The weights alone do not fit: no layout or order of operations can help. Judged by what they take on the device where that is known: a
// model may be stored there in smaller types than its own.
function weightsDoNotFit(app: App, incident: Incident): HTMLElement | null {
  const dram = app.model.findings.memory.DRAM;
  const { count: n, bytes: own, on_device_MB: there, fit_in_DRAM: fit } = app.model.findings.weights;
  if (!dram || incident.memory !== "DRAM" || fit !== false || there == null) return null;
  return h("p", { class: "incident-hint" }, `The ${counted(n, "weight")} of the model (${bytes(own)} in their own data types) take ${bytes(there * 1048576)} as this run stores them; all ${count(dram.banks)} banks together hold ${bytes(dram.capacity_total_MB * 1048576)}. They cannot all be on this device. `, basisMark("estimated"));
}

// The smallest changes that would have been enough, cheapest first.
function waysOut(incident: Incident): HTMLElement | null {
  if (!incident.ways?.length) return null;
  const list = h("ol", { class: "ways" });
  for (const way of incident.ways) add(list, h("li", { "data-way": way.kind }, `${shorten(way.text, 400)}. `, basisMark(way.basis)));
  return h("div", { class: "incident-ways" }, h("h3", {}, "With any one of these it would not have failed here"), list);
}

function incidentCard(app: App, incident: Incident, i: number, first: boolean): HTMLElement {
  const words = app.model.facts.incidents[i];
  const verdict = words?.verdict ?? "";
  const [kind, reason] = [verdict.split(":")[0], verdict.split(":").slice(1).join(":").trim()];
  const told = [reason && `${capitalized(reason)}.`, ...story(incident, capitalized(words?.core?.buffer_word ?? "static buffers"))].filter(Boolean).join(" ");
  const [needs, ways] = [needBars(incident), waysOut(incident)];
  const live = first && incident.memory ? app.model.findings.live_at_peak[incident.memory] : undefined;
  const filled = live && live.allocated_per_bank_MB > 0 && h("div", { class: "incident-live" }, h("h3", {}, `What filled ${incident.memory ?? ""}`), liveBar(app, live, app.banks(incident.memory!), 4));
  return h(
    "article",
    { class: "incident", "aria-label": "Incident" },
    h("h2", {}, h("span", { class: "incident-mark", "aria-hidden": true }, "✕"), h("span", { class: "incident-title" }, capitalized(words?.title ?? incident.kind)), kind && h("span", { class: "verdict", "data-verdict": incident.verdict ?? "" }, kind)),
    incident.operation && h("p", { class: "incident-op" }, "In ", opWithPlace(app, incident.operation)),
    told && h("p", { class: "incident-story" }, told),
    weightsDoNotFit(app, incident),
    words?.core && corePicture(words.core),
    (needs || ways || filled) && h("div", { class: filled ? "incident-figures incident-columns" : "incident-figures" }, h("div", {}, needs, ways), filled),
    h("details", { class: "incident-text", open: !told }, h("summary", {}, `Message${incident.copies > 1 ? `, seen ${count(incident.copies)} times` : ""}`), longText(incident.text), " ", lineLink(app, incident.line)),
  );
}

export function incidents(app: App): HTMLElement | null {
  const all = app.model.findings.incidents;
  if (!all.length) return null;
  const box = h("section", { id: "incident", "aria-label": "What went wrong" });
  // The one that ran out of memory tells most; the rest is often its echo.
  const order = all.map((incident, i) => ({ incident, i })).sort((a, b) => Number(a.incident.kind === "fatal") - Number(b.incident.kind === "fatal"));
  add(box, incidentCard(app, order[0].incident, order[0].i, true));
  if (order.length > 1) {
    const rest = h("details", { class: "more-incidents" }, h("summary", {}, `${counted(order.length - 1, "more incident")} in this log`));
    for (const { incident, i } of order.slice(1, 51)) add(rest, incidentCard(app, incident, i, false));
    if (order.length > 51) add(rest, h("p", { class: "muted" }, `… and ${count(order.length - 51)} more; findings.json lists all of them.`));
    add(box, rest);
  }
  return box;
}
