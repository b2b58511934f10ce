// SPDX-License-Identifier: Apache-2.0
// The page that compares two runs: what changed in words, both timelines over each other, and what makes the difference.
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { Comparison } from "./comparison.js";
import { DiffChart } from "./diff_chart.js";
import { DiffModel, SIDES } from "./diff_model.js";
import { freedElsewhere, liveChanges, onlyInOne, operations } from "./diff_tables.js";
import { add, h, replace, run, shorten } from "./dom.js";
import { unitSwitch } from "./figures.js";
import type { Memory, Statement } from "./findings.js";
import { bytes, counted, mb, percent, signed } from "./format.js";
import { listenFor, makeHelp, tabKeys } from "./keys.js";
import { section } from "./links.js";
import { statement } from "./statements.js";
import { toggleTheme, watchTheme } from "./theme.js";

const KEYS: [string, string][] = [
  ["← →", "previous, next operation"],
  ["N n", "previous, next change: an operation of one run only, or with other results"],
  ["Escape", "close the selected operation"],
  ["1 2 3 4", "DRAM, L1, L1_SMALL, TRACE, as far as there are"],
  ["P p", "go to the peak before, after"],
  ["+ − 0", "zoom in, zoom out, show all"],
  ["b", "tables per bank, per chip"],
  ["t", "light or dark"],
  ["?", "this sheet"],
];

function header(app: Comparison, buttons: HTMLElement): HTMLElement {
  const side = (i: number): HTMLElement => {
    const { name, source } = app.model.facts.sides[i];
    const { operations: n, weight_MB: weights } = app.model.diff[SIDES[i]];
    return h("p", { class: "source", "data-side": SIDES[i] }, h("span", { class: `key key-${SIDES[i]}`, "aria-hidden": true }), ` ${i ? "After" : "Before"} `, h("b", {}, shorten(name, 120)), source !== name && " ", source !== name && h("span", { class: "mono" }, shorten(source, 200)), ` · ${counted(n, "operation")}`, weights > 0 && `, weights ${bytes(weights * 1048576)}`);
  };
  return h("header", { class: "top" }, h("div", { class: "top-text" }, h("h1", {}, shorten(app.model.facts.name, 200)), side(0), side(1)), buttons);
}

// The peaks of both runs, memory by memory.
function facts(app: Comparison): HTMLElement {
  const box = h("dl", { class: "facts" });
  for (const memory of app.model.memories) {
    const { before_per_bank_MB: before, after_per_bank_MB: after, change_MB: change } = app.model.diff.peak[memory];
    const capacity = app.model.facts.memories[memory]![1].capacity_per_bank_MB;
    const figure = (value: number | null): string => (value === null ? "unknown" : mb(value));
    add(
      box,
      h(
        "div",
        { class: "fact", "data-key": `peak.${memory}` },
        h("dt", {}, `${memory} peak`),
        h("dd", {}, h("span", { class: "fact-value" }, change === null ? "unknown" : `${signed(change)} MB`), h("span", { class: "fact-note" }, `${figure(before)} → ${figure(after)} MB per bank`), after !== null && capacity > 0 && h("span", { class: "fact-note" }, `after: ${percent(after, capacity)} of ${mb(capacity)} MB`)),
      ),
    );
  }
  return box;
}

// "diff.fails-before" names operations of the log before; all others those of the log after.
const say = (app: Comparison, s: Statement): HTMLElement => statement(app.speaker(s.id === "diff.fails-before" ? 0 : 1), s);

async function start(): Promise<void> {
  const root = document.getElementById("app")!;
  const model = await DiffModel.load();
  const app = new Comparison(model);
  const chart = model.memories.length ? new DiffChart(app) : null;
  const help = makeHelp(KEYS, "#place=1234&mem=DRAM");
  const redraw = (): void => chart?.redraw();
  watchTheme(redraw);
  const changeTheme = (): void => toggleTheme(redraw);
  const buttons = h("div", { class: "top-buttons" }, unitSwitch(app), h("button", { type: "button", id: "theme", "aria-label": "Light or dark", click: changeTheme }, "◐ Theme"), h("button", { type: "button", id: "help-button", "aria-label": "Keys", click: () => help.showModal() }, "? Keys"));
  const topic = (name: string, title = model.facts.topics[name], ...tail: (HTMLElement | null)[]): HTMLElement | null => {
    const all = model.diff.statements.filter((s) => s.topic === name);
    return all.length || tail.some(Boolean) ? section(name, title, ...all.map((s) => say(app, s)), ...tail) : null;
  };
  const changed = h("div", {});
  const main = h("main", {}, topic("failure", "Result"), facts(app), chart?.element, topic("peak"), topic("growth"), topic("freed_late", undefined, freedElsewhere(app)), topic("alive", "Operations and tensors that make the difference", changed, ...(["DRAM", "L1"] as Memory[]).map((memory) => liveBlock(app, memory)), onlyInOne(app)));
  replace(root, header(app, buttons), main, help, h("footer", {}, `ttmem ${model.facts.version} · MB = 1024 × 1024 bytes · operations are aligned by name, location and results`));
  for (const list of root.querySelectorAll("[role=tablist]")) tabKeys(list);
  listen(app, chart, help, changeTheme);
  Object.assign(window, { ttmemRedraws: () => chart?.takeRedraws() ?? [] }); // bench and tests
  await chart?.start();
  add(changed, await operations(app));
  document.documentElement.dataset.ready = "true";
}

function liveBlock(app: Comparison, memory: Memory): HTMLElement | null {
  const rows = liveChanges(app, memory);
  return rows && h("div", {}, h("h3", {}, `Live tensors at the ${memory} peak`), rows);
}

function listen(app: Comparison, chart: DiffChart | null, help: HTMLDialogElement, changeTheme: () => void): void {
  const step = (by: number): void => app.select(app.view.place === null ? 0 : Math.max(0, Math.min(app.places - 1, app.view.place + by)));
  const zoom = (factor: number) => () => app.zoomAbout(app.view.place, factor);
  const actions: Record<string, () => void> = {
    ArrowLeft: () => step(-1),
    ArrowRight: () => step(1),
    n: () => chart?.stepToChange(1),
    N: () => chart?.stepToChange(-1),
    p: () => chart?.goToPeak(1),
    P: () => chart?.goToPeak(0),
    "+": zoom(0.5),
    "=": zoom(0.5),
    "-": zoom(2),
    "0": () => app.zoom(null),
    b: () => app.set({ per: app.view.per === "bank" ? "chip" : "bank" }),
    t: changeTheme,
    "?": () => help.showModal(),
  };
  app.model.memories.forEach((memory, i) => (actions[String(i + 1)] = () => app.set({ memory })));
  listenFor(actions, () => app.select(null));
}

run(start, "ttmem diff BEFORE AFTER");
