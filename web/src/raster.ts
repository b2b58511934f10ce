// SPDX-License-Identifier: Apache-2.0
// Address by time as pixels: each block is a rectangle from its first state to its last. Every column shows one state, as the bands of the timeline
// do; blocks thinner than a pixel get one.
import type { AddressScale } from "./bank.js";
import type { Held, HeldMemory } from "./held.js";
import { CLASS_KEPT, classAt, memoryOf } from "./held.js";
import type { Operations } from "./model.js";
import type { Columns } from "./stack.js";

const CLASS_ACTIVATION = 4;
export const AFTER_USE = 16; // added to 1 + the class; 0 is free

export interface Cells {
  width: number;
  height: number;
  code: Uint8Array; // row by row, the highest addresses first
}

// `edge`: the pixel at which each column begins; `scale`: from addresses to the height.
export function paintCells(held: Held, memory: HeldMemory, ops: Operations, columns: Columns, edge: Int32Array, width: number, height: number, scale: AddressScale): Cells {
  const code = new Uint8Array(width * height);
  const { from, to, kept, used, at, size } = held;
  const { before, state } = columns;
  const last = before.length - 1;
  const pixel = (index: number): number => (index < state.length ? edge[index] : width);
  const perByte = height / scale.length;
  const paint = (begin: number, end: number, low: number, high: number, value: number): void => {
    if (begin >= end) return;
    for (let y = high; y < low; y++) code.fill(value, y * width + begin, y * width + end);
  };
  for (let i = 0; i < from.length; i++) {
    if (!at[i] || memoryOf(held, i) !== memory) continue;
    const first = before[from[i]];
    const end = to[i] > last ? state.length : before[to[i]];
    if (first >= end) continue;
    const start = (at[i] - 1) * held.unit;
    const low = Math.min(height, height - Math.floor(scale.place(start) * perByte));
    const high = Math.max(0, Math.min(low - 1, Math.round(height - scale.place(start + size[i] * held.unit) * perByte)));
    const own = classAt(held, i, -1);
    const turn = kept[i] > last ? end : Math.min(end, Math.max(first, before[kept[i]]));
    let idle = turn;
    if (own === CLASS_ACTIVATION && used[i] >= 0 && ops.state[used[i]] >= 0) idle = Math.min(turn, Math.max(first, before[Math.min(last, ops.state[used[i]] + 1)]));
    paint(pixel(first), pixel(idle), low, high, 1 + own);
    paint(pixel(idle), pixel(turn), low, high, 1 + own + AFTER_USE);
    paint(pixel(turn), pixel(end), low, high, 1 + CLASS_KEPT);
  }
  return { width, height, code };
}

const channels = (ink: string): number[] => {
  const ctx = document.createElement("canvas").getContext("2d")!;
  ctx.fillStyle = ink;
  const hex = ctx.fillStyle;
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
};

// A picture of them; what is held after its last use is hatched.
export function pictureOf({ width, height, code }: Cells, inks: string[], paper: string): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const ctx = canvas.getContext("2d")!;
  const image = ctx.createImageData(width, height);
  const words = new Uint32Array(image.data.buffer);
  const pack = ([r, g, b]: number[]): number => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
  const empty = channels(paper);
  const plain = [pack(empty), ...inks.map((ink) => pack(channels(ink)))];
  const faint = [0, ...inks.map((ink) => pack(channels(ink).map((v, i) => Math.round(v * 0.35 + empty[i] * 0.65))))];
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i++) {
      const value = code[i];
      words[i] = value < AFTER_USE ? plain[value] : ((x + y) >> 1) & 1 ? plain[value - AFTER_USE] : faint[value - AFTER_USE];
    }
  }
  ctx.putImageData(image, 0, 0);
  return canvas;
}
