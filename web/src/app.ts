// SPDX-License-Identifier: Apache-2.0
// What the parts of the report's page share: the selected operation, the memory looked at, the zoom.
import { STACKS, type Stack } from "./bands.js";
import { clampRange, type Range } from "./chart.js";
import { MEMORIES, type Memory } from "./findings.js";
import type { Model } from "./model.js";
import { lowerBound } from "./sample.js";
import { Viewed, zoomOf, zoomWords, type BaseView } from "./view.js";

export interface View extends BaseView {
  op: number | null;
  step: number | null; // view of the cores
  core: string | null; // "3-4"
  stack: Stack; // what the timeline tells apart
  at: "peak" | "failure" | null; // the moment looked at; null: before `op`, without one the failure, else the peak
}

type Change = Partial<View>;

export class App extends Viewed<View> {
  view: View;
  readonly showIr: { open: (op: number) => Promise<void>; line: (id: string, line: number) => Promise<void> } = { open: () => Promise.resolve(), line: () => Promise.resolve() };
  readonly showCores: { of: (op: number) => void } = { of: () => undefined };
  readonly moreBands: { open: () => void } = { open: () => undefined };
  readonly filterTable: { by: (text: string) => void } = { by: () => undefined };

  constructor(readonly model: Model) {
    super();
    this.view = { ...this.defaults(), ...this.fromAddress() };
    window.addEventListener("hashchange", () => this.set({ ...this.defaults(), ...this.fromAddress() }, false));
  }

  // The memory that failed, else the one that is fullest.
  private defaults(): View {
    const { incidents, peak } = this.model.findings;
    let memory: Memory = incidents.find((i) => i.memory !== null)?.memory ?? "DRAM";
    if (!incidents.some((i) => i.memory !== null) && !peak.DRAM?.allocated_per_bank_MB && peak.L1?.allocated_per_bank_MB) memory = "L1";
    return { op: null, memory, rank: this.model.facts.peaks[memory]?.rank ?? 0, from: null, to: null, per: "bank", step: null, core: null, stack: "class", at: null };
  }

  private fromAddress(): Change {
    const words = new URLSearchParams(location.hash.slice(1));
    const change: Change = zoomOf(words);
    const op = words.has("op") ? Number(words.get("op")) : NaN;
    if (Number.isInteger(op) && op >= 0 && op < this.model.facts.elements) change.op = op;
    const memory = MEMORIES.find((m) => m === words.get("mem"));
    if (memory) change.memory = memory;
    const rank = this.model.facts.ranks.indexOf(Number(words.get("rank") ?? NaN));
    if (rank >= 0) change.rank = rank;
    const step = Number(words.get("step") ?? NaN);
    if (Number.isInteger(step) && step >= 0) change.step = step;
    if (change.step !== undefined && words.has("core")) change.core = words.get("core");
    const stack = STACKS.find((one) => one === words.get("stack"));
    if (stack) change.stack = stack;
    const at = words.get("at");
    if (at === "peak" || at === "failure") change.at = at;
    return change;
  }

  protected words(): URLSearchParams {
    const { op, memory, rank, step, core, stack, at } = this.view;
    const words = new URLSearchParams();
    if (op !== null) words.set("op", String(op));
    words.set("mem", memory);
    if (this.model.facts.ranks.length > 1) words.set("rank", String(this.model.facts.ranks[rank]));
    if (step !== null) words.set("step", String(step));
    if (step !== null && core !== null) words.set("core", core);
    if (stack !== "class") words.set("stack", stack);
    if (at) words.set("at", at);
    return zoomWords(this.view, words);
  }

  select(op: number | null): void {
    if (op !== null && (op < 0 || op >= this.model.facts.elements)) return;
    this.set({ op, at: null });
  }

  all(): Range {
    return { from: -0.5, to: Math.max(1, this.model.facts.elements) };
  }

  // Selects an operation and brings it into the chart.
  show(op: number): void {
    this.select(op);
    this.reveal(op);
    document.getElementById("timeline")?.scrollIntoView({ block: "start" });
  }

  // The operation that had begun by a line of the log.
  async showLine(line: number): Promise<void> {
    const ops = await this.model.operations();
    const after = lowerBound(ops.line, line + 1);
    if (ops.n) this.show(Math.max(0, after - 1));
  }

  // Operations `from` to `to`, with a little of what is around them.
  showRange(from: number, to: number): void {
    const around = Math.max(1, (to - from) / 10);
    this.zoom(clampRange({ from: from - around, to: to + around }, this.all()));
    document.getElementById("timeline")?.scrollIntoView({ block: "start" });
  }

  capacity(memory: Memory): number {
    return Math.round((this.model.findings.memory[memory]?.capacity_per_bank_MB ?? 0) * 1000);
  }

  banks(memory: Memory): number {
    return this.model.findings.memory[memory]?.banks ?? 1;
  }

  scaled(perBank: number, memory: Memory): number {
    return this.view.per === "chip" ? perBank * this.banks(memory) : perBank;
  }
}
