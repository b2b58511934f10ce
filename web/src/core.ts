// SPDX-License-Identifier: Apache-2.0
// L1 of one core: the picture of its addresses, and what the fullest core held, which only captures and recordings tell.
import type { App } from "./app.js";
import { barList, type Bar } from "./bars.js";
import { add, h } from "./dom.js";
import type { L1Use } from "./findings.js";
import { bytes, count } from "./format.js";
import { opCell } from "./links.js";
import type { CoreMap } from "./model.js";
import { saved } from "./save.js";

type Part = [from: number, to: number, kind: string];

// From address 0 to the end of L1: buffers and tensors in a lane each, so that what both claim shows.
export function corePicture(core: CoreMap): HTMLElement {
  const buffersEnd = Math.max(core.base, ...core.buffers.map((b) => b[1]));
  const lowest = Math.min(core.size - core.small, ...core.tensors.map((t) => t[0]));
  const end = Math.max(core.size, buffersEnd);
  const lane = (label: string, parts: Part[]): HTMLElement => {
    const track = h("span", { class: "core-lane" });
    for (const [from, to, kind] of parts) {
      const part = h("span", { class: `core-part core-${kind}`, title: `${kind}: ${count(from)} to ${count(to)}, ${bytes(to - from)}` });
      part.style.left = `${(from / end) * 100}%`;
      part.style.width = `max(2px, ${((to - from) / end) * 100}%)`;
      add(track, part);
    }
    return h("div", { class: "core-row" }, h("span", { class: "muted" }, label), track);
  };
  const overlap: Part[] = buffersEnd > lowest ? [[lowest, buffersEnd, "overlap"]] : [];
  const assumed = [core.chip_basis === "estimated" && "chip", core.base_basis === "estimated" && "start of the buffers"].filter(Boolean);
  return h(
    "figure",
    { class: "core", "data-key": "core" },
    h("figcaption", {}, `L1 of one ${core.chip} core, ${count(core.size)} B, address 0 on the left`, assumed.length > 0 && h("span", { class: "muted" }, ` (${assumed.join(" and ")} assumed)`)),
    lane(core.buffer_word, [[0, core.base, "reserved"], ...core.buffers.map(([from, to]): Part => [from, to, "buffers"]), ...overlap]),
    lane("L1 tensors", [...core.tensors.map(([from, to]): Part => [from, to, "tensors"]), ...(core.small ? [[core.size - core.small, core.size, "L1_SMALL"] as Part] : []), ...overlap]),
  );
}

// What the fullest core held, on the scale of what a core has.
function useBars(use: L1Use): HTMLElement {
  const parts: [string, number, string][] = [
    ["L1 tensors", use.tensors_B, "tensors"],
    ["L1_SMALL", use.l1_small_B, "small"],
    ["circular buffers", use.circular_buffers_B, "buffers"],
    ["dataflow buffers", use.dataflow_buffers_B, "buffers"],
    ["scratchpads", use.scratchpads_B, "buffers"],
    ["total", use.fullest_B, "all"],
    ["capacity", use.limit_B, "limit"],
  ];
  return barList(parts.filter(([, value]) => value > 0).map(([label, value, kind]): Bar => ({ label, value, text: `${count(value)} B`, kind, attributes: { "data-l1": label } })));
}

export function fullestCore(app: App): HTMLElement | null {
  const { l1 } = app.model.facts;
  const use = app.model.findings.recording?.l1_per_core;
  if (!l1 && !use?.fullest_B) return null;
  return h("div", {}, use?.fullest_B ? saved(app, useBars(use), "L1 of the fullest core") : null, l1 && h("h3", {}, "Narrowest point between buffers and tensors"), l1 && opCell(app, l1.operation), l1 && saved(app, corePicture(l1.core), "Narrowest point between buffers and tensors"));
}
