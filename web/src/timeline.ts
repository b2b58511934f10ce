// SPDX-License-Identifier: Apache-2.0
// Memory over time: what is allocated, what is free but only in pieces, the capacity, program runs, const-eval programs, the peak and the
// failure.
import type uPlot from "uplot";
import { onPart, setPart } from "./address.js";
import type { App } from "./app.js";
import { chartBox, color, font, Labels, line, makeChart, type Plot, type Spot } from "./chart.js";
import { add, h, shorten } from "./dom.js";
import { bytes, mb, number, percent } from "./format.js";
import { MEMORIES, type Memory } from "./findings.js";
import { Flag, Place, type Level, type PyramidLevel, type Series } from "./model.js";
import { describe, type Names } from "./names.js";
import { saveButtons } from "./save.js";
import { Stacked } from "./stacked.js";
import { lowerBound, samplePyramid, sampleStates, type Sample } from "./sample.js";

const HEIGHT = 340;

export class Timeline {
  readonly element: HTMLElement;
  private readonly tabs = new Map<Memory, HTMLButtonElement>();
  private readonly place = chartBox("Chart of memory over operations. Left and right arrow keys step through the operations, plus and minus zoom, 0 shows all.", { tabindex: 0, role: "group" });
  private readonly status = h("p", { class: "visually-hidden", "aria-live": "polite" });
  private readonly scaleButton = h("button", { type: "button", click: () => this.toggleScale() });
  private readonly resetButton = h("button", { type: "button", click: () => this.app.zoom(null) }, "Show all");
  private readonly stacked = new Stacked(this.app, () => this.redraw());
  private chart: uPlot | null = null;
  private sample: Sample = { x: [], low: [], high: [], largest: [], plain: true };
  private pyramid: PyramidLevel[] = [];
  private series: Series | null = null;
  private level: Level | null = null;
  private names: Names | null = null;
  private constEval: { from: Int32Array; to: Int32Array } | null = null;
  private wholeCapacity: boolean | null = null; // null: as suits the memory
  private loading = 0;
  private redraws: number[] = [];
  private began: number | null = null;

  constructor(private readonly app: App) {
    const tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "Memory" });
    for (const memory of MEMORIES) {
      const tab = h("button", { type: "button", role: "tab", "data-memory": memory, click: () => app.set({ memory }) }, memory);
      this.tabs.set(memory, tab);
      add(tabs, tab);
    }
    const ranks = app.model.facts.ranks;
    const rank = h("select", { "aria-label": "Rank", change: (event: Event) => app.set({ rank: Number((event.target as HTMLSelectElement).value) }) });
    ranks.forEach((number, i) => add(rank, h("option", { value: i, ...(i === app.view.rank ? { selected: true } : {}) }, `rank ${number}`)));
    const figure = h("div", {}, this.place.box, this.stacked.legend, this.legend());
    this.element = h(
      "section",
      { id: "timeline", class: "card", "aria-labelledby": "timeline-title" },
      h("div", { class: "card-head" }, h("h2", { id: "timeline-title" }, "Memory over time"), tabs, ranks.length > 1 && rank, app.model.facts.held.length > 0 && this.stacked.control, h("span", { class: "grow" }), this.scaleButton, this.resetButton, saveButtons(app, figure, () => `Memory over time · ${app.view.memory}${ranks.length > 1 ? ` · rank ${ranks[app.view.rank]}` : ""}`)),
      figure,
      this.stacked.note,
      this.stacked.pinned.element,
      this.stacked.table,
      this.status,
    );
    onPart("fit", (value) => {
      this.wholeCapacity = value ? value === "capacity" : null;
      this.redraw();
    });
    app.onChange((_view, changed) => {
      if ("memory" in changed || "rank" in changed) void this.load();
      else if ("from" in changed || "to" in changed) this.redraw();
      else this.chart?.redraw(false);
    });
  }

  private legend(): HTMLElement {
    const item = (kind: string, text: string, sign = "") => h("li", {}, h("span", { class: `key key-${kind}`, "aria-hidden": true }, sign), text);
    return h(
      "div",
      { class: "legend-row" },
      h(
        "ul",
        { class: "legend" },
        item("allocated", "allocated"),
        this.app.model.facts.blocks_known && item("pieces", "free outside the largest free block (fragmentation)"),
        item("capacity", "capacity"),
        this.app.model.facts.has_runs && item("consteval", "const-eval operations"),
        item("peak", "peak", "▼"),
        this.app.model.findings.incidents.length > 0 && item("failure", "failure"),
      ),
      h("p", { class: "hint" }, "Drag to zoom, Ctrl + wheel zooms at the pointer, Shift + wheel moves, double click shows all. Click selects the operation."),
    );
  }

  // ---- View -------------------------------------------------------------------------------------------------------

  zoomBy(factor: number): void {
    this.app.zoomAbout(this.app.view.op, factor);
  }

  private top(): number {
    const { memory } = this.app.view;
    const capacity = this.app.capacity(memory);
    const peak = Math.round((this.app.model.findings.peak[memory]?.allocated_per_bank_MB ?? 0) * 1000);
    if (this.whole()) return capacity * 1.06 || 1;
    return Math.max(1, peak * 1.25);
  }

  private whole(): boolean {
    if (this.wholeCapacity !== null) return this.wholeCapacity;
    return (this.app.model.findings.peak[this.app.view.memory]?.utilization_pct ?? 0) >= 40;
  }

  private toggleScale(): void {
    this.wholeCapacity = !this.whole();
    setPart("fit", this.wholeCapacity ? "capacity" : "data");
    this.redraw();
  }

  // ---- Data -------------------------------------------------------------------------------------------------------

  async start(): Promise<void> {
    this.chart = makeChart(this.app, this.place.host, {
      label: "Memory over time",
      height: HEIGHT,
      series: [
        { label: "highest", stroke: () => color("allocated"), width: 1.5, fill: () => this.soft() },
        { label: "lowest", stroke: () => (this.stacked.isShown ? "transparent" : color("allocated-low")), width: 0.5, fill: () => this.soft() },
        { label: "pieces", stroke: "transparent", width: 0 },
      ],
      bands: [{ series: [3, 1], fill: () => color("pieces") }],
      value: (v) => `${number(v / 1000)} MB`,
      least: 1,
      stepped: () => this.sample.plain,
      top: () => this.top(),
      under: (u) => {
        this.drawRuns(u);
        this.stacked.draw(u);
      },
      draw: (u) => this.drawMarks(u),
      tip: (x, y) => this.tip(x, y),
      click: (x, y) => this.click(x, y),
    });
    await this.load();
  }

  private soft(): string {
    return this.stacked.isShown ? "transparent" : color("allocated-soft");
  }

  // First what the pyramid shows, then the states themselves.
  private async load(): Promise<void> {
    const { memory, rank } = this.app.view;
    const ticket = ++this.loading;
    for (const [m, tab] of this.tabs) {
      tab.setAttribute("aria-selected", String(m === memory));
      tab.tabIndex = m === memory ? 0 : -1;
    }
    this.level = null;
    this.series = null;
    const model = this.app.model;
    this.pyramid = await model.pyramid(rank, memory);
    if (ticket !== this.loading) return;
    if (this.pyramid.length) this.redraw();
    const [series, level] = await Promise.all([model.series(rank), model.level(memory)]);
    if (ticket !== this.loading) return;
    this.series = series;
    this.level = level;
    this.redraw();
  }

  // Names and const-eval marks come once the first chart stands.
  async enrich(names: Names): Promise<void> {
    this.names = names;
    const { flags } = await this.app.model.operations();
    const from: number[] = [];
    const to: number[] = [];
    for (let i = 0; i < flags.length; i++) {
      if (!(flags[i] & Flag.ConstEval)) continue;
      if (from.length && to[to.length - 1] === i) to[to.length - 1] = i + 1;
      else {
        from.push(i);
        to.push(i + 1);
      }
    }
    this.constEval = { from: Int32Array.from(from), to: Int32Array.from(to) };
    await this.stacked.start(names);
  }

  redraw(): void {
    if (!this.chart || (!this.level && !this.pyramid.length)) return;
    this.began = performance.now();
    const { from, to } = this.app.range();
    const pixels = Math.max(200, Math.min(2000, this.chart.width - 80));
    const { series, level } = this;
    this.sample = series && level ? (this.stacked.sample(series, level, from, to, pixels) ?? sampleStates(series, level, this.pyramid, from, to, pixels)) : samplePyramid(this.pyramid, from, to, pixels);
    const capacity = this.app.capacity(this.app.view.memory);
    const known = this.app.model.facts.blocks_known;
    const pieces = this.sample.largest.map((largest, i) => (largest === null || !known ? null : Math.max(capacity - largest, this.sample.high[i] ?? 0)));
    this.chart.setData([this.sample.x, this.sample.high, this.sample.low, pieces]);
    this.scaleButton.textContent = this.whole() ? "Fit to data" : "Fit to capacity";
    this.resetButton.disabled = this.app.view.from === null;
    document.documentElement.dataset.firstChart ??= String(performance.now());
    document.documentElement.dataset.charted = "true";
  }

  // ---- Drawing ----------------------------------------------------------------------------------------------------

  private drawRuns(u: Plot): void {
    if (!this.app.model.facts.has_runs) return; // nothing tells where a run begins
    const { ctx, bbox } = u;
    const { from, to } = this.app.range();
    const scale = bbox.width / (to - from);
    const runs = this.app.model.findings.runs.filter((r) => r.first_index !== null && r.last_index !== null && r.last_index >= from && r.first_index <= to && r.rank === (this.app.model.facts.ranks[this.app.view.rank] ?? r.rank));
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, 0, bbox.width, bbox.top + bbox.height);
    ctx.clip();
    ctx.font = font(11);
    ctx.textBaseline = "bottom";
    ctx.textAlign = "left";
    for (const run of runs) {
      const left = bbox.left + (run.first_index! - from) * scale;
      const width = (run.last_index! + 1 - run.first_index!) * scale;
      if (width < 2 * devicePixelRatio) continue;
      if (run.run % 2) {
        ctx.fillStyle = color("stripe");
        ctx.fillRect(left, bbox.top, width, bbox.height);
      }
      ctx.fillStyle = color("muted");
      const x = Math.max(left, bbox.left) + 4 * devicePixelRatio;
      const room = Math.min(left + width, bbox.left + bbox.width) - x;
      const label = `run ${run.run} · ${shorten(run.program ?? "no program", 40)}`;
      const short = `run ${run.run}`;
      if (ctx.measureText(label).width < room) ctx.fillText(label, x, bbox.top - 3 * devicePixelRatio);
      else if (ctx.measureText(short).width < room) ctx.fillText(short, x, bbox.top - 3 * devicePixelRatio);
      ctx.fillStyle = color("border");
      ctx.fillRect(left, bbox.top - 14 * devicePixelRatio, devicePixelRatio, bbox.height + 14 * devicePixelRatio);
    }
    ctx.restore();
  }

  private drawMarks(u: Plot): void {
    const { ctx, bbox } = u;
    const px = devicePixelRatio;
    const at = (x: number): number => u.valToPos(x, "x", true);
    const up = (y: number): number => u.valToPos(y, "y", true);
    const { memory, op } = this.app.view;
    const capacity = this.app.capacity(memory);
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top - 2 * px, bbox.width, bbox.height + 4 * px);
    ctx.clip();
    this.drawConstEval(u);
    const within = capacity > 0 && capacity <= this.top();
    if (within) {
      ctx.strokeStyle = color("capacity");
      ctx.lineWidth = 1.5 * px;
      ctx.setLineDash([6 * px, 4 * px]);
      line(ctx, bbox.left, up(capacity), bbox.left + bbox.width, up(capacity));
      ctx.setLineDash([]);
    }
    if (op !== null) {
      ctx.strokeStyle = color("text");
      ctx.lineWidth = 1 * px;
      ctx.setLineDash([2 * px, 2 * px]);
      line(ctx, at(op), bbox.top, at(op), bbox.top + bbox.height);
      ctx.setLineDash([]);
    }
    const labels = new Labels(u);
    this.drawPeak(u, at, up, labels);
    this.drawFailures(u, at, labels);
    const [left, right, y] = [bbox.left + 4 * px, bbox.left + bbox.width - 4 * px, within ? up(capacity) - 3 * px : bbox.top + 14 * px];
    const text = `capacity ${mb(capacity / 1000)} MB`;
    if (capacity > 0) labels.put(within ? [`${text} per bank`, text] : [`${text} per bank, above the chart ↑`, `${text} ↑`], color("muted"), [[right, y, "right"], [left, y, "left"], [right, y + 17 * px, "right"], [left, y + 17 * px, "left"]]);
    ctx.restore();
    if (this.began !== null) this.redraws.push(performance.now() - this.began); // uPlot draws a little later than asked
    this.began = null;
  }

  private drawConstEval(u: Plot): void {
    if (!this.constEval) return;
    const { ctx, bbox } = u;
    const { from, to } = this.app.range();
    const scale = bbox.width / (to - from);
    const tall = 7 * devicePixelRatio;
    ctx.fillStyle = color("consteval");
    let painted = -1;
    for (let i = lowerBound(this.constEval.to, from); i < this.constEval.from.length && this.constEval.from[i] < to; i++) {
      const left = bbox.left + (this.constEval.from[i] - from) * scale;
      const right = Math.max(bbox.left + (this.constEval.to[i] - from) * scale, left + 1);
      if (right <= painted) continue;
      ctx.fillRect(Math.max(left, painted), bbox.top + bbox.height - tall, right - Math.max(left, painted), tall);
      painted = right;
    }
  }

  private drawPeak(u: Plot, at: (x: number) => number, up: (y: number) => number, labels: Labels): void {
    const { memory, rank } = this.app.view;
    const where = this.app.model.facts.peaks[memory];
    const peak = this.app.model.findings.peak[memory];
    if (!where || !peak || where.rank !== rank || !peak.allocated_per_bank_MB) return;
    const { ctx } = u;
    const px = devicePixelRatio;
    const x = at(this.stateX(where.state) ?? where.element + (where.place === Place.Element ? 0 : 0.5));
    const y = up(Math.round(peak.allocated_per_bank_MB * 1000));
    ctx.fillStyle = color("peak");
    ctx.beginPath();
    ctx.moveTo(x, y - 1 * px);
    ctx.lineTo(x - 5 * px, y - 9 * px);
    ctx.lineTo(x + 5 * px, y - 9 * px);
    ctx.closePath();
    ctx.fill();
    labels.keep(x - 5 * px, y - 9 * px, x + 5 * px, y);
    const beside = (bottom: number): Spot[] => [[x - 8 * px, bottom, "right"], [x + 8 * px, bottom, "left"]];
    labels.put([`peak ${peak.lower_bound ? "≥ " : ""}${mb(peak.allocated_per_bank_MB)} MB`], color("peak"), [...beside(y - 4 * px), ...beside(y + 14 * px)]);
  }

  private drawFailures(u: Plot, at: (x: number) => number, labels: Labels): void {
    const { ctx, bbox } = u;
    const px = devicePixelRatio;
    this.app.model.findings.incidents.slice(0, 20).forEach(({ operation }, i) => {
      const element = operation?.index ?? this.app.model.facts.incidents[i]?.element ?? -1;
      if (element < 0) return;
      const x = at(element + 0.5);
      ctx.strokeStyle = color("failure");
      ctx.lineWidth = 2 * px;
      line(ctx, x, bbox.top, x, bbox.top + bbox.height);
      const middle = bbox.top + bbox.height / 2;
      const beside = (bottom: number): Spot[] => [[x - 5 * px, bottom, "right"], [x + 5 * px, bottom, "left"]];
      if (i === 0) labels.put(["✕ failure"], color("failure"), [...beside(middle), ...beside(middle + 20 * px)]);
    });
  }

  // ---- Pointer ----------------------------------------------------------------------------------------------------

  private stateX(state: number): number | null {
    if (!this.series) return null;
    const i = this.series.states ? lowerBound(this.series.states, state) : state;
    return this.series.x[i] ?? null;
  }

  // The state nearest to a place on the x axis; -1 while the columns are not there.
  private nearest(x: number): number {
    if (!this.series || !this.series.x.length) return -1;
    let i = lowerBound(this.series.x, x);
    if (i === this.series.x.length || (i > 0 && x - this.series.x[i - 1] < this.series.x[i] - x)) i--;
    return i;
  }

  private click(x: number, y: number): void {
    const i = this.nearest(x);
    if (i < 0) return;
    this.stacked.click(x, y);
    this.app.select(Math.max(0, Math.min(this.app.model.facts.elements - 1, Math.floor(this.series!.x[i]))));
  }

  private tip(at: number, y: number): { x: number; top: number; rows: Node[] } | null {
    const i = this.nearest(at);
    if (i < 0 || !this.level || !this.series || !this.names) return null;
    const state = this.series.states ? this.series.states[i] : i;
    const { memory } = this.app.view;
    const allocated = this.level.allocated[state];
    const place = this.names.places.place[state];
    const element = this.names.places.element[state];
    const rows: Node[] = [];
    if (element >= 0) {
      const what = describe(this.names, element);
      const when = place === Place.Element ? "before" : place === Place.Between ? "after" : place === Place.BeforeSubmit ? "before submit, after" : "after submit, after";
      rows.push(h("div", { class: "tip-op" }, `${when} #${element} `, h("b", {}, shorten(what.name, 60))));
      if (what.place) rows.push(h("div", { class: "muted mono" }, shorten(what.place, 90)));
      const shapes = [what.inputs.join(", "), what.outputs.join(", ")].filter(Boolean).join(" → ");
      if (shapes) rows.push(h("div", { class: "muted" }, shorten(shapes, 120)));
    }
    if (allocated >= 0) {
      rows.push(h("div", {}, h("b", {}, `${mb(allocated / 1000)} MB per bank`), ` · ${bytes((allocated / 1000) * 1048576 * this.app.banks(memory))} per chip · ${percent(allocated, this.app.capacity(memory))}`));
      if (this.app.model.facts.blocks_known) rows.push(h("div", { class: "muted" }, `largest free block ${mb(this.level.largest[state] / 1000)} MB`));
    }
    rows.push(...this.stacked.tip(at, y));
    return { x: this.series.x[i], top: 24, rows };
  }

  announce(text: string): void {
    this.status.textContent = text;
  }

  // For the bench and the tests: how long each redraw took, in milliseconds.
  takeRedraws(): number[] {
    return this.redraws.splice(0);
  }
}
