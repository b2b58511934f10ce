// SPDX-License-Identifier: Apache-2.0
// Live tensors at a peak or any other moment: one bar whose parts add up to what is allocated, and the tensors behind it.
import type { App } from "./app.js";
import { cellBar } from "./bars.js";
import { add, h } from "./dom.js";
import { figure, unit } from "./figures.js";
import type { LiveRow, LiveSet, Memory, Statement } from "./findings.js";
import { mb, percent, shapeText } from "./format.js";
import { basisMark, foldedName, linked, opLink, placeOf } from "./links.js";
import { saved } from "./save.js";
import { longTable, type Cell } from "./tables.js";

const SHOWN = 12;

// The classes in a fixed order, so that bars of several memories and reports compare.
export function classBar(app: App, live: LiveSet): HTMLElement {
  const parts = Object.entries(app.model.facts.classes).map(([name, words]): [string, string, number] => [name, words, live.classes[`${name}_MB`] ?? 0]);
  const total = parts.reduce((sum, [, , size]) => sum + size, 0);
  const bar = h("div", { class: "live-bar", "aria-hidden": "true" });
  const list = h("ul", { class: "legend" });
  for (const [name, words, size] of parts) {
    if (size <= 0) continue;
    const piece = h("span", { class: `live-part live-${name}`, title: `${words}: ${mb(size)} MB per bank` });
    piece.style.width = `${(size / total) * 100}%`;
    add(bar, piece);
    add(list, h("li", { "data-class": name, "data-mb": size }, h("span", { class: `key live-${name}`, "aria-hidden": true }), `${words} ${percent(size, total)}`));
  }
  return h("div", { class: "live" }, bar, list);
}

const madeBy = (app: App, row: LiveRow | LiveSet["groups"][number]): HTMLElement => (row.mlir_op ? opLink(app, row) : h("span", {}));

// The bar and the table; `unnamed` is what a group without a name is called.
export function liveBox(app: App, memory: Memory, live: LiveSet, caption: string, unnamed: (group: number) => Node): HTMLElement {
  const most = live.groups[0]?.per_bank_MB ?? 0;
  const total = Object.values(live.classes).reduce((sum, size) => sum + size, 0); // what is attributed may be a little more than what the log rounded
  const cells = (name: Node, words: string, size: number, made: Node): Cell[] => [name, words, figure(app, size, memory), cellBar(size, most), percent(size, total), made];
  const membersOf = live.groups.map((): LiveRow[] => []);
  for (const row of live.rows) membersOf[row.group ?? -1]?.push(row);
  const rows = live.groups.map((group, i) => {
    const words = app.model.facts.classes[group.class] ?? group.class;
    const name = group.name ? h("span", {}, foldedName(group.name, group.tensors), group.basis === "estimated" && " ", group.basis === "estimated" && basisMark("estimated")) : unnamed(i);
    const members = membersOf[i];
    return {
      name: group.name,
      places: members.length,
      cells: cells(name, words, group.per_bank_MB, madeBy(app, group)),
      members: () => members.map((row) => cells(foldedName(row.name ?? placeOf(row), row.tensors), row.shape === null ? "" : `${shapeText(row.shape)} ${row.dtype ?? ""}`, row.per_bank_MB, madeBy(app, row))),
    };
  });
  const rest = live.groups.slice(SHOWN).reduce((sum, group) => sum + group.per_bank_MB, 0);
  return h("div", {}, saved(app, classBar(app, live), caption), longTable(caption, [["tensor"], ["class"], [unit(app), "num"], ["", "bar"], ["share", "num"], ["made by"]], rows, SHOWN, () => h("span", {}, "All others ", figure(app, rest, memory), " ", unit(app))));
}

export function liveTensors(app: App, s: Statement): HTMLElement | null {
  const memory: Memory = s.id === "alive.l1" ? "L1" : "DRAM";
  const live = app.model.findings.live_at_peak[memory];
  if (!live?.groups) return null;
  return h("div", { "data-live": memory }, liveBox(app, memory, live, `Live tensors at the ${memory} peak`, (i) => linked(app, s.points?.[i]?.text ?? "")));
}
