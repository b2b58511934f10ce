// SPDX-License-Identifier: Apache-2.0
// Builds the page: first what the eye needs (failure, numbers, chart), then the rest while the browser still reads the file.
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { onPart, setPart } from "./address.js";
import { App } from "./app.js";
import { BlockMap } from "./blockmap.js";
import { consumers, distribution, freedLate, waste, weights } from "./consumers.js";
import { fullestCore } from "./core.js";
import { CoreGrid } from "./core_grid.js";
import { Details } from "./details.js";
import { deviceTimeline } from "./devicetime.js";
import { add, h, replace, run } from "./dom.js";
import { failures } from "./failure.js";
import { Find } from "./find.js";
import { unitSwitch } from "./figures.js";
import { Fragmentation } from "./fragmentation.js";
import { hostTimeline } from "./host.js";
import { Ir } from "./ir.js";
import { listen, makeHelp, tabKeys } from "./keys.js";
import { LayerBlocks } from "./layers.js";
import { liveTensors } from "./live.js";
import { Model } from "./model.js";
import { ModuleTree } from "./modules.js";
import { MomentView } from "./moment.js";
import { loadNames } from "./names.js";
import { OpTable } from "./optable.js";
import { facts, header, inputNotes } from "./overview.js";
import { Padding } from "./padding.js";
import { programRuns, startLevels } from "./runs.js";
import { fixes, mark, others, points, topic } from "./statements.js";
import { toggleTheme, watchTheme } from "./theme.js";
import { Timeline } from "./timeline.js";

// To a part of the page, which the address then names.
function goTo(part: HTMLElement): void {
  setPart("at", part.id);
  part.scrollIntoView({ block: "start" });
}

// A button for each part of the page, with a mark where it warns.
function navigation(main: HTMLElement): HTMLElement {
  const list = h("ul", {});
  for (const part of main.querySelectorAll<HTMLElement>("section[aria-labelledby]:not(#distribution)")) {
    // No link: the address belongs to the selected operation.
    add(list, h("li", {}, h("button", { type: "button", "data-section": part.id, click: () => goTo(part) }, part.dataset.warning !== undefined && mark("warning"), part.querySelector("h2")!.textContent)));
  }
  return h("nav", { class: "nav", "aria-label": "Sections" }, list);
}

// Inside the page that reads files (open.ts) a file dropped on the report is the next one to read.
function handUpDrops(): void {
  if (location.protocol !== "blob:") return;
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer?.files.length) window.parent.postMessage(event.dataTransfer.files[0], "*");
  });
}

async function start(): Promise<void> {
  const root = document.getElementById("app")!;
  const model = await Model.load();
  const app = new App(model);
  const timeline = model.facts.states ? new Timeline(app) : null;
  const moment = new MomentView(app);
  const blocks = new BlockMap(app);
  const modules = new ModuleTree(app);
  const layers = new LayerBlocks(app);
  const fragmentation = new Fragmentation(app);
  const padding = new Padding(app);
  const cores = new CoreGrid(app);
  const table = new OpTable(app);
  const details = new Details(app);
  const ir = new Ir(app);
  const find = new Find(app);
  const help = makeHelp();

  const redraw = (): void => {
    timeline?.redraw();
    fragmentation.redraw();
    padding.redraw();
    blocks.redraw();
    modules.redraw();
    cores.redraw();
  };
  const changeTheme = (): void => toggleTheme(redraw);
  watchTheme(redraw);
  const buttons = h("div", { class: "top-buttons" }, h("button", { type: "button", id: "find-button", click: () => find.open() }, "/ Find"), unitSwitch(app), h("button", { type: "button", id: "theme", "aria-label": "Light or dark", click: changeTheme }, "◐ Theme"), h("button", { type: "button", id: "help-button", "aria-label": "Keys", click: () => help.showModal() }, "? Keys"));

  const main = h("main", {});
  add(main, failures(app), fixes(app), inputNotes(app), facts(app), timeline?.element);
  add(main, moment.element, blocks.element, modules.element);
  add(main, topic(app, "need"));
  add(main, topic(app, "tests"));
  add(main, topic(app, "peak", (s) => consumers(app, s)));
  add(main, topic(app, "alive", (s) => liveTensors(app, s)));
  add(main, topic(app, "growth", (s) => h("div", {}, points(app, s), startLevels(app, s))));
  add(main, topic(app, "freed_late", () => freedLate(app)));
  add(main, topic(app, "fragmentation", (s) => h("div", {}, fragmentation.element, points(app, s))));
  add(main, topic(app, "waste", (s) => waste(app, s)));
  add(main, topic(app, "padding", undefined, padding.element));
  add(main, topic(app, "runs", (s) => programRuns(app, s)));
  add(main, topic(app, "layers", undefined, layers.element));
  add(main, topic(app, "l1_core", undefined, fullestCore(app)), cores.element);
  add(main, topic(app, "traces", (s) => points(app, s)));
  add(main, topic(app, "host", (s) => points(app, s), hostTimeline(app)));
  add(main, topic(app, "compiler", (s) => points(app, s)));
  add(main, topic(app, "time", (s) => points(app, s), deviceTimeline(app)));
  add(main, others(app, main), h("div", { class: "two" }, weights(app), distribution(app)), table.element, ir.empty ? null : ir.element);
  replace(root, header(app, buttons), navigation(main), main, details.element, find.element, help, h("footer", {}, `ttmem ${model.facts.version} · MB = 1024 × 1024 bytes · a state is printed before its operation; a delta is the next state minus this one`));
  for (const list of root.querySelectorAll("[role=tablist]")) tabKeys(list);
  listen(app, timeline, table, find, help, changeTheme);
  exposeForTests(timeline, find, blocks);
  await timeline?.start();

  const names = await loadNames(model);
  await Promise.all([timeline?.enrich(names), table.start(names), details.start(names)]);
  await Promise.all([moment.start(names), blocks.start(names), modules.start(names), fragmentation.load(), layers.start(names), padding.start(names), cores.start(names), ir.empty ? null : ir.start(names), find.start(names)]);
  app.onChange((_view, changed) => {
    if (changed.op != null) timeline?.announce(`Operation ${changed.op} selected`);
  });
  onPart("at", (id) => [...main.children].find((part) => part.id === id)?.scrollIntoView({ block: "start" }));
  document.documentElement.dataset.ready = "true";
}

// bench/html_bench.mjs and tests/web read how long the redraws took.
function exposeForTests(timeline: Timeline | null, find: Find, blocks: BlockMap): void {
  Object.assign(window, { ttmemRedraws: () => timeline?.takeRedraws() ?? [], ttmemFound: () => find.takeTimes(), ttmemBlockRedraws: () => blocks.takeRedraws() });
}

handUpDrops();
run(start, "ttmem --llm --logfile LOG");
