// SPDX-License-Identifier: Apache-2.0
// Bars that are drawn with elements: lengths on one scale, for lists and for cells of tables.
import { add, h } from "./dom.js";

export interface Bar {
  label: string;
  value: number;
  text: string;
  note?: string; // after the text, fainter
  kind: string; // of the style sheet: bar-KIND
  attributes?: Record<string, string>;
}

const width = (element: HTMLElement, value: number, top: number): HTMLElement => {
  element.style.width = `${top > 0 ? Math.min(100, Math.max(0.4, (value / top) * 100)) : 0}%`;
  return element;
};

// Labelled bars under each other, `top` as long as there is room; of the longest when not given.
export function barList(bars: Bar[], top = bars.reduce((most, bar) => Math.max(most, bar.value), 0)): HTMLElement {
  const list = h("dl", { class: "bars" });
  for (const { label, value, text, note, kind, attributes } of bars) {
    const track = h("span", { class: "bar-track" }, width(h("span", { class: `bar-fill bar-${kind}` }), value, top));
    add(list, h("dt", {}, label), h("dd", attributes ?? {}, track, h("span", { class: "num" }, text, note && h("span", { class: "muted" }, ` ${note}`))));
  }
  return list;
}

// A bar that fills its part of a table's cell.
export const cellBar = (value: number, top: number): HTMLElement => width(h("span", { class: "cell-bar" }), value, top);
