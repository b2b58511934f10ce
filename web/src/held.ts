// SPDX-License-Identifier: Apache-2.0
// Who held which block from which state to which, on one rank (src/report/html/html_occupancy.c). The stacked timeline, the block map, the
// module tree and the live tensors of any moment are all read from here, so that they agree.
import { bytesOf, deltaColumn, jsonOf, unsignedColumn, type Strings } from "./data.js";
import type { LiveSet, Memory } from "./findings.js";
import type { Model } from "./model.js";
import { locationOf, nameOf, placeOf, type Names } from "./names.js";

export type HeldMemory = Extract<Memory, "DRAM" | "L1">;
export const isHeld = (memory: Memory): memory is HeldMemory => memory === "DRAM" || memory === "L1";

interface About {
  rows: number;
  unit: number; // bytes, of addresses and sizes
  placed: boolean; // addresses are those of the input itself, not of the replay
  DRAM: Bank;
  L1: Bank;
}

export interface Bank {
  banks: number;
  base: number; // bytes
  size: number; // 0 when unknown
  states: number; // compared with the replay, and ...
  agree: number; // ... those whose largest free block is the measured one
}

export const NEVER = 0x7fffffff;
const Mark = { Class: 7, L1: 8, Part: 16, Guess: 32, Op: 64, Used: 128 } as const;

export interface Held extends About {
  from: Int32Array; // states: the first that shows it, ...
  to: Int32Array; // ... the first that does not; NEVER
  kept: Int32Array; // from which it is the result of an earlier run; NEVER
  op: Int32Array; // operation that made it, -1
  used: Int32Array; // operation that used it last, -1
  type: Int32Array; // -1: unknown
  words: Strings;
  name: Uint32Array; // word: the argument it is, or comes from; 0
  stack: Uint32Array; // word: of a recording, the calls that led to it
  at: Uint32Array; // 1 + address in units; 0: unknown
  size: Uint32Array; // per bank, in units
  marks: Uint8Array;
  padding: Float32Array; // of `size`, in units
}

const after = (from: Int32Array, states: Uint32Array): Int32Array => from.map((state, i) => (states[i] ? state + states[i] - 1 : NEVER));

export async function loadHeld(model: Model, rank: number): Promise<Held> {
  const about = await jsonOf<About>(`held.${rank}`);
  const n = about.rows;
  const column = async (name: string): Promise<Uint32Array> => unsignedColumn(await bytesOf(`held.${rank}.${name}`), n);
  const signed = async (name: string): Promise<Int32Array> => deltaColumn(await bytesOf(`held.${rank}.${name}`), n);
  const from = await signed("from");
  const to = after(from, await column("life"));
  const kept = after(from, await column("kept"));
  const marks = new Uint8Array(await column("marks"));
  const op = await signed("op");
  const used = new Int32Array(await column("used"));
  for (let i = 0; i < n; i++) {
    used[i] = marks[i] & Mark.Used ? op[i] + used[i] : -1;
    if (!(marks[i] & Mark.Op)) op[i] = -1;
  }
  const type = new Int32Array(await column("type"));
  const [ops, texts, types] = await Promise.all([model.operations(), model.texts(), model.types()]);
  const size = await column("bytes");
  const share = types.map(({ layout }) => (layout && layout.padded_bytes > layout.unpadded_bytes ? 1 - layout.unpadded_bytes / layout.padded_bytes : 0));
  const padding = new Float32Array(n);
  for (let i = 0; i < n; i++) {
    type[i] = type[i] === 1 ? texts.outputs[ops.text[op[i]]][0] : type[i] - 2;
    if (type[i] < 0) type[i] = -1;
    else if (share[type[i]]) padding[i] = size[i] * share[type[i]];
  }
  return { ...about, from, to, kept, op, used, type, words: await model.words(), name: await column("name"), stack: await column("stack"), at: await column("at"), size, marks, padding };
}

// ---- One row --------------------------------------------------------------------------------------------------------

export const CLASS_KEPT = 5;
export const CLASS_PROGRAM = 6;
export const CLASS_UNKNOWN = 7;

export const memoryOf = (held: Held, row: number): HeldMemory => (held.marks[row] & Mark.L1 ? "L1" : "DRAM");
export const classAt = (held: Held, row: number, state: number): number => (state >= held.kept[row] ? CLASS_KEPT : held.marks[row] & Mark.Class);
export const isPart = (held: Held, row: number): boolean => (held.marks[row] & Mark.Part) !== 0;
const isGuess = (held: Held, row: number): boolean => (held.marks[row] & Mark.Guess) !== 0;
export const megabytes = (held: Held, units: number): number => (units * held.unit) / 1048576;
export const addressOf = (held: Held, row: number): number => (held.at[row] - 1) * held.unit;

// What a block is called: the argument it is, or where it was made. `names` of arguments stay behind when it is a result of an earlier run.
export function rowName(held: Held, names: Names, row: number, kept = false): string {
  if (held.name[row] && !kept) return held.words.get(held.name[row]);
  return held.op[row] >= 0 ? placeOf(names, held.op[row]) || "N/A" : "";
}

// ---- One moment -----------------------------------------------------------------------------------------------------

export function liveRows(held: Held, memory: HeldMemory, state: number): number[] {
  const { from, to, marks } = held;
  const l1 = memory === "L1" ? Mark.L1 : 0;
  const rows: number[] = [];
  for (let i = 0; i < from.length; i++) if (from[i] <= state && state < to[i] && (marks[i] & Mark.L1) === l1) rows.push(i);
  return rows;
}

interface Numbers {
  texts: string[];
  numbers: string[];
}

// The numbers of their own in a name; one inside a word ("adapter1", "conv2d") is part of the name (src/analyze/fold.c).
function numbersOf(name: string): Numbers {
  const texts: string[] = [];
  const numbers: string[] = [];
  let at = 0;
  for (const match of name.matchAll(/(?<![A-Za-z\u0080-\uffff\d])\d+(?![A-Za-z\u0080-\uffff\d])/g)) {
    texts.push(name.slice(at, match.index));
    numbers.push(match[0]);
    at = match.index + match[0].length;
  }
  texts.push(name.slice(at));
  return { texts, numbers };
}

// Names that are alike but for numbers fold into one: "layers.*.mlp.weight".
class Fold {
  private readonly groups = new Map<string, { first: Numbers; differ: Set<number>; index: number }>();
  constructor(private readonly whole: boolean) {}

  add(name: string, kind: string): number {
    const own = this.whole ? { texts: [name], numbers: [] } : numbersOf(name);
    const key = JSON.stringify([kind, own.texts]);
    let group = this.groups.get(key);
    if (!group) this.groups.set(key, (group = { first: own, differ: new Set(), index: this.groups.size }));
    own.numbers.forEach((number, i) => number !== group.first.numbers[i] && group.differ.add(i));
    return group.index;
  }

  names(): string[] {
    return [...this.groups.values()].map(({ first, differ }) => first.texts.map((text, i) => (i ? (differ.has(i - 1) ? "*" : first.numbers[i - 1]) : "") + text).join(""));
  }
}

const SLACK = 525; // bytes: how far a printed figure may be off

export interface LiveMoment extends LiveSet {
  over: number; // bytes per bank that the tensors hold more than was measured
}

// The live tensors at a state, as at the peak (src/analyze/moment.c): rows of one name or operation text, folded by layer, largest first.
// `measured` is the state's level in bytes per bank.
export function momentOf(model: Model, held: Held, names: Names, memory: HeldMemory, state: number, measured: number): LiveMoment {
  const classNames = Object.keys(model.facts.classes);
  const classes = new Float64Array(classNames.length);
  const rows = new Map<string, { row: number; class: number; size: number; tensors: number; guess: boolean }>();
  let sum = 0;
  for (const row of liveRows(held, memory, state)) {
    const c = classAt(held, row, state);
    const kept = c === CLASS_KEPT;
    const size = held.size[row] * held.unit;
    classes[c] += size;
    sum += size;
    const nameless = !held.placed && (c === CLASS_PROGRAM || c === CLASS_UNKNOWN);
    const key = nameless ? `${c}` : held.name[row] && !kept ? `${c} n${held.name[row]}` : held.op[row] >= 0 ? `${c} o${names.ops.text[held.op[row]]}` : `${c} t${held.type[row]}`;
    const known = rows.get(key);
    const tensors = nameless || isPart(held, row) ? 0 : 1;
    if (!known) rows.set(key, { row: nameless ? -1 : row, class: c, size, tensors, guess: !kept && isGuess(held, row) });
    else {
      known.size += size;
      known.tensors += tensors;
    }
  }
  const unknown = measured > sum + SLACK ? measured - sum : 0;
  if (unknown) {
    classes[CLASS_UNKNOWN] += unknown;
    const known = rows.get(`${CLASS_UNKNOWN}`);
    if (known) known.size += unknown;
    else rows.set(`${CLASS_UNKNOWN}`, { row: -1, class: CLASS_UNKNOWN, size: unknown, tensors: 0, guess: false });
  }
  const sorted = [...rows.values()].sort((a, b) => b.size - a.size || a.class - b.class || a.row - b.row);
  const fold = new Fold(!model.facts.has_runs);
  const groups: LiveSet["groups"] = [];
  const out = sorted.map((one): LiveSet["rows"][number] => {
    const kept = one.class === CLASS_KEPT;
    const op = one.row < 0 ? -1 : held.op[one.row];
    const name = one.row < 0 ? "" : rowName(held, names, one.row, kept);
    const maker = op >= 0 && !(held.name[one.row] && !kept) ? nameOf(names, op) : "";
    const group = fold.add(name, `${maker} ${one.class} ${one.guess}`);
    const made = op >= 0 ? { index: op, mlir_op: nameOf(names, op), loc: locationOf(names, op) } : {};
    const size = one.size / 1048576;
    if (group === groups.length) groups.push({ class: classNames[one.class], name: "", basis: one.guess ? "estimated" : "derived", per_bank_MB: size, tensors: one.tensors, ...made });
    else {
      groups[group].per_bank_MB += size;
      groups[group].tensors += one.tensors;
    }
    const layout = one.row >= 0 && held.type[one.row] >= 0 ? names.types[held.type[one.row]].layout : null;
    return { name: name || null, per_bank_MB: size, tensors: one.tensors, shape: layout ? layout.logical_shape.join("x") : null, dtype: layout?.dtype ?? null, group, ...made };
  });
  fold.names().forEach((name, i) => (groups[i].name = name));
  const order = groups.map((_group, i) => i).sort((a, b) => groups[b].per_bank_MB - groups[a].per_bank_MB || a - b);
  const place = new Map(order.map((group, i) => [group, i]));
  for (const row of out) row.group = place.get(row.group!)!;
  return {
    classes: Object.fromEntries(classNames.map((name, i) => [`${name}_MB`, classes[i] / 1048576])),
    rows: out,
    groups: order.map((i) => groups[i]),
    over: sum > measured + SLACK ? sum - measured : 0,
  };
}

// ---- Module paths ---------------------------------------------------------------------------------------------------

// "model.layers.3.self_attn.qkv_proj.weight" and "layers.3|Attn|dot.0" by their parts; a number belongs to the part before it. A place in a
// program ("block.py:16") is one part.
export function pathOf(name: string): string[] {
  if (/\.\w+:\d+$/.test(name)) return [name];
  const parts: string[] = [];
  for (const outer of name.split(/[|/]/)) {
    const start = parts.length;
    for (const part of outer.split(".")) {
      if (part === "") continue;
      if (/^\d/.test(part) && parts.length > start) parts[parts.length - 1] += `.${part}`;
      else parts.push(part);
    }
  }
  return parts.length ? parts : ["N/A"];
}

export const foldPart = (part: string): string => part.replace(/\.\d+$/, ".*").replace(/(?<=_)\d+$/, "*");

// "layers.3": what stands in a repeated layer; empty outside.
export function layerOf(path: string[]): string {
  const at = path.findIndex((part, i) => /\.\d+$/.test(part) && i + 1 < path.length);
  return at < 0 ? "" : path.slice(path[0] === "model" && at > 0 ? 1 : 0, at + 1).join(".");
}
