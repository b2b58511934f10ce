// SPDX-License-Identifier: Apache-2.0
// A bank's addresses: at the cursor as a bar, with what is free and what was refused, and over time as a picture in which a leak, a late free and a pinned
// hole show.
import type uPlot from "uplot";
import type { App } from "./app.js";
import { addressScale, bankAt, exactness, type AddressScale, type BankMap, type Block } from "./bank.js";
import { classColor, Pinned, rowFacts, stateWords, swatch } from "./bands.js";
import { chartBox, color, font, makeChart, type Plot } from "./chart.js";
import { memoryInView, MomentButtons, momentInView, SceneLoader, type Moment, type Scene } from "./cursor.js";
import { h, replace, shorten } from "./dom.js";
import { bytes, count, counted, mb, number, percent } from "./format.js";
import { addressOf, classAt, memoryOf, rowName } from "./held.js";
import { Lazy } from "./lazy.js";
import type { Names } from "./names.js";
import { paintCells, pictureOf } from "./raster.js";
import { drawnBy, saveButtons } from "./save.js";
import { columnAt, columnsOf, type Columns } from "./stack.js";
import type { Surface } from "./surface.js";
import { longTable, type Cell } from "./tables.js";

const MB = 1048576;
const LANE = 46; // pixels: the bank
const BELOW = 40; // what was refused, and the largest free block
const ABOVE = 16; // marks of blocks that pin free space

export class BlockMap {
  readonly element: HTMLElement | null = null;
  private readonly buttons: MomentButtons;
  private readonly words = h("span", { class: "muted" });
  private readonly canvas = h("canvas", { class: "bank", tabindex: 0, role: "img", keydown: (event: KeyboardEvent) => this.key(event), pointermove: (event: PointerEvent) => this.hover(event), pointerleave: () => (this.tip.hidden = true), click: (event: MouseEvent) => this.click(event) });
  private readonly tip = h("div", { class: "tip", hidden: true });
  private readonly status = h("p", { class: "visually-hidden", "aria-live": "polite" });
  private readonly about = h("p", { class: "hint", "data-key": "exactness" });
  private readonly legend = h("ul", { class: "legend" });
  private readonly pinned = new Pinned(() => undefined);
  private readonly table = h("details", { class: "unsaved", toggle: () => this.list() }, h("summary", {}, "The blocks as a table"));
  private readonly place = chartBox("Picture of a bank's addresses over operations: each block is a rectangle from its allocation to its free.");
  private chart: uPlot | null = null;
  private raster: { picture: HTMLCanvasElement; columns: Columns; key: string } | null = null;
  private names: Names | null = null;
  private readonly scenes: SceneLoader;
  private scene: Scene | null = null;
  private moment: Moment | null = null;
  private map: BankMap | null = null;
  private scale: AddressScale | null = null;
  private focused = -1; // block
  private lazy: Lazy | null = null;
  private redraws: number[] = [];

  constructor(private readonly app: App) {
    this.scenes = new SceneLoader(app);
    this.buttons = new MomentButtons(app);
    if (!app.model.facts.held.length || !app.model.facts.blocks_known) return;
    const bank = h("div", { class: "chart-box" }, this.canvas, this.tip);
    const figure = h("div", {}, bank, this.legend);
    const picture = h("div", {}, this.place.box);
    this.element = h(
      "section",
      { id: "blocks", class: "card", "aria-labelledby": "blocks-title" },
      h("div", { class: "card-head" }, h("h2", { id: "blocks-title" }, "Block map"), this.buttons.element, this.words, h("span", { class: "grow" }), saveButtons(app, figure, () => `Block map · ${memoryInView(app)}`)),
      figure,
      this.about,
      this.pinned.element,
      this.table,
      h("div", { class: "card-head" }, h("h3", {}, "Addresses over time"), h("span", { class: "grow" }), saveButtons(app, picture, () => `Addresses over time · ${memoryInView(app)}`)),
      picture,
      this.status,
    );
    this.lazy = new Lazy(this.element, () => this.draw());
    app.onChange((_view, changed) => {
      if ("memory" in changed || "rank" in changed) void this.load();
      else if ("op" in changed || "at" in changed || "from" in changed || "to" in changed) this.lazy?.stale();
    });
  }

  async start(names: Names): Promise<void> {
    if (!this.element) return;
    this.names = names;
    drawnBy(this.canvas, (surface) => this.drawBank(surface));
    let width = 0;
    new ResizeObserver(([{ contentRect }]) => {
      if (width !== (width = contentRect.width)) this.lazy!.stale();
    }).observe(this.element);
    await this.load();
    this.lazy!.start();
  }

  private async load(): Promise<void> {
    if (!this.names) return;
    const scene = await this.scenes.load(this.names);
    if (scene === undefined) return;
    this.scene = scene;
    this.map = null;
    this.scale = null;
    this.raster = null;
    this.pinned.hide();
    this.lazy!.stale();
  }

  // Colours of another theme.
  redraw(): void {
    this.raster = null;
    this.lazy?.stale();
  }

  private draw(): void {
    const began = performance.now();
    const { scene } = this;
    this.moment = scene && momentInView(this.app, scene);
    if (!scene || !this.moment || this.moment.state < 0) {
      this.map = null;
      this.words.textContent = "";
      this.about.textContent = "The page has no blocks of this rank.";
      return;
    }
    const end = this.map?.end;
    this.map = bankAt(scene, this.moment.state);
    if (!this.scale || end !== this.map.end) this.scale = addressScale(scene.held, scene.memory, this.map.base, this.map.end);
    this.focused = -1;
    this.buttons.show(scene, this.moment);
    this.words.textContent = `${scene.memory} ${this.moment.words}`;
    this.about.textContent = this.aboutWords();
    this.showLegend();
    this.paintBank();
    this.list();
    this.chart ??= this.makeChart();
    this.chart.setData([[0], [null]]);
    this.redraws.push(performance.now() - began);
  }

  takeRedraws(): number[] {
    return this.redraws.splice(0);
  }

  // ---- Words ------------------------------------------------------------------------------------------------------

  private aboutWords(): string {
    const { held, memory, level } = this.scene!;
    const { state } = this.moment!;
    const bank = held[memory];
    if (held.placed) return "Addresses are those that were recorded.";
    const share = bank.states ? ` The largest free block agrees at ${count(bank.agree)} of ${counted(bank.states, "state")} (${percent(bank.agree, bank.states)}).` : "";
    const off = (this.map!.largest?.size ?? 0) - (level.largest[state] * MB) / 1000;
    const played = "the log's allocations played through tt-metal's allocator";
    const here = exactness(this.scene!, this.map!, state) === "agrees" ? `Derived: ${played}. The placement is right here: the largest free block is the measured one.` : `Estimated here: ${played} leave a largest free block ${bytes(Math.abs(off))} ${off < 0 ? "smaller" : "larger"} than the measured one.`;
    return here + share + (this.map!.unplaced ? ` ${bytes(this.map!.unplaced)} are held by tensors for which the replay found no room.` : "");
  }

  private showLegend(): void {
    const { held } = this.scene!;
    const words = Object.values(this.app.model.facts.classes);
    const there = new Set(this.map!.blocks.filter((block) => block.row >= 0).map((block) => classAt(held, block.row, this.moment!.state)));
    const hatch = h("span", { class: "key key-idle", "aria-hidden": true });
    replace(
      this.legend,
      ...[...there].sort((a, b) => a - b).map((c) => h("li", {}, swatch(classColor(c)), words[c])),
      h("li", {}, h("span", { class: "key key-free", "aria-hidden": true }), "free"),
      this.map!.pins.length > 0 && h("li", {}, h("span", { class: "key key-peak", "aria-hidden": true }, "▼"), "pins free space"),
      this.refused() !== null && h("li", {}, h("span", { class: "key bar-failure", "aria-hidden": true }), "refused"),
      this.scale!.cut !== null && h("li", {}, h("span", { class: "key key-cut", "aria-hidden": true }), `${bytes(this.scale!.cut.to - this.scale!.cut.from)} free at all times, cut short`),
      h("li", {}, hatch, "held after its last use (over time)"),
    );
  }

  // What the failure of this memory asked for, bytes per bank.
  private refused(): number | null {
    return this.app.model.findings.incidents.find((one) => one.memory === this.scene!.memory && one.needed_per_bank_B !== null)?.needed_per_bank_B ?? null;
  }

  private blockWords(block: Block): string {
    const { held, names } = this.scene!;
    if (block.row < 0) return "free";
    const classes = Object.values(this.app.model.facts.classes);
    return rowName(held, names, block.row) || classes[classAt(held, block.row, this.moment!.state)];
  }

  private list(): void {
    if (!this.table.open || !this.map) return;
    const { held } = this.scene!;
    const classes = Object.values(this.app.model.facts.classes);
    const pins = new Set(this.map.pins.map((pin) => pin.at));
    let pinned = 0; // end of a stretch that pins
    const rows = this.map.blocks.map((block): Cell[] => {
      if (pins.has(block.at)) pinned = this.map!.pins.find((pin) => pin.at === block.at)!.size + block.at;
      return [count(block.at), mb(block.size / MB), h("span", { class: block.row < 0 ? "muted" : "mono" }, shorten(this.blockWords(block), 100)), block.row < 0 ? "" : classes[classAt(held, block.row, this.moment!.state)], block.row >= 0 && block.at < pinned ? "pins free space" : block === this.map!.largest ? "largest free block" : ""];
    });
    replace(this.table, this.table.querySelector("summary"), longTable(`Blocks of a ${this.words.textContent ?? ""} bank by address`, [["address", "num"], ["MB per bank", "num"], ["block"], ["class"], [""]], rows.slice(0, 5000), 20));
  }

  // ---- The bank at the cursor -------------------------------------------------------------------------------------

  private paintBank(): void {
    const px = devicePixelRatio;
    const width = Math.max(200, this.canvas.parentElement!.clientWidth);
    const tall = ABOVE + LANE + BELOW;
    this.canvas.width = Math.round(width * px);
    this.canvas.height = tall * px;
    this.canvas.style.height = `${tall}px`;
    this.canvas.setAttribute("aria-label", `A ${this.words.textContent ?? ""} bank by address: ${counted(this.map!.blocks.length - this.map!.free.length, "block")}, ${counted(this.map!.free.length, "free block")}, the largest ${bytes(this.map!.largest?.size ?? 0)}. Left and right arrow keys step through them.`);
    this.drawBank(this.canvas.getContext("2d")!);
  }

  private drawBank(ctx: Surface): void {
    const { map, scene, moment, scale } = this;
    if (!map || !scene || !moment || !scale) return;
    const px = devicePixelRatio;
    const { width } = this.canvas;
    const { cut, length, place } = scale;
    const at = (address: number): number => (place(address) / length) * width;
    const [top, tall] = [ABOVE * px, LANE * px];
    ctx.clearRect(0, 0, width, this.canvas.height);
    ctx.fillStyle = color("card");
    ctx.fillRect(0, top, width, tall);
    for (const block of map.blocks) {
      if (block.row < 0) continue;
      ctx.fillStyle = classColor(classAt(scene.held, block.row, moment.state));
      const left = at(block.at);
      const wide = at(block.at + block.size) - left;
      ctx.fillRect(left, top, Math.max(px, wide - (wide > 6 * px ? px : 0)), tall);
    }
    if (cut) drawCut(ctx, at(cut.from), top, at(cut.to) - at(cut.from), tall);
    ctx.strokeStyle = color("border");
    ctx.lineWidth = px;
    ctx.strokeRect(px / 2, top + px / 2, width - px, tall - px);
    for (const pin of map.pins) {
      const middle = at(pin.at + pin.size / 2);
      ctx.fillStyle = color("peak");
      ctx.beginPath();
      ctx.moveTo(middle, top - 2 * px);
      ctx.lineTo(middle - 5 * px, top - 11 * px);
      ctx.lineTo(middle + 5 * px, top - 11 * px);
      ctx.closePath();
      ctx.fill();
    }
    this.drawBelow(ctx, map, at, top + tall, px, width);
    if (this.focused < 0) return;
    const block = map.blocks[this.focused];
    ctx.strokeStyle = color("text");
    ctx.lineWidth = 2 * px;
    ctx.strokeRect(at(block.at) - px, top - px, Math.max(2 * px, at(block.at + block.size) - at(block.at)) + 2 * px, tall + 2 * px);
  }

  // The largest free block as a bracket, and what was refused on the same scale beside it.
  private drawBelow(ctx: Surface, { largest }: BankMap, at: (address: number) => number, top: number, px: number, width: number): void {
    ctx.font = font(11);
    const lane = (from: number, wide: number, y: number, ink: string, text: string, tall: number): void => {
      const left = Math.min(from, Math.max(0, width - wide));
      ctx.fillStyle = ink;
      ctx.fillRect(left, y + 6 * px - tall / 2, wide, tall);
      const room = ctx.measureText(text).width + 12 * px;
      const right = left + wide + room < width;
      const start = right ? left + wide + 6 * px : left > room ? left - room + 6 * px : left + 8 * px;
      ctx.fillStyle = color("plate");
      ctx.fillRect(start - 3 * px, y, room - 6 * px, 13 * px);
      Object.assign(ctx, { fillStyle: color("text"), textAlign: "left", textBaseline: "middle" });
      ctx.fillText(text, start, y + 6 * px);
    };
    if (!largest) return;
    lane(at(largest.at), Math.max(2 * px, at(largest.at + largest.size) - at(largest.at)), top + 5 * px, color("allocated"), `largest free block ${bytes(largest.size)}`, 3 * px);
    const need = this.refused();
    if (need !== null) lane(at(largest.at), Math.max(2 * px, (need / this.scale!.length) * width), top + 22 * px, color("failure"), `refused ${bytes(need)}`, 12 * px);
  }

  // ---- Pointer and keys -------------------------------------------------------------------------------------------

  private blockAt(event: MouseEvent): number {
    if (!this.map) return -1;
    const box = this.canvas.getBoundingClientRect();
    const { length } = this.scale!;
    const address = this.scale!.address(((event.clientX - box.left) / box.width) * length) ?? this.scale!.cut!.from + 1;
    const slack = (length / box.width) * 1.5; // small blocks are drawn wider than they are
    const hit = this.map.blocks.findIndex((block) => block.at <= address && address < block.at + block.size);
    if (hit < 0 || this.map.blocks[hit].row >= 0) return hit;
    const near = this.map.blocks.findIndex((block) => block.row >= 0 && block.size < 2 * slack && Math.abs(block.at - address) < slack);
    return near < 0 ? hit : near;
  }

  private describe(block: Block): Node[] {
    const { held, names } = this.scene!;
    const rows: Node[] = [h("div", {}, h("b", {}, shorten(this.blockWords(block), 90)), ` ${bytes(block.size)}`), h("div", { class: "muted" }, `addresses ${count(block.at)} to ${count(block.at + block.size)}`)];
    const pin = this.map!.pins.find((one) => one.at <= block.at && block.at < one.at + one.size);
    if (block.row >= 0) rows.push(h("div", { class: "muted" }, `allocated ${stateWords(names, held.from[block.row])}`));
    if (pin && block.row >= 0) rows.push(h("div", { class: "warn" }, `pins free space: without it ${bytes(pin.merged)} in one block`));
    return rows;
  }

  private hover(event: PointerEvent): void {
    const at = this.blockAt(event);
    this.tip.hidden = at < 0;
    if (at < 0) return;
    this.tip.replaceChildren(...this.describe(this.map!.blocks[at]));
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left;
    this.tip.style.left = x < box.width / 2 ? `${x + 12}px` : "";
    this.tip.style.right = x < box.width / 2 ? "" : `${box.width - x + 12}px`;
    this.tip.style.top = `${ABOVE + LANE + 4}px`;
  }

  private click(event: MouseEvent): void {
    this.pin(this.blockAt(event));
  }

  private pin(at: number): void {
    if (at < 0 || !this.map) return;
    this.focused = at;
    this.paintBank();
    const block = this.map.blocks[at];
    const { held, names } = this.scene!;
    this.pinned.show(h("div", {}, h("h3", {}, shorten(this.blockWords(block), 160)), block.row < 0 ? h("div", {}, ...this.describe(block)) : rowFacts(this.app, held, names, block.row, this.moment!.state)));
  }

  private key(event: KeyboardEvent): void {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || !this.map?.blocks.length) return;
    event.preventDefault();
    event.stopPropagation();
    const n = this.map.blocks.length;
    this.pin(this.focused < 0 ? (step > 0 ? 0 : n - 1) : (this.focused + step + n) % n);
    this.status.textContent = this.describe(this.map.blocks[this.focused]).map((node) => node.textContent).join(", ");
  }

  // ---- Addresses over time ----------------------------------------------------------------------------------------

  private makeChart(): uPlot {
    return makeChart(this.app, this.place.host, {
      label: "Addresses over time",
      height: 320,
      series: [{ label: "none" }],
      value: (v) => this.addressWords(v),
      top: () => (this.scale?.length ?? MB) / MB,
      draw: (plot) => this.drawTime(plot),
      tip: (x, y) => this.timeTip(x, y),
      click: (x, y) => this.timeClick(x, y),
    });
  }

  private addressWords(place: number): string {
    const address = this.scale?.address(place * MB);
    return address == null ? "" : `${number(Math.round(address / MB * 10) / 10)} MB`;
  }

  private drawTime(plot: Plot): void {
    const { scene, map, moment, scale } = this;
    if (!scene || !map || !moment || !scale) return;
    const { ctx, bbox } = plot;
    const { from, to } = this.app.range();
    const [width, height] = [Math.round(bbox.width), Math.round(bbox.height)];
    const key = [scene.memory, this.app.view.rank, from, to, width, height, map.end, document.documentElement.dataset.theme].join();
    if (this.raster?.key !== key) {
      const columns = columnsOf(scene.series, scene.level, this.app.model.facts.states, from, to, Math.min(2000, width));
      const edge = Int32Array.from(columns.x, (x) => Math.max(0, Math.min(width, Math.floor(plot.valToPos(x, "x", true) - bbox.left + 0.01))));
      const cells = paintCells(scene.held, scene.memory, scene.names.ops, columns, edge, width, height, scale);
      this.raster = { picture: pictureOf(cells, Object.keys(this.app.model.facts.classes).map((_name, c) => classColor(c)), color("card")), columns, key };
    }
    ctx.drawImage(this.raster.picture, bbox.left, bbox.top, width, height);
    const { cut, length, place } = scale;
    if (cut) drawCut(ctx, bbox.left, bbox.top + height * (1 - place(cut.to) / length), width, (height * cut.drawn) / length);
    const i = scene.series.states ? scene.series.states.indexOf(moment.state) : moment.state;
    const x = plot.valToPos(scene.series.x[i], "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width) return;
    ctx.strokeStyle = color("text");
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([2 * devicePixelRatio, 2 * devicePixelRatio]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.setLineDash([]);
  }

  // The block at a place of the picture, and the state it stands at; row -1: free.
  private timeAt(x: number, y: number): { row: number; state: number } | null {
    if (!this.scene || !this.scale || !this.raster?.columns.state.length) return null;
    const { held, memory } = this.scene;
    const state = this.raster.columns.state[columnAt(this.raster.columns, x)];
    const address = this.scale.address(y * MB) ?? -1;
    let row = -1;
    for (let i = 0; i < held.from.length && row < 0; i++) {
      if (held.from[i] <= state && state < held.to[i] && held.at[i] && memoryOf(held, i) === memory && addressOf(held, i) <= address && address < addressOf(held, i) + held.size[i] * held.unit) row = i;
    }
    return { row, state };
  }

  private timeTip(x: number, y: number): { x: number; top: number; rows: Node[] } | null {
    const found = this.timeAt(x, y);
    if (!found || !this.scene) return null;
    const { held, names } = this.scene;
    const { row, state } = found;
    const classes = Object.values(this.app.model.facts.classes);
    const rows: Node[] = [h("div", { class: "tip-op" }, stateWords(names, state))];
    if (row < 0) rows.push(h("div", { class: "muted" }, "free"));
    else {
      rows.push(h("div", {}, h("b", {}, shorten(rowName(held, names, row) || classes[classAt(held, row, state)], 80)), ` ${bytes(held.size[row] * held.unit)}`));
      rows.push(h("div", { class: "muted" }, `${classes[classAt(held, row, state)]}, address ${count(addressOf(held, row))}`));
      rows.push(h("div", { class: "muted" }, `allocated ${stateWords(names, held.from[row])}${held.to[row] < names.places.element.length ? `, freed ${stateWords(names, held.to[row])}` : ", never freed"}`));
      if (held.used[row] >= 0) rows.push(h("div", { class: "muted" }, `last used by #${count(held.used[row])}`));
    }
    return { x, top: 8, rows };
  }

  private timeClick(x: number, y: number): void {
    const found = this.timeAt(x, y);
    if (!found || !this.scene) return;
    const { held, names } = this.scene;
    this.app.select(Math.max(0, Math.min(this.app.model.facts.elements - 1, Math.floor(x))));
    if (found.row >= 0) this.pinned.show(h("div", {}, h("h3", {}, shorten(rowName(held, names, found.row), 160)), rowFacts(this.app, held, names, found.row, found.state)));
  }
}


// Free at all times, and cut short.
function drawCut(ctx: Surface, left: number, top: number, width: number, height: number): void {
  const px = devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, width, height);
  ctx.clip();
  ctx.fillStyle = color("bg");
  ctx.fillRect(left, top, width, height);
  ctx.strokeStyle = color("muted");
  ctx.lineWidth = px;
  ctx.beginPath();
  for (let x = left - height; x < left + width; x += 7 * px) {
    ctx.moveTo(x, top + height);
    ctx.lineTo(x + height, top);
  }
  ctx.stroke();
  ctx.restore();
}
