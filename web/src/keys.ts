// SPDX-License-Identifier: Apache-2.0
// The keyboard, and the sheet that explains it.
import type { App } from "./app.js";
import { h } from "./dom.js";
import type { Find } from "./find.js";
import { MEMORIES } from "./findings.js";
import type { OpTable } from "./optable.js";
import type { Timeline } from "./timeline.js";

const KEYS: [string, string][] = [
  ["← →", "previous, next operation"],
  ["↑ ↓", "the same in the order of the table, when it has the focus"],
  ["/", "find operations, tensors, weights, modules, files, IR"],
  ["f", "search the table of operations"],
  ["Escape", "close the details, then leave the search"],
  ["1 2 3 4", "DRAM, L1, L1_SMALL, TRACE"],
  ["p", "go to the operation that raised the peak"],
  ["i", "go to the operation that failed"],
  ["+ − 0", "zoom in, zoom out, show all"],
  ["b", "tables per bank, per chip"],
  ["g", "jump to the selected operation in the IR"],
  ["c", "the cores at the selected operation"],
  ["PgUp PgDn", "previous, next program, in the grid of the cores"],
  ["t", "light or dark"],
  ["?", "this sheet"],
];

export function makeHelp(keys = KEYS, link = "#op=1234&mem=DRAM"): HTMLDialogElement {
  const list = h("dl", { class: "keys" });
  for (const [key, what] of keys) list.append(h("dt", {}, h("kbd", {}, key)), h("dd", {}, what));
  const dialog = h("dialog", { id: "help", "aria-labelledby": "help-title" }, h("h2", { id: "help-title" }, "Keys"), list, h("p", { class: "hint" }, `A link to what you see is in the address bar: ${link}.`), h("form", { method: "dialog" }, h("button", {}, "Close")));
  return dialog;
}

export function listen(app: App, timeline: Timeline | null, table: OpTable, find: Find, help: HTMLDialogElement, toggleTheme: () => void): void {
  const step = (by: number): void => {
    const { op } = app.view;
    const last = app.model.facts.elements - 1;
    const next = op === null ? 0 : Math.max(0, Math.min(last, op + by));
    app.select(next);
    app.reveal(next);
  };
  const goTo = (op: number | null | undefined): void => {
    if (op === null || op === undefined || op < 0) return;
    app.select(op);
    app.reveal(op);
  };
  const peak = (): void => {
    const { memory } = app.view;
    goTo(app.model.findings.peak[memory]?.caused_by?.index ?? app.model.facts.peaks[memory]?.element);
  };
  const actions: Record<string, () => void> = {
    ArrowLeft: () => step(-1),
    ArrowRight: () => step(1),
    "/": () => find.open(),
    f: () => {
      table.search.focus();
      table.search.select();
    },
    "?": () => help.showModal(),
    p: peak,
    i: () => goTo(app.model.findings.incidents.find((x) => x.operation?.index != null)?.operation?.index),
    "+": () => timeline?.zoomBy(0.5),
    "=": () => timeline?.zoomBy(0.5),
    "-": () => timeline?.zoomBy(2),
    "0": () => app.zoom(null),
    g: () => app.view.op !== null && void app.showIr.open(app.view.op),
    c: () => app.view.op !== null && app.showCores.of(app.view.op),
    b: () => app.set({ per: app.view.per === "bank" ? "chip" : "bank" }),
    t: toggleTheme,
  };
  MEMORIES.forEach((memory, i) => (actions[String(i + 1)] = () => app.set({ memory })));
  const inTable = (event: KeyboardEvent): (() => void) | undefined => ((event.key === "ArrowUp" || event.key === "ArrowDown") && table.hasFocus ? () => table.step(event.key === "ArrowUp" ? -1 : 1) : undefined);
  listenFor(actions, () => app.select(null), inTable);
}

// Calls the action of a key, unless something is being typed. `escape` closes what is open; `special` has actions that depend on the focus.
export function listenFor(actions: Record<string, () => void>, escape: () => void, special: (event: KeyboardEvent) => (() => void) | undefined = () => undefined): void {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const target = event.target as HTMLElement;
    const typing = target.matches("input, select, textarea");
    if (event.key === "Escape") {
      if (typing) target.blur();
      else escape();
      return;
    }
    if (typing) return;
    if (target.getAttribute("role") === "tab" && event.key.startsWith("Arrow")) return;
    const action = special(event) ?? actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}

// Left and right move between the tabs of a list, as screen readers expect.
export function tabKeys(list: Element): void {
  list.addEventListener("keydown", (event) => {
    const { key } = event as KeyboardEvent;
    if (key !== "ArrowLeft" && key !== "ArrowRight") return;
    const tabs = [...list.querySelectorAll<HTMLElement>("[role=tab]")];
    const at = tabs.indexOf(document.activeElement as HTMLElement);
    if (at < 0) return;
    event.preventDefault();
    const next = tabs[(at + (key === "ArrowLeft" ? -1 : 1) + tabs.length) % tabs.length];
    next.focus();
    next.click();
  });
}
