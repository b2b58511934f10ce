// SPDX-License-Identifier: Apache-2.0
// What makes the difference, the most first: operations whose delta changed, live tensors at the peaks, tensors freed elsewhere, operations of one
// run only. Repeated layers are one row.
import { cellBar } from "./bars.js";
import { eachSide, type Comparison } from "./comparison.js";
import { SIDES, type Group, type LiveChange, type Member, type Side } from "./diff_model.js";
import { h, shorten } from "./dom.js";
import { figure, unit } from "./figures.js";
import type { Memory, OpRef } from "./findings.js";
import { count, counted } from "./format.js";
import { foldedName, opLink, placeOf } from "./links.js";
import { longTable, type Cell, type Column, type Row } from "./tables.js";

const SHOWN = 20;

const changeCell = (app: Comparison, mb: number, memory: Memory): HTMLElement => h("b", { class: mb > 0 ? "plus" : "minus" }, figure(app, mb, memory, true));
const link = (app: Comparison, side: Side, op: Partial<OpRef> | null): HTMLElement => (op && op.index != null ? opLink(app.speaker(side), op) : h("span", {}, "–"));
const heads = (app: Comparison, name: string, ...rest: Column[]): Column[] => [[name], [h("span", {}, "change, ", unit(app)), "num"], ["", "bar"], ["before", "num"], ["after", "num"], ...rest];

// The operation in both runs: each leads to its place.
function opCells(app: Comparison, ops: (Partial<OpRef> | null)[]): Cell[] {
  return eachSide((side) => link(app, side, ops[side]));
}

function groupRow(app: Comparison, group: Group, members: Member[], most: number): Row {
  const ops = [group.before, group.after];
  const own = ops[1] ?? ops[0]!;
  const total = (side: Side): number => (ops[side] ? (members.length === group.places ? members.reduce((sum, m) => sum + m.effect[side], 0) / 1000 : NaN) : NaN);
  const effect = (side: Side): Cell => (Number.isNaN(total(side)) ? (ops[side] && group.places === 1 ? figure(app, ops[side].effect_MB, "DRAM", true) : "–") : figure(app, total(side), "DRAM", true));
  return {
    name: group.name,
    places: group.places,
    cells: [foldedName(group.name, group.places), changeCell(app, group.total_change_MB, "DRAM"), cellBar(Math.abs(group.total_change_MB), most), effect(0), effect(1), group.kind, ...opCells(app, ops)],
    members: () => members.map(({ op, effect: [before, after] }) => ["", changeCell(app, (after - before) / 1000, "DRAM"), "", ...eachSide((side): Cell => (op[side] === null ? "–" : figure(app, [before, after][side] / 1000, "DRAM", true))), "", ...opCells(app, op.map((index) => (index === null ? null : { index, mlir_op: own.mlir_op })))]),
  };
}

export async function operations(app: Comparison): Promise<HTMLElement | null> {
  const { changed } = app.model.diff;
  if (!changed.length) return null;
  const members = await app.model.members();
  const most = Math.abs(changed[0].total_change_MB);
  const columns = heads(app, "operations of", ["kind"], ["operation before"], ["operation after"]);
  return h("div", { "data-key": "changed" }, h("p", { class: "hint" }, "Delta in DRAM of every operation that changed. A row leads to its place in the chart."), longTable("Operations whose delta in DRAM changed", columns, changed.map((group, i) => groupRow(app, group, members[i], most)), SHOWN));
}

function liveRow(app: Comparison, row: LiveChange, memory: Memory, most: number): Row {
  const name = row.name ?? app.model.facts.classes[row.class] ?? row.class;
  return [foldedName(name, Math.max(row.before.tensors, row.after.tensors)), changeCell(app, row.change_MB, memory), cellBar(Math.abs(row.change_MB), most), ...SIDES.map((side): Cell => (row[side].per_bank_MB ? figure(app, row[side].per_bank_MB, memory) : "–")), app.model.facts.classes[row.class] ?? row.class, ...opCells(app, SIDES.map((side) => row[side].made_by))];
}

export function liveChanges(app: Comparison, memory: Memory): HTMLElement | null {
  const rows = app.model.diff.live_at_peak[memory];
  if (!rows?.length) return null;
  const most = Math.abs(rows[0].change_MB);
  return h("div", { "data-key": `live.${memory}` }, longTable(`Live tensors at the ${memory} peak that changed`, heads(app, "tensors", ["class"], ["made by, before"], ["made by, after"]), rows.map((row) => liveRow(app, row, memory, most)), SHOWN));
}

export function freedElsewhere(app: Comparison): HTMLElement | null {
  const { freed_elsewhere: rows } = app.model.diff;
  if (!rows.length) return null;
  const when = (later: boolean, operations: number | null): string => (operations === null ? (later ? "no longer in its run" : "now in its run") : `${counted(Math.abs(operations), "operation")} ${later ? "later" : "earlier"}`);
  return h(
    "div",
    { "data-key": "freed" },
    longTable(
      "Tensors freed elsewhere",
      [[unit(app), "num"], ["freed"], ["alive at the peak"], ["made by, after"], ["location"]],
      rows.map((row) => [figure(app, row.per_bank_MB, "DRAM"), when(row.later, row.operations_later), row.alive_at_peak ? "yes" : "no", link(app, 1, row), h("span", { class: "mono" }, shorten(placeOf(row), 90))]),
      SHOWN,
    ),
  );
}

export function onlyInOne(app: Comparison): HTMLElement | null {
  const { only_in_one: rows } = app.model.diff;
  if (!rows.length) return null;
  return h("div", { "data-key": "only" }, h("h3", {}, "Operations of one run only"), longTable("Operations of one run only", [["operation"], ["only before", "num"], ["only after", "num"]], rows.map((row) => [h("span", { class: "mono" }, shorten(row.mlir_op, 80)), count(row.before), count(row.after)]), SHOWN));
}
