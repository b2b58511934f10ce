// SPDX-License-Identifier: Apache-2.0
// The panel on one operation: what it took and made, what it did to each memory, and where it stands in log and IR.
import type { App } from "./app.js";
import { add, h, longText, replace, shorten } from "./dom.js";
import { figure, unit } from "./figures.js";
import { MEMORIES } from "./findings.js";
import { bytes, count, percent, shape, shapeText } from "./format.js";
import { basisMark } from "./links.js";
import { liveBefore } from "./moment.js";
import { Flag, type Type } from "./model.js";
import { graphOf, locationOf, nameOf, placeOf, programOf, runOf, valueText, type Names } from "./names.js";
import { passingTable, type Cell } from "./tables.js";

export class Details {
  readonly element = h("aside", { class: "details", "aria-label": "Operation details", hidden: true, tabindex: -1 });
  private names: Names | null = null;
  private ticket = 0;

  constructor(private readonly app: App) {
    app.onChange((view, changed) => {
      if ("op" in changed) void this.show(view.op);
    });
  }

  async start(names: Names): Promise<void> {
    this.names = names;
    await this.show(this.app.view.op);
  }

  private async show(op: number | null): Promise<void> {
    const ticket = ++this.ticket;
    if (op === null || !this.names) {
      this.element.hidden = true;
      document.body.classList.remove("with-details");
      return;
    }
    const parts = await this.parts(op, this.names);
    if (ticket !== this.ticket) return;
    replace(this.element, ...parts);
    this.element.hidden = false;
    this.element.scrollTop = 0;
    document.body.classList.add("with-details");
  }

  private async parts(op: number, n: Names): Promise<HTMLElement[]> {
    const { model } = this.app;
    const [words, weightLists, registry, memory, live] = await Promise.all([model.words(), model.weights(), model.registry(), this.memory(op, n), liveBefore(this.app, n)]);
    const detail = n.details[n.ops.text[op]];
    const flags = n.ops.flags[op];
    const close = h("button", { type: "button", class: "close", "aria-label": "Close details", click: () => this.app.select(null) }, "✕");
    const step = (by: number, label: string, text: string) => h("button", { type: "button", class: "small", "aria-label": label, click: () => this.app.select(op + by), disabled: op + by < 0 || op + by >= n.ops.n }, text);
    const badges = h("p", { class: "badges" });
    const badge = (text: string, kind: string) => add(badges, h("span", { class: `badge ${kind}` }, text));
    badge(flags & Flag.ConstEval ? "const-eval (weight)" : "main program", flags & Flag.ConstEval ? "badge-consteval" : "badge-main");
    if (flags & Flag.CacheMiss) badge("cache miss", "");
    if (flags & Flag.CacheHit) badge("cache hit", "");
    if (flags & Flag.Weight && !(flags & Flag.ConstEval)) badge("takes weights", "badge-weight");
    if (flags & Flag.Failed) badge("failed", "badge-failed");
    const facts = h("dl", { class: "pairs" });
    const pair = (label: string, ...value: (Node | string | null)[]) => add(facts, h("dt", {}, label), h("dd", {}, ...value));
    const [place, location] = [placeOf(n, op), locationOf(n, op)];
    if (place) pair(place === location ? "location" : "weight", longText(place, 400));
    if (place !== location && location) pair("location", longText(location, 400));
    const run = runOf(n, op);
    if (run >= 0 && model.facts.has_runs) pair("program", `${shorten(programOf(n, op), 120) || "outside every program"}, run ${count(run)}${model.facts.ranks.length > 1 ? `, rank ${count(model.facts.ranks[n.calls.rank[n.ops.call[op]]] ?? 0)}` : ""}`);
    if (n.ops.line[op] > 0) pair("log line", String(n.ops.line[op]));
    const type = words.get(detail.opType);
    if (type) pair("runtime type", shorten(type, 120));
    const result = valueText(words, detail.result);
    const weights = weightLists.lists[weightLists.of[op]] ?? [];
    const ir = h("button", { type: "button", class: "small", "data-action": "ir", click: () => void this.app.showIr.open(op) }, "Jump to IR");
    const same = h("button", { type: "button", class: "small", click: () => this.app.filterTable.by(place) }, "Same place");
    return [
      h("div", { class: "details-head" }, h("div", {}, h("h2", { class: "mono break" }, `#${op} ${shorten(nameOf(n, op), 200)}`), badges), close),
      h("p", { class: "details-actions" }, step(-1, "Previous operation", "← Previous"), step(1, "Next operation", "Next →"), graphOf(n, op) >= 0 && location !== "" && model.facts.irs.length > 0 && ir, place !== "" && same),
      facts,
      memory,
      ...(live ? [live] : []),
      h("h3", {}, "Inputs"),
      this.tensors(detail.inputs.map((t, i) => [shorten(valueText(words, detail.operands[i] ?? 0), 60), n.types[t]])),
      ...(detail.operands.length > detail.inputs.length ? [h("p", { class: "muted" }, `operands: ${shorten(detail.operands.map((v) => valueText(words, v)).join(", "), 600)}`)] : []),
      h("h3", {}, "Outputs"),
      this.tensors(n.texts.outputs[n.ops.text[op]].map((t, i, all) => [result ? (all.length > 1 ? `${result}#${i}` : result) : "", n.types[t]])),
      ...(weights.length ? [h("h3", {}, "Weights"), passingTable("Weights it takes", [["name"], ["shape"], ["bytes", "num"]], weights.slice(0, 100).map((i) => [h("span", { class: "mono break" }, shorten(registry[i].name, 160)), h("span", { class: "mono" }, `${shapeText(registry[i].shape)} ${registry[i].dtype ?? ""}`), bytes(registry[i].bytes)]))] : []),
      ...(detail.attributes !== null ? [h("h3", {}, "Attributes"), h("p", {}, longText(words.get(detail.attributes)))] : []),
    ];
  }

  // Before and after, each memory the log shows.
  private async memory(op: number, n: Names): Promise<HTMLElement> {
    const { model } = this.app;
    const before = n.ops.state[op];
    if (before < 0) return h("p", { class: "muted" }, "no memory state");
    const [next, lines] = await Promise.all([model.nextStates(), model.stateLines()]);
    const after = n.ops.flags[op] & Flag.NoDelta ? -1 : next[n.ops.last[op]];
    const rows: Cell[][] = [];
    for (const memory of MEMORIES) {
      const { allocated, largest } = await model.level(memory);
      const { total, lost } = await model.free(memory);
      if (allocated[before] < 0) continue;
      const mb = (thousandths: number, sign = false): HTMLElement => figure(this.app, thousandths / 1000, memory, sign);
      const known = after >= 0 && allocated[after] >= 0;
      const delta = known ? allocated[after] - allocated[before] : 0;
      rows.push([memory, mb(allocated[before]), known ? mb(allocated[after]) : "–", known ? h("span", { class: delta > 0 ? "plus" : delta < 0 ? "minus" : "" }, mb(delta, true)) : "–", mb(total[before] - allocated[before] - lost[before]), model.facts.blocks_known ? mb(largest[before]) : "–"]);
    }
    const box = h("div", { "data-key": "op-memory" }, h("h3", {}, "Memory, ", unit(this.app)), passingTable("Memory before and after", [["memory"], ["before", "num"], ["after", "num"], ["delta", "num"], ["free before", "num"], ["largest free block", "num"]], rows));
    if (model.findings.input.predicted_states) add(box, h("p", { class: "hint" }, "from the module: ", basisMark("predicted")));
    else if (lines[before] > 0) add(box, h("p", { class: "hint" }, after < 0 ? `state before it in log line ${lines[before]}, none after it` : `states in log lines ${lines[before]} and ${lines[after]}`));
    add(box, await this.padding(op, "DRAM"), await this.padding(op, "L1"));
    return box;
  }

  private async padding(op: number, memory: "DRAM" | "L1"): Promise<HTMLElement | null> {
    const { logical, stored } = await this.app.model.live(memory);
    if (!stored[op] || this.app.model.facts.rebuilt) return null;
    return h("p", { class: "hint" }, `live ${memory} tensors after it: logical size ${bytes(logical[op])}, padded ${bytes(stored[op])} (${percent(stored[op] - logical[op], stored[op])} of it padding)`);
  }

  private tensors(list: [string, Type | undefined][]): HTMLElement {
    const box = h("ul", { class: "tensors" });
    if (!list.length) return h("p", { class: "muted" }, "none");
    for (const [value, type] of list.slice(0, 64)) {
      if (!type) continue;
      const layout = type.layout;
      const item = h("li", {}, value && h("span", { class: "mono muted" }, `${value} `), h("span", { class: "mono" }, layout ? `${shape(layout.logical_shape)} ${layout.dtype}` : shorten(type.text, 200)));
      if (layout) {
        const where = [layout.buffer_type ?? "no layout", layout.is_tiled && layout.tile_size ? `tiles ${layout.tile_size.join("×")}` : "row major", `padded ${shape(layout.padded_shape)}`].join(", ");
        add(item, h("div", { class: "muted" }, `${where} · ${bytes(layout.unpadded_bytes)}${layout.padded_bytes !== layout.unpadded_bytes ? ` → ${bytes(layout.padded_bytes)} (${percent(layout.padded_bytes - layout.unpadded_bytes, layout.padded_bytes)} of it padding)` : ""}${layout.bytes_per_bank !== null ? ` · ${bytes(layout.bytes_per_bank)} per bank` : ""}`));
      }
      add(item, h("details", {}, h("summary", {}, "type"), longText(type.text)));
      add(box, item);
    }
    if (list.length > 64) add(box, h("li", { class: "muted" }, `… and ${count(list.length - 64)} more`));
    return box;
  }
}
