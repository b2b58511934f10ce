// SPDX-License-Identifier: Apache-2.0
// From a finding to its place: operations, log lines and stretches of the chart as buttons; and how sure a number is.
import type { App } from "./app.js";
import { add, h, shorten } from "./dom.js";
import type { Basis, OpRef } from "./findings.js";
import { count, logLine } from "./format.js";

type Children = (Node | string | null | undefined | false)[];

// A button that selects the operation everywhere on the page.
export function opLink(app: App, op: OpRef, limit = 80): HTMLElement {
  const name = shorten(op.mlir_op ?? "?", limit);
  if (op.index === null) return h("span", { class: "mono" }, name, op.line !== null && " (", op.line !== null && lineLink(app, op.line), op.line !== null && ")");
  const index = op.index;
  return h("button", { type: "button", class: "link mono", "data-op": index, click: () => app.select(index) }, `#${count(index)} ${name}`);
}

export function opWithPlace(app: App, op: OpRef): HTMLElement {
  const box = h("span", {}, opLink(app, op));
  if (op.loc) add(box, " at ", h("span", { class: "mono" }, shorten(op.loc, 120)));
  if (op.index !== null && op.line !== null) add(box, h("span", { class: "muted" }, ` (${logLine(op.line)})`));
  return box;
}

// The operation over its location, as tables show it.
export function opCell(app: App, op: OpRef): HTMLElement {
  return h("span", { class: "op-cell" }, opLink(app, op, 60), op.loc && h("span", { class: "mono muted" }, shorten(op.loc, 90)));
}

// A line of the log: the page has no log, so it shows the operation that had begun there.
export function lineLink(app: App, line: number): HTMLElement {
  if (line <= 0) return h("span", {}, logLine(line));
  return h("button", { type: "button", class: "link", "data-log-line": line, title: "Show this moment in the chart", click: () => void app.showLine(line) }, logLine(line));
}

// A stretch of operations in the chart.
export function rangeButton(app: App, from: number, to: number, text: string): HTMLElement {
  return h("button", { type: "button", class: "small", "data-from": from, "data-to": to, click: () => app.showRange(from, to) }, text);
}

const MEANING: Record<Basis, string> = {
  measured: "printed in the log",
  derived: "follows from numbers printed in the log",
  estimated: "rests on an assumption that the log does not prove",
};

export function basisMark(basis: Basis): HTMLElement {
  return h("span", { class: `basis basis-${basis}`, "data-basis": basis, title: MEANING[basis] ?? "" }, basis);
}

// A part of the page with its heading.
export function section(id: string, title: string, basis: Basis | null, ...children: Children): HTMLElement {
  return h("section", { id, class: "card", "aria-labelledby": `${id}-title` }, h("div", { class: "card-head" }, h("h2", { id: `${id}-title` }, title), basis && basisMark(basis)), ...children);
}

export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
