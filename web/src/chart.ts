// SPDX-License-Identifier: Apache-2.0
// What the charts of the page share: an uPlot whose x is the operation index, zoomed by dragging and the wheel, redrawn from a fresh
// sample for each view.
import uPlot from "uplot";
import { h } from "./dom.js";
import { count } from "./format.js";
import { drawnBy } from "./save.js";
import type { Surface } from "./surface.js";

export interface Range {
  from: number;
  to: number;
}

// Colours come from the style sheet, so that the charts follow the theme; asking for one costs too much to do it per line.
const colors = new Map<string, string>();
export function color(name: string): string {
  const key = `${document.documentElement.dataset.theme ?? ""} ${name}`;
  let value = colors.get(key);
  if (value === undefined) colors.set(key, (value = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()));
  return value;
}

export const font = (size: number): string => `${size * devicePixelRatio}px system-ui, sans-serif`;

// What marks on a chart are drawn with: on the screen, or into a file.
export type Plot = Pick<uPlot, "bbox" | "valToPos"> & { ctx: Surface };

interface ChartParts {
  label: string;
  height: number;
  series: uPlot.Series[];
  bands?: uPlot.Band[];
  value: (value: number) => string;
  least?: number; // no finer steps of the y axis than what the values are told to
  top: () => number; // of the y axis
  bottom?: () => number; // 0 when not given
  stepped?: () => boolean; // else from point to point
  draw?: (plot: Plot) => void; // over the lines
  under?: (plot: Plot) => void; // below the lines
  tip: (x: number, y: number) => { x: number; top: number; rows: Node[] } | null; // what stands at a place
  click: (x: number, y: number) => void;
}

export function clampRange(range: Range, all: Range): Range {
  const width = Math.min(Math.max(range.to - range.from, 2), all.to - all.from);
  const from = Math.min(Math.max(range.from, all.from), all.to - width);
  return { from, to: from + width };
}

const STEPS = [...Array(12).keys()].flatMap((power) => [1, 2, 5].map((step) => step * 10 ** power)); // of an axis that counts

// The place of a chart in the page.
export function chartBox(label: string, attributes: Record<string, string | number> = { role: "img" }): { box: HTMLElement; host: HTMLElement } {
  const host = h("div", { class: "chart", "aria-label": label, ...attributes });
  return { box: h("div", { class: "chart-box" }, host), host };
}

// What a chart zooms.
export interface Zoomed {
  all(): Range;
  range(): Range;
  zoom(range: Range | null): void;
}

export function makeChart(app: Zoomed, host: HTMLElement, parts: ChartParts): uPlot {
  const tip = h("div", { class: "tip", hidden: true });
  host.after(tip);
  host.addEventListener("mouseleave", () => (tip.hidden = true));
  const hover = (u: uPlot): void => {
    const { left, top } = u.cursor;
    const found = left === undefined || left === null || left < 0 ? null : parts.tip(u.posToVal(left, "x"), u.posToVal(top ?? 0, "y"));
    tip.hidden = !found;
    if (!found) return;
    tip.replaceChildren(...found.rows);
    placeTip(tip, u, found.x, found.top);
  };
  const axis = { stroke: () => color("muted"), grid: { stroke: () => color("grid"), width: 1 }, ticks: { stroke: () => color("grid"), width: 1 }, font: "12px system-ui, sans-serif" };
  const paths: uPlot.Series.PathBuilder = (u, s, i0, i1) => (parts.stepped?.() ? uPlot.paths.stepped!({ align: 1 }) : uPlot.paths.linear!())(u, s, i0, i1);
  let downAt: { x: number; y: number } | null = null;
  const chart = new uPlot(
    {
      width: Math.max(300, host.clientWidth),
      height: parts.height,
      legend: { show: false },
      padding: [18, 18, 0, 0], // half of the last label stands right of the plot
      cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false } },
      scales: {
        x: { time: false, range: () => [app.range().from, app.range().to] },
        y: { range: () => [parts.bottom?.() ?? 0, parts.top()] },
      },
      axes: [
        { ...axis, size: 34, space: 72, values: (_u, ticks) => ticks.map((t) => (Number.isInteger(t) ? count(t) : "")) },
        { ...axis, size: 82, values: (_u, ticks) => ticks.map(parts.value), ...(parts.least ? { incrs: STEPS.map((step) => step * parts.least!) } : {}) },
      ],
      series: [{}, ...parts.series.map((series) => ({ points: { show: false }, paths, ...series }))],
      ...(parts.bands ? { bands: parts.bands } : {}),
      hooks: {
        drawAxes: parts.under ? [parts.under] : [],
        draw: parts.draw ? [parts.draw] : [],
        setCursor: [hover],
        setSelect: [
          (u) => {
            if (u.select.width < 4) return;
            const range = { from: u.posToVal(u.select.left, "x"), to: u.posToVal(u.select.left + u.select.width, "x") };
            u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            app.zoom(clampRange(range, app.all()));
          },
        ],
      },
    },
    [[0], ...parts.series.map(() => [null])] as uPlot.AlignedData,
    host,
  );

  drawnBy(chart.ctx.canvas, (surface) => drawAgain(chart, parts, surface));
  const over = chart.over;
  over.addEventListener("mousedown", (event) => (downAt = { x: event.clientX, y: event.clientY }));
  over.addEventListener("click", (event) => {
    if (!downAt || Math.abs(event.clientX - downAt.x) > 3) return;
    const box = over.getBoundingClientRect();
    parts.click(chart.posToVal(event.clientX - box.left, "x"), chart.posToVal(event.clientY - box.top, "y"));
  });
  over.addEventListener("dblclick", () => app.zoom(null));
  over.addEventListener(
    "wheel",
    (event) => {
      const { from, to } = app.range();
      const sideways = event.shiftKey ? event.deltaY : event.deltaX;
      if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) {
        event.preventDefault();
        const step = ((to - from) * sideways) / 1200;
        app.zoom(clampRange({ from: from + step, to: to + step }, app.all()));
        return;
      }
      if (!event.ctrlKey && !event.metaKey && document.activeElement !== host && !host.contains(document.activeElement)) return; // the page scrolls
      event.preventDefault();
      const at = chart.posToVal(event.clientX - over.getBoundingClientRect().left, "x");
      const factor = Math.exp(event.deltaY / 400);
      app.zoom(clampRange({ from: at - (at - from) * factor, to: at + (to - at) * factor }, app.all()));
    },
    { passive: false },
  );
  new ResizeObserver(() => {
    const width = Math.max(300, host.clientWidth);
    if (width !== chart.width) chart.setSize({ width, height: parts.height });
  }).observe(host);
  return chart;
}

// Beside a place on the x axis, on the side with more room.
function placeTip(tip: HTMLElement, u: uPlot, x: number, top: number): void {
  const left = u.valToPos(x, "x") + u.over.offsetLeft;
  const flip = left > u.width / 2;
  tip.style.left = flip ? "" : `${left + 12}px`;
  tip.style.right = flip ? `${u.width - left + 12}px` : "";
  tip.style.top = `${top}px`;
}

export function line(ctx: Surface, x0: number, y0: number, x1: number, y1: number): void {
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
}

// The highest of each step, so that no peak falls between two points: at most `most` places from `first` to `end`.
export function highest(values: ArrayLike<number>, first: number, end: number, most: number): number[] {
  const step = Math.max(1, Math.ceil((end - first) / most));
  const out: number[] = [];
  for (let i = first; i < end; i += step) {
    let best = i;
    for (let k = i; k < Math.min(i + step, end); k++) if (values[k] > values[best]) best = k;
    out.push(best);
  }
  return out;
}

// ---- Labels -------------------------------------------------------------------------------------------------------------

export type Spot = [x: number, bottom: number, align: "left" | "right"];

// Texts over a chart, each on a small plate that makes it readable over any line. None lies on another: each stands at the first of its
// spots that is free, in its longest form that fits there; without one it is left out.
export class Labels {
  private readonly taken: { left: number; right: number; top: number; bottom: number }[] = [];

  constructor(private readonly plot: Plot) {}

  put(forms: string[], ink: string, spots: Spot[]): void {
    for (const text of forms) for (const spot of spots) if (this.fits(text, spot)) return this.draw(text, ink, spot);
  }

  // Where no label may stand.
  keep(left: number, top: number, right: number, bottom: number): void {
    this.taken.push({ left, right, top, bottom });
  }

  private box(text: string, [x, bottom, align]: Spot): { left: number; right: number; top: number; bottom: number } {
    const px = devicePixelRatio;
    this.plot.ctx.font = font(11);
    const width = this.plot.ctx.measureText(text).width;
    const left = align === "left" ? x : x - width;
    return { left: left - 3 * px, right: left + width + 3 * px, top: bottom - 13 * px, bottom: bottom + 2 * px };
  }

  private fits(text: string, spot: Spot): boolean {
    const { left, right, top, bottom } = this.box(text, spot);
    const { bbox } = this.plot;
    const inside = left >= bbox.left && right <= bbox.left + bbox.width && top >= bbox.top && bottom <= bbox.top + bbox.height;
    return inside && !this.taken.some((other) => left < other.right && right > other.left && top < other.bottom && bottom > other.top);
  }

  private draw(text: string, ink: string, spot: Spot): void {
    const { ctx } = this.plot;
    const box = this.box(text, spot);
    this.taken.push(box);
    ctx.fillStyle = color("plate");
    ctx.fillRect(box.left, box.top, box.right - box.left, box.bottom - box.top);
    Object.assign(ctx, { fillStyle: ink, textAlign: spot[2], textBaseline: "bottom" });
    ctx.fillText(text, spot[0], spot[1]);
    ctx.textAlign = "left";
  }
}

// ---- Into a file --------------------------------------------------------------------------------------------------------

type Stretch = [number, number][];

// The line of a series in pixels, cut where values are missing.
function stretches(u: uPlot, values: ArrayLike<number | null | undefined>, stepped: boolean): Stretch[] {
  const out: Stretch[] = [];
  let own: Stretch | null = null;
  for (let i = 0; i < u.data[0].length; i++) {
    const value = values[i];
    if (value === null || value === undefined) {
      own = null;
      continue;
    }
    const at: [number, number] = [u.valToPos(u.data[0][i], "x", true), u.valToPos(value, "y", true)];
    if (!own) out.push((own = []));
    else if (stepped) own.push([at[0], own[own.length - 1][1]]);
    own.push(at);
  }
  return out;
}

function trace(surface: Surface, points: Stretch): void {
  surface.beginPath();
  points.forEach(([x, y]) => surface.lineTo(x, y));
}

const inkOf = (style: unknown): string => (typeof style === "function" ? (style as () => string)() : typeof style === "string" ? style : "transparent");

function drawSeries(u: uPlot, parts: ChartParts, surface: Surface): void {
  const stepped = parts.stepped?.() ?? false;
  const lines = parts.series.map((_series, i) => stretches(u, u.data[i + 1], stepped));
  const area = (top: Stretch, bottom: Stretch, fill: string): void => {
    surface.fillStyle = fill;
    trace(surface, [...top, ...[...bottom].reverse()]);
    surface.closePath();
    surface.fill();
  };
  const floor = u.valToPos(Math.max(0, u.scales.y.min ?? 0), "y", true);
  for (const { series: [upper, lower], fill } of parts.bands ?? []) lines[upper - 1].forEach((top) => lines[lower - 1].forEach((bottom) => area(top, bottom, inkOf(fill))));
  parts.series.forEach((series, i) => {
    for (const points of lines[i]) {
      if (series.fill) area(points, [[points[0][0], floor], [points[points.length - 1][0], floor]], inkOf(series.fill));
      if (!series.width) continue;
      Object.assign(surface, { strokeStyle: inkOf(series.stroke), lineWidth: series.width * devicePixelRatio });
      surface.setLineDash((series.dash ?? []).map((length) => length * devicePixelRatio));
      trace(surface, points);
      surface.stroke();
      surface.setLineDash([]);
    }
  });
}

// The ticks where uPlot has put them.
function drawAxes(u: uPlot, surface: Surface): void {
  const { left, top, width, height } = u.bbox;
  const px = devicePixelRatio;
  surface.font = font(12);
  (u.axes as (uPlot.Axis & { _splits: number[]; _values: string[] })[]).forEach(({ _splits: splits, _values: values }, i) => {
    splits.forEach((split, k) => {
      const at = Math.round(u.valToPos(split, i ? "y" : "x", true));
      surface.fillStyle = color("grid");
      if (i) surface.fillRect(left - 10 * px, at, width + 10 * px, px);
      else surface.fillRect(at, top, px, height + 10 * px);
      Object.assign(surface, { fillStyle: color("muted"), textAlign: i ? "right" : "center", textBaseline: i ? "middle" : "top" });
      surface.fillText(values[k] ?? "", i ? left - 15 * px : at, i ? at : top + height + 15 * px);
    });
  });
}

// What uPlot drew, once more: it cannot draw but on its own canvas.
function drawAgain(u: uPlot, parts: ChartParts, surface: Surface): void {
  const { left, top, width, height } = u.bbox;
  const plot: Plot = { ctx: surface, bbox: u.bbox, valToPos: (value, scale, pixels) => u.valToPos(value, scale, pixels) };
  drawAxes(u, surface);
  parts.under?.(plot);
  surface.save();
  surface.beginPath();
  surface.rect(left, top, width, height);
  surface.clip();
  drawSeries(u, parts, surface);
  surface.restore();
  parts.draw?.(plot);
}
