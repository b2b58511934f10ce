// SPDX-License-Identifier: Apache-2.0
// A bank at one state: its blocks by address, what is free between them, and the blocks that pin free space.
import type { Scene } from "./cursor.js";
import { addressOf, liveRows, memoryOf, type Held, type HeldMemory } from "./held.js";

export interface Block {
  at: number; // bytes
  size: number;
  row: number; // -1: free
}

export interface Pin {
  at: number;
  size: number;
  merged: number; // the free block there would be without it
}

export interface BankMap {
  base: number;
  end: number;
  blocks: Block[]; // by address, free ones between
  free: Block[];
  largest: Block | null; // of the free ones
  pins: Pin[]; // at most 5, those that keep most apart first (src/analyze/fragmentation.c)
  unplaced: number; // bytes of tensors for which no address is known
}

const MOST_PINS = 5;

function pinsOf(free: Block[]): Pin[] {
  const pins: Pin[] = [];
  for (let i = 0; i + 1 < free.length; i++) {
    const at = free[i].at + free[i].size;
    const pin = { at, size: free[i + 1].at - at, merged: free[i + 1].at + free[i + 1].size - free[i].at };
    if (pin.size < pin.merged - pin.size) pins.push(pin);
  }
  return pins.sort((a, b) => b.merged - b.size - (a.merged - a.size)).slice(0, MOST_PINS);
}

export function bankAt({ held, memory, total }: Scene, state: number): BankMap {
  const { base } = held[memory];
  const size = Math.round(((total[state] ?? 0) * 1048576) / 1000 / held.unit) * held.unit || held[memory].size;
  const end = base + (Math.abs(size - held[memory].size) < 1048 ? held[memory].size : size);
  const rows = liveRows(held, memory, state);
  const placed = rows.filter((row) => held.at[row] > 0).sort((a, b) => held.at[a] - held.at[b] || a - b);
  const blocks: Block[] = [];
  const free: Block[] = [];
  let at = base;
  const gap = (to: number): void => {
    if (to <= at) return;
    free.push({ at, size: to - at, row: -1 });
    blocks.push(free[free.length - 1]);
  };
  for (const row of placed) {
    const start = addressOf(held, row);
    gap(start);
    blocks.push({ at: start, size: held.size[row] * held.unit, row });
    at = Math.max(at, start + held.size[row] * held.unit);
  }
  gap(end);
  const largest = free.reduce<Block | null>((most, one) => (most && most.size >= one.size ? most : one), null);
  return { base, end: Math.max(end, at), blocks, free, largest, pins: pinsOf(free), unplaced: rows.reduce((sum, row) => sum + (held.at[row] ? 0 : held.size[row] * held.unit), 0) };
}

// How far the map is right at a state: exactly the input's addresses, a replay whose largest free block is the measured one, or one whose is not.
export function exactness({ held, level }: Scene, map: BankMap, state: number): "exact" | "agrees" | "differs" {
  if (held.placed) return "exact";
  return Math.abs((map.largest?.size ?? 0) - (level.largest[state] * 1048576) / 1000) <= 2100 ? "agrees" : "differs";
}

// Addresses as a picture has them: what is free at all times and large is cut short.
export interface AddressScale {
  length: number; // bytes, with the cut
  cut: { from: number; to: number; drawn: number } | null;
  place: (address: number) => number; // from 0 to length
  address: (place: number) => number | null; // null: inside the cut
}

const STEPS = 4096;
const LEAST_CUT = 0.3; // of the bank
const CUT_DRAWN = 0.04; // of what is left of it

// The longest stretch of addresses that nothing ever held.
function neverHeld(held: Held, memory: HeldMemory, base: number, end: number): { from: number; to: number } {
  const ends = new Int32Array(STEPS + 1);
  const step = (end - base) / STEPS;
  const clamp = (n: number): number => Math.max(0, Math.min(STEPS, n));
  for (let i = 0; i < held.at.length; i++) {
    if (!held.at[i] || memoryOf(held, i) !== memory) continue;
    const at = addressOf(held, i) - base;
    ends[clamp(Math.floor(at / step))]++;
    ends[clamp(Math.ceil((at + held.size[i] * held.unit) / step))]--;
  }
  let best = { from: base, to: base };
  let start = 0;
  for (let k = 0, there = 0; k <= STEPS; k++) {
    there += ends[k];
    if (there <= 0 && k < STEPS) continue;
    if ((k - start) * step > best.to - best.from) best = { from: base + start * step, to: base + k * step };
    start = k + 1;
  }
  return best;
}

export function addressScale(held: Held, memory: HeldMemory, base: number, end: number): AddressScale {
  const longest = neverHeld(held, memory, base, end);
  const wide = longest.to - longest.from;
  if (wide < LEAST_CUT * (end - base)) return { length: end - base, cut: null, place: (address) => address - base, address: (place) => base + place };
  const drawn = Math.max(1, (end - base - wide) * CUT_DRAWN);
  const before = longest.from - base;
  return {
    length: end - base - wide + drawn,
    cut: { ...longest, drawn },
    place: (address) => (address <= longest.from ? address - base : address >= longest.to ? address - base - wide + drawn : before + ((address - longest.from) / wide) * drawn),
    address: (place) => (place <= before ? base + place : place >= before + drawn ? base + place - drawn + wide : null),
  };
}
