// SPDX-License-Identifier: Apache-2.0
// The cores as a heat map, one view after the other, and one core's L1 to scale: buffers from the base up, tensors from the top down.
import type { App } from "./app.js";
import { CoreViews, KINDS, rangeText, type Buffer, type CoreUse, type Tensor } from "./core_views.js";
import { add, h, replace, shorten } from "./dom.js";
import { bytes, count, counted, shortPlace } from "./format.js";
import { basisMark, opLink, section } from "./links.js";
import { nameOf, placeOf, shapeOf, type Names } from "./names.js";
import { saveButtons } from "./save.js";
import { table, type Cell } from "./tables.js";

type Metric = "used" | "buffers" | "tensors";
const METRICS: [Metric, string][] = [
  ["used", "L1 in use"],
  ["buffers", "Program buffers"],
  ["tensors", "Tensor data"],
];

type Rgb = [number, number, number];

function rgbOf(name: string): Rgb {
  const hex = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)) as Rgb;
}

const mix = (a: Rgb, b: Rgb, t: number): Rgb => a.map((v, i) => Math.round(v + (b[i] - v) * t)) as Rgb;
const css = (color: Rgb): string => `rgb(${color.join(", ")})`;
const isDark = ([r, g, b]: Rgb): boolean => r * 0.299 + g * 0.587 + b * 0.114 < 140;

// What the picture of a core is made of, by address.
interface Part {
  kind: "reserved" | "buffers" | "tensors" | "L1_SMALL" | "overlap" | "free";
  at: number;
  end: number;
  what: string;
  odd?: boolean;
}

export class CoreGrid {
  readonly element: HTMLElement | null = null;
  private readonly slider = h("input", { type: "range", min: 0, step: 1, class: "cores-slider", "aria-label": "View of the cores", input: () => this.show(Number(this.slider.value)) });
  private readonly caption = h("p", { class: "cores-caption", "aria-live": "polite" });
  private readonly grid = h("div", { class: "core-grid", role: "grid", "aria-label": "Cores", keydown: (event: KeyboardEvent) => this.onKey(event) });
  private readonly legend = h("ul", { class: "legend" });
  private readonly column = h("figure", { class: "core-column" });
  private readonly rows = h("div", { class: "core-rows" });
  private readonly tabs = h("div", { class: "tabs unsaved", role: "group", "aria-label": "What the shades show" });
  private cells: HTMLElement[] = [];
  private views: CoreViews | null = null;
  private names: Names | null = null;
  private metric: Metric = "used";
  private view = 0;
  private core = 0; // row by row
  private tensors: Tensor[] = []; // of the view
  private uses: CoreUse[] = [];

  constructor(private readonly app: App) {
    const { cores } = app.model.facts;
    if (!cores) return;
    this.slider.max = String(cores.views - 1);
    this.grid.style.gridTemplateColumns = `20px repeat(${cores.columns}, minmax(0, 1fr))`;
    for (const [metric, label] of METRICS) add(this.tabs, h("button", { type: "button", "data-metric": metric, "aria-pressed": String(metric === this.metric), click: () => this.choose(metric) }, label));
    const figure = h("div", { class: "cores-figure" }, this.caption, h("div", { class: "cores-body" }, h("div", { class: "cores-map" }, this.grid, this.legend), this.column));
    const step = (by: number, label: string, name: string): HTMLElement => h("button", { type: "button", "aria-label": name, click: () => this.show(this.view + by) }, label);
    const jump = (view: number | undefined, label: string): HTMLElement | false => view !== undefined && h("button", { type: "button", class: "small", click: () => this.show(view) }, label);
    const bar = h("div", { class: "cores-bar" }, step(-1, "◂", "Previous view"), this.slider, step(1, "▸", "Next view"), jump(cores.fullest, "Fullest"), jump(cores.clash, "Overlap"), this.tabs, saveButtons(app, figure, () => "L1 core by core"));
    this.element = section("cores", "L1, core by core", bar, figure, this.rows);
    app.showCores.of = (op) => this.reveal(op);
  }

  async start(names: Names): Promise<void> {
    const { cores } = this.app.model.facts;
    if (!cores) return;
    this.names = names;
    this.views = await CoreViews.load(cores);
    this.makeCells(cores.columns, cores.rows);
    const { step, core, op } = this.app.view;
    const asked = step ?? (op === null ? null : this.views.find(op));
    this.place(asked ?? cores.clash ?? cores.fullest, core);
    this.app.onChange((view, changed) => {
      if (changed.step != null || changed.core != null) this.place(view.step ?? this.view, view.core);
      else if (changed.op != null) this.follow(changed.op);
    });
  }

  redraw(): void {
    if (this.views) this.draw();
  }

  private reveal(op: number): void {
    const view = this.views?.find(op) ?? null;
    if (view !== null) this.show(view);
    this.element!.scrollIntoView({ block: "start" });
  }

  // The operation was selected elsewhere.
  private follow(op: number): void {
    const view = this.views!.find(op);
    if (view !== null && this.views!.op[this.view] !== op) this.place(view, null);
  }

  // A view, and a core of it; without one the fullest, a core that clashes first.
  private place(view: number, core: string | null): void {
    const { facts } = this.views!;
    this.view = Math.max(0, Math.min(facts.views - 1, view));
    this.tensors = this.views!.tensorsOf(this.view);
    this.uses = this.views!.uses(this.view, this.tensors);
    const [x, y] = /^(\d+)-(\d+)$/.exec(core ?? "")?.slice(1).map(Number) ?? [Infinity, Infinity];
    this.core = x < facts.columns && y < facts.rows ? y * facts.columns + x : this.fullest();
    this.draw();
  }

  private show(view: number): void {
    const { views } = this.app.model.facts.cores!;
    if (view >= 0 && view < views) this.app.set({ step: view, core: null });
  }

  private select(core: number): void {
    const { columns } = this.views!.facts;
    this.app.set({ step: this.view, core: `${core % columns}-${Math.floor(core / columns)}` });
    this.cells[core].focus();
  }

  private choose(metric: Metric): void {
    this.metric = metric;
    for (const button of this.tabs.querySelectorAll("button")) button.setAttribute("aria-pressed", String(button.dataset.metric === metric));
    this.draw();
  }

  private onKey(event: KeyboardEvent): void {
    const { columns, rows, views } = this.views!.facts;
    const [x, y] = [this.core % columns, Math.floor(this.core / columns)];
    const moves: Record<string, [number, number]> = { ArrowLeft: [x - 1, y], ArrowRight: [x + 1, y], ArrowUp: [x, y - 1], ArrowDown: [x, y + 1], Home: [0, y], End: [columns - 1, y] };
    const step = { PageUp: this.view - 1, PageDown: this.view + 1 }[event.key];
    const to = moves[event.key];
    if (!to && step === undefined) return;
    event.preventDefault();
    event.stopPropagation(); // the same keys select operations elsewhere
    if (step !== undefined) {
      if (step >= 0 && step < views) this.app.set({ step, core: `${x}-${y}` });
    } else if (to[0] >= 0 && to[0] < columns && to[1] >= 0 && to[1] < rows) this.select(to[1] * columns + to[0]);
  }

  private makeCells(columns: number, rows: number): void {
    const head = h("div", { role: "row", class: "core-grid-row" }, h("span", { role: "presentation" }));
    for (let x = 0; x < columns; x++) add(head, h("span", { role: "columnheader", class: "core-axis" }, String(x)));
    add(this.grid, head);
    for (let y = 0; y < rows; y++) {
      const row = h("div", { role: "row", class: "core-grid-row" }, h("span", { role: "rowheader", class: "core-axis" }, String(y)));
      for (let x = 0; x < columns; x++) {
        const cell = h("div", { role: "gridcell", class: "core-cell", "data-core": `${x}-${y}`, click: () => this.select(y * columns + x) });
        this.cells.push(cell);
        add(row, cell);
      }
      add(this.grid, row);
    }
  }

  // ---- Drawing --------------------------------------------------------------------------------------------------------

  private clashes(use: CoreUse): boolean {
    return use.end > use.lowest;
  }

  private fullest(): number {
    const rank = (use: CoreUse): number => (this.clashes(use) ? 1e15 : 0) + use.buffers + use.tensors;
    return this.uses.reduce((best, use, i) => (rank(use) > rank(this.uses[best]) ? i : best), 0);
  }

  private valueOf(use: CoreUse): number | null {
    return this.metric === "used" ? use.buffers + use.tensors : this.metric === "buffers" ? use.buffers : use.data;
  }

  private draw(): void {
    this.slider.value = String(this.view);
    this.drawCaption();
    this.drawGrid();
    this.drawColumn(this.uses[this.core]);
  }

  private drawCaption(): void {
    const views = this.views!;
    const names = this.names!;
    const { ranks } = this.app.model.facts;
    const op = views.op[this.view];
    const program = views.programOf(this.view);
    const [at, of] = views.place(this.view);
    const place = op < 0 ? "" : shortPlace(placeOf(names, op));
    const kind = !program ? "L1 tensors, no program" : program.buffers[0]?.refused ? "refused, buffers by its message" : of > 1 ? `${at} of ${of}` : "program";
    const basis = program?.derived || program?.buffers[0]?.refused ? "derived" : "measured";
    replace(
      this.caption,
      h("span", { class: "muted" }, `${count(this.view + 1)} of ${count(views.facts.views)} `),
      op < 0 ? "" : opLink(this.app, { index: op, mlir_op: nameOf(names, op) }),
      h("span", { class: "mono muted" }, ` ${shorten(place, 90)} `),
      h("span", {}, `${kind} `),
      ranks.length > 1 && h("span", { class: "muted" }, `rank ${ranks[views.rank[this.view]]} `),
      program && basisMark(basis),
    );
    this.slider.setAttribute("aria-valuetext", this.caption.textContent ?? "");
  }

  private drawGrid(): void {
    const { facts } = this.views!;
    const { uses } = this;
    const limit = facts.size - facts.base;
    const top = { used: facts.most_used, buffers: facts.most_buffers, tensors: facts.most_tensors }[this.metric];
    const [empty, full] = [rgbOf("card"), rgbOf("allocated")];
    const shade = (value: number): Rgb => (value > 0 && top > 0 ? mix(empty, full, 0.1 + 0.9 * Math.min(1, value / top)) : empty);
    let clashes = 0;
    uses.forEach((use, i) => {
      const cell = this.cells[i];
      const value = this.valueOf(use);
      const clash = this.clashes(use);
      const fill = value === null ? empty : shade(value);
      clashes += Number(clash);
      cell.className = `core-cell${clash ? " core-clash" : ""}${value === null ? " core-unknown" : ""}`;
      cell.style.backgroundColor = clash || value === null ? "" : css(fill);
      cell.style.color = clash || value === null ? "" : css(isDark(fill) ? [255, 255, 255] : [16, 24, 32]);
      cell.textContent = clash ? "✕" : value === null ? "?" : limit > 0 ? String(Math.round((value / limit) * 100)) : "";
      cell.title = this.cellText(use, i, clash);
      cell.setAttribute("aria-label", cell.title);
      cell.setAttribute("aria-selected", String(i === this.core));
      cell.tabIndex = i === this.core ? 0 : -1;
    });
    this.grid.setAttribute("aria-label", `${counted(uses.length, "core")}, ${METRICS.find(([m]) => m === this.metric)![1]}${clashes ? `, overlap on ${counted(clashes, "core")}` : ""}`);
    this.drawLegend(top, limit, shade, clashes);
  }

  private cellText(use: CoreUse, i: number, clash: boolean): string {
    const { columns, size, base } = this.views!.facts;
    const parts = [`${bytes(use.buffers + use.tensors)} of ${bytes(size - base)}`, `program buffers ${bytes(use.buffers)}`, `tensors ${bytes(use.tensors)}`];
    if (use.data !== null && use.data !== use.tensors) parts.push(`tensor data on this core ${bytes(use.data)}`);
    if (clash) parts.push("overlap");
    return `Core ${i % columns}-${Math.floor(i / columns)}: ${parts.join(", ")}`;
  }

  private drawLegend(top: number, limit: number, shade: (value: number) => Rgb, clashes: number): void {
    const key = (value: number): HTMLElement => {
      const box = h("span", { class: "key" });
      box.style.backgroundColor = css(shade(value));
      return box;
    };
    const steps = top > 0 ? [0.25, 0.5, 0.75, 1].map((t) => h("li", {}, key(top * t), bytes(top * t))) : [];
    replace(this.legend, ...steps, clashes ? h("li", {}, h("span", { class: "key core-clash" }), `overlap on ${counted(clashes, "core")}`) : null, limit > 0 && h("li", {}, `numbers: % of ${bytes(limit)}`));
  }

  // ---- One core -------------------------------------------------------------------------------------------------------

  private drawColumn(use: CoreUse): void {
    const { facts } = this.views!;
    const { lowest } = use;
    const [x, y] = [this.core % facts.columns, Math.floor(this.core / facts.columns)];
    const tensors = this.views!.tensorsOn(this.tensors, x, y);
    const buffers = this.views!.buffersOn(this.view, x, y);
    const end = Math.max(facts.size, use.end);
    const parts: Part[] = [{ kind: "reserved", at: 0, end: facts.base, what: "firmware and kernels" }];
    buffers.filter((b) => !b.borrowed && b.at !== null).forEach((b, i) => parts.push({ kind: "buffers", at: b.at!, end: b.at! + b.bytes, what: bufferName(b), odd: i % 2 === 1 }));
    if (facts.size > facts.top) parts.push({ kind: "L1_SMALL", at: facts.top, end: facts.size, what: "L1_SMALL" });
    tensors.forEach((t, i) => parts.push({ kind: "tensors", at: t.at, end: t.at + t.bytes, what: this.tensorName(t), odd: i % 2 === 1 }));
    if (use.end > lowest) parts.push({ kind: "overlap", at: lowest, end: use.end, what: "overlap" });
    else if (lowest > use.end) parts.push({ kind: "free", at: use.end, end: lowest, what: "free" });
    const track = h("div", { class: "core-track", role: "img", "aria-label": `Core ${x}-${y}: ${parts.map((p) => `${p.what} ${bytes(p.end - p.at)} at ${count(p.at)}`).join("; ")}` });
    const hidden = (part: Part): number => (part.kind === "buffers" || part.kind === "tensors" ? Math.max(0, Math.min(part.end, use.end) - Math.max(part.at, lowest)) : 0);
    for (const part of parts) add(track, this.block(part, end, hidden(part)));
    replace(this.column, h("figcaption", {}, `Core ${x}-${y}, `, h("span", { class: "muted" }, `${facts.chip}, ${count(facts.size)} B${facts.chip_basis === "estimated" ? " (assumed)" : ""}`)), h("div", { class: "core-heads muted" }, h("span", {}, "buffers ↑"), h("span", {}, "tensors ↓")), track);
    this.drawRows(buffers, tensors, use);
  }

  // `hidden` bytes of it lie below the overlap, where no label would be seen.
  private block(part: Part, end: number, hidden: number): HTMLElement {
    const size = part.end - part.at;
    const box = h("span", { class: `core-block core-${part.kind}${part.odd ? " odd" : ""}`, "data-at": part.at, "data-bytes": size, title: `${part.what}: ${bytes(size)}, ${count(part.at)} to ${count(part.end)}` });
    box.style.bottom = `${(part.at / end) * 100}%`;
    box.style.height = `${(size / end) * 100}%`;
    if ((size - hidden) / end > 0.045) add(box, h("span", { class: "core-label" }, part.kind === "tensors" || part.kind === "buffers" ? bytes(size) : `${bytes(size)} ${part.what}`));
    return box;
  }

  private tensorName(t: Tensor): string {
    return t.op < 0 ? "tensor from before the capture" : nameOf(this.names!, t.op);
  }

  // From the end of L1 down, as the picture has it.
  private drawRows(buffers: Buffer[], tensors: Tensor[], use: CoreUse): void {
    const { lowest } = use;
    const rows: [number, Cell[]][] = [];
    const address = (at: number, size: number): string => `${count(at)} – ${count(at + size)}`;
    for (const t of tensors) rows.push([t.at, [this.tensorCell(t, use), bytes(t.bytes), t.assumed ? `${address(t.at, t.bytes)} (assumed)` : address(t.at, t.bytes), this.coresOf(t)]]);
    for (const b of buffers) rows.push([b.at ?? 0, [bufferName(b), bytes(b.bytes), b.at === null ? "unknown" : address(b.at, b.bytes), b.cores.length ? shorten(rangeText(b.cores), 80) : "unknown"]]);
    if (lowest > use.end) rows.push([use.end, ["free", bytes(lowest - use.end), address(use.end, lowest - use.end), ""]]);
    if (use.end > lowest) rows.push([use.end, [h("b", { class: "grave" }, "overlap"), bytes(use.end - lowest), address(lowest, use.end - lowest), ""]]);
    rows.sort((a, b) => b[0] - a[0]);
    const note = tensors.some((t) => t.shards > 0 && !t.own) && h("p", { class: "hint" }, "A tensor is reserved at its address on every core, also where it has no data.");
    replace(this.rows, note || null, table(`L1 of core ${this.core % this.views!.facts.columns}-${Math.floor(this.core / this.views!.facts.columns)}`, [["on this core"], ["per core", "num"], ["addresses", "num"], ["cores"]], rows.map(([, cells]) => cells)));
  }

  private tensorCell(t: Tensor, use: CoreUse): HTMLElement {
    const names = this.names!;
    const inTheWay = this.clashes(use) && !t.small && t.at < use.end;
    if (t.op < 0) return h("span", {}, this.tensorName(t));
    return h("span", { class: "op-cell", "data-tensor": t.at }, h("span", {}, opLink(this.app, { index: t.op, mlir_op: nameOf(names, t.op) }), inTheWay && h("b", { class: "grave" }, " in the way")), h("span", { class: "mono muted" }, shorten([shortPlace(placeOf(names, t.op)), t.type < 0 ? "" : shapeOf(names.types[t.type])].filter(Boolean).join(" · "), 110)));
  }

  private coresOf(t: Tensor): string {
    if (!t.shards) return "interleaved over all banks";
    if (!t.cores) return `${counted(t.shards, "shard")}, cores unknown`;
    return `${t.own ? "only" : "data"} on ${shorten(rangeText(t.cores), 80)}`;
  }
}

function bufferName(b: Buffer): string {
  return b.refused ? `${KINDS[b.kind]}s` : b.borrowed ? `${KINDS[b.kind]} in a tensor` : KINDS[b.kind];
}
