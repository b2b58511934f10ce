// SPDX-License-Identifier: Apache-2.0
// Statements laid out. Their words are written once, in src/analyze/tell_*.c, for every surface of ttmem; here they only get a place.
import type { App } from "./app.js";
import { add, h } from "./dom.js";
import type { Point, Severity, Statement } from "./findings.js";
import { figure, unit, type Counting } from "./figures.js";
import { basisMark, linked, section, type Linked } from "./links.js";

const MARK: Record<Severity, string> = { failure: "✕", warning: "▲", note: "•", ok: "✓", unknown: "?" };

export const mark = (severity: Severity): HTMLElement => h("span", { class: `mark mark-${severity}`, role: "img", "aria-label": severity }, MARK[severity] ?? "•");

// What statements refer to and how they count.
export type Speaker = Linked & Counting;

// Evidence, row by row, each with what it stands for: figures are of DRAM.
export function points(app: Speaker, s: Statement, more: (i: number) => HTMLElement | null = () => null): HTMLElement | null {
  if (!s.points?.length) return null;
  const row = (point: Point, i: number): HTMLElement => h("li", {}, point.per_bank_MB === undefined ? h("span", { "aria-hidden": true }, "–") : figure(app, point.per_bank_MB, "DRAM"), h("div", {}, linked(app, point.text), more(i)));
  const figures = s.points.some((point) => point.per_bank_MB !== undefined);
  return h("div", {}, figures && h("p", { class: "hint" }, unit(app)), h("ul", { class: figures ? "points figures" : "points" }, ...s.points.map(row)));
}

// Headline, detail and evidence; `exhibit` stands for the evidence where it shows the same: null for no evidence at all.
export function statement(app: Speaker, s: Statement, exhibit: HTMLElement | null = points(app, s)): HTMLElement {
  const basis = s.basis !== "measured" && s.severity !== "ok" && s.severity !== "unknown";
  return h(
    "div",
    { class: "statement", "data-statement": s.id, "data-number": s.number ?? 0, "data-severity": s.severity },
    h("p", { class: "statement-head" }, mark(s.severity), h("span", {}, h("span", { class: "headline" }, linked(app, s.headline)), basis && " ", basis && basisMark(s.basis))),
    s.detail && h("p", { class: "detail" }, linked(app, s.detail)),
    exhibit,
  );
}

const isLoud = (s: Statement): boolean => s.severity !== "ok" && s.severity !== "unknown";

// The card of a topic: its statements, each with what `exhibit` has for it (undefined: its evidence), and what shows all of them. Null when
// there is nothing but "not there" and "unknown": those are together at the end of the page.
export function topic(app: App, name: string, exhibit: (s: Statement) => HTMLElement | null | undefined = () => undefined, ...tail: (HTMLElement | null)[]): HTMLElement | null {
  const all = app.model.statements(name);
  if (!all.some(isLoud) && !tail.some(Boolean)) return null;
  const box = section(name, app.model.facts.topics[name] ?? name, ...all.map((s) => statement(app, s, exhibit(s))), ...tail);
  if (all.some((s) => s.severity === "warning")) box.dataset.warning = "";
  return box;
}

// What was looked for and is not there, and what this input cannot tell.
export function others(app: App, main: HTMLElement): HTMLElement | null {
  const list = h("ul", { class: "others" });
  for (const [name, title] of Object.entries(app.model.facts.topics)) {
    if (main.querySelector(`#${name}`)) continue;
    for (const s of app.model.statements(name)) add(list, h("li", {}, h("span", { class: "muted" }, title), statement(app, s)));
  }
  return list.children.length ? section("others", "Other checks", list) : null;
}

// Every fix, the best first.
export function fixes(app: App): HTMLElement | null {
  const all = app.model.findings.fixes;
  if (!all.length) return null;
  return section("fixes", "Fixes", h("ol", { class: "fixes" }, ...all.map((fix) => h("li", { "data-fix": fix.kind }, linked(app, fix.text), fix.paste ? h("pre", {}, fix.paste) : null))));
}
