// SPDX-License-Identifier: Apache-2.0
// Every operation in one table: search, filters, sorting. Texts are interned, so a search looks at each distinct one once.
import type { App } from "./app.js";
import type { Strings } from "./data.js";
import { add, h, shorten } from "./dom.js";
import { unit } from "./figures.js";
import { MEMORIES, type Memory } from "./findings.js";
import { count, counted, mb, shortPlace, signed } from "./format.js";
import { Flag } from "./model.js";
import { locationOf, nameOf, outputsOf, placeOf, programOf, runOf, valueText, type Names } from "./names.js";
import { VirtualList } from "./virtual.js";

type Column = "index" | "name" | "place" | "output" | "allocated" | "delta" | "run" | "line";
const COLUMNS: [Column, string, string][] = [
  ["index", "#", "num"],
  ["name", "operation", ""],
  ["place", "place", ""],
  ["output", "output", ""],
  ["allocated", "before", "num"],
  ["delta", "delta", "num"],
  ["run", "run · program", ""],
  ["line", "log line", "num"],
];

export class OpTable {
  readonly element: HTMLElement;
  readonly search = h("input", { type: "search", placeholder: "Search name, place, attributes, type  ( / )", "aria-label": "Search operations", size: 34 });
  private readonly program = h("select", { "aria-label": "Program" }, h("option", { value: "" }, "every program"));
  private readonly run = h("input", { type: "number", min: 0, placeholder: "run", "aria-label": "Run", class: "narrow" });
  private readonly kind = h("select", { "aria-label": "Kind of operation" }, ...[["", "every operation"], ["consteval", "const-eval only"], ["main", "without const-eval"], ["weight", "taking weights"], ["failed", "failed"]].map(([value, text]) => h("option", { value }, text)));
  private readonly memory = h("select", { "aria-label": "Memory" }, ...MEMORIES.map((m) => h("option", { value: m }, m)));
  private readonly least = h("input", { type: "number", min: 0, step: "any", placeholder: "|delta| ≥ MB", "aria-label": "Smallest delta in MB per bank, either way", class: "narrow wide" });
  private readonly found = h("span", { class: "muted", role: "status" });
  private readonly head = h("div", { class: "op-row op-head", role: "row" });
  private readonly list: VirtualList;
  private names: Names | null = null;
  private deltas: Float64Array | null = null;
  private allocated: Int32Array | null = null;
  private rows: Uint32Array = new Uint32Array();
  private sort: { column: Column; down: boolean } = { column: "index", down: false };
  private pending = 0;
  private readonly searched = new Map<number, string>(); // by text and the weight it brings, lower case

  constructor(private readonly app: App) {
    for (const [column, title, kind] of COLUMNS) {
      add(this.head, h("span", { role: "columnheader", "aria-sort": "none", class: kind, "data-column": column }, h("button", { type: "button", click: () => this.sortBy(column) }, title)));
    }
    this.list = new VirtualList(
      26,
      () => {
        const row = h("div", { class: "op-row", role: "row", tabindex: -1 });
        for (const [, , kind] of COLUMNS) add(row, h("span", { role: "cell", class: kind }));
        row.addEventListener("click", () => app.select(Number(row.dataset.op)));
        return row;
      },
      (row, i) => this.fill(row, i),
      { role: "table", "aria-label": "All operations", tabindex: 0 },
    );
    this.memory.value = app.view.memory;
    for (const control of [this.search, this.program, this.run, this.kind, this.memory, this.least]) control.addEventListener("input", () => this.soon());
    this.memory.addEventListener("change", () => app.set({ memory: this.memory.value as Memory }));
    const clear = h("button", { type: "button", click: () => this.clear() }, "Clear");
    this.element = h(
      "section",
      { id: "operations", class: "card", "aria-labelledby": "operations-title" },
      h("div", { class: "card-head" }, h("h2", { id: "operations-title" }, "Operations"), h("p", { class: "hint" }, "allocated before, and delta, in ", unit(app), " of the memory chosen; a const-eval program counts for its load_cached")),
      h("div", { class: "filters", role: "search" }, this.search, this.program, this.run, this.kind, this.memory, this.least, clear, this.found),
      h("div", { class: "scroll-x" }, h("div", { class: "op-table" }, this.head, this.list.element)),
    );
    app.onChange((view, changed) => {
      if ("memory" in changed) {
        this.memory.value = view.memory;
        void this.loadMemory().then(() => this.apply());
      }
      if ("op" in changed) this.show(view.op);
      if ("per" in changed) this.list.draw(true);
    });
    app.filterTable.by = (text) => {
      this.clear(false);
      this.search.value = text;
      void this.apply();
      this.element.scrollIntoView({ block: "start" });
    };
  }

  async start(names: Names): Promise<void> {
    this.names = names;
    const programs = new Set<string>();
    for (let i = 0; i < names.calls.name.length && programs.size < 500; i++) programs.add(names.labels.get(names.calls.name[i]));
    for (const name of [...programs].sort()) add(this.program, h("option", { value: name }, name ? shorten(name, 60) : "outside every program"));
    await this.loadMemory();
    await this.apply();
    this.show(this.app.view.op);
  }

  private async loadMemory(): Promise<void> {
    const { memory } = this.app.view;
    const [deltas, level] = await Promise.all([this.app.model.deltas(memory), this.app.model.level(memory)]);
    if (memory !== this.app.view.memory) return;
    this.deltas = deltas;
    this.allocated = level.allocated;
  }

  clear(apply = true): void {
    for (const control of [this.search, this.program, this.run, this.kind, this.least]) control.value = "";
    if (apply) void this.apply();
  }

  private soon(): void {
    clearTimeout(this.pending);
    this.pending = window.setTimeout(() => void this.apply(), 80);
  }

  private sortBy(column: Column): void {
    const down = this.sort.column === column ? !this.sort.down : column === "delta" || column === "allocated";
    this.sort = { column, down };
    void this.apply();
  }

  // ---- Filter -----------------------------------------------------------------------------------------------------

  // Whether an operation holds every word of the search. Texts are few: each is looked at once, whatever the number of operations.
  private async matcher(): Promise<((op: number) => boolean) | null> {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const names = this.names!;
    if (!words.length) return null;
    const strings = await this.app.model.words();
    const found = new Map<number, boolean>();
    return (op) => {
      const key = names.ops.text[op] * 0x1000000 + names.ops.weight[op];
      let holds = found.get(key);
      if (holds === undefined) found.set(key, (holds = words.every((word) => this.textOf(op, key, strings).includes(word))));
      return holds;
    };
  }

  private textOf(op: number, key: number, strings: Strings): string {
    const names = this.names!;
    let text = this.searched.get(key);
    if (text === undefined) {
      const t = names.ops.text[op];
      const d = names.details[t];
      const types = [...d.inputs, ...names.texts.outputs[t]].map((id) => names.types[id].text).join(" ");
      text = `${nameOf(names, op)} ${locationOf(names, op)} ${placeOf(names, op)} ${valueText(strings, d.result)} ${d.attributes === null ? "" : strings.get(d.attributes)} ${types}`.toLowerCase();
      this.searched.set(key, text);
    }
    return text;
  }

  private kindMask(): { mask: number; want: number } {
    switch (this.kind.value) {
      case "consteval":
        return { mask: Flag.ConstEval, want: Flag.ConstEval };
      case "main":
        return { mask: Flag.ConstEval, want: 0 };
      case "weight":
        return { mask: Flag.Weight, want: Flag.Weight };
      case "failed":
        return { mask: Flag.Failed, want: Flag.Failed };
      default:
        return { mask: 0, want: 0 };
    }
  }

  async apply(): Promise<void> {
    if (!this.names || !this.deltas) return;
    const { ops, calls, labels } = this.names;
    const holds = await this.matcher();
    const { mask, want } = this.kindMask();
    const program = this.program.selectedIndex > 0 ? this.program.value : null;
    const programs = program === null ? null : Uint8Array.from(calls.name, (id) => (labels.get(id) === program ? 1 : 0));
    const run = this.run.value === "" ? -1 : Number(this.run.value);
    const least = this.least.value === "" ? 0 : Number(this.least.value) * 1000;
    const out = new Uint32Array(ops.n);
    let n = 0;
    for (let i = 0; i < ops.n; i++) {
      if ((ops.flags[i] & mask) !== want) continue;
      const call = ops.call[i];
      if (programs && (call < 0 || !programs[call])) continue;
      if (run >= 0 && (call < 0 || calls.run[call] !== run)) continue;
      if (least > 0 && !(Math.abs(this.deltas[i]) >= least)) continue;
      if (holds && !holds(i)) continue;
      out[n++] = i;
    }
    this.rows = this.sorted(out.subarray(0, n));
    this.found.textContent = n === ops.n ? counted(n, "operation") : `${count(n)} of ${counted(ops.n, "operation")}`;
    for (const cell of this.head.children) {
      const own = (cell as HTMLElement).dataset.column === this.sort.column;
      cell.setAttribute("aria-sort", own ? (this.sort.down ? "descending" : "ascending") : "none");
    }
    this.list.element.setAttribute("aria-rowcount", String(n));
    this.list.setCount(n);
  }

  // ---- Sort -------------------------------------------------------------------------------------------------------

  // Numbers sort as one array of key and index in a double, which is several times faster than a comparing function.
  private sorted(rows: Uint32Array): Uint32Array {
    const { column, down } = this.sort;
    if (column === "index" || column === "line") return down ? rows.reverse() : rows;
    const rank = this.ranks(column);
    const keys = new Float64Array(rows.length);
    const room = Math.max(1, rows.length);
    for (let k = 0; k < rows.length; k++) keys[k] = (down ? -rank(rows[k]) : rank(rows[k])) * room + k;
    keys.sort();
    const out = new Uint32Array(rows.length);
    for (let k = 0; k < rows.length; k++) {
      const at = keys[k] % room;
      out[k] = rows[at < 0 ? at + room : at];
    }
    return out;
  }

  private ranks(column: Column): (op: number) => number {
    const names = this.names!;
    switch (column) {
      case "delta":
        return (op) => (Number.isNaN(this.deltas![op]) ? (this.sort.down ? -0x7fffffff : 0x7fffffff) : this.deltas![op]);
      case "allocated":
        return (op) => this.before(op);
      case "run":
        return (op) => runOf(names, op);
      case "name":
        return this.ranked((op) => names.texts.name[names.ops.text[op]], (label) => names.labels.get(label));
      case "place":
        return this.ranked((op) => names.ops.weight[op] || names.texts.location[names.ops.text[op]], (label) => names.labels.get(label));
      default:
        return this.ranked((op) => names.ops.text[op], (text) => names.texts.outputs[text].reduce((sum, id) => sum + (names.types[id].layout?.padded_bytes ?? 0), 0));
    }
  }

  // Distinct keys are few: rank them once, then compare numbers.
  private ranked(idOf: (op: number) => number, keyOf: (id: number) => string | number): (op: number) => number {
    const keys = new Map<number, string | number>();
    for (const op of this.names!.ops.text.keys()) if (!keys.has(idOf(op))) keys.set(idOf(op), keyOf(idOf(op)));
    const order = [...keys].sort(([, a], [, b]) => (a < b ? -1 : a > b ? 1 : 0));
    const rank = new Map<number, number>();
    order.forEach(([id, key], at) => rank.set(id, at > 0 && order[at - 1][1] === key ? rank.get(order[at - 1][0])! : at));
    return (op) => rank.get(idOf(op))!;
  }

  private before(op: number): number {
    const state = this.names!.ops.state[op];
    return state < 0 ? -1 : this.allocated![state];
  }

  // ---- Rows -------------------------------------------------------------------------------------------------------

  private fill(row: HTMLElement, i: number): void {
    const names = this.names!;
    const op = this.rows[i];
    const flags = names.ops.flags[op];
    const before = this.before(op);
    const delta = this.deltas![op];
    const run = runOf(names, op);
    const scaled = (thousandths: number): number => this.app.scaled(thousandths / 1000, this.app.view.memory);
    const texts = [String(op), nameOf(names, op), shortPlace(placeOf(names, op)), outputsOf(names, op).join(", "), before < 0 ? "–" : mb(scaled(before)), Number.isNaN(delta) ? "–" : signed(scaled(delta)), run < 0 || !this.app.model.facts.has_runs ? "" : [count(run), programOf(names, op)].filter(Boolean).join(" · "), names.ops.line[op] > 0 ? String(names.ops.line[op]) : "–"];
    row.dataset.op = String(op);
    row.setAttribute("aria-rowindex", String(i + 1));
    row.classList.toggle("selected", op === this.app.view.op);
    row.classList.toggle("consteval", (flags & Flag.ConstEval) !== 0);
    row.classList.toggle("failed", (flags & Flag.Failed) !== 0);
    if (op === this.app.view.op) row.setAttribute("aria-current", "true");
    else row.removeAttribute("aria-current");
    texts.forEach((text, k) => (row.children[k].textContent = shorten(text, 160)));
    row.children[5].className = `num ${delta > 0 ? "plus" : delta < 0 ? "minus" : ""}`;
  }

  private show(op: number | null): void {
    if (op !== null) {
      const at = this.rows.indexOf(op);
      if (at >= 0) return this.list.scrollTo(at);
    }
    this.list.draw(true);
  }

  // The next operation in the table's own order; the first one when none is selected.
  step(by: number): void {
    if (!this.rows.length) return;
    const { op } = this.app.view;
    const at = op === null ? -1 : this.rows.indexOf(op);
    const next = at < 0 ? 0 : Math.max(0, Math.min(this.rows.length - 1, at + by));
    this.app.select(this.rows[next]);
  }

  get hasFocus(): boolean {
    return this.list.element.contains(document.activeElement);
  }
}
