// SPDX-License-Identifier: Apache-2.0
// What the parts of a page share: what is looked at, and who wants to know. The address keeps it, so that a link leads to the same view.
import { addParts, readParts, whenSet } from "./address.js";
import { clampRange, type Range } from "./chart.js";
import type { Memory } from "./findings.js";

export interface BaseView {
  memory: Memory;
  rank: number; // dense index
  from: number | null; // zoom, in places on the x axis
  to: number | null;
  per: "bank" | "chip"; // of the figures in tables
}

export abstract class Viewed<V extends BaseView> {
  abstract view: V;
  private readonly listeners: ((view: V, changed: Partial<V>) => void)[] = [];
  private writing = 0;

  constructor() {
    whenSet(() => this.toAddress());
  }

  // Everything that the x axis has.
  abstract all(): Range;
  protected abstract words(): URLSearchParams;
  // What one bank holds, in the unit of the tables.
  abstract scaled(perBank: number, memory: Memory): number;

  private toAddress(): void {
    // Browsers limit how often the address may change.
    clearTimeout(this.writing);
    this.writing = window.setTimeout(() => history.replaceState(null, "", `#${addParts(this.words()).toString()}`), 150);
  }

  onChange(listener: (view: V, changed: Partial<V>) => void): void {
    this.listeners.push(listener);
  }

  set(change: Partial<V>, write = true): void {
    this.view = { ...this.view, ...change };
    if (write) this.toAddress();
    for (const listener of this.listeners) listener(this.view, change);
  }

  // What the charts show.
  range(): Range {
    const { from, to } = this.view;
    return from !== null && to !== null ? clampRange({ from, to }, this.all()) : this.all();
  }

  zoom(range: Range | null): void {
    this.set({ from: range?.from ?? null, to: range?.to ?? null } as Partial<V>);
  }

  // Zooms about a place, else about the middle.
  zoomAbout(place: number | null, factor: number): void {
    const { from, to } = this.range();
    const at = place !== null && place >= from && place <= to ? place : (from + to) / 2;
    this.zoom(clampRange({ from: at - (at - from) * factor, to: at + (to - at) * factor }, this.all()));
  }

  // Moves the charts so that the place is in them.
  reveal(place: number): void {
    const { from, to } = this.range();
    if (place >= from && place <= to) return;
    this.zoom(clampRange({ from: place - (to - from) / 2, to: place + (to - from) / 2 }, this.all()));
  }
}

// The parts of the address that every view has.
export function zoomWords({ from, to, per }: BaseView, words: URLSearchParams): URLSearchParams {
  if (from !== null && to !== null) {
    words.set("from", String(Math.round(from * 100) / 100));
    words.set("to", String(Math.round(to * 100) / 100));
  }
  if (per === "chip") words.set("per", per);
  return words;
}

export function zoomOf(words: URLSearchParams): Partial<BaseView> {
  const change: Partial<BaseView> = {};
  readParts(words);
  const from = Number(words.get("from") ?? NaN);
  const to = Number(words.get("to") ?? NaN);
  if (from < to) Object.assign(change, { from, to });
  if (words.get("per") === "chip") change.per = "chip";
  return change;
}
