// SPDX-License-Identifier: Apache-2.0
// The short tables: top consumers, weights, distribution of operations.
import type { App } from "./app.js";
import { cellBar } from "./bars.js";
import { add, h, replace, shorten } from "./dom.js";
import { bytes, column, count, counted, number, percent, shapeText, signed } from "./format.js";
import type { Memory } from "./findings.js";
import type { RegistryEntry } from "./model.js";
import { basisMark, opLink } from "./links.js";

// A table whose columns say how they are aligned: "num" on the right.
export function table(caption: string, columns: [string, string?][], rows: (Node | string)[][]): HTMLElement {
  const head = h("tr", {});
  for (const [title, kind] of columns) add(head, h("th", { scope: "col", class: kind ?? "" }, title));
  const body = h("tbody", {});
  for (const row of rows) {
    const line = h("tr", {});
    row.forEach((cell, i) => add(line, h("td", { class: columns[i][1] ?? "" }, cell)));
    add(body, line);
  }
  return h("div", { class: "scroll-x" }, h("table", {}, h("caption", { class: "visually-hidden" }, caption), h("thead", {}, head), body));
}

// Where every change of DRAM went, adding up.
function attribution(app: App): HTMLElement | null {
  const sums = app.model.findings.attribution;
  if (!sums) return null;
  const parts: [string, number][] = [["added by operations", sums.operations_MB], ["left by const-eval programs", sums.const_eval_MB], ["given back by operations", sums.given_back_MB], ["deallocated", sums.deallocated_MB], [app.model.ofCompiledProgram ? "by the host, between runs" : "between operations", sums.host_MB]];
  const list = h("ul", { class: "sums", "data-key": "attribution" });
  for (const [label, mb] of parts) if (mb !== 0) add(list, h("li", {}, h("b", { class: "num" }, signed(Math.round(mb * 1000))), ` ${label}`));
  add(list, h("li", {}, h("b", { class: "num" }, `= ${signed(Math.round(sums.total_MB * 1000))}`), " from the first state to the last ", basisMark(sums.basis)));
  return h("div", {}, h("p", { class: "hint" }, "All changes of DRAM in this log, MB per bank:"), list);
}

export function consumers(app: App): HTMLElement {
  const host = h("div", {});
  const title = h("h2", { id: "consumers-title" }, "Top memory consumers");
  const show = (memory: Memory): void => {
    const rows = app.model.findings.top_consumers[memory] ?? [];
    if (!rows.length) return replace(host, h("p", { class: "muted" }, app.model.statesPerOperation ? `No operation added to ${memory}.` : app.model.unknown));
    const most = Math.max(...rows.map((r) => r.effect_MB), 0.001);
    replace(
      host,
      table(
        `Operations that added most to ${memory}`,
        [["operation"], ["location"], ["added, MB per bank", "num"], ["", "bar"], ["allocated before", "num"], ["share of bank", "num"]],
        rows.map((row) => {
          const inside = row.operations_inside ? h("span", { class: "muted" }, ` ${counted(row.operations_inside, "operation")} inside, up to +${number(row.highest_inside_MB ?? 0)}`) : "";
          return [opLink(app, row), h("span", {}, h("span", { class: "mono" }, shorten(row.loc ?? "", 90)), inside), `+${column(row.effect_MB)}`, cellBar(row.effect_MB, most), row.allocated_before_MB === null ? "" : column(row.allocated_before_MB), percent(row.effect_MB * 1000, app.capacity(memory))];
        }),
      ),
    );
  };
  app.onChange((view, changed) => "memory" in changed && show(view.memory));
  show(app.view.memory);
  return h("section", { id: "consumers", class: "card", "aria-labelledby": "consumers-title" }, title, h("p", { class: "hint" }, "Ranked by what the operation itself added: the state after it minus the state before it; a const-eval program counts for its load_cached. Follows the memory chosen above."), host, attribution(app));
}

export function weights(app: App): HTMLElement {
  const summary = app.model.findings.weights;
  const host = h("div", {});
  const section = h("section", { id: "weights", class: "card", "aria-labelledby": "weights-title" }, h("h2", { id: "weights-title" }, "Model weights"), host);
  if (!summary.count) {
    replace(host, h("p", { class: "muted" }, app.model.ofCompiledProgram ? "The log holds no module dump, so the arguments of the model are not known. TTXLA_LOGGER_LEVEL=DEBUG prints it." : app.model.unknown));
    return section;
  }
  void app.model.registry().then((entries) => {
    const list = entries.filter((e) => (e.type === "parameter" || e.type === "constant") && !e.repeated).sort((a, b) => b.bytes - a.bytes);
    const inputs = entries.filter((e) => e.type !== "parameter" && e.type !== "constant" && !e.repeated);
    let shown = 20;
    const row = (e: RegistryEntry) => [h("span", { class: "mono" }, shorten(e.name, 120)), e.type + (e.kv_cache ? ", KV cache" : ""), h("span", { class: "mono" }, `${shapeText(e.local_shape ?? e.shape)} ${e.dtype ?? ""}`), bytes(e.bytes), percent(e.bytes, summary.bytes)];
    const draw = (): void => {
      const more = h("button", { type: "button", click: () => ((shown += 200), draw()) }, `Show ${count(Math.min(200, list.length - shown))} more`);
      replace(
        host,
        h("p", { class: "hint", "data-key": "weights-sum" }, `${counted(list.length, "weight")}, ${bytes(summary.bytes)} without padding; ${counted(inputs.length, "other argument")}. Largest first.`),
        table("Weights by size", [["name"], ["kind"], ["shape"], ["bytes", "num"], ["share", "num"]], list.slice(0, shown).map(row)),
        shown < list.length && more,
      );
    };
    draw();
  });
  return section;
}

export function distribution(app: App): HTMLElement {
  const { distribution: all, total } = app.model.findings.operations;
  const rows = Object.entries(all);
  const host = h("div", {});
  const most = Math.max(...rows.map(([, n]) => n), 1);
  let shown = 15;
  const draw = (): void => {
    const more = h("button", { type: "button", click: () => ((shown = rows.length), draw()) }, `Show all ${count(rows.length)}`);
    replace(
      host,
      table(
        "How often each operation ran",
        [["operation"], ["times", "num"], ["", "bar"], ["share", "num"]],
        rows.slice(0, shown).map(([name, n]) => {
          return [h("button", { type: "button", class: "link mono", click: () => app.filterTable.byLocation(name) }, shorten(name, 80)), count(n), cellBar(n, most), percent(n, total)];
        }),
      ),
      shown < rows.length && more,
    );
  };
  draw();
  return h("section", { id: "distribution", class: "card", "aria-labelledby": "distribution-title" }, h("h2", { id: "distribution-title" }, "Operation distribution"), rows.length ? host : h("p", { class: "muted" }, "The log holds no operations."));
}

