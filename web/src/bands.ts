// SPDX-License-Identifier: Apache-2.0
// The bands of the timeline: by class, by layer, by module path or by tensor. Which rows belong to which, in which order and colour, and the
// panel on a band that was clicked.
import type { App } from "./app.js";
import { color } from "./chart.js";
import { add, h, replace, shorten } from "./dom.js";
import { figure, unit } from "./figures.js";
import { CLASS_KEPT, CLASS_UNKNOWN, classAt, foldPart, isPart, layerOf, memoryOf, megabytes, NEVER, pathOf, rowName, type Held, type HeldMemory } from "./held.js";
import { count, counted, mb, shape } from "./format.js";
import { basisMark, opLink, rangeButton } from "./links.js";
import { Place, type Level } from "./model.js";
import { nameOf, type Names } from "./names.js";
import { areasOf, largestOf, NO_BAND, rowsIn, sumBands, type Bands, type Columns } from "./stack.js";
import { longTable, type Cell } from "./tables.js";

export const STACKS = ["total", "class", "layer", "module", "tensor"] as const;
export type Stack = (typeof STACKS)[number];

const MOST: Record<Exclude<Stack, "total" | "class">, number> = { layer: 100, module: 16, tensor: 20 };

export interface Band {
  key: number;
  label: string;
  color: string;
  isOthers?: boolean;
}

export interface Picture {
  bands: Band[]; // from the bottom
  values: Float64Array[]; // by band and column, 0.001 MB per bank
  columns: Columns;
}

// Neighbours differ, and a key keeps its colour at any zoom.
const hue = (key: number): string => `hsl(${Math.round((key * 137.508) % 360)} ${document.documentElement.dataset.theme === "dark" ? "42% 52%" : "48% 60%"})`;

const CLASS_COLORS = ["weights", "consteval", "kv", "inputs", "activations", "kept", "program", "unattributed"];
export const classColor = (c: number): string => color(CLASS_COLORS[c]);

// "before #12": what a state stands before, or after.
export function stateWords(names: Names, state: number): string {
  const element = names.places.element[state];
  return names.places.place[state] === Place.Element ? `before #${count(element)}` : element < 0 ? "before the first operation" : `after #${count(element)}`;
}

export class StackedRows {
  private keys: Uint32Array = new Uint32Array(0); // by row; 0: what nothing names
  private labels: (string | null)[] = [];
  private many = 1; // times MOST
  private of = new Uint16Array(0);
  private readonly own: Uint8Array;

  private constructor(
    private readonly app: App,
    readonly held: Held,
    private readonly names: Names,
    readonly memory: HeldMemory,
    readonly mode: Exclude<Stack, "total">,
  ) {
    this.own = new Uint8Array(held.marks.length);
    for (let i = 0; i < this.own.length; i++) this.own[i] = memoryOf(held, i) === memory ? 1 : 0;
  }

  static async make(app: App, held: Held, names: Names, memory: HeldMemory, mode: Exclude<Stack, "total">): Promise<StackedRows> {
    const rows = new StackedRows(app, held, names, memory, mode);
    rows.keys = new Uint32Array(held.from.length);
    if (mode === "tensor") for (let i = 0; i < rows.keys.length; i++) rows.keys[i] = rows.isNamed(i) ? i + 1 : 0;
    else if (mode !== "class") await rows.readPaths();
    return rows;
  }

  private isNamed(row: number): boolean {
    return this.own[row] === 1 && classAt(this.held, row, 0) !== CLASS_UNKNOWN;
  }

  // The key of each name and of each operation text. A million of them takes a while: the page stays awake.
  private async readPaths(): Promise<void> {
    const { held, names } = this;
    const ids = new Map<string, number>();
    const ofName = new Map<number, number>();
    this.labels = [null];
    const keyOf = (name: string): number => {
      const path = pathOf(name);
      const word = this.mode === "layer" ? layerOf(path) : path.slice(0, Math.max(1, path.length - 1)).map(foldPart).join(" › ");
      let id = ids.get(word);
      if (id === undefined) {
        ids.set(word, (id = this.labels.length));
        this.labels.push(word || "outside layers");
      }
      return id;
    };
    let due = performance.now() + 12;
    for (let i = 0; i < held.from.length; i++) {
      if (!this.isNamed(i)) continue;
      const source = held.name[i] ? held.name[i] : held.op[i] >= 0 ? -1 - names.ops.text[held.op[i]] : 0;
      let key = source === 0 ? 0 : ofName.get(source);
      if (key === undefined) ofName.set(source, (key = keyOf(rowName(held, names, i))));
      this.keys[i] = key;
      if ((i & 255) || performance.now() < due) continue;
      await new Promise((done) => setTimeout(done));
      due = performance.now() + 12;
    }
  }

  more(): void {
    this.many *= 3;
  }

  picture(columns: Columns, level: Level): Picture {
    return this.mode === "class" ? this.byClass(columns, level) : this.byKey(columns, level);
  }

  private byClass(columns: Columns, level: Level): Picture {
    const { classes } = this.app.model.facts;
    const words = Object.values(classes);
    const order = [...words.keys()].filter((c) => c !== CLASS_UNKNOWN);
    const padding = order.length;
    const rest = padding + 1;
    const place = words.map((_word, c) => (c === CLASS_UNKNOWN ? rest : order.indexOf(c)));
    const { marks } = this.held;
    if (!this.of.length) this.of = new Uint16Array(marks.length).map((_band, i) => (this.own[i] ? place[marks[i] & 7] : NO_BAND));
    const bands: Band[] = [...order.map((c): Band => ({ key: c, label: words[c], color: classColor(c) })), { key: 100, label: "padding", color: color("padding") }, { key: CLASS_UNKNOWN, label: words[CLASS_UNKNOWN], color: classColor(CLASS_UNKNOWN) }];
    return this.finish(bands, rowsIn(this.held, columns), { count: bands.length, of: this.of, kept: place[CLASS_KEPT], padding }, columns, level, rest);
  }

  private byKey(columns: Columns, level: Level): Picture {
    const { keys, held, mode } = this;
    const count = mode === "tensor" ? held.from.length + 1 : this.labels.length;
    const rows = rowsIn(held, columns);
    const areas = areasOf(held, rows, keys, count, columns);
    const chosen = largestOf(areas, MOST[mode as "tensor"] * this.many);
    if (mode === "layer") chosen.sort((a, b) => this.labels[a]!.localeCompare(this.labels[b]!, "en", { numeric: true }));
    let others = 0;
    for (let key = 1; key < count; key++) if (areas[key] > 0) others++;
    others -= chosen.length;
    const rest = chosen.length + 1;
    const bandOf = new Uint16Array(count).fill(chosen.length);
    bandOf[0] = rest;
    chosen.forEach((key, band) => (bandOf[key] = band));
    const of = new Uint16Array(keys.length);
    for (const i of rows) of[i] = this.own[i] ? bandOf[keys[i]] : NO_BAND;
    const noun = mode === "layer" ? "layer" : mode;
    const bands: Band[] = chosen.map((key) => ({ key, label: this.labelOf(key), color: hue(key) }));
    bands.push({ key: -1, label: others > 0 ? counted(others, `other ${noun}`) : "others", color: color("others"), isOthers: true });
    bands.push({ key: 0, label: this.app.model.facts.classes.unaccounted, color: classColor(CLASS_UNKNOWN) });
    return this.finish(bands, rows, { count: bands.length, of, kept: -1, padding: -1 }, columns, level, rest);
  }

  // Only bands that show: the others would be a line in the legend without a place in the chart.
  private finish(bands: Band[], rows: Int32Array, how: Bands, columns: Columns, level: Level, rest: number): Picture {
    const values = sumBands(this.held, rows, how, columns, level, rest);
    const seen = bands.map((_band, b) => values[b].some((v) => v >= 0.5));
    return { bands: bands.filter((_band, b) => seen[b]), values: values.filter((_value, b) => seen[b]), columns };
  }

  private labelOf(key: number): string {
    return this.mode === "tensor" ? this.rowLabel(key - 1) : this.labels[key]!;
  }

  rowLabel(row: number): string {
    const name = rowName(this.held, this.names, row);
    return name && name !== "N/A" ? name : this.held.op[row] >= 0 ? nameOf(this.names, this.held.op[row]) : (Object.values(this.app.model.facts.classes)[classAt(this.held, row, 0)] ?? "");
  }

  // The rows of a band at a state, largest first.
  members(band: Band, state: number, picture: Picture): number[] {
    const { held } = this;
    const shown = new Set(picture.bands.filter((one) => one.key > 0).map((one) => one.key));
    const is = (row: number): boolean => {
      if (this.mode === "class") return band.key === 100 ? held.padding[row] > 0 : classAt(held, row, state) === band.key;
      return band.isOthers ? this.keys[row] > 0 && !shown.has(this.keys[row]) : this.keys[row] === band.key;
    };
    const rows: number[] = [];
    for (let i = 0; i < held.from.length; i++) if (held.from[i] <= state && state < held.to[i] && this.own[i] && is(i)) rows.push(i);
    return rows.sort((a, b) => held.size[b] - held.size[a] || a - b);
  }

  // "allocated before #12, freed after #15"
  life(row: number): string {
    const { from, to } = this.held;
    return `allocated ${stateWords(this.names, from[row])}, ${to[row] === NEVER || to[row] >= this.names.places.element.length ? "never freed" : `freed ${stateWords(this.names, to[row])}`}`;
  }

  // What a band is at a state: its members in one line each.
  tip(band: Band, state: number, size: number, picture: Picture): Node[] {
    const rows = this.members(band, state, picture);
    const out: Node[] = [h("div", { class: "tip-band" }, swatch(band.color), h("b", {}, shorten(band.label, 90)), ` ${mb(size / 1000)} MB per bank`)];
    if (rows.length === 1) out.push(h("div", { class: "muted" }, this.life(rows[0])));
    else if (rows.length) {
      const end = rows.every((row) => this.held.to[row] !== NEVER) ? stateWords(this.names, rows.reduce((last, row) => Math.max(last, this.held.to[row]), 0)) : "";
      out.push(h("div", { class: "muted" }, `${counted(rows.length, "block")}, the largest ${shorten(this.rowLabel(rows[0]), 60)} ${mb(megabytes(this.held, this.held.size[rows[0]]))} MB`));
      out.push(h("div", { class: "muted" }, `first allocated ${stateWords(this.names, rows.reduce((first, row) => Math.min(first, this.held.from[row]), NEVER))}, ${end ? `the last freed ${end}` : "not all freed"}`));
    }
    return out;
  }

  panel(band: Band, state: number, size: number, picture: Picture): HTMLElement {
    const rows = this.members(band, state, picture);
    const head = h("h3", {}, swatch(band.color), `${shorten(band.label, 160)} `, figure(this.app, size / 1000, this.memory), " ", unit(this.app), h("span", { class: "muted" }, ` ${stateWords(this.names, state)}`));
    const box = h("div", {}, head);
    if (band.isOthers) add(box, h("button", { type: "button", class: "small", "data-action": "more-bands", click: () => this.app.moreBands.open() }, "Show more of them as bands"));
    if (rows.length === 1) add(box, rowFacts(this.app, this.held, this.names, rows[0], state));
    else if (rows.length) add(box, rowTable(this.app, this.held, this.names, rows, state, `${band.label} ${stateWords(this.names, state)}`));
    return box;
  }
}

export const swatch = (ink: string): HTMLElement => {
  const key = h("span", { class: "key", "aria-hidden": true });
  key.style.background = ink;
  return key;
};

const made = (app: App, names: Names, op: number): Node => (op < 0 ? h("span", {}, "–") : opLink(app, { index: op, mlir_op: nameOf(names, op) }));

const freed = (names: Names, held: Held, row: number): string => (held.to[row] === NEVER || held.to[row] >= names.places.element.length ? "never freed" : stateWords(names, held.to[row]));

function typeWords(names: Names, type: number): string {
  const layout = type < 0 ? null : names.types[type].layout;
  return layout ? `${shape(layout.logical_shape)} ${layout.dtype}` : "";
}

// One block: its life, who made it, who used it last.
export function rowFacts(app: App, held: Held, names: Names, row: number, state: number): HTMLElement {
  const facts = h("dl", { class: "pairs", "data-row": row });
  const pair = (label: string, ...value: (Node | string | false)[]) => add(facts, h("dt", {}, label), h("dd", {}, ...value));
  const memory = memoryOf(held, row);
  const op = held.op[row];
  pair("size", figure(app, megabytes(held, held.size[row]), memory), " ", unit(app));
  pair("class", Object.values(app.model.facts.classes)[classAt(held, row, state)] ?? "", isPart(held, row) && ", part of it: the rest lies in another block");
  const type = typeWords(names, held.type[row]);
  if (type) pair("type", type);
  pair("made by", made(app, names, op));
  if (op >= 0 && names.ops.line[op] > 0) pair("log line", String(names.ops.line[op]));
  const place = rowName(held, names, row);
  if (place && place !== "N/A") pair("place", h("span", { class: "mono break" }, shorten(place, 300)));
  pair("last used by", made(app, names, held.used[row]));
  pair("lifetime", `from ${stateWords(names, held.from[row])} to ${freed(names, held, row)} `, rangeButton(app, Math.max(0, names.places.element[held.from[row]]), held.to[row] >= names.places.element.length ? names.ops.n - 1 : names.places.element[held.to[row]], "Show"));
  if (held.at[row]) pair("address", `${count((held.at[row] - 1) * held.unit)} `, basisMark(held.placed ? "measured" : "derived"));
  return facts;
}

export function rowTable(app: App, held: Held, names: Names, rows: number[], state: number, caption: string): HTMLElement {
  const classes = Object.values(app.model.facts.classes);
  const cells = (row: number): Cell[] => [h("span", { class: "mono" }, shorten(rowName(held, names, row) || "–", 120)), typeWords(names, held.type[row]), classes[classAt(held, row, state)], figure(app, megabytes(held, held.size[row]), memoryOf(held, row)), made(app, names, held.op[row]), made(app, names, held.used[row]), freed(names, held, row)];
  const box = longTable(caption, [["tensor or place"], ["type"], ["class"], [unit(app), "num"], ["made by"], ["last used by"], ["freed"]], rows.slice(0, 1000).map(cells), 8);
  if (rows.length > 1000) add(box, h("p", { class: "muted" }, `and ${count(rows.length - 1000)} more`));
  return box;
}

// Under a chart: what was clicked, until it is closed.
export class Pinned {
  readonly element = h("div", { class: "pinned", hidden: true, role: "region", "aria-label": "Pinned" });
  constructor(private readonly closed: () => void) {}

  show(content: HTMLElement): void {
    const close = h("button", { type: "button", class: "close", "aria-label": "Unpin", click: () => this.hide() }, "✕");
    replace(this.element, close, content);
    this.element.hidden = false;
  }

  hide(): void {
    this.element.hidden = true;
    this.closed();
  }
}
