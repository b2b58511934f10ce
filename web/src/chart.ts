// SPDX-License-Identifier: Apache-2.0
// What the charts of the page share: an uPlot whose x is the operation index, zoomed by dragging and the wheel, redrawn from a fresh
// sample for each view.
import uPlot from "uplot";
import type { App } from "./app.js";
import { h } from "./dom.js";
import { count } from "./format.js";

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

interface ChartParts {
  label: string;
  height: number;
  series: uPlot.Series[];
  bands?: uPlot.Band[];
  value: (value: number) => string;
  least?: number; // no finer steps of the y axis than what the values are told to
  top: () => number; // of the y axis
  draw?: (u: uPlot) => void; // over the lines
  under?: (u: uPlot) => void; // below the lines
  tip: (x: number) => { x: number; top: number; rows: Node[] } | null; // what stands at a place
  click: (x: number) => void;
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

export function makeChart(app: App, host: HTMLElement, parts: ChartParts): uPlot {
  const tip = h("div", { class: "tip", hidden: true });
  host.after(tip);
  host.addEventListener("mouseleave", () => (tip.hidden = true));
  const hover = (u: uPlot): void => {
    const { left } = u.cursor;
    const found = left === undefined || left === null || left < 0 ? null : parts.tip(u.posToVal(left, "x"));
    tip.hidden = !found;
    if (!found) return;
    tip.replaceChildren(...found.rows);
    placeTip(tip, u, found.x, found.top);
  };
  const axis = { stroke: () => color("muted"), grid: { stroke: () => color("grid"), width: 1 }, ticks: { stroke: () => color("grid"), width: 1 }, font: "12px system-ui, sans-serif" };
  let downAt: { x: number; y: number } | null = null;
  const chart = new uPlot(
    {
      width: Math.max(300, host.clientWidth),
      height: parts.height,
      legend: { show: false },
      padding: [18, 12, 0, 0],
      cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false } },
      scales: {
        x: { time: false, range: () => [app.range().from, app.range().to] },
        y: { range: () => [0, parts.top()] },
      },
      axes: [
        { ...axis, size: 34, values: (_u, ticks) => ticks.map((t) => (Number.isInteger(t) ? count(t) : "")) },
        { ...axis, size: 82, values: (_u, ticks) => ticks.map(parts.value), ...(parts.least ? { incrs: STEPS.map((step) => step * parts.least!) } : {}) },
      ],
      series: [{}, ...parts.series],
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

  const over = chart.over;
  over.addEventListener("mousedown", (event) => (downAt = { x: event.clientX, y: event.clientY }));
  over.addEventListener("click", (event) => {
    if (!downAt || Math.abs(event.clientX - downAt.x) > 3) return;
    parts.click(chart.posToVal(event.clientX - over.getBoundingClientRect().left, "x"));
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
