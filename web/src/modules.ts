// SPDX-License-Identifier: Apache-2.0
// The module tree: what the live tensors belong to, as an icicle by module path, of recordings by call stack. At the peak, at the cursor, and
// what was allocated and freed again.
import type { App } from "./app.js";
import { classColor, swatch } from "./bands.js";
import { memoryInView, momentInView, SceneLoader, type Moment, type Scene } from "./cursor.js";
import { add, h, replace, shorten } from "./dom.js";
import { figure, unit } from "./figures.js";
import { count, counted, mb, percent, shortPlace } from "./format.js";
import { classAt, CLASS_UNKNOWN, foldPart, isPart, liveRows, memoryOf, megabytes, NEVER, pathOf, rowName } from "./held.js";
import { Lazy } from "./lazy.js";
import { nameOf, type Names } from "./names.js";
import { saveButtons } from "./save.js";
import { longTable, type Cell } from "./tables.js";

const VIEWS = { peak: "at the peak", cursor: "at the cursor", freed: "allocated and freed" } as const;
type View = keyof typeof VIEWS;

const LEVEL = 26; // pixels
const MOST_LEVELS = 12;
const LEAST_SHARE = 0.0015; // of the width: less is no more than a line
const MOST_ROWS = 500; // of the table

interface Module {
  name: string;
  path: string;
  size: number; // MB per bank
  tensors: number;
  classes: Float64Array; // MB by class
  parts: Set<string>; // what folded into it
  children: Map<string, Module>;
  parent: Module | null;
}

const SEPARATOR = " › ";

// What one name or operation holds: all of its rows together.
interface Share {
  row: number;
  class: number;
  size: number;
  tensors: number;
}

const dominant = ({ classes }: Module): number => classes.reduce((best, size, c) => (size > classes[best] ? c : best), 0);

const ruler = document.createElement("canvas").getContext("2d")!;
const textWidth = (text: string): number => {
  ruler.font = "12px system-ui, sans-serif";
  return ruler.measureText(text).width;
};

const inOrder = ({ children }: Module): Module[] => [...children.values()].sort((a, b) => b.size - a.size || (a.name < b.name ? -1 : 1));

export class ModuleTree {
  readonly element: HTMLElement | null = null;
  private readonly tabs = h("div", { class: "tabs", role: "group", "aria-label": "Live tensors" });
  private readonly words = h("span", { class: "muted" });
  private readonly search = h("input", { type: "search", placeholder: "Find a module", "aria-label": "Find a module", input: () => this.mark() });
  private readonly found = h("span", { class: "muted", role: "status" });
  private readonly folding = h("button", { type: "button", "aria-pressed": "false", click: () => this.toggleFolding() }, "Each layer");
  private readonly trail = h("p", { class: "trail" });
  private readonly box = h("div", { class: "icicle", role: "group", "aria-label": "Modules by the memory they hold. Enter opens one; arrow keys move.", keydown: (event: KeyboardEvent) => this.key(event) });
  private readonly table = h("details", { class: "unsaved", toggle: () => this.list() }, h("summary", {}, "The modules as a table"));
  private readonly lazy: Lazy | null = null;
  private view: View = "cursor";
  private isFolded = true;
  private readonly scenes: SceneLoader;
  private scene: Scene | null = null;
  private names: Names | null = null;
  private root: Module | null = null;
  private top: Module | null = null; // the one that fills the width
  private drawn = new Map<HTMLElement, Module>();
  private ticket = 0;

  constructor(private readonly app: App) {
    this.scenes = new SceneLoader(app);
    if (!app.model.facts.held.length) return;
    for (const [view, text] of Object.entries(VIEWS)) add(this.tabs, h("button", { type: "button", "data-view": view, "aria-pressed": String(view === this.view), click: () => this.choose(view as View) }, text));
    const figure = h("div", {}, this.box);
    this.element = h(
      "section",
      { id: "modules", class: "card", "aria-labelledby": "modules-title" },
      h("div", { class: "card-head" }, h("h2", { id: "modules-title" }, "Modules"), this.tabs, app.model.facts.has_runs && this.folding, this.words, h("span", { class: "grow" }), saveButtons(app, figure, () => `Modules · ${memoryInView(app)}`)),
      h("div", { class: "filters" }, this.search, this.found),
      this.trail,
      figure,
      this.table,
    );
    this.lazy = new Lazy(this.element, () => void this.draw());
    app.onChange((_view, changed) => {
      if ("memory" in changed || "rank" in changed) void this.load();
      else if (("op" in changed || "at" in changed) && this.view === "cursor") this.lazy?.stale();
    });
  }

  async start(names: Names): Promise<void> {
    if (!this.element) return;
    this.names = names;
    let width = 0;
    new ResizeObserver(([{ contentRect }]) => {
      if (width !== (width = contentRect.width) && this.top) this.paint();
    }).observe(this.box);
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

  redraw(): void {
    this.lazy?.stale();
  }

  private choose(view: View): void {
    this.view = view;
    for (const button of this.tabs.querySelectorAll("button")) button.setAttribute("aria-pressed", String(button.dataset.view === view));
    this.lazy!.stale();
  }

  private toggleFolding(): void {
    this.isFolded = !this.isFolded;
    this.folding.setAttribute("aria-pressed", String(!this.isFolded));
    this.lazy!.stale();
  }

  // ---- The tree ---------------------------------------------------------------------------------------------------

  private rowsOf(scene: Scene, moment: Moment): number[] {
    if (this.view !== "freed") return moment.state < 0 ? [] : liveRows(scene.held, scene.memory, moment.state);
    const rows: number[] = [];
    const last = this.app.model.facts.states;
    for (let i = 0; i < scene.held.from.length; i++) if (scene.held.to[i] !== NEVER && scene.held.to[i] < last && memoryOf(scene.held, i) === scene.memory) rows.push(i);
    return rows;
  }

  private shares(scene: Scene, rows: number[], state: number): Share[] {
    const { held, names } = scene;
    const shares = new Map<number, Share>();
    for (const row of rows) {
      const c = classAt(held, row, state);
      const source = held.name[row] ? 2 * held.name[row] : held.op[row] >= 0 ? 2 * names.ops.text[held.op[row]] + 1 : 0;
      const key = (held.stack[row] * 2 ** 24 + source) * 8 + c;
      const known = shares.get(key);
      const tensors = isPart(held, row) ? 0 : 1;
      if (!known) shares.set(key, { row, class: c, size: megabytes(held, held.size[row]), tensors });
      else {
        known.size += megabytes(held, held.size[row]);
        known.tensors += tensors;
      }
    }
    return [...shares.values()];
  }

  // The parts of a place: of a recording the calls that led to the operation; of one without them the file and its line.
  private partsOf({ held, names }: Scene, { row, class: c }: Share): string[] {
    const name = rowName(held, names, row);
    if (!name) return [this.classWords(c)];
    if (this.app.model.facts.has_runs || held.op[row] < 0) return pathOf(name);
    const stack = held.words.get(held.stack[row]);
    const place = /^(.*):\d+$/.exec(name);
    return [...(stack ? stack.split("|").map(shortPlace) : place ? [place[1], shortPlace(name)] : [name]), nameOf(names, held.op[row])];
  }

  private classWords = (c: number): string => Object.values(this.app.model.facts.classes)[c] ?? "";

  // A million names take a while: the page stays awake. Null when a newer tree is under way.
  private async build(scene: Scene, shares: Share[], unknown: number): Promise<Module | null> {
    const ticket = ++this.ticket;
    const classes = Object.keys(this.app.model.facts.classes).length;
    const make = (name: string, path: string, parent: Module | null): Module => ({ name, path, size: 0, tensors: 0, classes: new Float64Array(classes), parts: new Set(), children: new Map(), parent });
    const root = make(scene.memory, "", null);
    const put = (parts: string[], share: Share): void => {
      let at = root;
      for (let depth = 0; ; depth++) {
        at.size += share.size;
        at.tensors += share.tensors;
        at.classes[share.class] += share.size;
        if (depth === parts.length) return;
        const name = this.isFolded ? foldPart(parts[depth]) : parts[depth];
        let next = at.children.get(name);
        if (!next) at.children.set(name, (next = make(name, at.path ? `${at.path}${SEPARATOR}${name}` : name, at)));
        next.parts.add(parts[depth]);
        at = next;
      }
    };
    let due = performance.now() + 12;
    for (const share of shares) {
      put(this.partsOf(scene, share), share);
      if (performance.now() < due) continue;
      await new Promise((done) => setTimeout(done));
      if (ticket !== this.ticket) return null;
      due = performance.now() + 12;
    }
    if (unknown > 0.001) put([this.classWords(CLASS_UNKNOWN)], { row: -1, class: CLASS_UNKNOWN, size: unknown, tensors: 0 });
    return root;
  }

  private async draw(): Promise<void> {
    const { scene, app } = this;
    if (!scene) return replace(this.box, h("p", { class: "muted" }, "The page has no blocks of this rank."));
    const at = this.view === "peak" ? { ...momentInView(app, scene), ...this.peak(scene) } : momentInView(app, scene);
    const shares = this.shares(scene, this.rowsOf(scene, at), at.state);
    const measured = this.view === "freed" || at.state < 0 ? 0 : scene.level.allocated[at.state] / 1000;
    const root = await this.build(scene, shares, measured - shares.reduce((sum, share) => sum + share.size, 0));
    if (!root) return;
    this.root = root;
    this.words.textContent = this.view === "freed" ? `${scene.memory}, the sizes of all that came and went` : `${scene.memory} ${at.words}`;
    this.top = this.top ? this.find(root, this.top.path) : root;
    this.paint();
    this.list();
  }

  private peak(scene: Scene): Pick<Moment, "state" | "words"> {
    return { state: this.app.model.facts.peaks[scene.memory]?.state ?? -1, words: "at the peak" };
  }

  private find(root: Module, path: string): Module {
    let at = root;
    for (const name of path ? path.split(SEPARATOR) : []) {
      const next = at.children.get(name);
      if (!next) return root;
      at = next;
    }
    return at;
  }

  // ---- The picture ------------------------------------------------------------------------------------------------

  // As much of the name and the size as there is room for.
  private fit(module: Module, room: number): (HTMLElement | string)[] {
    const size = ` ${mb(module.size)}`;
    const name = shorten(this.label(module), 60);
    if (textWidth(name + size) <= room) return [h("span", {}, name), h("span", { class: "muted" }, size)];
    for (let n = name.length; n > 2; n--) if (textWidth(n < name.length ? `${name.slice(0, n)}…` : name) <= room) return [n < name.length ? `${name.slice(0, n)}…` : name];
    return [];
  }

  private label(module: Module): string {
    return module.name + (module.parts.size > 1 ? ` ×${count(module.parts.size)}` : "");
  }

  private paint(): void {
    const top = this.top!;
    this.drawn = new Map();
    const buttons: HTMLElement[] = [];
    let levels = 0;
    const room = this.box.clientWidth;
    const place = (module: Module, left: number, depth: number): void => {
      const width = module.size / top.size;
      if (!(width >= LEAST_SHARE) || depth >= MOST_LEVELS) return;
      levels = Math.max(levels, depth + 1);
      const words = `${module.path || module.name}: ${mb(module.size)} MB per bank, ${percent(module.size, this.root!.size)}, ${counted(module.tensors, "tensor")}`;
      const button = h("button", { type: "button", class: "ice", "data-path": module.path, "data-mb": module.size, title: shorten(words, 400), "aria-label": shorten(words, 400), tabindex: depth ? -1 : 0, click: () => this.open(module) }, ...this.fit(module, width * room - 9));
      Object.assign(button.style, { left: `${left * 100}%`, width: `${width * 100}%`, top: `${depth * LEVEL}px`, background: `color-mix(in srgb, ${classColor(dominant(module))} ${module.children.size ? 30 : 55}%, ${getComputedStyle(document.documentElement).getPropertyValue("--card")})` });
      this.drawn.set(button, module);
      buttons.push(button);
      let at = left;
      for (const child of inOrder(module)) {
        place(child, at, depth + 1);
        at += child.size / top.size;
      }
    };
    if (top.size > 0) place(top, 0, 0);
    this.box.style.height = `${Math.max(1, levels) * LEVEL}px`;
    replace(this.box, ...(buttons.length ? buttons : [h("p", { class: "muted" }, "nothing is allocated")]));
    this.showTrail();
    this.mark();
  }

  private showTrail(): void {
    const up: Module[] = [];
    for (let at: Module | null = this.top; at; at = at.parent) up.unshift(at);
    this.trail.hidden = up.length < 2;
    replace(this.trail, ...up.flatMap((module, i) => [i ? SEPARATOR : "", i + 1 < up.length ? h("button", { type: "button", class: "link", click: () => this.open(module) }, module.name) : h("b", {}, module.name)]));
  }

  // Fills the width with a module; the one that does so already goes back to the one around it.
  private open(module: Module): void {
    this.top = module === this.top && module.parent ? module.parent : module.children.size || !module.parent ? module : module.parent;
    this.paint();
    [...this.drawn].find(([, one]) => one === module)?.[0].focus();
  }

  // What matches stays bright; its sum counts what is nested once.
  private mark(): void {
    const text = this.search.value.trim().toLowerCase();
    let sum = 0;
    let n = 0;
    const add = (module: Module): void => {
      if (module.path.toLowerCase().includes(text)) {
        sum += module.size;
        n++;
      } else for (const child of module.children.values()) add(child);
    };
    if (text && this.root) add(this.root);
    for (const [button, module] of this.drawn) button.classList.toggle("dim", text !== "" && !module.path.toLowerCase().includes(text));
    this.found.textContent = text ? `${counted(n, "module")}, ${mb(sum)} MB per bank` : "";
  }

  private key(event: KeyboardEvent): void {
    const module = this.drawn.get(document.activeElement as HTMLElement);
    if (!module) return;
    const siblings = module.parent ? inOrder(module.parent) : [];
    const beside = (by: number): Module | undefined => siblings[siblings.indexOf(module) + by];
    const ways: Record<string, () => Module | null | undefined> = { ArrowDown: () => inOrder(module)[0], ArrowUp: () => module.parent, ArrowLeft: () => beside(-1), ArrowRight: () => beside(1) };
    const next = ways[event.key]?.();
    if (!(event.key in ways)) return;
    event.preventDefault();
    event.stopPropagation();
    if (next) [...this.drawn].find(([, one]) => one === next)?.[0].focus();
  }

  private list(): void {
    if (!this.table.open || !this.root || !this.scene) return;
    const rows: Cell[][] = [];
    const walk = (module: Module, depth: number): void => {
      if (rows.length >= MOST_ROWS) return;
      const name = h("span", { class: "mono" }, swatch(classColor(dominant(module))), ` ${shorten(this.label(module), 100)}`);
      name.style.paddingLeft = `${depth * 16}px`;
      rows.push([name, figure(this.app, module.size, this.scene!.memory), percent(module.size, this.root!.size), count(module.tensors)]);
      for (const child of inOrder(module)) walk(child, depth + 1);
    };
    walk(this.root, 0);
    replace(this.table, this.table.querySelector("summary"), longTable(`Modules, ${this.words.textContent ?? ""}`, [["module"], [unit(this.app), "num"], ["share", "num"], ["tensors", "num"]], rows, 40));
  }
}
