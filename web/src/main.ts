// SPDX-License-Identifier: Apache-2.0
// Builds the page: first what the eye needs (incident, numbers, chart), then the rest while the browser still reads the file.
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { App } from "./app.js";
import { l1PerCore } from "./core.js";
import { Details } from "./details.js";
import { add, h, replace } from "./dom.js";
import { count } from "./format.js";
import { Fragmentation } from "./fragmentation.js";
import { glance } from "./glance.js";
import { incidents } from "./incident.js";
import { Ir } from "./ir.js";
import { listen, makeHelp, tabKeys } from "./keys.js";
import { lateFrees } from "./late.js";
import { LayersPart } from "./layers.js";
import { Model } from "./model.js";
import { loadNames } from "./names.js";
import { OpTable } from "./optable.js";
import { advice, facts, header, notes } from "./overview.js";
import { Padding } from "./padding.js";
import { peaks } from "./peaks.js";
import { runs } from "./runs.js";
import { consumers, distribution, weights } from "./tables.js";
import { toggleTheme, watchTheme } from "./theme.js";
import { Timeline } from "./timeline.js";
import { waste } from "./waste.js";

const SECTIONS: [string, string][] = [
  ["timeline", "Timeline"],
  ["findings", "Findings"],
  ["peaks", "Peaks"],
  ["l1", "L1 core"],
  ["consumers", "Consumers"],
  ["late", "Late frees"],
  ["runs", "Runs and leaks"],
  ["layers", "Layers"],
  ["fragmentation", "Fragmentation"],
  ["waste", "Waste"],
  ["padding", "Padding"],
  ["weights", "Weights"],
  ["distribution", "Distribution"],
  ["operations", "Operations"],
  ["ir", "IR"],
];

// A button for each part that this page has.
function navigation(main: HTMLElement): HTMLElement {
  const list = h("ul", {});
  for (const [id, title] of SECTIONS) {
    if (!main.querySelector(`#${id}`)) continue;
    // No link: the address belongs to the selected operation.
    add(list, h("li", {}, h("button", { type: "button", "data-section": id, click: () => document.getElementById(id)?.scrollIntoView({ block: "start" }) }, title)));
  }
  return h("nav", { class: "nav", "aria-label": "Sections" }, list);
}

async function start(): Promise<void> {
  const root = document.getElementById("app")!;
  const model = await Model.load();
  const app = new App(model);
  const timeline = new Timeline(app);
  const layers = new LayersPart(app);
  const fragmentation = new Fragmentation(app);
  const padding = new Padding(app);
  const table = new OpTable(app);
  const details = new Details(app);
  const ir = new Ir(app);
  const help = makeHelp();

  const redraw = (): void => {
    timeline.redraw();
    fragmentation.redraw();
    padding.redraw();
  };
  const changeTheme = (): void => toggleTheme(redraw);
  watchTheme(redraw);
  const buttons = h("div", { class: "top-buttons" }, h("button", { type: "button", id: "theme", "aria-label": "Light or dark", click: changeTheme }, "◐ Theme"), h("button", { type: "button", id: "help-button", "aria-label": "Keys", click: () => help.showModal() }, "? Keys"));

  const main = h("main", {});
  add(main, incidents(app), notes(app), facts(app), advice(app), timeline.element, glance(app), peaks(app), l1PerCore(app), consumers(app), lateFrees(app), runs(app), layers.element, fragmentation.element, waste(app), padding.element, h("div", { class: "two" }, weights(app), distribution(app)), table.element, ir.empty ? null : ir.element);
  replace(root, header(app, buttons), navigation(main), main, details.element, help, h("footer", {}, `ttmem ${model.facts.version} · MB = 1024 × 1024 bytes · figures per bank unless said otherwise · states are printed before their operation; an effect is the next state minus this one`));
  for (const list of root.querySelectorAll("[role=tablist]")) tabKeys(list);
  listen(app, timeline, table, help, changeTheme);
  exposeForTests(timeline);
  await timeline.start();

  const names = await loadNames(model);
  await Promise.all([timeline.enrich(names), table.start(names), details.start(names)]);
  fragmentation.start();
  await Promise.all([layers.start(names), padding.start(names), ir.empty ? null : ir.start(names)]);
  app.onChange((_view, changed) => {
    if (changed.op != null) timeline.announce(`Operation ${count(changed.op)} selected`);
  });
  document.documentElement.dataset.ready = "true";
}

// bench/html_bench.mjs and tests/web read how long the redraws took.
function exposeForTests(timeline: Timeline): void {
  Object.assign(window, { ttmemRedraws: () => timeline.takeRedraws() });
}

start().catch((error: unknown) => {
  const root = document.getElementById("app")!;
  replace(root, h("div", { class: "broken", role: "alert" }, h("h1", {}, "This report cannot be shown"), h("p", {}, error instanceof Error ? error.message : String(error)), h("p", {}, "The page needs a browser of 2023 or newer. The same report as text: ttmem --llm --logfile LOG")));
  throw error;
});
