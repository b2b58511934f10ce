// SPDX-License-Identifier: Apache-2.0
// Free DRAM that no large tensor can use, over time: 1 − largest/free, the moments at which the log's largest tensor would have been refused
// though enough was free, and who stands in the way.
import uPlot from "uplot";
import type { App } from "./app.js";
import { color, makeChart, placeTip } from "./chart.js";
import { add, h, replace } from "./dom.js";
import type { Fragmentation as Found } from "./findings.js";
import { column, count, counted, mb, number, percent } from "./format.js";
import { lineLink, opCell, opWithPlace, section } from "./links.js";
import { lowerBound } from "./sample.js";
import { table } from "./tables.js";

// Per state of one rank in order: where it stands, how much of the free memory is out of reach (-1: not shown), and whether it would refuse.
interface Course {
  x: Float64Array;
  share: Float32Array; // percent
  free: Float32Array; // 0.001 MB per bank
  largest: Float32Array;
  refuses: Uint8Array;
}

const MOST_POINTS = 1500;

// To the 0.001 MB that a log prints: a share would hide megabytes of a large device.
const inOnePiece = ({ worst }: Found): boolean => worst.free_per_bank_MB - worst.largest_free_block_MB < 0.0005;

export function fragmentationWords(found: Found): string {
  const { worst, largest_request: request } = found;
  if (inOnePiece(found)) return found.unknown_states ? "Free DRAM is in one piece wherever that is known." : "Free DRAM is in one piece at every state.";
  // Without the types of tensors no request is known.
  const refused = !request.per_bank_MB ? "" : request.states_that_would_refuse_it ? `; at ${counted(request.states_that_would_refuse_it, "state")} the log's largest tensor (${mb(request.per_bank_MB)} per bank) would have been refused though enough was free` : "; the log's largest tensor would have fitted wherever enough was free";
  return `At most ${mb(worst.free_per_bank_MB - worst.largest_free_block_MB)} per bank are out of reach of a single tensor: ${mb(worst.free_per_bank_MB)} free, the largest block ${mb(worst.largest_free_block_MB)} (${worst.pct.toFixed(1)} %)${refused}.`;
}

export class Fragmentation {
  readonly element: HTMLElement;
  private readonly host = h("div", { class: "chart", role: "img", "aria-label": "Chart of the share of free DRAM that is not in the largest free block" });
  private readonly tip = h("div", { class: "tip", hidden: true });
  private readonly found: Found | null;
  private chart: uPlot | null = null;
  private course: Course | null = null;
  private top = 100;

  constructor(private readonly app: App) {
    const found = (this.found = app.model.findings.fragmentation ?? null);
    this.element = section("fragmentation", "Fragmentation of DRAM", found ? found.worst.basis : null);
    if (!found) {
      add(this.element, h("p", { class: "muted" }, app.model.unknown));
      return;
    }
    add(this.element, h("p", { "data-key": "fragmentation" }, fragmentationWords(found)));
    if (found.unknown_states) add(this.element, h("p", { class: "muted", "data-key": "unknown-states" }, `At ${counted(found.unknown_states, "state")} nothing tells how the free memory is cut up.`));
    if (inOnePiece(found)) return;
    const item = (kind: string, text: string) => h("li", {}, h("span", { class: `key key-${kind}`, "aria-hidden": true }), text);
    add(this.element, h("div", { class: "chart-box" }, this.host, this.tip), h("ul", { class: "legend" }, item("share", "1 − largest/free: share of free DRAM not in the largest free block"), found.largest_request.states_that_would_refuse_it > 0 && item("refused", `would refuse ${mb(found.largest_request.per_bank_MB)} per bank though that much is free`)), this.facts(found), this.pins(found));
    this.host.addEventListener("mouseleave", () => (this.tip.hidden = true));
    app.onChange((_view, changed) => {
      if ("rank" in changed) void this.load();
      else if ("from" in changed || "to" in changed) this.redraw();
    });
  }

  private facts({ worst, largest_request: request }: Found): HTMLElement {
    const list = h("dl", { class: "pairs" });
    const pair = (label: string, ...value: (Node | string | null | false)[]) => add(list, h("dt", {}, label), h("dd", {}, ...value));
    pair("most out of reach at", worst.line !== null && lineLink(this.app, worst.line));
    if (request.operation) pair("largest tensor", `${mb(request.per_bank_MB)} per bank, by `, opWithPlace(this.app, request.operation));
    if (request.states_that_would_refuse_it) pair("would be refused", `at ${counted(request.states_that_would_refuse_it, "state")}, first at `, request.first_line !== null && lineLink(this.app, request.first_line));
    return list;
  }

  private pins({ pinned_by: pins }: Found): HTMLElement | null {
    if (!pins.tensors.length) return null;
    return h(
      "div",
      {},
      h("h3", {}, "What splits the free memory"),
      h("p", { class: "hint" }, "Found by replaying the allocator up to ", pins.line !== null && lineLink(this.app, pins.line), ", where its free blocks are the measured ones. Elsewhere, each would leave one free block."),
      table(
        "Tensors between two free blocks",
        [["made by"], ["address in the bank", "num"], ["MB per bank", "num"], ["tensors", "num"], ["free block without it, MB", "num"]],
        pins.tensors.map((pin) => [pin.made_by ? opCell(this.app, pin.made_by) : h("span", { class: "muted" }, "memory that no tensor of the log explains"), count(pin.address), column(pin.per_bank_MB), count(pin.tensors), column(pin.free_block_without_MB)]),
      ),
    );
  }

  // The columns are only unpacked once the section comes near the screen: most readers never look.
  start(): void {
    if (!this.found || inOnePiece(this.found)) return;
    const watch = new IntersectionObserver(
      (entries) => {
        if (!entries.some((entry) => entry.isIntersecting)) return;
        watch.disconnect();
        void this.load();
      },
      { rootMargin: "400px" },
    );
    watch.observe(this.element);
  }

  private async load(): Promise<void> {
    const { model, view } = this.app;
    const [series, level, { total, lost }] = await Promise.all([model.series(view.rank), model.level("DRAM"), model.free("DRAM")]);
    const n = series.x.length;
    const course: Course = { x: series.x, share: new Float32Array(n).fill(-1), free: new Float32Array(n), largest: new Float32Array(n), refuses: new Uint8Array(n) };
    const request = (this.found?.largest_request.per_bank_MB ?? 0) * 1000;
    let most = 0;
    let stranded = 0;
    for (let i = 0; i < n; i++) {
      const s = series.states ? series.states[i] : i;
      if (level.allocated[s] < 0) continue;
      const free = total[s] - level.allocated[s] - lost[s];
      const largest = level.largest[s];
      course.free[i] = free;
      course.largest[i] = largest;
      course.share[i] = free > 0 ? Math.max(0, (1 - largest / free) * 100) : 0;
      course.refuses[i] = free >= request && largest < request ? 1 : 0;
      most = Math.max(most, course.share[i]);
      stranded = Math.max(stranded, free - largest);
    }
    this.course = course;
    this.top = most > 50 ? 100 : Math.max(1, most * 1.2);
    this.element.dataset.refusing = String(course.refuses.reduce((sum, one) => sum + one, 0));
    this.element.dataset.stranded = String(stranded);
    this.chart ??= this.makeChart();
    this.redraw();
  }

  private makeChart(): uPlot {
    const path = uPlot.paths.stepped!({ align: 1 });
    return makeChart(this.host, {
      label: "Fragmentation",
      height: 180,
      series: [{ label: "share", stroke: () => color("share"), width: 1.5, fill: () => color("pieces"), points: { show: false }, paths: path }],
      value: (v) => `${number(v)} %`,
      top: () => this.top,
      under: (u) => this.drawRefusals(u),
      hover: (u, x) => this.hover(u, x),
      click: (x) => this.app.select(Math.max(0, Math.min(this.app.model.facts.elements - 1, Math.floor(x)))),
      zoom: (range) => this.app.zoom(range),
      all: () => this.app.all(),
      view: () => this.app.range(),
    });
  }

  private between(from: number, to: number): [number, number] {
    const { x } = this.course!;
    return [Math.max(0, lowerBound(x, from) - 1), Math.min(x.length, lowerBound(x, to) + 2)];
  }

  redraw(): void {
    if (!this.chart || !this.course) return;
    const { from, to } = this.app.range();
    const [first, end] = this.between(from, to);
    const step = Math.max(1, Math.ceil((end - first) / MOST_POINTS));
    const x: number[] = [];
    const y: (number | null)[] = [];
    for (let i = first; i < end; i += step) {
      let best = i; // the worst of each step must not fall between two points
      for (let k = i; k < Math.min(i + step, end); k++) if (this.course.share[k] > this.course.share[best]) best = k;
      x.push(this.course.x[best]);
      y.push(this.course.share[best] < 0 ? null : this.course.share[best]);
    }
    this.chart.setData([x, y]);
  }

  private drawRefusals(u: uPlot): void {
    if (!this.course || !this.found?.largest_request.states_that_would_refuse_it) return;
    const { ctx, bbox } = u;
    const { from, to } = this.app.range();
    const [first, end] = this.between(from, to);
    const scale = bbox.width / (to - from);
    ctx.save();
    ctx.fillStyle = color("refused");
    let painted = -1;
    for (let i = first; i < end; i++) {
      if (!this.course.refuses[i]) continue;
      const next = i + 1 < this.course.x.length ? this.course.x[i + 1] : this.course.x[i] + 1;
      const left = Math.max(bbox.left, bbox.left + (this.course.x[i] - from) * scale, painted);
      const right = Math.min(bbox.left + bbox.width, Math.max(bbox.left + (next - from) * scale, left + devicePixelRatio));
      if (right > left) ctx.fillRect(left, bbox.top, right - left, bbox.height);
      painted = Math.max(painted, right);
    }
    ctx.restore();
  }

  private hover(u: uPlot, x: number | null): void {
    if (x === null || !this.course?.x.length) {
      this.tip.hidden = true;
      return;
    }
    const { x: all, share, free, largest, refuses } = this.course;
    const i = Math.max(0, Math.min(all.length - 1, lowerBound(all, x + 1e-9) - 1));
    replace(this.tip, h("div", { class: "tip-op" }, `before #${count(Math.ceil(all[i]))}`));
    if (share[i] >= 0) add(this.tip, h("div", {}, h("b", {}, percent(share[i], 100)), " out of reach"), h("div", { class: "tip-muted" }, `free ${number(free[i] / 1000)} MB per bank, largest block ${number(largest[i] / 1000)} MB`), refuses[i] ? h("div", { class: "grave" }, "would refuse the log's largest tensor") : null);
    placeTip(this.tip, u, all[i], 8);
  }
}
