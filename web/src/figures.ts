// SPDX-License-Identifier: Apache-2.0
// Figures of tables, per bank as the allocator counts or per chip as people do: one switch for all of them.
import { h } from "./dom.js";
import type { Memory } from "./findings.js";
import { mb, signed } from "./format.js";
import type { BaseView, Viewed } from "./view.js";

// How the tables of a page count.
export type Counting = Pick<Viewed<BaseView>, "view" | "scaled">;

function draw(app: Counting, element: HTMLElement): void {
  const { mb: value, memory, signed: sign } = element.dataset;
  const megabytes = app.scaled(Number(value), memory as Memory);
  element.textContent = sign === undefined ? mb(megabytes) : signed(megabytes);
}

// MB of one bank in the unit that was chosen.
export function figure(app: Counting, perBank: number, memory: Memory, withSign = false): HTMLElement {
  const element = h("span", { class: "figure num", "data-mb": perBank, "data-memory": memory, "data-signed": withSign });
  draw(app, element);
  return element;
}

const unitOf = (app: Counting): string => `MB per ${app.view.per}`;
export const unit = (app: Counting): HTMLElement => h("span", { class: "unit" }, unitOf(app));

export function unitSwitch<V extends BaseView>(app: Viewed<V>): HTMLElement {
  const box = h("div", { class: "tabs", role: "group", "aria-label": "Figures of tables" });
  for (const per of ["bank", "chip"] as const) box.append(h("button", { type: "button", "data-per": per, "aria-pressed": String(app.view.per === per), click: () => app.set({ per } as Partial<V>) }, `per ${per}`));
  app.onChange((view, changed) => {
    if (!("per" in changed)) return;
    for (const button of box.children) button.setAttribute("aria-pressed", String((button as HTMLElement).dataset.per === view.per));
    for (const element of document.querySelectorAll<HTMLElement>(".figure")) draw(app, element);
    for (const element of document.querySelectorAll(".unit")) element.textContent = unitOf(app);
  });
  return box;
}
