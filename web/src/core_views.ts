// SPDX-License-Identifier: Apache-2.0
// L1 core by core over a capture or recording, as src/report/html/html_cores.c wrote it: a view of the cores for every program, and for L1 tensors
// allocated while none ran. Addresses and sizes are bytes of one core.
import { bytesOf, deltaColumn, Reader, unsignedColumn } from "./data.js";
import type { Facts } from "./model.js";

export type CoreFacts = NonNullable<Facts["cores"]>;

type CoreRange = [x0: number, y0: number, x1: number, y1: number];

export interface Buffer {
  kind: number; // of KINDS
  borrowed: boolean; // in a tensor's memory: takes nothing
  refused: boolean; // all buffers of a program that was refused, by its message
  cores: CoreRange[]; // none: they cannot be read, it counts on every core
  bytes: number;
  at: number | null; // null: in a tensor whose address is not told
}

export const KINDS = ["circular buffer", "dataflow buffer", "scratchpad"];

export interface Program {
  derived: boolean; // addresses by tt-metal's rule: the input has none
  buffers: Buffer[];
}

export interface Tensor {
  op: number; // -1: from before the capture
  bytes: number; // reserved on every core, or on its own
  at: number;
  assumed: boolean; // the input has no address
  shards: number; // 0: interleaved over all banks
  cores: CoreRange[] | null; // that hold its shards; null when not told
  small: boolean; // in L1_SMALL
  own: boolean; // takes nothing of cores but its own
  type: number; // -1 when not told
}

// Of one core in a view.
export interface CoreUse {
  buffers: number;
  tensors: number; // reserved
  data: number | null; // of the tensors, on this core; null where it is not told
  end: number; // of the buffers
  lowest: number; // where the lowest tensor starts
}

const has = (cores: CoreRange[], x: number, y: number): boolean => cores.some(([x0, y0, x1, y1]) => x >= x0 && x <= x1 && y >= y0 && y <= y1);

// "[0-0 - 7-3]", as tt-metal prints them.
export const rangeText = (cores: CoreRange[]): string => cores.map(([x0, y0, x1, y1]) => (x0 === x1 && y0 === y1 ? `${x0}-${y0}` : `[${x0}-${y0} - ${x1}-${y1}]`)).join(", ");

export class CoreViews {
  private constructor(
    readonly facts: CoreFacts,
    readonly op: Int32Array,
    private readonly program: Uint32Array, // 0: none
    readonly rank: Uint32Array, // dense index; 0 in graph captures
    private readonly programs: Program[],
    private readonly sets: CoreRange[][],
    private readonly tensors: Float64Array, // FIELDS each
  ) {}

  static async load(facts: CoreFacts): Promise<CoreViews> {
    const [op, program, rank, programs, sets, tensors] = await Promise.all(["view.op", "view.program", "view.rank", "programs", "sets", "tensors"].map((id) => bytesOf(`cores.${id}`)));
    const all = readSets(new Reader(sets));
    const n = facts.views;
    return new CoreViews(facts, deltaColumn(op, n), unsignedColumn(program, n), unsignedColumn(rank, n), readPrograms(new Reader(programs), all), all, readTensors(new Reader(tensors)));
  }

  programOf(view: number): Program | null {
    return this.program[view] ? this.programs[this.program[view] - 1] : null;
  }

  // The first view of an operation, or null.
  find(op: number): number | null {
    const at = this.op.indexOf(op);
    return at < 0 ? null : at;
  }

  // Its place among the views of its operation: [2, 3].
  place(view: number): [number, number] {
    let [first, last] = [view, view];
    while (first > 0 && this.op[first - 1] === this.op[view]) first--;
    while (last + 1 < this.op.length && this.op[last + 1] === this.op[view]) last++;
    return [view - first + 1, last - first + 1];
  }

  // Alive in a view, the highest first. Those without an address are taken to adjoin the top, the oldest first.
  tensorsOf(view: number): Tensor[] {
    const { tensors: all, facts } = this;
    const out: Tensor[] = [];
    let next = facts.top;
    for (let i = 0; i < all.length && all[i + FROM] <= view; i += FIELDS) {
      if (view >= all[i + TO] || all[i + RANK] !== this.rank[view]) continue;
      const [assumed, small, set] = [all[i + AT] < 0, all[i + SMALL] === 1, all[i + SET]];
      if (assumed && !small) next -= all[i + BYTES];
      out.push({ op: all[i + OP], bytes: all[i + BYTES], at: assumed ? (small ? facts.top : next) : all[i + AT], assumed, shards: all[i + SHARDS], cores: set < 0 ? null : this.sets[set], small, own: all[i + SMALL] === 2, type: all[i + TYPE] });
    }
    return out.sort((a, b) => b.at - a.at);
  }

  // What they take of one core.
  tensorsOn(tensors: Tensor[], x: number, y: number): Tensor[] {
    return tensors.filter((t) => !t.own || has(t.cores!, x, y));
  }

  buffersOn(view: number, x: number, y: number): Buffer[] {
    return (this.programOf(view)?.buffers ?? []).filter((b) => !b.cores.length || has(b.cores, x, y));
  }

  // Every core, row by row.
  uses(view: number, tensors: Tensor[]): CoreUse[] {
    const { columns, rows, base, top } = this.facts;
    const everywhere = tensors.filter((t) => !t.own);
    const reserved = everywhere.reduce((sum, t) => sum + t.bytes, 0);
    const lowest = Math.min(top, ...everywhere.filter((t) => !t.small).map((t) => t.at));
    const untold = tensors.some((t) => t.shards > 0 && !t.cores);
    const whole = tensors.filter((t) => !t.shards).reduce((sum, t) => sum + t.bytes, 0);
    const out: CoreUse[] = [];
    for (let i = 0; i < columns * rows; i++) out.push({ buffers: 0, tensors: reserved, data: untold ? null : whole, end: base, lowest });
    const on = (cores: CoreRange[], act: (use: CoreUse) => void): void => {
      for (let i = 0; i < out.length; i++) if (!cores.length || has(cores, i % columns, Math.floor(i / columns))) act(out[i]);
    };
    for (const t of tensors) if (t.cores) on(t.cores, (use) => use.data !== null && (use.data += t.bytes));
    for (const t of tensors) {
      if (!t.own) continue;
      on(t.cores!, (use) => {
        use.tensors += t.bytes;
        use.lowest = Math.min(use.lowest, t.at);
      });
    }
    for (const b of this.programOf(view)?.buffers ?? []) {
      if (b.borrowed) continue;
      on(b.cores, (use) => {
        use.buffers += b.bytes;
        use.end = Math.max(use.end, (b.at ?? 0) + b.bytes);
      });
    }
    return out;
  }
}

// Columns of a tensor.
const OP = 0, FROM = 1, TO = 2, BYTES = 3, AT = 4, RANK = 5, SHARDS = 6, SET = 7, SMALL = 8, TYPE = 9, FIELDS = 10;

function readTensors(reader: Reader): Float64Array {
  const out: number[] = [];
  let from = 0;
  while (!reader.ended) {
    const op = reader.number() - 1;
    from += reader.number();
    const to = from + reader.number();
    out.push(op, from, to, reader.number(), reader.number() - 1, reader.number(), reader.number(), reader.number() - 1, reader.number(), reader.number() - 1);
  }
  return Float64Array.from(out);
}

function readSets(reader: Reader): CoreRange[][] {
  const sets: CoreRange[][] = [];
  while (!reader.ended) {
    const set: CoreRange[] = [];
    for (let n = reader.number(); n > 0; n--) set.push([reader.number(), reader.number(), reader.number(), reader.number()]);
    sets.push(set);
  }
  return sets;
}

function readPrograms(reader: Reader, sets: CoreRange[][]): Program[] {
  const programs: Program[] = [];
  while (!reader.ended) {
    const head = reader.number();
    const buffers: Buffer[] = [];
    for (let n = Math.floor(head / 2); n > 0; n--) {
      const flags = reader.number();
      const cores = sets[reader.number()];
      const bytes = reader.number();
      const at = reader.number() - 1;
      buffers.push({ kind: flags & 3, borrowed: (flags & 4) !== 0, refused: (flags & 8) !== 0, cores, bytes, at: at < 0 ? null : at });
    }
    programs.push({ derived: head % 2 === 1, buffers });
  }
  return programs;
}
