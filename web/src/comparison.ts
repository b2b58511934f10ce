// SPDX-License-Identifier: Apache-2.0
// What the parts of the page that compares two runs share: the selected place, the memory looked at, the zoom.
import type { Range } from "./chart.js";
import { BOTH, type DiffModel, type Side } from "./diff_model.js";
import type { Memory } from "./findings.js";
import { lowerBound } from "./sample.js";
import type { Speaker } from "./statements.js";
import { Viewed, zoomOf, zoomWords, type BaseView } from "./view.js";

export interface DiffView extends BaseView {
  place: number | null;
}

export class Comparison extends Viewed<DiffView> {
  view: DiffView;

  constructor(readonly model: DiffModel) {
    super();
    this.view = { ...this.defaults(), ...this.fromAddress() };
    window.addEventListener("hashchange", () => this.set({ ...this.defaults(), ...this.fromAddress() }, false));
  }

  // The memory whose peak changed most.
  private defaults(): DiffView {
    const { facts, diff, memories } = this.model;
    const change = (memory: Memory): number => Math.abs(diff.peak[memory]?.change_MB ?? 0) / (facts.memories[memory]?.[1].capacity_per_bank_MB || 1);
    const memory = memories.reduce((best, m) => (change(m) > change(best) ? m : best), memories[0] ?? "DRAM");
    return { place: null, memory, rank: 0, from: null, to: null, per: facts.per_chip ? "chip" : "bank" };
  }

  private fromAddress(): Partial<DiffView> {
    const words = new URLSearchParams(location.hash.slice(1));
    const change: Partial<DiffView> = zoomOf(words);
    const memory = this.model.memories.find((m) => m === words.get("mem"));
    if (memory) change.memory = memory;
    const rank = this.model.facts.ranks.findIndex((r) => String(r.rank) === words.get("rank"));
    if (rank >= 0) change.rank = rank;
    const place = words.has("place") ? Number(words.get("place")) : NaN;
    if (Number.isInteger(place) && place >= 0 && place < this.model.facts.ranks[Math.max(0, rank)].places) change.place = place;
    return change;
  }

  protected words(): URLSearchParams {
    const { place, memory, rank } = this.view;
    const words = new URLSearchParams();
    if (place !== null) words.set("place", String(place));
    words.set("mem", memory);
    if (this.model.facts.ranks.length > 1) words.set("rank", String(this.model.facts.ranks[rank].rank));
    return zoomWords(this.view, words);
  }

  get places(): number {
    return this.model.facts.ranks[this.view.rank].places;
  }

  all(): Range {
    return { from: -0.5, to: Math.max(1, this.places) };
  }

  capacity(side: Side, memory = this.view.memory): number {
    return Math.round((this.model.facts.memories[memory]?.[side].capacity_per_bank_MB ?? 0) * 1000);
  }

  // The banks of the log after, as in the text of `ttmem diff`.
  scaled(perBank: number, memory: Memory): number {
    return this.view.per === "chip" ? perBank * (this.model.facts.memories[memory]?.[1].banks ?? 1) : perBank;
  }

  select(place: number | null): void {
    if (place !== null && (place < 0 || place >= this.places)) return;
    this.set({ place });
    if (place !== null) this.reveal(place);
  }

  // Selects an operation of a log and brings it into the charts.
  async show(side: Side, index: number): Promise<void> {
    const found = await this.model.find(side, index);
    if (!found) return;
    if (found.rank !== this.view.rank) this.set({ rank: found.rank, from: null, to: null });
    this.select(found.place);
    document.getElementById("timeline")?.scrollIntoView({ block: "start" });
  }

  // The operation that had begun by a line of a log.
  async showLine(side: Side, line: number): Promise<void> {
    const ops = await this.model.ops(this.view.rank, side);
    const at = Math.max(0, lowerBound(ops.line, line + 1) - 1);
    if (ops.index.length) await this.show(side, ops.index[at]);
  }

  // Statements name operations and lines of one log.
  speaker(side: Side): Speaker {
    return {
      model: { facts: { elements: this.model.facts.sides[side].elements } },
      select: (op) => void this.show(side, op),
      showLine: (line) => this.showLine(side, line),
      view: this.view,
      scaled: (perBank, memory) => this.scaled(perBank, memory),
    };
  }
}

export const eachSide = <T>(make: (side: Side) => T): T[] => BOTH.map(make);
