// SPDX-License-Identifier: Apache-2.0
// Tile padding: what the live DRAM tensors hold against what they take, over the run, and the results that waste most.
import uPlot from "uplot";
import type { App } from "./app.js";
import { color, makeChart, placeTip } from "./chart.js";
import { add, h, replace, shorten } from "./dom.js";
import { bytes, column, count, counted, number, percent, shape, shapeText } from "./format.js";
import { nameOf, type Names } from "./names.js";
import { opLink } from "./links.js";
import { table } from "./tables.js";

export class Padding {
  readonly element: HTMLElement;
  private readonly host = h("div", { class: "chart", role: "img", "aria-label": "Chart of live DRAM tensors, without and with padding" });
  private readonly tip = h("div", { class: "tip", hidden: true });
  private readonly rows = h("div", {});
  private chart: uPlot | null = null;
  private live: { logical: Float64Array; stored: Float64Array } | null = null;
  private names: Names | null = null;
  private unit = 1; // bytes

  constructor(private readonly app: App) {
    const { at_peak: at, highest_overhead_pct: highest } = app.model.findings.padding;
    const told = app.model.typesKnown && app.model.findings.peak.DRAM !== null && app.model.facts.rebuilt !== "rough";
    this.element = h(
      "section",
      { id: "padding", class: "card", "aria-labelledby": "padding-title" },
      h("h2", { id: "padding-title" }, "Tile padding"),
      told && at.tensors > 0 && h("p", { class: "hint", "data-key": "padding-sum" }, `At the DRAM peak ${counted(at.tensors, "live tensor")} hold${at.tensors === 1 ? "s" : ""} ${bytes(at.unpadded_MB * 1048576)} and take${at.tensors === 1 ? "s" : ""} ${bytes(at.padded_MB * 1048576)}: ${bytes(at.overhead_MB * 1048576)} is padding, ${percent(at.overhead_pct, 100)} on top; at any moment at most ${percent(highest, 100)}.`),
      h("div", { class: "chart-box" }, this.host, this.tip),
      h("ul", { class: "legend" }, h("li", {}, h("span", { class: "key key-logical", "aria-hidden": true }), "logical bytes"), h("li", {}, h("span", { class: "key key-padded", "aria-hidden": true }), "padded to tiles and pages")),
      this.rows,
    );
    this.host.addEventListener("mouseleave", () => (this.tip.hidden = true));
    this.showRows();
    app.onChange((_view, changed) => {
      if ("from" in changed || "to" in changed) this.redraw();
    });
  }

  private showRows(): void {
    const top = this.app.model.findings.padding.top;
    if (!top.length) return replace(this.rows, h("p", { class: "muted" }, this.app.model.typesKnown ? "No result is padded." : this.app.model.unknown));
    const padded = (index: number | null, result: number): string => {
      const layout = index === null || !this.names ? null : this.names.types[this.names.texts.outputs[this.names.ops.text[index]][result]]?.layout;
      return layout ? shape(layout.padded_shape) : "";
    };
    replace(
      this.rows,
      h("h3", {}, "Most padding"),
      table(
        "Results with most padding",
        [["operation"], ["location"], ["logical"], ["padded"], ["logical MB", "num"], ["padded MB", "num"], ["overhead MB", "num"], ["overhead", "num"], ["times", "num"]],
        top.map((row) => {
          const share = h("span", { class: row.overhead_pct > 100 ? "grave" : row.overhead_pct > 50 ? "warn" : "" }, `${number(Math.round(row.overhead_pct * 10) / 10)} %`);
          return [opLink(this.app, row), h("span", { class: "mono" }, shorten(row.loc ?? "", 60)), h("span", { class: "mono" }, `${shapeText(row.shape)} ${row.dtype ?? ""}`), h("span", { class: "mono" }, padded(row.index, row.result)), column(row.unpadded_MB), column(row.padded_MB), column(row.overhead_MB), share, count(row.times)];
        }),
      ),
    );
  }

  async start(names: Names): Promise<void> {
    this.names = names;
    this.showRows();
    this.live = await this.app.model.live("DRAM");
    const rebuilt = this.app.model.facts.rebuilt !== undefined;
    if (rebuilt || !this.live.stored.some((v) => v > 0)) {
      this.element.querySelector(".legend")?.remove();
      const why = rebuilt ? "Padding over time cannot be told without the log." : "No live DRAM tensor is named.";
      this.host.parentElement?.replaceWith(h("p", { class: "muted" }, this.app.model.typesKnown ? why : ""));
      return;
    }
    let top = 0;
    for (const value of this.live.stored) top = Math.max(top, value);
    // The axis counts in the unit of its highest value: round numbers of bytes are odd numbers of MB.
    const [unit, name] = top >= 2 ** 31 ? [2 ** 30, "GB"] : top >= 2 ** 21 ? [2 ** 20, "MB"] : [2 ** 10, "KB"];
    this.unit = unit;
    this.chart = makeChart(this.host, {
      label: "Tile padding",
      height: 220,
      series: [
        { label: "padded", stroke: () => color("padded"), width: 1.5, fill: () => color("padded-soft"), points: { show: false } },
        { label: "logical", stroke: () => color("logical"), width: 1.5, fill: () => color("logical-soft"), points: { show: false } },
      ],
      value: (v) => `${number(v)} ${name}`,
      top: () => (top / unit) * 1.1,
      hover: (u, x) => this.hover(u, x),
      click: (x) => this.app.select(Math.round(x)),
      zoom: (range) => this.app.zoom(range),
      all: () => this.app.all(),
      view: () => this.app.range(),
    });
    this.redraw();
  }

  redraw(): void {
    if (!this.chart || !this.live) return;
    const { from, to } = this.app.range();
    const first = Math.max(0, Math.floor(from));
    const end = Math.min(this.live.stored.length, Math.ceil(to) + 1);
    const step = Math.max(1, Math.floor((end - first) / 2000));
    const x: number[] = [];
    const padded: number[] = [];
    const logical: number[] = [];
    for (let i = first; i < end; i += step) {
      let best = i; // the fullest of each step: peaks must not fall between two points
      for (let k = i; k < Math.min(i + step, end); k++) if (this.live.stored[k] > this.live.stored[best]) best = k;
      x.push(best);
      padded.push(this.live.stored[best] / this.unit);
      logical.push(this.live.logical[best] / this.unit);
    }
    this.chart.setData([x, padded, logical]);
  }

  private hover(u: uPlot, x: number | null): void {
    if (x === null || !this.live || !this.names) {
      this.tip.hidden = true;
      return;
    }
    const op = Math.max(0, Math.min(this.live.stored.length - 1, Math.round(x)));
    const { logical, stored } = this.live;
    replace(this.tip, h("div", { class: "tip-op" }, `after #${count(op)} `, h("b", {}, shorten(nameOf(this.names, op), 60))));
    add(this.tip, h("div", {}, `${bytes(logical[op])} logical, ${bytes(stored[op])} padded`), h("div", { class: "tip-muted" }, `padding ${bytes(stored[op] - logical[op])} (${percent(stored[op] - logical[op], logical[op])})`));
    placeTip(this.tip, u, op, 8);
  }
}
