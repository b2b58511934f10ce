// SPDX-License-Identifier: Apache-2.0
// Both runs over each other, aligned by operation, and the difference of the two below; what stands at the selected place.
import type uPlot from "uplot";
import { chartBox, color, font, Labels, line, makeChart, type Plot, type Spot } from "./chart.js";
import { eachSide, type Comparison } from "./comparison.js";
import { BOTH, SERIES, SIDES, type Ops, type Places, type Side, type Steps, type What } from "./diff_model.js";
import { sampleBands, type Bands } from "./diff_sample.js";
import { add, h, longText, replace, shorten } from "./dom.js";
import type { Memory } from "./findings.js";
import { bytes, count, mb, number, signed } from "./format.js";
import { saveButtons } from "./save.js";
import { lowerBound } from "./sample.js";

const HEIGHT = 320;
const STRIP = 150;
const TITLES = ["Before", "After"];
const INKS = ["before", "allocated"]; // colours of the sides
const NONE = new Int32Array(0);

// What the places of a rank are, for the ribbon below the lines and the keys: 0 in both and alike, else a reason to look.
const Kind = { Same: 0, OnlyBefore: 1, OnlyAfter: 2, Changed: 3 } as const;
const KIND_WORDS = ["", "only before", "only after", "other results"];
const KIND_INKS = ["", "before", "allocated", "pieces"];

const beside = (x: number, gap: number, bottom: number): Spot[] => [[x + gap * devicePixelRatio, bottom, "left"], [x - gap * devicePixelRatio, bottom, "right"]];

interface Columns {
  places: Places;
  ops: Ops[];
  what: (id: number) => What;
  kinds: Uint8Array;
  edges: Int32Array; // where the kind changes, the end included
  changes: Int32Array; // of those and of the first place: where something differs
}

export class DiffChart {
  readonly element: HTMLElement;
  private readonly tabs = new Map<Memory, HTMLButtonElement>();
  private readonly upper = chartBox("Chart of the memory of both runs over aligned operations. Left and right arrow keys step through the operations, n steps to the next difference, plus and minus zoom, 0 shows all.", { tabindex: 0, role: "group" });
  private readonly lower = chartBox("Chart of the difference, after less before.");
  private readonly pinned = h("div", { class: "pinned", role: "region", "aria-label": "Selected operation", "aria-live": "polite" });
  private readonly scaleButton = h("button", { type: "button", click: () => this.toggleScale() });
  private readonly resetButton = h("button", { type: "button", click: () => this.app.zoom(null) }, "Show all");
  private charts: uPlot[] = [];
  private bands: Bands | null = null;
  private steps: Steps[][] = [];
  private levels: Int32Array[] = [NONE, NONE];
  private columns: Columns | null = null;
  private highest = 0; // of all places, both sides
  private wholeCapacity: boolean | null = null;
  private loading = 0;
  private redraws: number[] = [];
  private began: number | null = null;

  constructor(private readonly app: Comparison) {
    const { facts, memories } = app.model;
    const tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "Memory" });
    for (const memory of memories) {
      const tab = h("button", { type: "button", role: "tab", "data-memory": memory, click: () => app.set({ memory }) }, memory);
      this.tabs.set(memory, tab);
      add(tabs, tab);
    }
    const rank = h("select", { "aria-label": "Rank", id: "rank", change: (event: Event) => app.set({ rank: Number((event.target as HTMLSelectElement).value), place: null, from: null, to: null }) });
    facts.ranks.forEach((r, i) => add(rank, h("option", { value: i }, `rank ${r.rank}`)));
    const figure = h("div", {}, this.upper.box, h("h3", { class: "strip-title" }, "Difference, after − before"), this.lower.box, this.legend());
    this.element = h(
      "section",
      { id: "timeline", class: "card", "aria-labelledby": "timeline-title" },
      h("div", { class: "card-head" }, h("h2", { id: "timeline-title" }, "Both runs, aligned by operation"), tabs, facts.ranks.length > 1 && rank, h("span", { class: "grow" }), this.scaleButton, this.resetButton, saveButtons(app, figure, () => `Both runs · ${app.view.memory}`)),
      figure,
      this.pinned,
    );
    app.onChange((view, changed) => {
      rank.value = String(view.rank);
      if ("memory" in changed || "rank" in changed) void this.load();
      else if ("from" in changed || "to" in changed) this.redraw();
      else this.charts.forEach((chart) => chart.redraw(false));
      if ("place" in changed) this.pin();
    });
  }

  private legend(): HTMLElement {
    const item = (kind: string, text: string) => h("li", {}, h("span", { class: `key key-${kind}`, "aria-hidden": true }), text);
    const { sides } = this.app.model.facts;
    return h(
      "div",
      { class: "legend-row" },
      h("ul", { class: "legend" }, item("before", `before: ${shorten(sides[0].name, 40)}`), item("after", `after: ${shorten(sides[1].name, 40)}`), item("capacity", "capacity"), item("more", "after holds more"), item("less", "after holds less"), item("only-before", "operation only before"), item("only-after", "operation only after"), item("changed", "operation with other results")),
      h("p", { class: "hint" }, "Drag to zoom, Ctrl + wheel zooms at the pointer, Shift + wheel moves, double click shows all. Click selects the operation. A level is the highest from an operation to the next one."),
    );
  }

  // ---- Data -------------------------------------------------------------------------------------------------------

  async start(): Promise<void> {
    const shared = { value: (v: number): string => `${number(v / 1000)} MB`, least: 1, stepped: () => this.bands?.plain ?? true, tip: (x: number) => this.tip(x), click: (x: number) => this.app.select(this.placeAt(x)) };
    const side = (s: Side, dash: number[]): uPlot.Series[] => [
      { label: `${SIDES[s]}, highest`, stroke: () => color(INKS[s]), width: 1.5, dash, spanGaps: true },
      { label: `${SIDES[s]}, lowest`, stroke: () => color(INKS[s]), width: 0.5, dash, spanGaps: true },
    ];
    const bands = [{ series: [1, 2], fill: () => color("before-soft") }, { series: [3, 4], fill: () => color("allocated-soft") }] as uPlot.Band[];
    this.charts = [
      makeChart(this.app, this.upper.host, { ...shared, label: "Both runs", height: HEIGHT, series: [...side(0, [7, 4]), ...side(1, [])], bands, top: () => this.top(), draw: (u) => this.drawMarks(u) }),
      makeChart(this.app, this.lower.host, { ...shared, label: "Difference", height: STRIP, series: [{ label: "more", stroke: () => color("plus"), width: 1, fill: () => color("more") }, { label: "less", stroke: () => color("minus"), width: 1, fill: () => color("less") }], top: () => this.strip()[1], bottom: () => this.strip()[0], draw: (u) => this.drawStrip(u) }),
    ];
    await this.load();
  }

  // First what the pyramid shows, then the places themselves, then their names.
  private async load(): Promise<void> {
    const { model, view } = this.app;
    const { memory, rank } = view;
    const ticket = ++this.loading;
    for (const [m, tab] of this.tabs) {
      tab.setAttribute("aria-selected", String(m === memory));
      tab.tabIndex = m === memory ? 0 : -1;
    }
    const pyramids = await Promise.all(SERIES.map((series) => model.pyramid(rank, memory, series)));
    if (ticket !== this.loading) return;
    this.columns = null;
    this.steps = pyramids;
    if (pyramids[0].length) this.redraw();
    const [before, after] = await Promise.all(eachSide((side) => model.level(rank, memory, side)));
    if (ticket !== this.loading) return;
    this.levels = [before, after];
    this.highest = before.reduce((most, value) => Math.max(most, value), after.reduce((most, value) => Math.max(most, value), 0));
    const known = (value: number): number => (value < 0 ? NaN : value);
    const values = [(i: number) => known(before[i]), (i: number) => known(after[i]), (i: number) => known(after[i]) - known(before[i])];
    this.steps = pyramids.map((levels, i) => [{ step: 1, n: before.length, low: values[i], high: values[i] }, ...levels]);
    this.redraw();
    const columns = await this.readColumns(rank);
    if (ticket !== this.loading) return;
    this.columns = columns;
    this.charts.forEach((chart) => chart.redraw(false));
    this.pin();
  }

  private async readColumns(rank: number): Promise<Columns> {
    const { model } = this.app;
    const [places, ops, what] = await Promise.all([model.places(rank), Promise.all(eachSide((side) => model.ops(rank, side))), model.whats()]);
    const kinds = new Uint8Array(places.n);
    const edges: number[] = [];
    for (let i = 0; i < places.n; i++) {
      const [a, b] = places.own.map((own) => own[i]);
      kinds[i] = b < 0 ? Kind.OnlyBefore : a < 0 ? Kind.OnlyAfter : ops[0].what[a] === ops[1].what[b] ? Kind.Same : Kind.Changed;
      if (i && kinds[i] !== kinds[i - 1]) edges.push(i);
    }
    const changes = Int32Array.from([0, ...edges].filter((place) => place < places.n && kinds[place] !== Kind.Same));
    return { places, ops, what, kinds, edges: Int32Array.from([...edges, places.n]), changes };
  }

  // The next place, or the one before, where something differs that did not at the place before it.
  stepToChange(by: 1 | -1): void {
    if (!this.columns) return;
    const { changes, places } = this.columns;
    const from = this.app.view.place ?? (by > 0 ? -1 : places.n);
    const at = lowerBound(changes, by > 0 ? from + 1 : from);
    const next = changes[by > 0 ? at : at - 1] as number | undefined;
    if (next !== undefined) this.app.select(next);
  }

  goToPeak(side: Side): void {
    const { rank, memory } = this.app.view;
    this.app.select(this.app.model.facts.ranks[rank].highest[memory]?.[side] ?? null);
  }

  redraw(): void {
    if (!this.charts.length || !this.steps[0]?.length) return;
    this.began = performance.now();
    const { from, to } = this.app.range();
    const pixels = Math.max(200, Math.min(2000, this.charts[0].width - 80));
    this.bands = sampleBands(this.steps, from, to, pixels);
    const [before, after, difference] = this.bands.series;
    this.charts[0].setData([this.bands.x, before.high, before.low, after.high, after.low]);
    this.charts[1].setData([this.bands.x, difference.high.map((v) => (v === null ? null : Math.max(0, v))), difference.low.map((v) => (v === null ? null : Math.min(0, v)))]);
    this.scaleButton.textContent = this.whole() ? "Fit to data" : "Fit to capacity";
    this.resetButton.disabled = this.app.view.from === null;
    document.documentElement.dataset.firstChart ??= String(performance.now());
    document.documentElement.dataset.charted = "true";
  }

  // ---- Scales -----------------------------------------------------------------------------------------------------

  private readonly capacity = (): number => Math.max(...BOTH.map((side) => this.app.capacity(side)));

  private peak(): number {
    const peak = this.app.model.diff.peak[this.app.view.memory];
    return Math.max(this.highest, Math.round(Math.max(peak.before_per_bank_MB ?? 0, peak.after_per_bank_MB ?? 0) * 1000));
  }

  private whole(): boolean {
    return this.wholeCapacity ?? this.peak() >= this.capacity() * 0.4;
  }

  private toggleScale(): void {
    this.wholeCapacity = !this.whole();
    this.redraw();
  }

  private top(): number {
    return Math.max(1, this.whole() && this.capacity() ? this.capacity() * 1.06 : this.peak() * 1.2);
  }

  // Of the difference in view, zero included.
  private strip(): [number, number] {
    const { low = [], high = [] } = this.bands?.series[2] ?? {};
    const least = low.reduce<number>((most, v) => Math.min(most, v ?? 0), 0);
    const most = high.reduce<number>((best, v) => Math.max(best, v ?? 0), 0);
    const room = Math.max(1, (most - least) * 0.1);
    return [least - room, most + room];
  }

  // ---- Drawing ----------------------------------------------------------------------------------------------------

  private clipped(u: Plot, draw: (at: (x: number) => number, up: (y: number) => number) => void): void {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top - 2 * devicePixelRatio, bbox.width, bbox.height + 4 * devicePixelRatio);
    ctx.clip();
    ctx.font = font(11);
    draw((x) => u.valToPos(x, "x", true), (y) => u.valToPos(y, "y", true));
    ctx.restore();
  }

  private drawSelected({ ctx, bbox }: Plot, at: (x: number) => number): void {
    const { place } = this.app.view;
    if (place === null) return;
    ctx.strokeStyle = color("text");
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([2 * devicePixelRatio, 2 * devicePixelRatio]);
    line(ctx, at(place), bbox.top, at(place), bbox.top + bbox.height);
    ctx.setLineDash([]);
  }

  private drawMarks(u: Plot): void {
    this.clipped(u, (at, up) => {
      const labels = new Labels(u);
      this.drawRibbon(u);
      this.drawSelected(u, at);
      for (const side of BOTH) this.drawPeak(u, at, up, side, labels);
      for (const side of BOTH) this.drawFailures(u, at, side, labels);
      this.drawCapacity(u, up, labels);
    });
    if (this.began !== null) this.redraws.push(performance.now() - this.began);
    this.began = null;
  }

  private drawStrip(u: Plot): void {
    this.clipped(u, (at, up) => {
      u.ctx.fillStyle = color("muted");
      u.ctx.fillRect(u.bbox.left, up(0), u.bbox.width, devicePixelRatio);
      this.drawSelected(u, at);
    });
  }

  // Where operations differ, along the bottom.
  private drawRibbon({ ctx, bbox }: Plot): void {
    if (!this.columns) return;
    const { kinds, edges } = this.columns;
    const { from, to } = this.app.range();
    const scale = bbox.width / (to - from);
    const tall = 7 * devicePixelRatio;
    let painted = -1;
    for (let k = lowerBound(edges, from); k < edges.length; k++) {
      const start = k ? edges[k - 1] : 0;
      if (start >= to) break;
      if (kinds[start] === Kind.Same) continue;
      const left = Math.max(bbox.left + (start - from) * scale, painted);
      const right = Math.max(bbox.left + (edges[k] - from) * scale, left + devicePixelRatio);
      ctx.fillStyle = color(KIND_INKS[kinds[start]]);
      ctx.fillRect(left, bbox.top + bbox.height - tall, right - left, tall);
      painted = right;
    }
  }

  private drawCapacity({ ctx, bbox }: Plot, up: (y: number) => number, labels: Labels): void {
    const px = devicePixelRatio;
    const [before, after] = BOTH.map((side) => this.app.capacity(side));
    for (const side of before === after ? [1] : BOTH) {
      const capacity = [before, after][side];
      if (!capacity || capacity > this.top()) continue;
      ctx.strokeStyle = color("capacity");
      ctx.lineWidth = 1.5 * px;
      ctx.setLineDash([6 * px, 4 * px]);
      line(ctx, bbox.left, up(capacity), bbox.left + bbox.width, up(capacity));
      ctx.setLineDash([]);
      const words = `capacity${before === after ? "" : ` ${SIDES[side]}`} ${mb(capacity / 1000)} MB`;
      labels.put([`${words} per bank`, words], color("muted"), [[bbox.left + bbox.width - 4 * px, up(capacity) - 3 * px, "right"], [bbox.left + 4 * px, up(capacity) - 3 * px, "left"], [bbox.left + bbox.width - 4 * px, up(capacity) + 15 * px, "right"]]);
    }
  }

  private drawFailures({ ctx, bbox }: Plot, at: (x: number) => number, side: Side, labels: Labels): void {
    if (!this.columns) return;
    const { places, ops } = this.columns;
    for (const index of this.app.model.facts.sides[side].failed.slice(0, 20)) {
      const own = lowerBound(ops[side].index, index);
      if (ops[side].index[own] !== index) continue;
      const x = at(places.place[side][own] + 0.5);
      const middle = bbox.top + bbox.height / 2;
      ctx.strokeStyle = color("failure");
      ctx.lineWidth = 2 * devicePixelRatio;
      line(ctx, x, bbox.top, x, bbox.top + bbox.height);
      labels.put([`✕ failure ${SIDES[side]}`], color("failure"), [...beside(x, 5, middle), ...beside(x, 5, middle + 20 * devicePixelRatio)]);
    }
  }

  // The mark of the lower peak stands below it, so that the two never collide.
  private drawPeak({ ctx }: Plot, at: (x: number) => number, up: (y: number) => number, side: Side, labels: Labels): void {
    const { memory, rank } = this.app.view;
    const places = this.app.model.facts.ranks[rank].highest[memory] ?? [];
    const place = places[side];
    if (place === null || place === undefined || !this.levels[side].length) return;
    const px = devicePixelRatio;
    const level = this.levels[side][place];
    if (!level) return; // nothing was there
    const other = places[1 - side];
    const below = other !== null && other !== undefined && level < this.levels[1 - side][other];
    const [x, y] = [at(place), up(level)];
    const tall = (below ? 9 : -9) * px;
    ctx.fillStyle = color(INKS[side]);
    ctx.beginPath();
    ctx.moveTo(x, y + tall / 9);
    ctx.lineTo(x - 5 * px, y + tall);
    ctx.lineTo(x + 5 * px, y + tall);
    ctx.closePath();
    ctx.fill();
    labels.keep(x - 5 * px, Math.min(y, y + tall), x + 5 * px, Math.max(y, y + tall));
    labels.put([`${SIDES[side]} ${mb(level / 1000)} MB`], color("text"), [...beside(x, 8, y + (below ? 16 : -4) * px), ...beside(x, 8, y + (below ? -4 : 16) * px)]);
  }

  // ---- What stands at a place -------------------------------------------------------------------------------------

  private readonly placeAt = (x: number): number => Math.max(0, Math.min(this.app.places - 1, Math.floor(x)));

  private describe(place: number, side: Side): { index: number; line: number; what: What } | null {
    const { places, ops, what } = this.columns!;
    const own = places.own[side][place];
    return own < 0 ? null : { index: ops[side].index[own], line: ops[side].line[own], what: what(ops[side].what[own]) };
  }

  // "+4.00 MB per bank"; unknown where one of the logs does not tell.
  private difference(place: number): string {
    const [before, after] = this.levels.map((level) => level[place]);
    return before < 0 || after < 0 ? "unknown" : `${signed((after - before) / 1000)} MB per bank`;
  }

  private tip(x: number): { x: number; top: number; rows: Node[] } | null {
    if (!this.columns) return null;
    const place = this.placeAt(x);
    const rows: Node[] = [];
    for (const side of BOTH) {
      const op = this.describe(place, side);
      const level = this.levels[side][place];
      rows.push(h("div", { class: "tip-op", "data-side": SIDES[side] }, h("span", { class: `key key-${SIDES[side]}`, "aria-hidden": true }), ` ${TITLES[side]} `, h("b", {}, level < 0 ? "unknown" : `${mb(level / 1000)} MB per bank`), op ? ` · #${op.index} ` : " · no such operation", op && h("b", {}, shorten(op.what.name, 60))));
      if (op?.what.location) rows.push(h("div", { class: "muted mono" }, shorten(op.what.location, 90)));
      if (op?.what.results) rows.push(h("div", { class: "muted" }, shorten(op.what.results, 120)));
    }
    rows.push(h("div", { class: "tip-difference" }, "Difference ", h("b", {}, this.difference(place))));
    return { x: place, top: 24, rows };
  }

  private pin(): void {
    const { place, memory } = this.app.view;
    if (place === null || !this.columns) return replace(this.pinned, h("p", { class: "hint" }, "Select an operation in the chart or in a table to see both sides of it."));
    const kind = KIND_WORDS[this.columns.kinds[place]];
    const rows = eachSide((side) => {
      const op = this.describe(place, side);
      const level = this.levels[side][place];
      const chip = (level / 1000) * 1048576 * (this.app.model.facts.memories[memory]?.[side].banks ?? 1);
      return h(
        "tr",
        { "data-side": SIDES[side] },
        h("th", { scope: "row" }, h("span", { class: `key key-${SIDES[side]}`, "aria-hidden": true }), ` ${TITLES[side]}`),
        h("td", {}, op ? h("span", { class: "mono" }, `#${op.index} ${shorten(op.what.name, 80)}`) : "–", op && this.app.model.facts.sides[side].lines && h("div", { class: "muted" }, `log line ${op.line}`)),
        h("td", {}, op ? longText(op.what.location, 300) : ""),
        h("td", {}, op ? longText(op.what.results, 300) : ""),
        h("td", { class: "num" }, level < 0 ? "unknown" : `${mb(level / 1000)} MB`, level >= 0 && h("div", { class: "muted" }, `${bytes(chip)} per chip`)),
      );
    });
    const head = h("tr", {}, ...["Run", "Operation", "Location", "Results"].map((title) => h("th", { scope: "col" }, title)), h("th", { scope: "col", class: "num" }, `${memory} per bank`));
    replace(
      this.pinned,
      h("p", {}, h("b", {}, `Place ${count(place)} of ${count(this.app.places)}`), kind && ` · ${kind}`, " · difference ", h("b", { "data-key": "difference" }, this.difference(place)), " ", h("button", { type: "button", class: "small", click: () => this.stepToChange(-1) }, "◂ previous change"), " ", h("button", { type: "button", class: "small", click: () => this.stepToChange(1) }, "next change ▸"), " ", h("button", { type: "button", class: "small", click: () => this.app.select(null) }, "Close")),
      h("div", { class: "scroll-x" }, h("table", {}, h("caption", { class: "visually-hidden" }, "The selected operation in both runs"), h("thead", {}, head), h("tbody", {}, ...rows))),
    );
  }

  // For the bench and the tests: how long each redraw took, in milliseconds.
  takeRedraws(): number[] {
    return this.redraws.splice(0);
  }
}
