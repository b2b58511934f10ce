// SPDX-License-Identifier: Apache-2.0
// Any moment: the live tensors, what is free and in which blocks, at the cursor as at the peak.
import type { App } from "./app.js";
import { bankAt, exactness } from "./bank.js";
import { loadScene, memoryInView, MomentButtons, momentInView, SceneLoader, type Moment, type Scene } from "./cursor.js";
import { add, h, replace } from "./dom.js";
import { figure, unit } from "./figures.js";
import { count, percent } from "./format.js";
import { momentOf } from "./held.js";
import { Lazy } from "./lazy.js";
import { basisMark } from "./links.js";
import { classBar, liveBox } from "./live.js";
import type { Names } from "./names.js";

// Of a state, as a live set of the findings.
const liveAt = (app: App, scene: Scene, state: number): ReturnType<typeof momentOf> => momentOf(app.model, scene.held, scene.names, scene.memory, state, (Math.max(0, scene.level.allocated[state]) * 1048576) / 1000);

function levels(app: App, scene: Scene, state: number): HTMLElement {
  const { level, total, lost, memory } = scene;
  const allocated = level.allocated[state];
  const free = total[state] - allocated - lost[state];
  const map = bankAt(scene, state);
  const facts = h("dl", { class: "pairs", "data-key": "levels" });
  const pair = (label: string, ...value: (Node | string)[]) => add(facts, h("dt", {}, label), h("dd", { "data-level": label }, ...value));
  const size = (thousandths: number): HTMLElement => figure(app, thousandths / 1000, memory);
  pair("allocated", size(allocated), " of ", size(total[state]), " ", unit(app), ` (${percent(allocated, total[state])})`);
  pair("free", size(free));
  if (!app.model.facts.blocks_known) return facts;
  const largest = level.largest[state];
  pair("largest free block", size(largest));
  pair("fragmentation", percent(free > largest ? free - largest : 0, free));
  const exact = exactness(scene, map, state);
  if (exact === "differs") pair("free blocks", "unknown: the replay leaves another largest free block");
  else pair("free blocks", `${count(map.free.length)} `, basisMark(exact === "exact" ? "measured" : "derived"));
  return facts;
}

// In the panel on an operation: what is alive before it, in one bar.
export async function liveBefore(app: App, names: Names): Promise<HTMLElement | null> {
  const scene = await loadScene(app, names);
  const moment = scene && momentInView(app, scene);
  if (!scene || !moment || moment.state < 0 || scene.level.allocated[moment.state] < 0) return null;
  return h("div", { "data-key": "op-live" }, h("h3", {}, `Live ${scene.memory} tensors ${moment.words}`), classBar(app, liveAt(app, scene, moment.state)), h("button", { type: "button", class: "small", click: () => document.getElementById("moment")?.scrollIntoView({ block: "start" }) }, "Show them"));
}

export class MomentView {
  readonly element: HTMLElement | null = null;
  private readonly buttons: MomentButtons;
  private readonly body = h("div", {});
  private readonly words = h("span", { class: "muted" });
  private readonly scenes: SceneLoader;
  private scene: Scene | null = null;
  private lazy: Lazy | null = null;
  private names: Names | null = null;

  constructor(private readonly app: App) {
    this.scenes = new SceneLoader(app);
    this.buttons = new MomentButtons(app);
    if (!app.model.facts.held.length) return;
    this.element = h("section", { id: "moment", class: "card", "aria-labelledby": "moment-title" }, h("div", { class: "card-head" }, h("h2", { id: "moment-title" }, "Any moment"), this.buttons.element, this.words), this.body);
    this.lazy = new Lazy(this.element, () => this.draw());
    app.onChange((_view, changed) => {
      if ("memory" in changed || "rank" in changed) void this.load();
      else if ("op" in changed || "at" in changed) this.lazy?.stale();
    });
  }

  async start(names: Names): Promise<void> {
    if (!this.element) return;
    this.names = names;
    await this.load();
    this.lazy!.start();
  }

  private async load(): Promise<void> {
    if (!this.names) return;
    const scene = await this.scenes.load(this.names);
    if (scene === undefined) return;
    this.scene = scene;
    this.lazy!.stale();
  }

  private draw(): void {
    const { scene, app } = this;
    const moment: Moment | null = scene && momentInView(app, scene);
    if (!scene || !moment || moment.state < 0) return replace(this.body, h("p", { class: "muted" }, `The page has no blocks of ${memoryInView(app)} for this rank.`));
    this.buttons.show(scene, moment);
    this.words.textContent = `${scene.memory} ${moment.words}`;
    const live = liveAt(app, scene, moment.state);
    const unnamed = (i: number): Node => h("span", {}, app.model.facts.classes[live.groups[i].class] ?? "");
    replace(this.body, levels(app, scene, moment.state), liveBox(app, scene.memory, live, `Live ${scene.memory} tensors ${moment.short}`, unnamed));
    this.body.dataset.alive = scene.memory;
  }
}
