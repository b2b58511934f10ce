// SPDX-License-Identifier: Apache-2.0
// What fills a memory over time, as bands that add up to the measured level. Each pixel shows one state, the highest of those it stands for, so
// that every value drawn is one that was there. One pass over the rows makes all bands of a view, whatever the zoom.
import { type Held } from "./held.js";
import type { Level, Series } from "./model.js";
import { lowerBound } from "./sample.js";

// The states that are drawn, in order.
export interface Columns {
  state: Int32Array;
  x: Float64Array;
  plain: boolean; // every state in view is one of them
  before: Uint16Array; // by state: how many of them come before it
}

export const NO_BAND = 0xffff;

export function columnsOf(series: Series, level: Level, states: number, from: number, to: number, pixels: number): Columns {
  const first = Math.max(0, lowerBound(series.x, from) - 1);
  const end = Math.min(series.x.length, lowerBound(series.x, to) + 2);
  const plain = end - first <= pixels * 2;
  const at = plain ? Int32Array.from({ length: end - first }, (_, i) => first + i) : highestOf(series, level, first, end, from, (to - from) / pixels);
  const state = series.states ? at.map((i) => series.states![i]) : at;
  const before = new Uint16Array(states + 1).fill(state.length);
  let done = 0;
  state.forEach((s, i) => before.fill(i, done, (done = s + 1)));
  return { state, x: Float64Array.from(at, (i) => series.x[i]), plain, before };
}

function highestOf(series: Series, level: Level, first: number, end: number, from: number, width: number): Int32Array {
  const { x, states } = series;
  const { allocated } = level;
  const out: number[] = [];
  for (let i = first; i < end; ) {
    const edge = from + (Math.floor((x[i] - from) / width) + 1) * width;
    let best = i;
    let most = -1;
    do {
      const value = allocated[states ? states[i] : i];
      if (value > most) {
        most = value;
        best = i;
      }
      i++;
    } while (i < end && x[i] < edge);
    out.push(best);
  }
  return Int32Array.from(out);
}

// The rows that stand in any of them: at a wide zoom few of all.
export function rowsIn(held: Held, columns: Columns): Int32Array {
  const { from, to } = held;
  const { before, state } = columns;
  const last = before.length - 1;
  const rows = new Int32Array(from.length);
  let n = 0;
  for (let i = 0; i < from.length; i++) if (before[from[i]] < (to[i] > last ? state.length : before[to[i]])) rows[n++] = i;
  return rows.subarray(0, n);
}

// How rows are told apart. `of` gives the band of each row, NO_BAND for those of another memory; `kept`: the band of results of earlier runs, -1: that
// of the row; `padding`: the band of what tiles and pages add, -1: that of the row.
export interface Bands {
  count: number;
  of: Uint16Array;
  kept: number;
  padding: number;
}

// Of each band its size at each column, in 0.001 MB per bank as the states are. `rest` is the band of what the rows do not hold.
export function sumBands(held: Held, rows: Int32Array, bands: Bands, columns: Columns, level: Level, rest: number): Float64Array[] {
  const { from, to, kept, size, padding } = held;
  const { before, state } = columns;
  const n = state.length;
  const stride = n + 1;
  const sums = new Float64Array(bands.count * stride);
  const last = before.length - 1;
  const { of } = bands;
  for (const i of rows) {
    if (of[i] === NO_BAND) continue;
    const begin = before[from[i]];
    const end = to[i] > last ? n : before[to[i]];
    let value = size[i];
    if (bands.padding >= 0 && padding[i]) {
      sums[bands.padding * stride + begin] += padding[i];
      sums[bands.padding * stride + end] -= padding[i];
      value -= padding[i];
    }
    sums[of[i] * stride + begin] += value;
    const turn = bands.kept >= 0 && kept[i] <= last ? Math.min(end, Math.max(begin, before[kept[i]])) : end;
    sums[of[i] * stride + turn] -= value;
    if (turn === end) continue;
    sums[bands.kept * stride + turn] += value;
    sums[bands.kept * stride + end] -= value;
  }
  const scale = (held.unit * 1000) / 1048576;
  const out = Array.from({ length: bands.count }, (_, b) => {
    const own = new Float64Array(n);
    let sum = 0;
    for (let c = 0; c < n; c++) own[c] = Math.max(0, (sum += sums[b * stride + c])) * scale;
    return own;
  });
  fillUp(out, columns, level, rest);
  return out;
}

// What is measured beyond the rows is the rest; what the rows hold beyond it was a view taken for a tensor, and goes from the top.
function fillUp(bands: Float64Array[], { state }: Columns, level: Level, rest: number): void {
  for (let c = 0; c < state.length; c++) {
    let more = Math.max(0, level.allocated[state[c]]);
    for (const band of bands) more -= band[c];
    if (more > 0) bands[rest][c] += more;
    for (let b = bands.length - 1; b >= 0 && more < 0; b--) {
      const cut = Math.min(bands[b][c], -more);
      bands[b][c] -= cut;
      more += cut;
    }
  }
}

// Of each key of rows how much it holds in view: bytes times columns.
export function areasOf(held: Held, rows: Int32Array, keys: Uint32Array, count: number, columns: Columns): Float64Array {
  const { from, to, size } = held;
  const { before, state } = columns;
  const last = before.length - 1;
  const areas = new Float64Array(count);
  for (const i of rows) {
    const end = to[i] > last ? state.length : before[to[i]];
    areas[keys[i]] += size[i] * (end - before[from[i]]);
  }
  return areas;
}

// The `most` largest of them, largest first; key 0 stands for none.
export function largestOf(areas: Float64Array, most: number): number[] {
  const larger = (a: number, b: number): number => areas[b] - areas[a] || a - b;
  let best: number[] = [];
  let least = 0;
  for (let key = 1; key < areas.length; key++) {
    if (areas[key] <= least) continue;
    best.push(key);
    if (best.length < 4 * most) continue;
    best = best.sort(larger).slice(0, most);
    least = areas[best[most - 1]];
  }
  return best.sort(larger).slice(0, most);
}

// The column that is drawn at a place of the x axis.
export function columnAt(columns: Columns, x: number): number {
  const i = lowerBound(columns.x, x + 1e-9) - 1;
  if (columns.plain) return Math.max(0, i);
  return i + 1 < columns.x.length && (i < 0 || columns.x[i + 1] - x < x - columns.x[i]) ? i + 1 : Math.max(0, i);
}
