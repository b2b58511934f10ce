// SPDX-License-Identifier: Apache-2.0
// findings.json as the page reads it (docs/outputs.md). Pages rebuilt from reports of other versions may lack keys: what came later is optional.

export const MEMORIES = ["DRAM", "L1", "L1_SMALL", "TRACE"] as const;
export type Memory = (typeof MEMORIES)[number];

export type Basis = "measured" | "derived" | "estimated";

export interface OpRef {
  index: number | null;
  mlir_op: string | null;
  loc: string | null;
  line: number | null;
}

export const LIVE_CLASSES = ["weights", "const_eval", "kv_cache", "inputs", "activations", "kept", "program", "unaccounted"] as const;
export type LiveClass = (typeof LIVE_CLASSES)[number];

export interface LiveRow extends Partial<OpRef> {
  class: LiveClass;
  name: string | null;
  per_bank_MB: number;
  tensors: number;
  shape: string | null;
  dtype: string | null;
  basis?: Basis;
}

export interface LiveSet {
  allocated_per_bank_MB: number;
  explained_pct: number;
  counted_twice_MB: number;
  tensors: number;
  padding_total_MB?: number; // of the tensors, over all banks
  rounding_total_MB?: number; // of the allocator, over all banks
  classes: Record<`${LiveClass}_MB`, number>;
  kv_cache_by_name_MB?: number; // of the KV cache: a guess
  rows: LiveRow[];
  other_rows: number;
  other_rows_per_bank_MB: number;
  modules: { path: string; per_bank_MB: number; tensors: number }[];
}

export interface Incident {
  kind: "oom" | "l1_clash" | "l1_overflow" | "fatal";
  line: number;
  copies: number;
  text: string;
  memory: Memory | null;
  needed_per_bank_B: number | null;
  free_per_bank_B: number | null;
  largest_free_block_B: number | null;
  bank_size_B: number | null;
  allocated_per_bank_B: number | null;
  buffer_B: number | null;
  banks: number | null;
  l1_buffer_at?: number | null;
  static_buffers_end?: number | null;
  l1_size_B?: number | null;
  core_range?: string | null;
  verdict: string | null;
  shortfall_per_bank_B: number | null;
  derived?: boolean;
  operation: OpRef | null;
  ways?: { kind: string; basis: Basis; bytes: number; count?: number; text: string }[];
}

export interface Peak {
  allocated_per_bank_MB: number;
  banks: number;
  allocated_total_MB: number;
  utilization_pct: number;
  free_per_bank_MB: number;
  largest_free_per_bank_MB: number;
  line: number;
  caused_by: (OpRef & { effect_MB: number; inside?: OpRef | null }) | null;
  in_operation_peak: { allocated_per_bank_B: number; allocated_per_bank_MB: number; line: number } | null;
}

export interface Run {
  run: number;
  rank: number;
  program: string | null;
  graph?: number | null;
  first_index: number | null;
  last_index: number | null;
  start_MB: number | null;
  end_MB: number | null;
  peak_MB: number | null;
  finished: boolean;
}

// All runs of one program on one rank; figures are DRAM, MB per bank.
export interface Program {
  program: string | null;
  rank: number;
  graph: number | null;
  runs: number;
  warm_up_runs: number;
  odd_runs?: number; // not in reports of before
  peak_MB: number | null;
  peak_run: number;
  last_start_MB: number | null;
  last_peak_MB: number | null;
}

export interface Leak extends OpRef {
  per_run_MB: number;
  runs_seen: number;
  runs_until_full?: number | null;
  program?: string | null;
  rank?: number;
  first_run?: number; // from the start of this one ...
  last_run?: number; // ... to the start of that one
  others_would_fit?: boolean;
  culprits?: (OpRef & { tensors_per_run: number; per_run_MB: number })[];
  confidence: string;
}

// Every change of DRAM between two states, MB per bank, by who made it; the parts add up to the total.
interface Attribution {
  basis: Basis;
  operations_MB: number;
  const_eval_MB: number;
  given_back_MB: number;
  deallocated_MB: number;
  host_MB: number;
  total_MB: number;
}

export interface LateFree {
  per_bank_MB: number;
  times: number;
  operations_late: number;
  MB_x_operations: number;
  peak_if_freed_per_bank_MB: number;
  made_by: OpRef;
  last_use: OpRef;
  freed_line: number;
}

export interface LateFrees {
  basis: Basis;
  peak_per_bank_MB: number;
  peak_if_freed_per_bank_MB?: number; // all of them, by replaying the allocator
  replay_agrees?: boolean;
  tensors: LateFree[];
}

export interface Fragmentation {
  worst: { basis: Basis; line: number | null; free_per_bank_MB: number; largest_free_block_MB: number; pct: number };
  unknown_states?: number; // recordings: states of which nothing tells it
  largest_request: { basis: Basis; per_bank_MB: number; states_that_would_refuse_it: number; first_line: number | null; operation: OpRef | null };
  pinned_by: { basis: Basis; line: number | null; tensors: { address: number; per_bank_MB: number; tensors: number; free_block_without_MB: number; made_by: OpRef | null }[] };
}

export const WASTE_KINDS = ["f32_copy", "weight_twice", "tile_padding", "narrow_rows"] as const;
export type WasteKind = (typeof WASTE_KINDS)[number];

export interface Waste {
  basis: Basis;
  per_bank_MB: Record<WasteKind, number>;
  top: { kind: WasteKind; name: string | null; per_bank_MB: number; shape: string | null; dtype: string | null; better_shape: string | null; row_major_saves_per_bank_MB?: number; made_by: OpRef | null }[];
}

export interface Layers {
  basis: Basis;
  operations: number;
  count: number;
  first: OpRef;
  last: OpRef;
  growth_per_bank_MB: number;
  peak_above_start_per_bank_MB: number;
  odd_count: number;
  odd: { layer: number; operations: number; differs: OpRef | null; growth_per_bank_MB?: number; peak_above_start_per_bank_MB?: number }[];
}

interface PaddingRow extends OpRef {
  shape: string | null;
  dtype: string | null;
  result: number;
  unpadded_MB: number;
  padded_MB: number;
  overhead_MB: number;
  overhead_pct: number;
  times: number;
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

// What an input shows: operations and states, states alone, operations alone, states around programs, error messages, nodes of a ttnn
// capture or recording, samples of running processes.
export type InputKind = "full" | "blocks" | "ops" | "submit" | "incidents" | "capture" | "live";

// Null: cannot be told from this kind of input; empty: looked for and not there.
export interface Findings {
  input: { path: string; kind: InputKind | null; bytes: number; lines: number; op_lines: number; blocks: number; deallocations: number; ranks: number; truncated: boolean; trace_replay: boolean };
  operations: { total: number; weight_operations: number; distribution: Record<string, number> };
  weights: { count: number; bytes: number; MB: number; on_device_MB?: number | null; fit_in_DRAM?: boolean | null };
  memory: Record<Memory, { banks: number; capacity_per_bank_MB: number; capacity_total_MB: number } | null>;
  peak: Record<Memory, Peak | null>;
  attribution?: Attribution | null;
  top_consumers: Record<Memory, (OpRef & { effect_MB: number; allocated_before_MB: number | null; operations_inside?: number; highest_inside_MB?: number })[]>;
  incidents: Incident[];
  runs: Run[];
  programs?: Program[];
  leaks: Leak[];
  padding: { at_peak: { unpadded_MB: number; padded_MB: number; overhead_MB: number; overhead_pct: number; tensors: number }; highest_overhead_pct: number; top: PaddingRow[] };
  late_frees?: LateFrees | null;
  fragmentation?: Fragmentation | null;
  waste_at_peak?: Waste | null;
  layers?: Layers | null;
  advice?: { kind: string; basis: Basis; saves_per_bank_MB: number | null; tensors: number; operation: OpRef | null; text: string }[] | null;
  recording?: { l1_per_core: L1Use };
  live_at_peak: Partial<Record<Memory, LiveSet>>;
  diagnostics: { unparsed_lines: number; skipped_operations: number; bad_memory_lines: number; blocks_without_operation: number; unfinished_programs: number; notes: { line: number; text: string }[] };
}
