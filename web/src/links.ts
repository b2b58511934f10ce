// SPDX-License-Identifier: Apache-2.0
// From a finding to its place: operations, log lines and stretches of the chart as links and buttons; and how sure a number is.
import type { App } from "./app.js";
import { add, h, shorten, visible } from "./dom.js";
import type { Basis, OpRef } from "./findings.js";
import { count, shortPlace } from "./format.js";

// What a link in a sentence leads to.
export interface Linked {
  readonly model: { readonly facts: { readonly elements: number } };
  select(op: number): void;
  showLine(line: number): Promise<void>;
}

type Children = (Node | string | null | undefined | false)[];

// Links, because only they wrap like the text around them; the address follows by itself.
function link(href: string, attributes: Record<string, string | number>, text: string, go: () => void): HTMLElement {
  const follow = (event: Event): void => {
    event.preventDefault();
    go();
  };
  return h("a", { href, ...attributes, click: follow }, text);
}

const opAnchor = (app: Linked, index: number, text: string): HTMLElement => link(`#op=${index}`, { "data-op": index }, text, () => app.select(index));

// A line of the log: the page has no log, so it shows the operation that had begun there.
const lineAnchor = (app: Linked, line: number, text: string): HTMLElement => link("#", { "data-log-line": line, title: "Show this moment in the chart" }, text, () => void app.showLine(line));

// A sentence whose operations and log lines are links; its text stays as it is.
export function linked(app: Linked, text: string): HTMLElement {
  const box = h("span", {});
  let at = 0;
  for (const match of text.matchAll(/#(\d+)( [\w.]+)?|log line (\d+)/g)) {
    const [all, op, , line] = match;
    if (op !== undefined && Number(op) >= app.model.facts.elements) continue;
    add(box, visible(text.slice(at, match.index)), op !== undefined ? opAnchor(app, Number(op), all) : lineAnchor(app, Number(line), all));
    at = match.index + all.length;
  }
  add(box, visible(text.slice(at)));
  return box;
}

// What an operation is called: the weight it brings, or its location.
export const placeOf = (op: Partial<OpRef>): string => op.weight ?? op.loc ?? "";

export function opLink(app: Linked, op: Partial<OpRef>): HTMLElement {
  const name = shorten(op.mlir_op ?? "?", 80);
  return op.index == null ? h("span", { class: "mono" }, name) : h("span", { class: "mono" }, opAnchor(app, op.index, `#${op.index} ${name}`));
}

// The operation over its place, as tables show it.
export function opCell(app: Linked, op: OpRef): HTMLElement {
  return h("span", { class: "op-cell" }, opLink(app, op), h("span", { class: "mono muted", title: shorten(placeOf(op), 300) }, shorten(shortPlace(placeOf(op)), 90)));
}

export const lineLink = (app: Linked, line: number): HTMLElement => (line > 0 ? lineAnchor(app, line, `log line ${line}`) : h("span", {}));

// A stretch of operations in the chart.
export function rangeButton(app: App, from: number, to: number, text: string): HTMLElement {
  return h("button", { type: "button", class: "small", "data-from": from, "data-to": to, click: () => app.showRange(from, to) }, text);
}

// "model.layers.*.mlp.up_proj.weight ×18"; "N/A" is what has no place.
export function foldedName(name: string, places: number): HTMLElement {
  if (name === "N/A") name = "–";
  return h("span", { class: "folded" }, h("span", { class: "mono", title: shorten(name, 300) }, shorten(shortPlace(name), 90)), places > 1 && h("b", { class: "times" }, ` ×${count(places)}`));
}

const MEANING: Record<Basis, string> = {
  measured: "printed in the log",
  derived: "follows from numbers printed in the log",
  estimated: "rests on an assumption that the log does not prove",
  predicted: "what a module says would happen; nobody ran it",
};

export function basisMark(basis: Basis): HTMLElement {
  return h("span", { class: `basis basis-${basis}`, "data-basis": basis, title: MEANING[basis] ?? "" }, basis);
}

// A part of the page with its heading.
export function section(id: string, title: string, ...children: Children): HTMLElement {
  return h("section", { id, class: "card", "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, title), ...children);
}
