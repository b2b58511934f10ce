// SPDX-License-Identifier: Apache-2.0
// The repeating block: one layer times N, the layers that differ, and what one layer does.
import type { App } from "./app.js";
import { add, h, replace, shorten } from "./dom.js";
import type { Layers } from "./findings.js";
import { count, counted, mb, number, signed } from "./format.js";
import { opLink, opWithPlace, rangeButton, section } from "./links.js";
import { locationOf, nameOf, outputsOf, type Names } from "./names.js";
import { table } from "./tables.js";

const MOST_BLOCKS = 200;

const leftWords = (growth: number): string => (Math.abs(growth) < 0.0005 ? "leaves nothing behind" : `leaves ${mb(growth)} behind`);

export function layerWords(layers: Layers): string {
  const odd = layers.odd_count ? `, and ${count(layers.odd_count)} that ${layers.odd_count === 1 ? "differs" : "differ"}` : "";
  const left = leftWords(layers.growth_per_bank_MB);
  return `${counted(layers.count, "layer")} of ${counted(layers.operations, "operation")} each${odd}. A layer rises ${mb(layers.peak_above_start_per_bank_MB)} per bank above its start and ${left}.`;
}

// First and last operation of each layer, where the layers follow each other without a gap; else nothing.
function layerSpans(layers: Layers): { from: number; to: number; odd: boolean }[] {
  const { first, last, odd } = layers;
  const all = layers.count + layers.odd_count;
  const sizes = Array.from({ length: all }, (_, i) => odd.find((o) => o.layer === i)?.operations ?? layers.operations);
  if (first.index === null || last.index === null || sizes.reduce((a, b) => a + b, 0) !== last.index - first.index + 1) return [];
  let at = first.index;
  return sizes.map((size, i) => ({ from: at, to: (at += size) - 1, odd: odd.some((o) => o.layer === i) }));
}

function strip(app: App, layers: Layers): HTMLElement | null {
  const spans = layerSpans(layers);
  if (!spans.length || spans.length > MOST_BLOCKS) return null;
  const list = h("ol", { class: "layer-strip", "aria-label": "Layers in the order of execution" });
  spans.forEach(({ from, to, odd }, i) => add(list, h("li", {}, h("button", { type: "button", class: odd ? "layer odd" : "layer", "data-layer": i, title: `layer ${i}: operations ${count(from)} to ${count(to)}${odd ? ", differs" : ""}`, click: () => app.showRange(from, to) }, String(i)))));
  return list;
}

export class LayersPart {
  readonly element: HTMLElement;
  private readonly one = h("div", {});
  private readonly layers: Layers | null;

  constructor(private readonly app: App) {
    const layers = (this.layers = app.model.findings.layers ?? null);
    this.element = section("layers", "Layers", layers ? layers.basis : null);
    if (!layers) {
      add(this.element, h("p", { class: "muted" }, app.model.layersKnown ? "No block of operations repeats in the longest run." : app.model.unknown));
      return;
    }
    add(this.element, h("p", { "data-key": "layers" }, layerWords(layers)), strip(app, layers));
    const odd = h("ul", { class: "plain" });
    for (const layer of layers.odd) add(odd, h("li", {}, h("b", {}, `Layer ${count(layer.layer)}`), ` has ${counted(layer.operations, "operation")}`, layer.differs && "; the first that differs is ", layer.differs && opWithPlace(app, layer.differs), layer.peak_above_start_per_bank_MB !== undefined && `; it rises ${mb(layer.peak_above_start_per_bank_MB)} per bank and ${leftWords(layer.growth_per_bank_MB ?? 0)}`, "."));
    if (layers.odd_count > layers.odd.length) add(odd, h("li", { class: "muted" }, `… and ${counted(layers.odd_count - layers.odd.length, "more layer")} that differ.`));
    add(this.element, layers.odd.length > 0 && odd, this.one);
  }

  // One layer, operation by operation: the first that is like the others.
  async start(names: Names): Promise<void> {
    const layers = this.layers;
    const span = layers && layerSpans(layers).find((s) => !s.odd);
    if (!layers || !span) return;
    const { from, to } = span;
    const effects = await this.app.model.effects("DRAM");
    const rows: (Node | string)[][] = [];
    for (let op = from; op <= to && rows.length < 200; op++) {
      const effect = effects[op];
      rows.push([opLink(this.app, { index: op, mlir_op: nameOf(names, op), loc: null, line: null }, 60), h("span", { class: "mono" }, shorten(locationOf(names, op), 90)), h("span", { class: "mono" }, shorten(outputsOf(names, op).join(", "), 60)), Number.isNaN(effect) ? "–" : h("span", { class: effect > 0 ? "plus" : effect < 0 ? "minus" : "muted" }, signed(effect))]);
    }
    replace(this.one, h("details", {}, h("summary", {}, `One layer × ${number(layers.count)}: its ${counted(to - from + 1, "operation")}`), table("Operations of one layer", [["operation"], ["location"], ["result"], ["DRAM effect, MB per bank", "num"]], rows), rangeButton(this.app, from, to, "Show this layer in the chart")));
  }
}
