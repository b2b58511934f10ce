// SPDX-License-Identifier: Apache-2.0
// Padding of the live DRAM tensors over the run, and the results with most of it.
import type uPlot from "uplot";
import type { App } from "./app.js";
import { chartBox, color, highest, makeChart } from "./chart.js";
import { add, h, shorten } from "./dom.js";
import type { PaddingRow } from "./findings.js";
import { bytes, count, mb, number, percent, shape, shapeText } from "./format.js";
import { foldedName, opLink, placeOf } from "./links.js";
import { nameOf, type Names } from "./names.js";
import { saved } from "./save.js";
import { table, type Cell } from "./tables.js";

export class Padding {
  readonly element: HTMLElement | null;
  private readonly place = chartBox("Chart of the padding of live DRAM tensors");
  private chart: uPlot | null = null;
  private live: { logical: Float64Array; stored: Float64Array } | null = null;
  private padding = new Float64Array();
  private names: Names | null = null;
  private unit = 1; // bytes

  constructor(private readonly app: App) {
    this.element = app.model.findings.padding.top.length ? h("div", {}) : null;
    app.onChange((_view, changed) => {
      if ("from" in changed || "to" in changed) this.redraw();
    });
  }

  async start(names: Names): Promise<void> {
    if (!this.element) return;
    this.names = names;
    this.live = await this.app.model.live("DRAM");
    // The JSON files of a report hold no frees: what is alive when is not in them.
    const { logical, stored } = this.live;
    this.padding = stored.map((size, op) => size - logical[op]);
    if (this.app.model.facts.rebuilt === undefined && this.padding.some((v) => v > 0)) this.draw(this.padding);
    add(this.element, this.rows(names));
  }

  // The padding alone: it is often too little beside what it is added to.
  private draw(padding: Float64Array): void {
    const item = (kind: string, text: string) => h("li", {}, h("span", { class: `key key-${kind}`, "aria-hidden": true }), text);
    const figure = h("div", {}, this.place.box, h("ul", { class: "legend" }, item("padded", "padding of live DRAM tensors to tiles and pages")));
    add(this.element!, saved(this.app, figure, "Padding of live DRAM tensors"));
    let top = 0;
    for (const value of padding) top = Math.max(top, value);
    // The axis counts in the unit of its highest value: round numbers of bytes are odd numbers of MB.
    const [unit, name] = top >= 2 ** 31 ? [2 ** 30, "GB"] : top >= 2 ** 21 ? [2 ** 20, "MB"] : [2 ** 10, "KB"];
    this.unit = unit;
    this.chart = makeChart(this.app, this.place.host, {
      label: "Padding",
      height: 200,
      series: [{ label: "padding", stroke: () => color("padded"), width: 1.5, fill: () => color("padded-soft") }],
      value: (v) => `${number(v)} ${name}`,
      top: () => (top / unit) * 1.1,
      tip: (x) => this.tip(x),
      click: (x) => this.app.select(Math.round(x)),
    });
    this.redraw();
  }

  private rows(names: Names): HTMLElement {
    const padded = ({ index, result }: PaddingRow): string => {
      const layout = index === null ? null : names.types[names.texts.outputs[names.ops.text[index]][result]]?.layout;
      return layout ? ` → ${shape(layout.padded_shape)}` : "";
    };
    const cells = (row: PaddingRow, name: Node, n: number, op: Node, times: string): Cell[] => [name, h("span", { class: "mono" }, `${shapeText(row.shape)}${padded(row)} ${row.dtype ?? ""}`), mb(row.unpadded_MB * n), mb(row.padded_MB * n), mb(row.overhead_MB * n), percent(row.overhead_MB, row.padded_MB), times, op];
    return table(
      "Results with most padding",
      [["tensor or place"], ["shape → padded"], ["logical, MB per chip", "num"], ["padded", "num"], ["padding", "num"], ["of padded", "num"], ["times", "num"], ["operation"]],
      this.app.model.findings.padding.top.map((row) => ({
        name: row.name,
        places: row.places,
        cells: cells(row, foldedName(row.name, row.places), row.places, opLink(this.app, row), count(row.times)),
        members: () => (row.members ?? []).map((one) => cells(row, foldedName(placeOf(one), 1), 1, opLink(this.app, one), "")),
      })),
    );
  }

  redraw(): void {
    if (!this.chart) return;
    const { padding } = this;
    const { from, to } = this.app.range();
    const at = highest(padding, Math.max(0, Math.floor(from)), Math.min(padding.length, Math.ceil(to) + 1), 2000);
    this.chart.setData([at, at.map((i) => padding[i] / this.unit)]);
  }

  private tip(x: number): { x: number; top: number; rows: Node[] } | null {
    if (!this.live || !this.names) return null;
    const { logical, stored } = this.live;
    const op = Math.max(0, Math.min(stored.length - 1, Math.round(x)));
    return { x: op, top: 8, rows: [h("div", { class: "tip-op" }, `after #${op} `, h("b", {}, shorten(nameOf(this.names, op), 60))), h("div", {}, `logical size ${bytes(logical[op])}, padded ${bytes(stored[op])}`), h("div", { class: "muted" }, `padding ${bytes(stored[op] - logical[op])} (${percent(stored[op] - logical[op], stored[op])} of padded)`)] };
  }
}
