// SPDX-License-Identifier: Apache-2.0
// Fragmentation of DRAM over time, and the points at which the largest allocation of the log would have failed though enough was free.
import type uPlot from "uplot";
import type { App } from "./app.js";
import { chartBox, color, highest, makeChart, type Plot } from "./chart.js";
import { add, h } from "./dom.js";
import { mb, number, percent } from "./format.js";
import { saved } from "./save.js";
import { lowerBound } from "./sample.js";

// Per state of one rank in order: where it stands, its fragmentation (-1: not shown), and whether it would fail.
interface Course {
  x: Float64Array;
  share: Float32Array; // percent
  free: Float32Array; // 0.001 MB per bank
  largest: Float32Array;
  fails: Uint8Array;
}

const MOST_POINTS = 1500;

export class Fragmentation {
  readonly element: HTMLElement | null = null;
  private readonly place = chartBox("Chart of the fragmentation of DRAM");
  private readonly request: number; // 0.001 MB per bank; 0 when it never fails
  private chart: uPlot | null = null;
  private course: Course | null = null;
  private top = 100;

  constructor(private readonly app: App) {
    const request = app.model.findings.fragmentation?.largest_request;
    this.request = request?.states_that_would_refuse_it ? request.per_bank_MB * 1000 : 0;
    if (!app.model.statements("fragmentation").some((s) => s.id === "fragmentation.dram") || !app.model.facts.states) return;
    const item = (kind: string, text: string) => h("li", {}, h("span", { class: `key key-${kind}`, "aria-hidden": true }), text);
    const figure = h("div", {}, this.place.box, h("ul", { class: "legend" }, item("share", "fragmentation: 1 − largest free block / free"), this.request > 0 && item("fails", `an allocation of ${mb(this.request / 1000)} MB per bank would fail`)));
    this.element = saved(app, figure, "Fragmentation of DRAM");
    app.onChange((_view, changed) => {
      if ("rank" in changed && this.chart) void this.load();
      else if ("from" in changed || "to" in changed) this.redraw();
    });
  }

  // Not only once it comes near the screen: it may be printed before.
  async load(): Promise<void> {
    if (!this.element) return;
    const { model, view } = this.app;
    const [series, level, { total, lost }] = await Promise.all([model.series(view.rank), model.level("DRAM"), model.free("DRAM")]);
    const n = series.x.length;
    const course: Course = { x: series.x, share: new Float32Array(n).fill(-1), free: new Float32Array(n), largest: new Float32Array(n), fails: new Uint8Array(n) };
    let most = 0;
    for (let i = 0; i < n; i++) {
      const s = series.states ? series.states[i] : i;
      if (level.allocated[s] < 0) continue;
      const free = (course.free[i] = total[s] - level.allocated[s] - lost[s]);
      const largest = (course.largest[i] = level.largest[s]);
      course.share[i] = free > 0 ? Math.max(0, (1 - largest / free) * 100) : 0;
      course.fails[i] = this.request > 0 && free >= this.request && largest < this.request ? 1 : 0;
      most = Math.max(most, course.share[i]);
    }
    this.course = course;
    this.top = most > 50 ? 100 : Math.max(1, most * 1.2);
    this.element.dataset.failing = String(course.fails.reduce((sum, one) => sum + one, 0));
    this.chart ??= this.makeChart();
    this.redraw();
  }

  private makeChart(): uPlot {
    return makeChart(this.app, this.place.host, {
      label: "Fragmentation",
      height: 180,
      series: [{ label: "share", stroke: () => color("share"), width: 1.5, fill: () => color("pieces") }],
      stepped: () => true,
      value: (v) => `${number(v)} %`,
      top: () => this.top,
      under: (u) => this.drawFailing(u),
      tip: (x) => this.tip(x),
      click: (x) => this.app.select(Math.max(0, Math.min(this.app.model.facts.elements - 1, Math.floor(x)))),
    });
  }

  private between(from: number, to: number): [number, number] {
    const { x } = this.course!;
    return [Math.max(0, lowerBound(x, from) - 1), Math.min(x.length, lowerBound(x, to) + 2)];
  }

  redraw(): void {
    if (!this.chart || !this.course) return;
    const { x, share } = this.course;
    const { from, to } = this.app.range();
    const at = highest(share, ...this.between(from, to), MOST_POINTS);
    this.chart.setData([at.map((i) => x[i]), at.map((i) => (share[i] < 0 ? null : share[i]))]);
  }

  private drawFailing(u: Plot): void {
    if (!this.course || !this.request) return;
    const { ctx, bbox } = u;
    const { from, to } = this.app.range();
    const [first, end] = this.between(from, to);
    const scale = bbox.width / (to - from);
    ctx.save();
    ctx.fillStyle = color("fails");
    let painted = -1;
    for (let i = first; i < end; i++) {
      if (!this.course.fails[i]) continue;
      const next = i + 1 < this.course.x.length ? this.course.x[i + 1] : this.course.x[i] + 1;
      const left = Math.max(bbox.left, bbox.left + (this.course.x[i] - from) * scale, painted);
      const right = Math.min(bbox.left + bbox.width, Math.max(bbox.left + (next - from) * scale, left + devicePixelRatio));
      if (right > left) ctx.fillRect(left, bbox.top, right - left, bbox.height);
      painted = Math.max(painted, right);
    }
    ctx.restore();
  }

  private tip(at: number): { x: number; top: number; rows: Node[] } | null {
    if (!this.course?.x.length) return null;
    const { x, share, free, largest, fails } = this.course;
    const i = Math.max(0, Math.min(x.length - 1, lowerBound(x, at + 1e-9) - 1));
    const box = h("div", {}, h("div", { class: "tip-op" }, `before #${Math.ceil(x[i])}`));
    if (share[i] >= 0) add(box, h("div", {}, "fragmentation ", h("b", {}, percent(share[i], 100))), h("div", { class: "muted" }, `${mb(free[i] / 1000)} MB per bank free, largest free block ${mb(largest[i] / 1000)} MB`), fails[i] > 0 && h("div", { class: "grave" }, `an allocation of ${mb(this.request / 1000)} MB would fail`));
    return { x: x[i], top: 8, rows: [box] };
  }
}
