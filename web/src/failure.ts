// SPDX-License-Identifier: Apache-2.0
// What failed, drawn to scale: the statements of the failures with the picture of "why not" and the runtime's own message.
import type { App } from "./app.js";
import { barList, type Bar } from "./bars.js";
import { corePicture } from "./core.js";
import { add, h, longText } from "./dom.js";
import type { Incident, Statement } from "./findings.js";
import { bytes, count, counted } from "./format.js";
import { lineLink } from "./links.js";
import { saved } from "./save.js";
import { statement } from "./statements.js";

const MOST = 50;

// Needed, largest block and free on one scale.
function needBars(incident: Incident): HTMLElement | null {
  const rows: [string, number | null, string][] = [
    ["needed in one block", incident.needed_per_bank_B, "failure"],
    ["largest free block", incident.largest_free_block_B, "largest"],
    ["free", incident.free_per_bank_B, "free"],
  ];
  const bars = rows.flatMap(([label, value, kind]): Bar[] => (value === null ? [] : [{ label, value, text: bytes(value), kind }]));
  return bars.length < 2 ? null : barList(bars);
}

function coresButton(app: App, { operation }: Incident): HTMLElement | null {
  const op = operation?.index;
  return op == null || !app.model.facts.cores ? null : h("button", { type: "button", class: "small", click: () => app.showCores.of(op) }, "Show it core by core");
}

function card(app: App, s: Statement, i: number, ...more: HTMLElement[]): HTMLElement {
  const incident = app.model.findings.incidents[i];
  const core = app.model.facts.incidents[i]?.core;
  const box = h("article", { class: "failure", "aria-label": "Failure" }, statement(app, s), ...more);
  if (!incident) return box;
  const bars = needBars(incident);
  add(box, bars && saved(app, bars, "Failed allocation"), core && saved(app, corePicture(core), "L1 of one core at the failure"), core && coresButton(app, incident));
  add(box, h("details", { class: "message" }, h("summary", {}, `Message${incident.copies > 1 ? `, printed ${count(incident.copies)} times` : ""}`), longText(incident.text), " ", lineLink(app, incident.line)));
  return box;
}

export function failures(app: App): HTMLElement | null {
  const all = app.model.statements("failure").filter((s) => s.severity === "failure");
  if (!all.length) return null;
  // Statements of messages stand first, in the order of the messages. The one that ran out of memory tells most; the rest is often its echo.
  const messages = app.model.findings.incidents.length;
  const order = all.slice(0, messages).map((s, i) => ({ s, i })).sort((a, b) => Number(a.s.id === "fatal") - Number(b.s.id === "fatal"));
  const general = all.slice(messages);
  const box = h("section", { id: "failure", "aria-label": app.model.facts.topics.failure });
  if (order.length) add(box, card(app, order[0].s, order[0].i, ...general.map((s) => statement(app, s))));
  else add(box, h("article", { class: "failure", "aria-label": "Failure" }, ...general.map((s) => statement(app, s))));
  if (order.length > 1) {
    const rest = h("details", { class: "more-failures" }, h("summary", {}, counted(order.length - 1, "more failure")));
    for (const { s, i } of order.slice(1, MOST + 1)) add(rest, card(app, s, i));
    if (order.length > MOST + 1) add(rest, h("p", { class: "muted" }, `and ${count(order.length - MOST - 1)} more in findings.json`));
    add(box, rest);
  }
  return box;
}
