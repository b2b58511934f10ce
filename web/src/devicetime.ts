// SPDX-License-Identifier: Apache-2.0
// Memory over device time, as the profiler's CSV has it.
import type { App } from "./app.js";
import { add, h } from "./dom.js";
import { mb } from "./format.js";
import { saved } from "./save.js";

const BARS = 96;

const ms = (ns: number): string => `${(ns / 1e6).toFixed(ns < 1e7 ? 3 : 1)} ms`;

// DRAM held as bars, each an equal part of the device's time: the highest of the operations that run in it.
export function deviceTimeline(app: App): HTMLElement | null {
  const timed = (app.model.findings.device_time?.operations ?? []).filter((op) => op.begin_ns !== null && op.held_DRAM_per_bank_MB !== null);
  const end = timed.reduce((last, op) => Math.max(last, op.begin_ns! + op.ns), 0);
  const peak = timed.reduce((most, op) => Math.max(most, op.held_DRAM_per_bank_MB!), 0);
  if (timed.length < 2 || !end || !peak) return null;
  const words = `DRAM held while operations ran on the device, from left to right over ${ms(end)} of its time, peak ${mb(peak)} MB per bank`;
  const box = h("div", { class: "spark", role: "img", "aria-label": words });
  for (let i = 0, first = 0; i < BARS; i++) {
    const from = (end * i) / BARS;
    const to = (end * (i + 1)) / BARS;
    while (first < timed.length && timed[first].begin_ns! + timed[first].ns <= from) first++;
    let best = first < timed.length && timed[first].begin_ns! < to ? timed[first] : null;
    for (let k = first + 1; k < timed.length && timed[k].begin_ns! < to; k++) if (!best || timed[k].held_DRAM_per_bank_MB! > best.held_DRAM_per_bank_MB!) best = timed[k];
    const bar = h("span", { title: best ? `${ms(from)}: ${mb(best.held_DRAM_per_bank_MB!)} MB per bank, #${best.index} ${best.mlir_op}, ${ms(best.ns)}` : `${ms(from)}: no operation runs` });
    bar.style.height = best ? `${Math.max(2, (best.held_DRAM_per_bank_MB! / peak) * 100)}%` : "0";
    add(box, bar);
  }
  return saved(app, h("figure", { class: "spark-box" }, box, h("figcaption", { class: "muted" }, words)), "Memory over device time");
}
