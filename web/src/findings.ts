// SPDX-License-Identifier: Apache-2.0
// What the page reads of findings.json (docs/outputs.md). Pages rebuilt from reports of other versions may lack keys: what came later is optional.

export const MEMORIES = ["DRAM", "L1", "L1_SMALL", "TRACE"] as const;
export type Memory = (typeof MEMORIES)[number];

export type Basis = "measured" | "derived" | "estimated" | "predicted";
export type Severity = "failure" | "warning" | "note" | "ok" | "unknown";

export interface Point {
  per_bank_MB?: number;
  operation?: number;
  text: string;
}

interface Fix {
  kind: string;
  operation?: number;
  text: string;
  paste?: string;
}

// A conclusion in words (src/analyze/statement.h). The page says nothing about the log but these.
export interface Statement {
  id: string;
  topic: string;
  severity: Severity;
  basis: Basis;
  number?: number;
  headline: string;
  detail?: string;
  points?: Point[];
}

export interface OpRef {
  index: number | null;
  mlir_op: string | null;
  loc: string | null;
  line: number | null;
  weight?: string; // its name where `loc` tells nothing
}

interface LiveGroup extends Partial<OpRef> {
  class: string;
  name: string; // "layers.*.mlp.weight"; empty for memory that nothing names
  basis: Basis;
  per_bank_MB: number;
  tensors: number;
}

export interface LiveRow extends Partial<OpRef> {
  name: string | null;
  per_bank_MB: number;
  tensors: number;
  shape: string | null;
  dtype: string | null;
  group?: number;
}

export interface LiveSet {
  classes: Record<string, number>; // "weights_MB"
  rows: LiveRow[];
  groups: LiveGroup[];
}

export interface Incident {
  line: number;
  copies: number;
  text: string;
  memory: Memory | null;
  kind: "oom" | "l1_clash" | "l1_overflow" | "l1_buffers" | "fatal";
  needed_per_bank_B: number | null;
  free_per_bank_B: number | null;
  largest_free_block_B: number | null;
  operation: OpRef | null;
}

interface Peak {
  allocated_per_bank_MB: number;
  banks: number;
  capacity_per_bank_MB: number | null;
  utilization_pct: number;
  lower_bound?: boolean; // a graph capture is a window
  caused_by: OpRef | null;
  devices?: Peak[]; // of each kind of device, when one was opened anew with other banks
}

interface Consumer extends OpRef {
  name: string;
  effect_MB: number; // of the one that added most
  total_MB: number;
  places: number;
  runs: number;
  members: (OpRef & { effect_MB: number })[];
}

export interface Run {
  run: number;
  rank: number;
  program: string | null;
  graph: number | null;
  first_index: number | null;
  last_index: number | null;
  start_MB: number | null;
  end_MB: number | null;
  peak_MB: number | null;
  finished: boolean;
}

export interface Program {
  program: string | null;
  rank: number;
  graph: number | null;
  warm_up_runs: number;
}

export interface LateFree {
  per_bank_MB: number;
  times: number;
  operations_late: number;
  peak_if_freed_per_bank_MB: number;
  made_by: OpRef;
  last_use: OpRef;
  freed_line: number;
}

interface WasteRow {
  kind: string;
  members?: (OpRef & { name: string | null; per_bank_MB: number })[];
}

export interface Layers {
  operations: number;
  count: number;
  first: OpRef;
  last: OpRef;
  odd_count: number;
  odd: { layer: number; operations: number }[];
}

export interface PaddingRow extends OpRef {
  name: string;
  shape: string | null;
  dtype: string | null;
  result: number;
  unpadded_MB: number; // of one of them, all banks
  padded_MB: number;
  overhead_MB: number;
  times: number;
  places: number;
  members?: OpRef[];
}

// An operation with a row in the profiler's CSV.
export interface TimedOp extends OpRef {
  begin_ns: number | null;
  ns: number;
  held_DRAM_per_bank_MB: number | null;
}

// The fullest core's L1 in a recording, bytes.
export interface L1Use {
  limit_B: number;
  fullest_B: number;
  tensors_B: number;
  l1_small_B: number;
  circular_buffers_B: number;
  dataflow_buffers_B: number;
  scratchpads_B: number;
}

// Memory of the host, bytes; the timeline has operation and bytes.
export interface HostMemory {
  peak_B: number;
  last_B: number;
  timeline: [number | null, number][];
}

// Null: unknown from this kind of input; empty: looked for and not there.
export interface Findings {
  statements: Statement[];
  fixes: Fix[];
  input: { bytes: number; lines: number; deallocations: number; predicted_states?: boolean };
  operations: { total: number; distribution: Record<string, number> };
  weights: { count: number; bytes: number };
  memory: Record<Memory, { banks: number; capacity_per_bank_MB: number } | null>;
  peak: Record<Memory, Peak | null>;
  top_consumers: Record<Memory, Consumer[]>;
  incidents: Incident[];
  runs: Run[];
  programs: Program[];
  leaks: { program: string | null; rank: number }[];
  padding: { top: PaddingRow[] };
  late_frees: { tensors: LateFree[] } | null;
  fragmentation: { largest_request: { per_bank_MB: number; states_that_would_refuse_it: number } } | null;
  waste_at_peak: { top: WasteRow[] } | null;
  layers: Layers | null;
  recording?: { l1_per_core: L1Use; host?: HostMemory };
  device_time?: { operations: TimedOp[] };
  live_at_peak: Partial<Record<Memory, LiveSet>>;
}
