// SPDX-License-Identifier: Apache-2.0
// The timeline stacked by class, layer, module or tensor: its control, its legend, the bands in the chart and what one of them is.
import type { App } from "./app.js";
import { Pinned, StackedRows, stateWords, swatch, STACKS, type Band, type Picture } from "./bands.js";
import { color, type Plot } from "./chart.js";
import { add, h, replace, shorten } from "./dom.js";
import { figure, unit } from "./figures.js";
import { count } from "./format.js";
import { isHeld } from "./held.js";
import type { Level, Series } from "./model.js";
import type { Names } from "./names.js";
import type { Sample } from "./sample.js";
import { columnAt, columnsOf } from "./stack.js";
import { table } from "./tables.js";

const MOST_LISTED = 40; // in the legend

export class Stacked {
  readonly control = h("div", { class: "tabs", role: "group", "aria-label": "Stacked by" });
  readonly legend = h("ul", { class: "legend bands" });
  readonly table = h("details", { class: "unsaved", hidden: true, toggle: () => this.list() }, h("summary", {}, "The bands as a table"));
  readonly note = h("p", { class: "hint" });
  readonly pinned = new Pinned(() => {
    this.pin = null;
    this.redraw();
  });
  private rows: StackedRows | null = null;
  private picture: Picture | null = null;
  private names: Names | null = null;
  private pin: number | null = null; // key of a band
  private ticket = 0;

  constructor(
    private readonly app: App,
    private readonly redraw: () => void,
  ) {
    for (const stack of STACKS) add(this.control, h("button", { type: "button", "data-stack": stack, click: () => app.set({ stack }) }, stack === "total" ? "total" : `by ${stack}`));
    app.moreBands.open = () => {
      this.rows?.more();
      this.redraw();
    };
    app.onChange((_view, changed) => {
      if ("memory" in changed || "rank" in changed || "stack" in changed) void this.load();
      else if ("op" in changed) this.list();
    });
    this.mark();
  }

  private mark(): void {
    const { stack, memory, rank } = this.app.view;
    const known = isHeld(memory) && this.app.model.facts.held.includes(rank);
    for (const button of this.control.querySelectorAll("button")) {
      button.setAttribute("aria-pressed", String(known ? button.dataset.stack === stack : button.dataset.stack === "total"));
      button.disabled = !known;
    }
    const ranks = this.app.model.facts.held.map((r) => this.app.model.facts.ranks[r] ?? 0);
    this.note.textContent = isHeld(memory) && !known && ranks.length ? `The page has the blocks of rank ${ranks.join(", ")} only.` : "";
  }

  async start(names: Names): Promise<void> {
    this.names = names;
    await this.load();
  }

  private async load(): Promise<void> {
    const { stack, memory, rank } = this.app.view;
    const ticket = ++this.ticket;
    this.mark();
    this.rows = null;
    this.picture = null;
    if (this.pin !== null) this.pinned.hide();
    replace(this.legend);
    this.table.hidden = true;
    this.redraw();
    if (stack === "total" || !isHeld(memory) || !this.names || !this.app.model.facts.held.includes(rank)) return;
    const held = await this.app.model.held(rank);
    const rows = await StackedRows.make(this.app, held, this.names, memory, stack);
    if (ticket !== this.ticket) return;
    this.rows = rows;
    this.redraw();
  }

  // The states the chart shows, and the bands they consist of; null while there are none.
  sample(series: Series, level: Level, from: number, to: number, pixels: number): Sample | null {
    if (!this.rows) return null;
    const columns = columnsOf(series, level, this.app.model.facts.states, from, to, pixels);
    this.picture = this.rows.picture(columns, level);
    const values = (of: Int32Array): (number | null)[] => Array.from(columns.state, (state) => (level.allocated[state] < 0 ? null : of[state]));
    const allocated = values(level.allocated);
    this.showLegend();
    this.list();
    return { x: Array.from(columns.x), low: allocated, high: allocated, largest: values(level.largest), plain: columns.plain };
  }

  get isShown(): boolean {
    return this.picture !== null;
  }

  // ---- Drawing ----------------------------------------------------------------------------------------------------

  // From the top: each area covers what the lower bands leave of it.
  draw(plot: Plot): void {
    if (!this.picture?.columns.state.length) return;
    const { bands, values, columns } = this.picture;
    const { ctx, bbox } = plot;
    const x = Array.from(columns.x, (at) => plot.valToPos(at, "x", true));
    const zero = plot.valToPos(0, "y", true);
    const scale = zero - plot.valToPos(1, "y", true);
    const sums = new Float64Array(x.length);
    for (const band of values) for (let c = 0; c < sums.length; c++) sums[c] += band[c];
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    for (let b = bands.length - 1; b >= 0; b--) {
      ctx.beginPath();
      trace(ctx, x, sums, zero, scale, columns.plain);
      ctx.lineTo(x[x.length - 1], zero);
      ctx.lineTo(x[0], zero);
      ctx.closePath();
      ctx.fillStyle = bands[b].color;
      ctx.fill();
      for (let c = 0; c < sums.length; c++) sums[c] -= values[b][c];
    }
    this.outline(plot, x, zero, scale);
    ctx.restore();
  }

  private outline({ ctx }: Plot, x: number[], zero: number, scale: number): void {
    const { bands, values, columns } = this.picture!;
    const pinned = bands.findIndex((band) => band.key === this.pin);
    if (pinned < 0) return;
    const sums = new Float64Array(x.length);
    ctx.strokeStyle = color("text");
    ctx.lineWidth = 1.5 * devicePixelRatio;
    for (let b = 0; b <= pinned; b++) {
      if (b === pinned) strokeLine(ctx, x, sums, zero, scale, columns.plain);
      for (let c = 0; c < sums.length; c++) sums[c] += values[b][c];
    }
    strokeLine(ctx, x, sums, zero, scale, columns.plain);
  }

  // ---- Legend and table -------------------------------------------------------------------------------------------

  private showLegend(): void {
    const { bands } = this.picture!;
    const items = bands.slice(-MOST_LISTED).reverse().map((band) => h("li", {}, h("button", { type: "button", class: "band", "data-band": band.key, "aria-pressed": String(band.key === this.pin), click: () => this.pinBand(band, this.columnOfInterest()) }, swatch(band.color), shorten(band.label, 60))));
    replace(this.legend, ...items, bands.length > MOST_LISTED && h("li", {}, `and ${count(bands.length - MOST_LISTED)} more`));
    this.table.hidden = false;
  }

  // At the cursor when it is in view, else where most is allocated.
  private columnOfInterest(): number {
    const { columns, values } = this.picture!;
    const { op } = this.app.view;
    const { from, to } = this.app.range();
    if (op !== null && op >= from && op <= to) return columnAt(columns, op);
    let best = 0;
    let most = -1;
    for (let c = 0; c < columns.state.length; c++) {
      const sum = values.reduce((all, band) => all + band[c], 0);
      if (sum > most) {
        most = sum;
        best = c;
      }
    }
    return best;
  }

  private list(): void {
    if (!this.table.open || !this.picture || !this.names) return;
    const { bands, values, columns } = this.picture;
    const { memory } = this.app.view;
    const at = this.columnOfInterest();
    const rows = bands.map((band, b) => [h("span", {}, swatch(band.color), shorten(band.label, 120)), figure(this.app, values[b][at] / 1000, memory), figure(this.app, values[b].reduce((most, v) => Math.max(most, v), 0) / 1000, memory)]);
    const when = stateWords(this.names, columns.state[at]);
    replace(this.table, this.table.querySelector("summary"), table(`What fills ${memory} ${when}`, [["band"], [h("span", {}, `${when}, `, unit(this.app)), "num"], ["highest in view", "num"]], rows.reverse()));
  }

  // ---- Pointer ----------------------------------------------------------------------------------------------------

  private bandAt(x: number, y: number): { band: Band; column: number; size: number } | null {
    if (!this.picture?.columns.state.length) return null;
    const { bands, values, columns } = this.picture;
    const column = columnAt(columns, x);
    let sum = 0;
    for (let b = 0; b < bands.length; b++) {
      sum += values[b][column];
      if (y >= 0 && y < sum) return { band: bands[b], column, size: values[b][column] };
    }
    return null;
  }

  tip(x: number, y: number): Node[] {
    const found = this.bandAt(x, y);
    return found ? this.rows!.tip(found.band, this.picture!.columns.state[found.column], found.size, this.picture!) : [];
  }

  click(x: number, y: number): void {
    const found = this.bandAt(x, y);
    if (found) this.pinBand(found.band, found.column);
  }

  private pinBand(band: Band, column: number): void {
    const { bands, values, columns } = this.picture!;
    this.pin = band.key;
    this.pinned.show(this.rows!.panel(band, columns.state[column], values[bands.indexOf(band)][column], this.picture!));
    this.redraw();
  }
}

function trace(ctx: Plot["ctx"], x: number[], sums: Float64Array, zero: number, scale: number, stepped: boolean): void {
  for (let c = 0; c < x.length; c++) {
    if (stepped && c) ctx.lineTo(x[c], zero - sums[c - 1] * scale);
    ctx.lineTo(x[c], zero - sums[c] * scale);
  }
}

function strokeLine(ctx: Plot["ctx"], x: number[], sums: Float64Array, zero: number, scale: number, stepped: boolean): void {
  ctx.beginPath();
  trace(ctx, x, sums, zero, scale, stepped);
  ctx.stroke();
}
