// SPDX-License-Identifier: Apache-2.0
// L1 of one core: the picture of its addresses, and the part of the page on the fullest core, which only captures and recordings tell.
import type { App } from "./app.js";
import { barList, type Bar } from "./bars.js";
import { add, h, shorten } from "./dom.js";
import type { L1Use } from "./findings.js";
import { bytes, count, counted } from "./format.js";
import { capitalized, opWithPlace, section } from "./links.js";
import type { CoreMap } from "./model.js";

type Part = [from: number, to: number, kind: string];

const tiles = (n: number): string => `${counted(Math.ceil(n / 2048), "bf16 tile")} or ${counted(Math.ceil(n / 1088), "bfp8 tile")}`;

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
  const has = core.tensors.length > 0;
  const overlap = buffersEnd - lowest;
  const left = lowest - buffersEnd; // -overlap would be "-0" where they just touch
  const twice: Part[] = overlap > 0 ? [[lowest, buffersEnd, has ? "twice" : "beyond"]] : [];
  const assumed = [core.chip_basis === "estimated" && "chip", core.base_basis === "estimated" && "start of the buffers"].filter(Boolean);
  const verdict = overlap > 0 ? `${count(overlap)} B${overlap >= 1024 ? ` (${bytes(overlap)})` : ""} ${has ? "claimed twice" : "too much"}, ${tiles(overlap)}` : `${count(left)} B${left >= 1024 ? ` (${bytes(left)})` : ""} left between them`;
  return h(
    "figure",
    { class: "core", "data-key": "core" },
    h("figcaption", {}, `L1 of one ${core.chip} core, ${count(core.size)} B, address 0 on the left`, assumed.length > 0 && h("span", { class: "muted" }, ` (${assumed.join(" and ")} assumed)`)),
    lane(core.buffer_word, [[0, core.base, "reserved"], ...core.buffers.map(([from, to]): Part => [from, to, "buffers"]), ...twice]),
    lane("L1 tensors", [...core.tensors.map(([from, to]): Part => [from, to, "tensors"]), ...(core.small ? [[core.size - core.small, core.size, "small"] as Part] : []), ...twice]),
    h("p", { class: "muted" }, `${capitalized(core.buffer_word)} end at ${count(buffersEnd)}, ${has ? `the lowest tensor starts at ${count(lowest)}` : `room for tensors ends at ${count(lowest)}`}: ${verdict}.`),
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
  ];
  const held = parts.filter(([, value]) => value > 0);
  if (held.length > 1) held.push(["together", use.fullest_B, "all"]);
  held.push(["a core has", use.limit_B, "limit"]);
  const bars = held.map(([label, value, kind]): Bar => ({ label, value, text: `${count(value)} B`, kind, attributes: { "data-l1": label } }));
  return barList(bars);
}

export function l1PerCore(app: App): HTMLElement | null {
  const { l1 } = app.model.facts;
  const use = app.model.findings.recording?.l1_per_core;
  if (!l1 && !use?.fullest_B) return null;
  const box = section("l1", "L1 of the fullest core", "derived");
  if (l1) add(box, h("p", { "data-key": "l1" }, shorten(l1.words, 600)));
  if (use?.fullest_B) add(box, useBars(use));
  if (l1?.core) add(box, h("h3", {}, "Where a program's buffers come nearest to a tensor"), l1.operation && h("p", {}, "In ", opWithPlace(app, l1.operation)), corePicture(l1.core));
  return box;
}
