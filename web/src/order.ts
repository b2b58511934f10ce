// SPDX-License-Identifier: Apache-2.0
// A million rows in order, without stopping the page: numbers by counting, texts in slices.

const SLICE = 12; // milliseconds until the page may draw and listen
const RUN = 1024; // texts that are sorted at once

// Lets the page breathe whenever a slice of time is over.
export class Slices {
  private until = performance.now() + SLICE;

  get over(): boolean {
    return performance.now() > this.until;
  }

  async pause(): Promise<void> {
    await new Promise((done) => setTimeout(done));
    this.until = performance.now() + SLICE;
  }
}

// The places of the keys in ascending order; equal ones stay as they stand. Keys are whole numbers of 32 bits.
export function orderOf(keys: ArrayLike<number>): Uint32Array {
  const n = keys.length;
  let low = Infinity;
  let high = -Infinity;
  for (let i = 0; i < n; i++) {
    if (keys[i] < low) low = keys[i];
    if (keys[i] > high) high = keys[i];
  }
  let from = new Uint32Array(n).map((_zero, i) => i);
  let to = new Uint32Array(n);
  for (let shift = 0; shift < 32 && high - low >= 2 ** shift; shift += 16) {
    const next = new Uint32Array(65537);
    for (let i = 0; i < n; i++) next[(((keys[i] - low) >>> shift) & 0xffff) + 1]++;
    for (let d = 1; d <= 65536; d++) next[d] += next[d - 1];
    for (let k = 0; k < n; k++) {
      const i = from[k];
      to[next[((keys[i] - low) >>> shift) & 0xffff]++] = i;
    }
    [from, to] = [to, from];
  }
  return from;
}

// The rank of each text. Null as soon as `stale` says that nobody waits for it.
export async function rankTexts(texts: string[], stale: () => boolean): Promise<Uint32Array | null> {
  const slices = new Slices();
  const compare = (a: number, b: number): number => (texts[a] < texts[b] ? -1 : texts[a] > texts[b] ? 1 : 0);
  let runs: Uint32Array[] = [];
  for (let at = 0; at < texts.length; at += RUN) {
    if (slices.over) await slices.pause();
    if (stale()) return null;
    runs.push(Uint32Array.from({ length: Math.min(RUN, texts.length - at) }, (_none, k) => at + k).sort(compare));
  }
  while (runs.length > 1) {
    const merged: Uint32Array[] = [];
    for (let k = 0; k < runs.length; k += 2) {
      const [a, b] = [runs[k], runs[k + 1] ?? new Uint32Array()];
      const out = new Uint32Array(a.length + b.length);
      for (let n = 0, i = 0, j = 0; n < out.length; n++) {
        out[n] = j >= b.length || (i < a.length && compare(a[i], b[j]) <= 0) ? a[i++] : b[j++];
        if (n % RUN === 0 && slices.over) await slices.pause();
      }
      if (stale()) return null;
      merged.push(out);
    }
    runs = merged;
  }
  const rank = new Uint32Array(texts.length);
  for (let at = 0; at < texts.length; at++) {
    rank[runs[0][at]] = at;
    if (at % RUN === 0 && slices.over) await slices.pause();
  }
  return rank;
}
