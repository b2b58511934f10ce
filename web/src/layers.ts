// SPDX-License-Identifier: Apache-2.0
// The repeating block: its layers in the order of execution, and one of them operation by operation.
import type { App } from "./app.js";
import { add, h, shorten } from "./dom.js";
import { figure, unit } from "./figures.js";
import type { Layers } from "./findings.js";
import { count, counted } from "./format.js";
import { opLink, rangeButton } from "./links.js";
import { nameOf, outputsOf, placeOf, type Names } from "./names.js";
import { saved } from "./save.js";
import { table, type Cell } from "./tables.js";

const MOST_BLOCKS = 200;

interface Span {
  from: number;
  to: number;
  odd: boolean;
}

// First and last operation of each layer, where the layers follow each other without a gap; else nothing.
function layerSpans({ first, last, odd, ...layers }: Layers): Span[] {
  const sizes = Array.from({ length: layers.count + layers.odd_count }, (_, i) => odd.find((o) => o.layer === i)?.operations ?? layers.operations);
  if (first.index === null || last.index === null || sizes.reduce((a, b) => a + b, 0) !== last.index - first.index + 1) return [];
  let at = first.index;
  return sizes.map((size, i) => ({ from: at, to: (at += size) - 1, odd: odd.some((o) => o.layer === i) }));
}

function strip(app: App, spans: Span[]): HTMLElement {
  const list = h("ol", { class: "layer-strip", "aria-label": "Layers in the order of execution" });
  spans.forEach(({ from, to, odd }, i) => add(list, h("li", {}, h("button", { type: "button", class: odd ? "layer odd" : "layer", "data-layer": i, title: `layer ${i}: operations ${count(from)} to ${count(to)}`, click: () => app.showRange(from, to) }, String(i)))));
  return list;
}

export class LayerBlocks {
  readonly element: HTMLElement | null = null;
  private readonly spans: Span[] = [];

  constructor(private readonly app: App) {
    const { layers } = app.model.findings;
    if (!layers) return;
    this.spans = layerSpans(layers);
    if (this.spans.length) this.element = h("div", {}, this.spans.length <= MOST_BLOCKS && saved(app, strip(app, this.spans), "Layers in the order of execution"));
  }

  // One layer, operation by operation: the first that is like the others.
  async start(names: Names): Promise<void> {
    const span = this.spans.find((s) => !s.odd);
    if (!this.element || !span) return;
    const { from, to } = span;
    const deltas = await this.app.model.deltas("DRAM");
    const rows: Cell[][] = [];
    for (let op = from; op <= to && rows.length < 200; op++) rows.push([opLink(this.app, { index: op, mlir_op: nameOf(names, op) }), h("span", { class: "mono" }, shorten(placeOf(names, op), 90)), h("span", { class: "mono" }, shorten(outputsOf(names, op).join(", "), 60)), Number.isNaN(deltas[op]) ? "–" : figure(this.app, deltas[op] / 1000, "DRAM", true)]);
    add(this.element, h("details", {}, h("summary", {}, `One layer: ${counted(to - from + 1, "operation")}`), table("Operations of one layer", [["operation"], ["place"], ["output"], [h("span", {}, "DRAM delta, ", unit(this.app)), "num"]], rows), rangeButton(this.app, from, to, "Show this layer in the chart")));
  }
}
