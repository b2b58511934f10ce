// SPDX-License-Identifier: Apache-2.0
// Two runs as the page knows them (src/report/html/html_diff.c). A place of the x axis is an operation before and the one after that stands for it,
// or one of them alone. Memory figures are 0.001 MB per bank; -1 where a log did not show the memory.
import { bytesOf, deltaColumn, jsonOf, Reader, Strings, unsignedColumn } from "./data.js";
import type { Memory, OpRef, Statement } from "./findings.js";
import { once, onceEach } from "./model.js";
import { lowerBound } from "./sample.js";

export const SIDES = ["before", "after"] as const;
export type SideName = (typeof SIDES)[number];
export type Side = 0 | 1;
export const BOTH: readonly Side[] = [0, 1];

interface Facts {
  name: string; // of both
  version: string;
  step: number;
  levels: number;
  plain: number; // fewer places have no pyramid
  per_chip: boolean;
  topics: Record<string, string>;
  classes: Record<string, string>;
  sides: { name: string; source: string; elements: number; lines: boolean; failed: number[] }[];
  memories: Partial<Record<Memory, { banks: number; capacity_per_bank_MB: number }[]>>;
  ranks: { rank: number; places: number; highest: Partial<Record<Memory, (number | null)[]>> }[];
}

interface Effect extends OpRef {
  at: string;
  effect_MB: number;
}

export interface Group {
  kind: string;
  name: string; // folded
  places: number;
  change_MB: number; // of the one that is named
  total_change_MB: number;
  before: Effect | null;
  after: Effect | null;
}

interface Held {
  per_bank_MB: number;
  tensors: number;
  made_by: OpRef | null;
}

export interface LiveChange {
  class: string;
  name: string | null;
  change_MB: number;
  before: Held;
  after: Held;
}

interface Freed extends OpRef {
  per_bank_MB: number;
  later: boolean;
  operations_later: number | null;
  alive_at_peak: boolean;
}

interface Diff {
  before: { operations: number; weight_MB: number };
  after: { operations: number; weight_MB: number };
  peak: Record<Memory, { before_per_bank_MB: number | null; after_per_bank_MB: number | null; change_MB: number | null }>;
  changed: Group[];
  only_in_one: { mlir_op: string; before: number; after: number }[];
  freed_elsewhere: Freed[];
  live_at_peak: Partial<Record<Memory, LiveChange[]>>;
  statements: Statement[];
}

// An operation of a group: indices in the reports, effects in 0.001 MB.
export interface Member {
  op: (number | null)[];
  effect: number[];
}

// The places of one rank.
export interface Places {
  n: number;
  own: Int32Array[]; // by side and place: the how-manieth operation of that log it is, -1 for none
  place: Int32Array[]; // by side and operation
}

// Operations of a side and rank, in their order.
export interface Ops {
  index: Int32Array; // in the report of that log
  line: Int32Array;
  what: Uint32Array;
}

export interface What {
  name: string;
  location: string;
  results: string;
}

// Lowest and highest of every `step` places; NaN where nothing is known.
export interface Steps {
  step: number;
  n: number;
  low: (i: number) => number;
  high: (i: number) => number;
}

export type SeriesName = SideName | "difference";
export const SERIES: readonly SeriesName[] = [...SIDES, "difference"];

export class DiffModel {
  private constructor(
    readonly facts: Facts,
    readonly diff: Diff,
  ) {}

  static async load(): Promise<DiffModel> {
    const [facts, diff] = await Promise.all([jsonOf<Omit<Facts, "name">>("facts", true), jsonOf<Diff>("diff", true)]);
    return new DiffModel({ name: facts.sides.map((side) => side.name).join(" → "), ...facts }, diff);
  }

  get memories(): Memory[] {
    return Object.keys(this.facts.memories) as Memory[];
  }

  private readonly placesOf = onceEach(async (rank: string): Promise<Places> => {
    const { places: n } = this.facts.ranks[Number(rank)];
    const own = BOTH.map(() => new Int32Array(n).fill(-1));
    const place: number[][] = [[], []];
    const reader = new Reader(await bytesOf(`pairs.${rank}`));
    for (let at = 0; at < n; ) {
      const kind = reader.number();
      for (const end = at + reader.number(); at < end; at++) {
        for (const side of BOTH) {
          if (kind === (side ? 1 : 2)) continue;
          own[side][at] = place[side].length;
          place[side].push(at);
        }
      }
    }
    return { n, own, place: place.map((list) => Int32Array.from(list)) };
  });
  places = (rank: number): Promise<Places> => this.placesOf(String(rank));

  private readonly opsOf = onceEach(async (key: string): Promise<Ops> => {
    const [rank, side] = key.split(" ");
    const n = (await this.placesOf(rank)).place[Number(side)].length;
    const [index, line, what] = await Promise.all(["index", "line", "what"].map((column) => bytesOf(`op.${rank}.${SIDES[Number(side)]}.${column}`)));
    return { index: deltaColumn(index, n), line: deltaColumn(line, n), what: unsignedColumn(what, n) };
  });
  ops = (rank: number, side: Side): Promise<Ops> => this.opsOf(`${rank} ${side}`);

  private readonly levelOf = onceEach(async (key: string) => {
    const [rank, name] = key.split(" ");
    return deltaColumn(await bytesOf(`level.${rank}.${name}`), this.facts.ranks[Number(rank)].places);
  });
  level = (rank: number, memory: Memory, side: Side): Promise<Int32Array> => this.levelOf(`${rank} ${memory}.${SIDES[side]}`);

  readonly labels = once(() => Strings.load("labels"));
  readonly whats = once(async () => {
    const reader = new Reader(await bytesOf("whats"));
    const ids: number[] = [0, 0, 0];
    while (!reader.ended) ids.push(reader.number());
    const labels = await this.labels();
    return (what: number): What => ({ name: labels.get(ids[3 * what]), location: labels.get(ids[3 * what + 1]), results: labels.get(ids[3 * what + 2]) });
  });

  readonly members = once(async (): Promise<Member[][]> => {
    const reader = new Reader(await bytesOf("members"));
    const groups: Member[][] = this.diff.changed.map(() => []);
    while (!reader.ended) {
      const group = reader.number();
      const op = BOTH.map(() => reader.number()).map((index) => (index ? index - 1 : null));
      groups[group]?.push({ op, effect: BOTH.map(() => reader.signed()) });
    }
    return groups;
  });

  // Where an operation of a log stands.
  async find(side: Side, index: number): Promise<{ rank: number; place: number } | null> {
    for (let rank = 0; rank < this.facts.ranks.length; rank++) {
      const [ops, places] = await Promise.all([this.ops(rank, side), this.places(rank)]);
      const at = lowerBound(ops.index, index);
      if (ops.index[at] === index) return { rank, place: places.place[side][at] };
    }
    return null;
  }

  // Of the lowest level first: the places themselves are level 0, and not here.
  async pyramid(rank: number, memory: Memory, series: SeriesName): Promise<Steps[]> {
    const { places } = this.facts.ranks[rank];
    const out: Steps[] = [];
    for (let k = 0; k < this.facts.levels && places >= this.facts.plain; k++) {
      const step = this.facts.step ** (k + 1);
      const n = Math.ceil(places / step);
      const low = new Float64Array(n);
      const high = new Float64Array(n);
      const reader = new Reader(await bytesOf(`pyramid.${rank}.${k}.${memory}.${series}`, true));
      for (let i = 0; i < n; i++) {
        const height = reader.number();
        low[i] = height ? reader.delta() : NaN;
        high[i] = low[i] + height - 1;
      }
      out.push({ step, n, low: (i) => low[i], high: (i) => high[i] });
    }
    return out;
  }
}
