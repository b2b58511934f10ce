// SPDX-License-Identifier: Apache-2.0
// A few thousand points out of any number of states: the plain states when few are in view, else the lowest and highest of each pixel,
// taken from the pyramid when even looking at every state would take too long.
import type { Level, PyramidLevel, Series } from "./model.js";

export interface Sample {
  x: number[];
  low: (number | null)[];
  high: (number | null)[];
  largest: (number | null)[];
  plain: boolean; // every state in view is a point
}

const MOST_LOOKED_AT = 200_000;

// First index whose value is not below `value`.
export function lowerBound(values: ArrayLike<number>, value: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

interface Entries {
  x: (i: number) => number;
  low: (i: number) => number;
  high: (i: number) => number;
  largest: (i: number) => number;
}

function fold(entries: Entries, first: number, end: number, from: number, to: number, pixels: number): Sample {
  const out: Sample = { x: [], low: [], high: [], largest: [], plain: false };
  const width = (to - from) / pixels;
  for (let i = first; i < end; ) {
    const pixel = Math.floor((entries.x(i) - from) / width);
    const edge = from + (pixel + 1) * width;
    let low = Infinity;
    let high = -1;
    let largest = Infinity;
    const start = i;
    do {
      const value = entries.high(i);
      if (value >= 0) {
        low = Math.min(low, Math.max(0, entries.low(i)));
        high = Math.max(high, value);
        largest = Math.min(largest, entries.largest(i));
      }
      i++;
    } while (i < end && entries.x(i) < edge);
    out.x.push((entries.x(start) + entries.x(i - 1)) / 2);
    out.low.push(high < 0 ? null : low);
    out.high.push(high < 0 ? null : high);
    out.largest.push(high < 0 ? null : largest);
  }
  return out;
}

function plain(series: Series, level: Level, first: number, end: number): Sample {
  const out: Sample = { x: [], low: [], high: [], largest: [], plain: true };
  for (let i = first; i < end; i++) {
    const s = series.states ? series.states[i] : i;
    const value = level.allocated[s];
    out.x.push(series.x[i]);
    out.low.push(value < 0 ? null : value);
    out.high.push(value < 0 ? null : value);
    out.largest.push(value < 0 ? null : level.largest[s]);
  }
  return out;
}

export function sampleStates(series: Series, level: Level, pyramid: PyramidLevel[], from: number, to: number, pixels: number): Sample {
  // One state more on either side, so that lines reach the edges.
  const first = Math.max(0, lowerBound(series.x, from) - 1);
  const end = Math.min(series.x.length, lowerBound(series.x, to) + 2);
  if (end - first <= pixels * 2) return plain(series, level, first, end);
  if (end - first > MOST_LOOKED_AT && pyramid.length) return samplePyramid(pyramid, from, to, pixels);
  const { states, x } = series;
  return fold(
    {
      x: (i) => x[i],
      low: (i) => level.allocated[states ? states[i] : i],
      high: (i) => level.allocated[states ? states[i] : i],
      largest: (i) => level.largest[states ? states[i] : i],
    },
    first,
    end,
    from,
    to,
    pixels,
  );
}

export function samplePyramid(pyramid: PyramidLevel[], from: number, to: number, pixels: number): Sample {
  let level = pyramid[0];
  let first = 0;
  let end = 0;
  for (const candidate of pyramid) {
    level = candidate;
    first = Math.max(0, lowerBound(level.element, from) - 1);
    end = Math.min(level.element.length, lowerBound(level.element, to) + 1);
    if (end - first <= MOST_LOOKED_AT) break;
  }
  const { element, low, high, largest } = level;
  return fold({ x: (i) => element[i], low: (i) => low[i], high: (i) => high[i], largest: (i) => largest[i] }, first, end, from, to, pixels);
}
