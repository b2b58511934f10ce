// SPDX-License-Identifier: Apache-2.0
// The tables beside the statements: what added most to a memory, what is freed late, weights, and how often each operation ran.
import type { App } from "./app.js";
import { cellBar } from "./bars.js";
import { h, shorten } from "./dom.js";
import { figure, unit } from "./figures.js";
import type { LateFree, Memory, Statement } from "./findings.js";
import { bytes, count, counted, percent, shapeText } from "./format.js";
import { foldedName, lineLink, opCell, opLink, placeOf, section } from "./links.js";
import type { RegistryEntry } from "./model.js";
import { points } from "./statements.js";
import { longTable, table, type Cell, type Row } from "./tables.js";

const MEMORY_OF: Record<string, Memory> = { "peak.consumers": "DRAM", "peak.consumers-l1": "L1", "peak.consumers-l1-small": "L1_SMALL", "peak.consumers-trace": "TRACE" };

// The operations behind a statement of the peak; undefined for one that is not about them.
export function consumers(app: App, s: Statement): HTMLElement | undefined {
  const memory = MEMORY_OF[s.id];
  const rows = memory && app.model.findings.top_consumers[memory];
  if (!rows) return undefined;
  const most = rows.reduce((top, row) => Math.max(top, row.total_MB), 0);
  const box = table(
    `Operations that added most to ${memory}`,
    [["tensor or place"], [unit(app), "num"], ["", "bar"], ["at most each", "num"], ["runs", "num"], ["operation"]],
    rows.map((row) => ({
      name: row.name,
      places: row.places,
      cells: [foldedName(row.name, row.places), figure(app, row.total_MB, memory, true), cellBar(row.total_MB, most), figure(app, row.effect_MB, memory), count(row.runs), opLink(app, row)],
      members: () => row.members.map((one) => [foldedName(placeOf(one), 1), figure(app, one.effect_MB, memory, true), cellBar(one.effect_MB, most), "", "", opLink(app, one)]),
    })),
  );
  box.dataset.consumers = memory;
  return box;
}

// The operations from a tensor's birth to its free, from the line of the free.
async function showLife(app: App, late: LateFree): Promise<void> {
  const { line } = await app.model.operations();
  const from = late.made_by.index ?? 0;
  let to = from;
  while (to + 1 < line.length && line[to + 1] < late.freed_line) to++;
  app.select(from);
  app.showRange(from, to + 1);
}

export function freedLate(app: App): HTMLElement | undefined {
  const tensors = app.model.findings.late_frees?.tensors ?? [];
  if (!tensors.length) return undefined;
  return table(
    "Tensors freed late",
    [["result of"], ["times", "num"], [unit(app), "num"], ["last used by"], ["freed, operations later", "num"], ["freed at"], ["peak if freed at last use", "num"], [""]],
    tensors.map((t) => [
      opCell(app, t.made_by),
      count(t.times),
      figure(app, t.per_bank_MB, "DRAM"),
      opCell(app, t.last_use),
      count(t.operations_late),
      lineLink(app, t.freed_line),
      figure(app, t.peak_if_freed_per_bank_MB, "DRAM"),
      h("button", { type: "button", class: "small", click: () => void showLife(app, t) }, "Show"),
    ]),
  );
}

const WASTE: Record<string, string> = { "waste.f32-copy": "f32_copy", "waste.weight-forms": "weight_twice", "waste.tile-padding": "tile_padding", "waste.narrow-rows": "narrow_rows" };

// Each row of waste with the tensors of every layer behind it.
export function waste(app: App, s: Statement): HTMLElement | null {
  const rows = app.model.findings.waste_at_peak?.top.filter((row) => row.kind === WASTE[s.id]) ?? [];
  return points(app, s, (i) => {
    const members = rows[i]?.members ?? [];
    if (members.length < 2) return null;
    return h("details", {}, h("summary", {}, counted(members.length, "tensor")), table("Tensors", [["tensor"], [unit(app), "num"], ["made by"]], members.map((one) => [foldedName(one.name ?? placeOf(one), 1), figure(app, one.per_bank_MB, "DRAM"), one.mlir_op ? opLink(app, one) : ""])));
  });
}

const shapeOf = (e: RegistryEntry): string => `${shapeText(e.local_shape ?? e.shape)} ${e.dtype ?? ""}`;

async function weightTable(app: App, all: number): Promise<HTMLElement> {
  const [entries, { group, names }] = await Promise.all([app.model.registry(), app.model.weightGroups()]);
  const groups = names.map((name): { name: string; bytes: number; entries: RegistryEntry[] } => ({ name, bytes: 0, entries: [] }));
  entries.forEach((entry, i) => {
    if (!group[i]) return;
    groups[group[i] - 1].entries.push(entry);
    groups[group[i] - 1].bytes += entry.bytes;
  });
  groups.sort((a, b) => b.bytes - a.bytes);
  const cells = (name: string, n: number, type: string, size: number): Cell[] => [foldedName(name, n), h("span", { class: "mono" }, type), bytes(size), percent(size, all)];
  const rows = groups.map((g) => ({
    name: g.name,
    places: g.entries.length,
    cells: cells(g.name, g.entries.length, g.entries.every((e) => shapeOf(e) === shapeOf(g.entries[0])) ? shapeOf(g.entries[0]) : "several", g.bytes),
    members: () => g.entries.map((e) => cells(e.name, 1, shapeOf(e), e.bytes)),
  }));
  return longTable("Weights by size", [["weight"], ["shape"], ["logical size", "num"], ["share", "num"]], rows, 20);
}

export function weights(app: App): HTMLElement | null {
  const { count: n, bytes: all } = app.model.findings.weights;
  if (!n) return null;
  const host = h("div", {});
  void weightTable(app, all).then((made) => host.replaceWith(made));
  return section("weights", "Weights", h("p", { class: "hint", "data-key": "weights-sum" }, `${counted(n, "weight")}, ${bytes(all)}, largest first`), host);
}

export function distribution(app: App): HTMLElement | null {
  const { distribution: all, total } = app.model.findings.operations;
  const rows = Object.entries(all);
  const most = rows.reduce((top, [, n]) => Math.max(top, n), 1); // more names than a call takes arguments
  const cells = ([name, n]: [string, number]): Cell[] => [h("button", { type: "button", class: "link mono", click: () => app.filterTable.by(name) }, shorten(name, 80)), count(n), cellBar(n, most), percent(n, total)];
  const row = (one: [string, number]): Row => ({ name: one[0], places: 1, members: () => [], get cells() { return cells(one); } }); // made when shown
  return rows.length ? section("distribution", "Operations by name", longTable("How often each operation ran", [["operation"], ["times", "num"], ["", "bar"], ["share", "num"]], rows.map(row), 15)) : null;
}
