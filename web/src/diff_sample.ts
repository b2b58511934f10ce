// SPDX-License-Identifier: Apache-2.0
// A few thousand points out of any number of places: the places themselves when few are in view, else the lowest and highest of each pixel.
import type { Steps } from "./diff_model.js";

export interface Band {
  low: (number | null)[];
  high: (number | null)[];
}

export interface Bands {
  x: number[];
  series: Band[];
  plain: boolean; // every place in view is a point
}

const MOST_LOOKED_AT = 200_000;
const known = (value: number): number | null => (Number.isNaN(value) || !Number.isFinite(value) ? null : value);

function range(steps: Steps, first: number, end: number): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (let i = first; i < end; i++) {
    if (steps.low(i) < low) low = steps.low(i); // false for NaN
    if (steps.high(i) > high) high = steps.high(i);
  }
  return [low, high];
}

// Every series as steps of the same sizes, the finest first: all of them are sampled at the same places.
export function sampleBands(series: Steps[][], from: number, to: number, pixels: number): Bands {
  const k = Math.max(0, series[0].findIndex(({ step }) => (to - from) / step <= MOST_LOOKED_AT));
  const used = series.map((levels) => levels[k]);
  const { step, n } = used[0];
  // One more on either side, so that lines reach the edges.
  const first = Math.max(0, Math.floor(from / step) - 1);
  const end = Math.min(n, Math.ceil(to / step) + 2);
  const plain = step === 1 && end - first <= pixels * 2;
  const width = plain ? 1 : Math.max(1, (end - first) / pixels);
  const out: Bands = { x: [], series: used.map(() => ({ low: [], high: [] })), plain };
  for (let at = first; at < end; at += width) {
    const here = Math.floor(at);
    const next = Math.min(end, Math.max(here + 1, Math.floor(at + width)));
    out.x.push(plain ? here : ((here + next) / 2) * step);
    used.forEach((steps, i) => {
      const [low, high] = range(steps, here, next);
      out.series[i].low.push(known(low));
      out.series[i].high.push(known(high));
    });
  }
  if (plain && end === n && n) {
    out.x.push(n); // the last place has a width too
    for (const { low, high } of out.series) {
      low.push(low[low.length - 1]);
      high.push(high[high.length - 1]);
    }
  }
  return out;
}
