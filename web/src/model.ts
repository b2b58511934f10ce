// SPDX-License-Identifier: Apache-2.0
// The profile as the page knows it. Small things (facts, findings) are there from the start; columns are decoded when first needed and
// then kept. Memory figures are 0.001 MB per bank; -1 where the log did not show the memory.
import type { Basis, Findings, Memory, OpRef, Statement } from "./findings.js";
import { bigDeltaColumn, bytesOf, deltaColumn, jsonOf, Reader, Strings, textOf, unsignedColumn } from "./data.js";
import { TextIndex } from "./textindex.js";
import { loadHeld } from "./held.js";

interface Position {
  element: number;
  place: number;
}

export interface IrFact {
  id: string;
  graph: number;
  stage: string;
  module: string | null;
  line: number;
  lines: number;
}

// One core's L1, of a clash's message or a recorded program: stretches [start, end) of addresses.
export interface CoreMap {
  chip: string;
  chip_basis: Basis;
  size: number;
  base: number; // below is reserved
  base_basis: Basis;
  small: number; // bytes of L1_SMALL at the top
  buffer_word: string; // "circular buffers"
  buffers: [number, number][];
  tensors: [number, number][];
}

export interface Facts {
  format: number;
  version: string;
  name: string;
  source: string;
  rebuilt?: "rough" | "kept"; // out of the JSON files of a report, which know no frees; "kept": with the findings of the log itself
  topics: Record<string, string>; // of statements: their headings, in the order they are told
  classes: Record<string, string>; // of live tensors: their names
  has_runs: boolean; // else nothing tells where a run of a program begins
  blocks_known: boolean; // else states do not tell the largest free block
  elements: number;
  states: number;
  calls: number;
  step: number;
  levels: number;
  ranks: number[];
  held: number[]; // ranks (dense) whose blocks the page has
  irs: IrFact[];
  l1?: { operation: OpRef; core: CoreMap }; // of a capture or a recording: where a program's buffers come nearest to a tensor
  // L1 core by core: the grid, and how many views of it there are; core_views.ts reads them.
  cores?: { chip: string; chip_basis: Basis; columns: number; rows: number; size: number; base: number; top: number; views: number; fullest: number; clash?: number; most_used: number; most_buffers: number; most_tensors: number };
  peaks: Partial<Record<Memory, Position & { state: number; rank: number }>>;
  incidents: (Position & { state: number; core?: CoreMap })[]; // -1: no state
}

export interface RegistryEntry {
  name: string;
  type: string;
  shape: string | null;
  dtype: string | null;
  local_shape?: string | null;
  bytes: number;
}

interface Layout {
  logical_shape: number[];
  dtype: string;
  is_tiled: boolean;
  memref_shape: number[] | null;
  tile_size: number[] | null;
  padded_shape: number[];
  buffer_type: string | null;
  unpadded_bytes: number;
  padded_bytes: number;
  overhead_pct: number;
  bytes_per_bank: number | null;
}

export interface Type {
  text: string;
  layout: Layout | null;
}

// Where a state stands; the values of ttm_html_place.
export const Place = { Element: 0, Between: 1, BeforeSubmit: 2, AfterSubmit: 3, Bare: 4 } as const;

// Of an operation; the values of html_ops.c.
export const Flag = { ConstEval: 1, CacheMiss: 2, CacheHit: 4, Failed: 8, Weight: 16, NoDelta: 32 } as const;

// Remembers what was asked for before, ...
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let kept: Promise<T> | undefined;
  return () => (kept ??= make());
}

// ... of each memory or rank.
export function onceEach<K, T>(make: (key: K) => Promise<T>): (key: K) => Promise<T> {
  const kept = new Map<K, () => Promise<T>>();
  return (key) => {
    if (!kept.has(key)) kept.set(key, once(() => make(key)));
    return kept.get(key)!();
  };
}

// The states of one rank in order. `x` is the operation index; states between two operations lie between their indices.
export interface Series {
  states: Int32Array | null; // state numbers; null: all of them
  x: Float64Array;
}

export interface Level {
  allocated: Int32Array;
  largest: Int32Array;
}

export interface PyramidLevel {
  element: Int32Array;
  low: Int32Array;
  high: Int32Array;
  largest: Int32Array;
}

export interface Operations {
  n: number;
  text: Uint32Array;
  line: Int32Array;
  state: Int32Array; // before it
  last: Int32Array; // before the last operation of the const-eval program inside it; else its own
  call: Int32Array;
  weight: Uint32Array; // label, 0: its location is its name
  flags: Uint32Array;
}

export interface Calls {
  name: Uint32Array;
  parent: Int32Array;
  run: Uint32Array;
  rank: Uint32Array;
  flags: Uint8Array;
  graph: Int32Array;
}

export interface Texts {
  name: Uint32Array;
  location: Uint32Array;
  outputs: number[][];
}

export interface Detail {
  opType: number;
  result: number;
  attributes: number | null;
  operands: number[];
  inputs: number[];
}

export class Model {
  private constructor(
    readonly facts: Facts,
    readonly findings: Findings,
  ) {}

  static async load(): Promise<Model> {
    const [facts, findings] = await Promise.all([jsonOf<Facts>("facts", true), jsonOf<Findings>("findings", true)]);
    return new Model(facts, findings);
  }

  statements(topic: string): Statement[] {
    return this.findings.statements.filter((s) => s.topic === topic);
  }

  readonly places = once(async () => {
    const packed = unsignedColumn(await bytesOf("state.place"), this.facts.states);
    const element = new Int32Array(packed.length);
    const place = new Uint8Array(packed.length);
    let last = -1;
    for (let i = 0; i < packed.length; i++) {
      const step = packed[i] >>> 3;
      last += (step >>> 1) ^ -(step & 1);
      element[i] = last;
      place[i] = packed[i] & 7;
    }
    return { element, place };
  });

  readonly stateRanks = once(async () => {
    const ranks = new Uint8Array(this.facts.states);
    if (this.facts.ranks.length > 1) ranks.set(unsignedColumn(await bytesOf("state.rank"), this.facts.states));
    return ranks;
  });

  readonly stateLines = once(async () => deltaColumn(await bytesOf("state.line"), this.facts.states));

  readonly level = onceEach(async (memory: Memory): Promise<Level> => {
    const n = this.facts.states;
    const [allocated, largest] = await Promise.all([bytesOf(`state.${memory}.allocated`), bytesOf(`state.${memory}.largest`)]);
    return { allocated: deltaColumn(allocated, n), largest: deltaColumn(largest, n) };
  });

  // What else a state tells: free is the total less what is allocated and lost.
  readonly free = onceEach(async (memory: Memory): Promise<{ total: Int32Array; lost: Int32Array }> => {
    const n = this.facts.states;
    const [total, lost] = await Promise.all([bytesOf(`state.${memory}.total`), bytesOf(`state.${memory}.lost`)]);
    return { total: deltaColumn(total, n), lost: deltaColumn(lost, n) };
  });

  readonly series = onceEach(async (rank: number): Promise<Series> => {
    const [{ element, place }, ranks] = await Promise.all([this.places(), this.stateRanks()]);
    let states: Int32Array | null = null;
    if (this.facts.ranks.length > 1) {
      const own: number[] = [];
      for (let s = 0; s < ranks.length; s++) if (ranks[s] === rank) own.push(s);
      states = Int32Array.from(own);
    }
    const n = states ? states.length : element.length;
    const x = new Float64Array(n);
    for (let i = 0; i < n; ) {
      const s = states ? states[i] : i;
      if (place[s] === Place.Element) {
        x[i++] = element[s];
        continue;
      }
      let end = i + 1; // a run of states between two operations shares the room between them
      while (end < n && place[states ? states[end] : end] !== Place.Element && element[states ? states[end] : end] === element[s]) end++;
      for (let k = i; k < end; k++) x[k] = element[s] + (k - i + 1) / (end - i + 1);
      i = end;
    }
    return { states, x };
  });

  async pyramid(rank: number, memory: Memory): Promise<PyramidLevel[]> {
    const levels: PyramidLevel[] = [];
    for (let k = 0; k < this.facts.levels; k++) {
      const stem = `pyramid.${rank}.${k}`;
      const [elements, allocated, largest] = await Promise.all(
        [`${stem}.element`, `${stem}.${memory}.allocated`, `${stem}.${memory}.largest`].map((id) => bytesOf(id, true)),
      );
      const reader = new Reader(elements);
      const element: number[] = [];
      while (!reader.ended) element.push(reader.delta());
      const n = element.length;
      const low = new Int32Array(n);
      const high = new Int32Array(n);
      const pairs = new Reader(allocated);
      for (let i = 0; i < n; i++) pairs.pair(low, high, i);
      levels.push({ element: Int32Array.from(element), low, high, largest: deltaColumn(largest, n) });
    }
    return levels;
  }

  readonly operations = once(async (): Promise<Operations> => {
    const n = this.facts.elements;
    const [text, line, states, inside, call, weight, flags] = await Promise.all(["text", "line", "state", "inside", "call", "weight", "flags"].map((id) => bytesOf(`op.${id}`)));
    const state = deltaColumn(states, n);
    const within = unsignedColumn(inside, n);
    return {
      n,
      text: unsignedColumn(text, n),
      line: deltaColumn(line, n),
      state,
      last: state.map((s, i) => s + within[i]),
      call: deltaColumn(call, n),
      weight: unsignedColumn(weight, n),
      flags: unsignedColumn(flags, n),
    };
  });

  readonly calls = once(async (): Promise<Calls> => {
    const n = this.facts.calls;
    const reader = new Reader(await bytesOf("calls"));
    const calls: Calls = {
      name: new Uint32Array(n),
      parent: new Int32Array(n),
      run: new Uint32Array(n),
      rank: new Uint32Array(n),
      flags: new Uint8Array(n),
      graph: new Int32Array(n),
    };
    for (let i = 0; i < n; i++) {
      calls.name[i] = reader.number();
      const up = reader.number();
      calls.parent[i] = up ? i - up : -1;
      calls.run[i] = reader.number();
      calls.rank[i] = reader.number();
      calls.flags[i] = reader.number();
      calls.graph[i] = reader.number() - 1;
    }
    return calls;
  });

  readonly labels = once(() => Strings.load("labels"));
  readonly words = once(() => Strings.load("words"));
  readonly labelIndex = once(async () => new TextIndex(await this.labels()));
  readonly wordIndex = once(async () => new TextIndex(await this.words()));
  readonly types = once(() => jsonOf<Type[]>("types"));
  readonly registry = once(async () => (await jsonOf<{ entries: RegistryEntry[] }>("registry")).entries);

  // Weights with repeated layers folded: by entry of the registry 1 + its group, 0 for what is no weight; and the names of the groups.
  readonly weightGroups = once(async () => {
    const [entries, group, names] = await Promise.all([this.registry(), bytesOf("weights.group"), jsonOf<string[]>("weights.names")]);
    return { group: unsignedColumn(group, entries.length), names };
  });

  readonly texts = once(async (): Promise<Texts> => {
    const reader = new Reader(await bytesOf("texts"));
    const name: number[] = [];
    const location: number[] = [];
    const outputs: number[][] = [];
    while (!reader.ended) {
      name.push(reader.number());
      location.push(reader.number());
      outputs.push(list(reader));
    }
    return { name: Uint32Array.from(name), location: Uint32Array.from(location), outputs };
  });

  readonly details = once(async (): Promise<Detail[]> => {
    const reader = new Reader(await bytesOf("details"));
    const details: Detail[] = [];
    while (!reader.ended) {
      const opType = reader.number();
      const result = reader.number();
      const has = reader.number();
      const attributes = reader.number();
      details.push({ opType, result, attributes: has ? attributes : null, operands: list(reader), inputs: list(reader) });
    }
    return details;
  });

  // Registry entries of the weights each operation takes: list number of an operation (0: none), and the lists.
  readonly weights = once(async () => {
    const of = unsignedColumn(await bytesOf("op.weights"), this.facts.elements);
    const reader = new Reader(await bytesOf("weights"));
    const lists: number[][] = [[]];
    while (!reader.ended) lists.push(list(reader));
    return { of, lists };
  });

  // Bytes of the live tensors after each operation, without and with padding.
  readonly live = onceEach(async (memory: "DRAM" | "L1"): Promise<{ logical: Float64Array; stored: Float64Array }> => {
    const n = this.facts.elements;
    const [logical, stored] = await Promise.all([bytesOf(`live.${memory}.logical`), bytesOf(`live.${memory}.stored`)]);
    return { logical: bigDeltaColumn(logical, n), stored: bigDeltaColumn(stored, n) };
  });

  // Who held which block when, of a rank in facts.held.
  readonly held = onceEach((rank: number) => loadHeld(this, rank));

  // The state after each state, of the same rank; -1 at the end.
  readonly nextStates = once(async () => {
    const n = this.facts.states;
    const next = new Int32Array(n);
    const ranks = await this.stateRanks();
    const latest = new Int32Array(Math.max(1, this.facts.ranks.length)).fill(-1);
    for (let s = n - 1; s >= 0; s--) {
      next[s] = latest[ranks[s]];
      latest[ranks[s]] = s;
    }
    return next;
  });

  // What each operation did to a memory, its const-eval program included: the state after it minus the one before. NaN where the log cannot tell.
  readonly deltas = onceEach(async (memory: Memory): Promise<Float64Array> => {
    const [ops, level, next] = await Promise.all([this.operations(), this.level(memory), this.nextStates()]);
    const out = new Float64Array(ops.n);
    for (let i = 0; i < ops.n; i++) {
      const before = ops.state[i];
      const after = before < 0 || ops.flags[i] & Flag.NoDelta ? -1 : next[ops.last[i]];
      out[i] = after < 0 || level.allocated[before] < 0 || level.allocated[after] < 0 ? NaN : level.allocated[after] - level.allocated[before];
    }
    return out;
  });

  irText(fact: IrFact): Promise<string> {
    return textOf(fact.id);
  }

  irLocations(fact: IrFact): Promise<Record<string, number>> {
    return jsonOf<Record<string, number>>(`${fact.id}.locations`);
  }
}

function list(reader: Reader): number[] {
  const n = reader.number();
  const out: number[] = [];
  for (let i = 0; i < n; i++) out.push(reader.number());
  return out;
}
