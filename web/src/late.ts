// SPDX-License-Identifier: Apache-2.0
// Tensors that stay allocated after their last use, and the peak there would be without that.
import type { App } from "./app.js";
import { add, h } from "./dom.js";
import type { LateFree, LateFrees } from "./findings.js";
import { column, count, mb, number } from "./format.js";
import { lineLink, opCell, section } from "./links.js";
import { table } from "./tables.js";

// The peak with all of them freed at their last use, in a sentence.
export function lateWords(late: LateFrees): string {
  if (!late.tensors.length) return "No tensor of any size stays allocated long after its last use.";
  const best = Math.min(...late.tensors.map((t) => t.peak_if_freed_per_bank_MB), late.peak_if_freed_per_bank_MB ?? Infinity);
  const peak = late.peak_per_bank_MB;
  if (peak - best < 0.0005) return `Some tensors stay allocated after their last use, but not when memory is highest: freed at once, the DRAM peak would still be ${mb(peak)} per bank.`;
  const sure = late.replay_agrees === undefined ? "" : late.replay_agrees ? ", confirmed by replaying the allocator" : "; the allocator played again places some tensors elsewhere than measured";
  return `Freed right after their last use, the DRAM peak would be ${mb(best)} per bank instead of ${number(peak)}: ${mb(peak - best)} less${sure}.`;
}

// The operations from its birth to its free, from the line of the free.
async function showLife(app: App, late: LateFree): Promise<void> {
  const { line } = await app.model.operations();
  const from = late.made_by.index ?? 0;
  let to = from;
  while (to + 1 < line.length && line[to + 1] < late.freed_line) to++;
  app.select(from);
  app.showRange(from, to + 1);
}

export function lateFrees(app: App): HTMLElement {
  const late = app.model.findings.late_frees;
  const box = section("late", "Late frees", late ? late.basis : null);
  if (!late) {
    add(box, h("p", { class: "muted" }, app.model.unknown));
    return box;
  }
  add(box, h("p", { "data-key": "late" }, lateWords(late)));
  if (!late.tensors.length) return box;
  const peak = late.peak_per_bank_MB;
  add(
    box,
    h("p", { class: "hint" }, "Ranked by bytes × operations that they stay too long; the same tensor of every run and layer counts together."),
    table(
      "Tensors freed late",
      [["made by"], ["last used by"], ["freed"], ["MB per bank", "num"], ["times", "num"], ["operations late", "num"], ["peak if freed at last use", "num"], [""]],
      late.tensors.map((t) => {
        const less = peak - t.peak_if_freed_per_bank_MB;
        return [
          opCell(app, t.made_by),
          t.last_use.index === t.made_by.index ? h("span", { class: "muted" }, "never used") : opCell(app, t.last_use),
          lineLink(app, t.freed_line),
          column(t.per_bank_MB),
          count(t.times),
          count(t.operations_late),
          h("span", {}, column(t.peak_if_freed_per_bank_MB), less >= 0.0005 && h("span", { class: "minus" }, ` −${column(less)}`)),
          h("button", { type: "button", class: "small", click: () => void showLife(app, t) }, "Show"),
        ];
      }),
    ),
  );
  return box;
}
