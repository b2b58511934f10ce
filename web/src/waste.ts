// SPDX-License-Identifier: Apache-2.0
// Bytes at the DRAM peak that hold nothing, by kind, and what would avoid them.
import type { App } from "./app.js";
import { barList, type Bar } from "./bars.js";
import { add, h, replace, shorten } from "./dom.js";
import { WASTE_KINDS, type Waste, type WasteKind } from "./findings.js";
import { bytes, column, count, mb, percent, shapeText } from "./format.js";
import { opCell, section } from "./links.js";
import { table } from "./tables.js";

const KIND: Record<WasteKind, { name: string; words: string; remedy: string }> = {
  f32_copy: { name: "bf16 weights kept as f32", words: "of f32 copies of bf16 weights", remedy: "keep it in bf16: half of it" },
  weight_twice: { name: "weights there in several forms", words: "of weights that are there in several forms", remedy: "convert on the host, or free the original first" },
  tile_padding: { name: "tiles that are mostly padding", words: "of tile padding", remedy: "" },
  narrow_rows: { name: "narrow row-major rows", words: "of padding in narrow row-major rows", remedy: "longer rows, or tiles" },
};

const SHOWN = 6;

export function wasteWords(waste: Waste): string {
  const parts = WASTE_KINDS.filter((kind) => waste.per_bank_MB[kind] > 0).map((kind) => `${mb(waste.per_bank_MB[kind])} ${KIND[kind].words}`);
  if (!parts.length) return "Nothing at the DRAM peak is wasted: no f32 copies of bf16 weights, no weight in two forms, no tile that is mostly padding, no narrow rows.";
  return `Per bank at the DRAM peak, ${parts.join(", ")} could be saved.`;
}

function remedy(row: Waste["top"][number]): string {
  if (row.kind !== "tile_padding") return KIND[row.kind]?.remedy ?? "";
  if (row.better_shape) return `reshape to ${shapeText(row.better_shape)}: fewer tiles`;
  if (row.row_major_saves_per_bank_MB) return `in ROW_MAJOR layout, where its operations take that, it needs ${mb(row.row_major_saves_per_bank_MB)} per bank less`;
  return "no reshape needs fewer tiles";
}

export function waste(app: App): HTMLElement {
  const found = app.model.findings.waste_at_peak;
  const box = section("waste", "Waste at the DRAM peak", found ? found.basis : null);
  if (!found) {
    add(box, h("p", { class: "muted" }, app.model.unknown));
    return box;
  }
  add(box, h("p", { "data-key": "waste" }, wasteWords(found)));
  const peak = app.model.findings.peak.DRAM?.allocated_per_bank_MB ?? 0;
  const bars = WASTE_KINDS.filter((kind) => found.per_bank_MB[kind] > 0).map((kind): Bar => ({ label: KIND[kind].name, value: found.per_bank_MB[kind], text: bytes(found.per_bank_MB[kind] * 1048576), note: `per bank, ${percent(found.per_bank_MB[kind], peak)} of the peak`, kind: "waste", attributes: { "data-waste": kind } }));
  if (bars.length) add(box, barList(bars));
  const host = h("div", {});
  const draw = (rows: Waste["top"]): void =>
    replace(
      host,
      rows.length > 0 && wasteTable(app, rows),
      rows.length < found.top.length && h("button", { type: "button", click: () => draw(found.top) }, `Show all ${count(found.top.length)}`),
    );
  draw(found.top.slice(0, SHOWN));
  add(box, host);
  return box;
}

function wasteTable(app: App, rows: Waste["top"]): HTMLElement {
  return table(
    "Tensors that waste most",
    [["tensor"], ["shape"], ["what"], ["wasted, MB per bank", "num"], ["what avoids it"]],
    rows.map((row) => [
      h("span", { class: "op-cell" }, row.name !== null && h("span", { class: "mono" }, shorten(row.name, 90)), row.made_by ? opCell(app, row.made_by.loc === row.name ? { ...row.made_by, loc: null } : row.made_by) : h("span", { class: "muted" }, "argument, put there by the host")),
      h("span", { class: "mono" }, `${shapeText(row.shape)} ${row.dtype ?? ""}`),
      KIND[row.kind]?.name ?? row.kind,
      column(row.per_bank_MB),
      remedy(row),
    ]),
  );
}
