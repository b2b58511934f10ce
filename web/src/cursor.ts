// SPDX-License-Identifier: Apache-2.0
// The moment that the block map, the module tree and the live tensors show: one state of the rank in view.
import type { App } from "./app.js";
import { stateWords } from "./bands.js";
import { add, h } from "./dom.js";
import { count } from "./format.js";
import { isHeld, type Held, type HeldMemory } from "./held.js";
import { lowerBound } from "./sample.js";
import type { Level, Series } from "./model.js";
import type { Names } from "./names.js";

// All that a view of one moment needs; loaded once for a rank and memory.
export interface Scene {
  held: Held;
  names: Names;
  memory: HeldMemory;
  level: Level;
  series: Series;
  total: Int32Array; // 0.001 MB per bank
  lost: Int32Array;
}

export const memoryInView = (app: App): HeldMemory => (isHeld(app.view.memory) ? app.view.memory : "DRAM");

// Null: the page has no blocks of this rank.
export async function loadScene(app: App, names: Names): Promise<Scene | null> {
  const { model, view } = app;
  const memory = memoryInView(app);
  if (!model.facts.held.includes(view.rank)) return null;
  const [held, level, series, free] = await Promise.all([model.held(view.rank), model.level(memory), model.series(view.rank), model.free(memory)]);
  return { held, names, memory, level, series, ...free };
}

// The same for a part that may ask again before it was answered: only the last answer counts, undefined says that this one came too late.
export class SceneLoader {
  private asked = 0;

  constructor(private readonly app: App) {}

  async load(names: Names): Promise<Scene | null | undefined> {
    const mine = ++this.asked;
    const scene = await loadScene(this.app, names);
    return mine === this.asked ? scene : undefined;
  }
}

const failureState = (app: App, memory: HeldMemory): number => app.model.facts.incidents.find((one, i) => one.state >= 0 && app.model.findings.incidents[i]?.memory === memory)?.state ?? -1;

export interface Moment {
  kind: "peak" | "failure" | "op";
  state: number; // -1: none
  short: string; // "at the peak"
  words: string; // and where that is
}

const both = (short: string, when: string): { short: string; words: string } => ({ short, words: short + when });

// The last state of the rank in view at or before a state.
function ownState({ series }: Scene, state: number): number {
  if (!series.states) return state;
  const i = lowerBound(series.states, state + 1) - 1;
  return i < 0 ? -1 : series.states[i];
}

export function momentInView(app: App, scene: Scene): Moment {
  const { op, at } = app.view;
  const { facts } = app.model;
  const failure = failureState(app, scene.memory);
  const kind = at ?? (op !== null ? "op" : failure >= 0 ? "failure" : "peak");
  if (kind === "op" && op !== null) {
    const own = scene.names.ops.state[op];
    const { states, x } = scene.series;
    const before = lowerBound(x, op + 1e-9) - 1; // the last one, for an operation without a state
    return { kind, state: own >= 0 ? ownState(scene, own) : before < 0 ? -1 : states ? states[before] : before, ...both(`before #${count(op)}`, "") };
  }
  const state = kind === "failure" && failure >= 0 ? failure : (facts.peaks[scene.memory]?.state ?? -1);
  const own = state < 0 ? -1 : ownState(scene, state);
  const when = own < 0 ? "" : `, ${stateWords(scene.names, own)}`;
  return kind === "failure" && failure >= 0 ? { kind, state: own, ...both("at the failure", when) } : { kind: "peak", state: own, ...both("at the peak", when) };
}

// Peak, failure, operation: which moment is looked at.
export class MomentButtons {
  readonly element = h("div", { class: "tabs", role: "group", "aria-label": "Moment" });

  constructor(private readonly app: App) {}

  show(scene: Scene, moment: Moment): void {
    const { op } = this.app.view;
    const button = (kind: Moment["kind"], text: string): HTMLElement => h("button", { type: "button", "data-moment": kind, "aria-pressed": String(moment.kind === kind), click: () => this.app.set({ at: kind === "op" ? null : kind }) }, text);
    this.element.replaceChildren();
    add(this.element, button("peak", "peak"), failureState(this.app, scene.memory) >= 0 && button("failure", "failure"), op !== null && button("op", `before #${count(op)}`));
  }
}
