// SPDX-License-Identifier: Apache-2.0
// What fills a memory, as one bar whose parts add up to what is allocated.
import type { App } from "./app.js";
import { add, h, shorten } from "./dom.js";
import { bytes, counted, mb, measured, percent, shortPlace } from "./format.js";
import { LIVE_CLASSES, type LiveClass, type LiveRow, type LiveSet } from "./findings.js";
import { basisMark, opLink } from "./links.js";

const LABELS: Record<LiveClass, string> = {
  weights: "weights",
  const_eval: "const-eval results of no weight",
  kv_cache: "KV cache",
  inputs: "inputs",
  activations: "activations",
  kept: "results of earlier runs",
  program: "left by programs: kernels, caches",
  unaccounted: "not accounted for",
};

const size = (mb: number): string => bytes(mb * 1048576);

// The parts in a fixed order, so that bars of several memories and reports compare; `most` rows are named per part.
export function liveBar(app: App, live: LiveSet, banks: number, most: number): HTMLElement {
  const of = (part: LiveClass): number => live.classes[`${part}_MB`];
  const label = (part: LiveClass): string => (part === "activations" && !app.model.ofCompiledProgram ? "tensors" : LABELS[part]);
  const total = LIVE_CLASSES.reduce((sum, part) => sum + of(part), 0);
  const bar = h("div", { class: "live-bar", role: "img", "aria-label": LIVE_CLASSES.filter((part) => of(part) > 0).map((part) => `${label(part)} ${percent(of(part), total)}`).join(", ") });
  const list = h("ul", { class: "live-list" });
  for (const part of LIVE_CLASSES) {
    if (of(part) <= 0) continue;
    const piece = h("span", { class: `live-part live-${part}`, title: `${label(part)}: ${size(of(part))} per bank` });
    piece.style.width = `${(of(part) / total) * 100}%`;
    add(bar, piece);
    const rows = live.rows.filter((row) => row.class === part);
    const tensors = rows.reduce((sum, row) => sum + row.tensors, 0);
    const guessed = part === "kv_cache" ? (live.kv_cache_by_name_MB ?? 0) : 0;
    const mark = guessed > 0 && h("span", { class: "muted" }, ` · ${guessed < of(part) ? `${size(guessed)} of it ` : ""}by the name of its argument alone `, basisMark("estimated"));
    add(list, h("li", { "data-kind": part, "data-mb": of(part) }, h("span", { class: `key live-${part}`, "aria-hidden": true }), h("span", {}, label(part), mark, live.other_rows === 0 && tensors > 0 && h("span", { class: "muted" }, ` · ${counted(tensors, "tensor")}`)), h("span", { class: "num" }, `${size(of(part))} `, h("span", { class: "muted" }, percent(of(part), total)))));
    if (rows.length) add(list, rowList(app, rows, of(part), most, total));
  }
  return h(
    "div",
    { class: "live" },
    bar,
    h("p", { class: "live-sum" }, `${mb(live.allocated_per_bank_MB)} per bank = ${measured(live.allocated_per_bank_MB * banks)} in all, ${live.explained_pct.toFixed(1)} % explained`, live.counted_twice_MB > 0 && h("span", { class: "muted" }, ` · ${size(live.counted_twice_MB)} counted twice: views that look like tensors`)),
    overhead(live),
    list,
    live.modules.length > 1 && modules(live),
  );
}

// What of it holds no data: bytes that tiles, shards and rows are padded by, and those that the allocator rounds up.
function overhead({ padding_total_MB: padding, rounding_total_MB: rounding }: LiveSet): HTMLElement | null {
  if (padding === undefined || rounding === undefined || padding + rounding === 0) return null;
  return h("p", { class: "live-sum muted", "data-key": "overhead" }, `Of the tensors, over all banks: ${size(padding)} padding, ${size(rounding)} rounding of the allocator.`);
}

function rowList(app: App, rows: LiveRow[], whole: number, most: number, total: number): HTMLElement {
  const list = h("li", { class: "live-top" });
  let rest = whole;
  for (const row of rows.slice(0, most)) {
    rest -= row.per_bank_MB;
    const made = row.index === undefined ? h("span", { class: "muted" }, row.class === "program" || row.class === "unaccounted" ? "no tensor of the log" : "argument") : opLink(app, { index: row.index, mlir_op: row.mlir_op ?? null, loc: row.loc ?? null, line: row.line ?? null }, 40);
    add(list, h("div", {}, h("span", { class: "mono live-loc", title: shorten(row.name ?? row.loc ?? "", 300) }, shorten(shortPlace(row.name ?? row.loc ?? ""), 90)), made, h("span", { class: "num" }, size(row.per_bank_MB), " ", h("span", { class: "muted" }, percent(row.per_bank_MB, total)))));
  }
  if (rest > whole * 1e-6 && rows.length > most) add(list, h("div", { class: "muted" }, h("span", {}, "all others"), h("span", {}), h("span", { class: "num" }, size(rest), " ", percent(rest, total))));
  return list;
}

function modules(live: LiveSet): HTMLElement {
  const list = h("ul", { class: "live-modules" });
  for (const module of live.modules) add(list, h("li", {}, h("span", { class: "mono" }, shorten(module.path || "no module", 90)), h("span", { class: "muted" }, counted(module.tensors, "tensor")), h("span", { class: "num" }, size(module.per_bank_MB))));
  return h("details", {}, h("summary", {}, `Activations by module (${live.modules.length})`), list);
}
