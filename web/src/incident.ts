// SPDX-License-Identifier: Apache-2.0
// What went wrong: the verdict in sentences, drawn to scale, and the smallest changes with which it would not have happened.
import type { App } from "./app.js";
import { add, h, longText, shorten } from "./dom.js";
import type { Incident } from "./findings.js";
import { bytes, count, counted } from "./format.js";
import { basisMark, capitalized, lineLink, opWithPlace } from "./links.js";
import { liveBar } from "./live.js";
import type { CoreMap } from "./model.js";

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

// One core's L1 from address 0 to its end: buffers and tensors in a lane each, so that what both claim shows.
function corePicture(core: CoreMap, overlap: number | null): HTMLElement {
  const end = Math.max(core.size, ...core.buffers.map((b) => b[1]));
  const lane = (label: string, parts: [number, number, string][]): HTMLElement => {
    const track = h("span", { class: "core-lane" });
    for (const [from, to, kind] of parts) {
      const part = h("span", { class: `core-part core-${kind}`, title: `${kind}: ${count(from)} to ${count(to)}, ${bytes(to - from)}` });
      part.style.left = `${(from / end) * 100}%`;
      part.style.width = `max(2px, ${((to - from) / end) * 100}%)`;
      add(track, part);
    }
    return h("div", { class: "core-row" }, h("span", { class: "muted" }, label), track);
  };
  const buffersEnd = Math.max(core.base, ...core.buffers.map((b) => b[1]));
  const lowest = Math.min(core.size - core.small, ...core.tensors.map((t) => t[0]));
  const twice: [number, number, string][] = buffersEnd > lowest ? [[lowest, buffersEnd, core.tensors.length ? "twice" : "beyond"]] : [];
  const assumed = [core.chip_basis === "estimated" && "chip", core.base_basis === "estimated" && "start of the buffers"].filter(Boolean);
  return h(
    "figure",
    { class: "core", "data-key": "core" },
    h("figcaption", {}, `L1 of one ${core.chip} core, ${count(core.size)} B, address 0 on the left`, assumed.length > 0 && h("span", { class: "muted" }, ` (${assumed.join(" and ")} assumed)`)),
    lane(core.buffer_word, [[0, core.base, "reserved"], ...core.buffers.map(([from, to]): [number, number, string] => [from, to, "buffers"]), ...twice]),
    lane("L1 tensors", [...core.tensors.map(([from, to]): [number, number, string] => [from, to, "tensors"]), ...(core.small ? [[core.size - core.small, core.size, "small"] as [number, number, string]] : []), ...twice]),
    h("p", { class: "muted" }, `${capitalized(core.buffer_word)} end at ${count(buffersEnd)}, ${core.tensors.length ? `the lowest tensor starts at ${count(lowest)}` : `L1 ends at ${count(core.size)}`}`, overlap !== null && `: ${count(overlap)} B${overlap >= 1024 ? ` (${bytes(overlap)})` : ""} ${core.tensors.length ? "claimed twice" : "too much"}, ${counted(Math.ceil(overlap / 2048), "bf16 tile")} or ${counted(Math.ceil(overlap / 1088), "bfp8 tile")}.`),
  );
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
  const hint = weightsDoNotFit(app, incident);
  const live = first && incident.memory ? app.model.findings.live_at_peak[incident.memory] : undefined;
  return h(
    "article",
    { class: "incident", "aria-label": "Incident" },
    h("h2", {}, h("span", { class: "incident-mark", "aria-hidden": true }, "✕"), capitalized(words?.title ?? incident.kind), kind && h("span", { class: "verdict", "data-verdict": incident.verdict ?? "" }, kind)),
    incident.operation && h("p", { class: "incident-op" }, "In ", opWithPlace(app, incident.operation)),
    h("p", { class: "incident-story" }, [reason && `${capitalized(reason)}.`, ...story(incident)].filter(Boolean).join(" ")),
    hint && h("p", { class: "incident-hint" }, hint),
    words?.core && corePicture(words.core, incident.shortfall_per_bank_B),
    h(
      "div",
      { class: "incident-columns" },
      h("div", {}, needBars(incident), waysOut(incident)),
      live && live.allocated_per_bank_MB > 0 && h("div", { class: "incident-live" }, h("h3", {}, `What filled ${incident.memory ?? ""}`), liveBar(app, live, app.banks(incident.memory!), 4)),
    ),
    h("details", { class: "incident-text" }, h("summary", {}, `Message${incident.copies > 1 ? `, seen ${count(incident.copies)} times` : ""}`), longText(incident.text), " ", lineLink(app, incident.line)),
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
