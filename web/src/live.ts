// SPDX-License-Identifier: Apache-2.0
// What fills a memory, as one bar whose parts add up to what is allocated.
import type { App } from "./app.js";
import { add, h, shorten } from "./dom.js";
import { bytes, counted, percent } from "./format.js";
import type { LivePart, LiveSet } from "./model.js";
import { opLink } from "./overview.js";

const LABELS: Record<LivePart["kind"], string> = {
  weights: "weights and constants (arguments)",
  inputs: "inputs (arguments)",
  const_eval: "const-eval results (prepared weights)",
  activations: "activations",
  unaccounted: "not accounted for",
};

export function liveBar(app: App, live: LiveSet, banks: number, most: number): HTMLElement {
  const bar = h("div", { class: "live-bar", role: "img", "aria-label": live.parts.map((p) => `${LABELS[p.kind]} ${percent(p.bytes, live.allocated)}`).join(", ") });
  const list = h("ul", { class: "live-list" });
  for (const part of live.parts) {
    if (part.bytes <= 0) continue;
    const piece = h("span", { class: `live-part live-${part.kind}`, title: `${LABELS[part.kind]}: ${bytes(part.bytes)} per bank` });
    piece.style.width = `${(part.bytes / live.allocated) * 100}%`;
    add(bar, piece);
    const item = h(
      "li",
      { "data-kind": part.kind, "data-bytes": part.bytes },
      h("span", { class: `key live-${part.kind}`, "aria-hidden": true }),
      h("span", {}, LABELS[part.kind], part.tensors > 0 && h("span", { class: "muted" }, ` · ${counted(part.tensors, "tensor")}`), part.basis === "estimated" && h("span", { class: "muted" }, " · estimated")),
      h("span", { class: "num" }, `${bytes(part.bytes)} `, h("span", { class: "muted" }, percent(part.bytes, live.allocated))),
    );
    add(list, item);
    if (part.top?.length) add(list, topList(app, part, most, live.allocated));
  }
  return h(
    "div",
    { class: "live" },
    bar,
    h("p", { class: "live-sum" }, `${bytes(live.allocated)} per bank = ${bytes(live.allocated * banks)} in all`, live.over > 0 && h("span", { class: "muted" }, ` · the types say ${bytes(live.over)} more than was allocated; arguments were cut to fit`)),
    list,
  );
}

function topList(app: App, part: LivePart, most: number, allocated: number): HTMLElement {
  const shown = part.top!.slice(0, most);
  const list = h("li", { class: "live-top" });
  let rest = part.bytes;
  for (const row of shown) {
    rest -= row.bytes;
    add(list, h("div", {}, opLink(app, row, 40), h("span", { class: "mono muted live-loc" }, shorten(row.loc ?? "", 70)), h("span", { class: "num" }, bytes(row.bytes), " ", h("span", { class: "muted" }, percent(row.bytes, allocated)))));
  }
  if (rest > 0) add(list, h("div", { class: "muted" }, h("span", {}, "all others"), h("span", { class: "live-loc" }), h("span", { class: "num" }, bytes(rest), " ", percent(rest, allocated))));
  return list;
}
