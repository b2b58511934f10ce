// SPDX-License-Identifier: Apache-2.0
// Every operation in one table: search, filters, sorting, all of it as CSV. Texts are interned, so a search looks at each distinct one once.
import { onPart, setPart } from "./address.js";
import type { App } from "./app.js";
import type { Strings } from "./data.js";
import { add, h, shorten } from "./dom.js";
import { unit } from "./figures.js";
import { MEMORIES, type Memory } from "./findings.js";
import { csvRow } from "./csv.js";
import { count, counted, mb, shortPlace, signed } from "./format.js";
import { Flag } from "./model.js";
import { nameOf, outputsOf, placeOf, programOf, runOf, valueText, type Names } from "./names.js";
import { orderOf, rankTexts, Slices } from "./order.js";
import { download, fileName } from "./save.js";
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
  readonly search = h("input", { type: "search", placeholder: "Search name, place, attributes, type  ( f )", "aria-label": "Search operations", size: 34 });
  private readonly program = h("select", { "aria-label": "Program" }, h("option", { value: "" }, "every program"));
  private readonly run = h("input", { type: "number", min: 0, placeholder: "run", "aria-label": "Run", class: "narrow" });
  private readonly kind = h("select", { "aria-label": "Kind of operation" }, ...[["", "every operation"], ["consteval", "const-eval only"], ["main", "without const-eval"], ["weight", "taking weights"], ["failed", "failed"]].map(([value, text]) => h("option", { value }, text)));
  private readonly memory = h("select", { "aria-label": "Memory" }, ...MEMORIES.map((m) => h("option", { value: m }, m)));
  private readonly least = h("input", { type: "number", min: 0, step: "any", placeholder: "|delta| ≥ MB", "aria-label": "Smallest delta in MB per bank, either way", class: "narrow wide" });
  private readonly found = h("span", { class: "muted", role: "status" });
  private readonly head = h("div", { class: "op-row op-head", role: "row" });
  private readonly list: VirtualList;
  private readonly controls: [string, HTMLInputElement | HTMLSelectElement][] = [["q", this.search], ["program", this.program], ["run", this.run], ["kind", this.kind], ["least", this.least]];
  private names: Names | null = null;
  private deltas: Float64Array | null = null;
  private allocated: Int32Array | null = null;
  private rows: Uint32Array = new Uint32Array();
  private sort: { column: Column; down: boolean } = { column: "index", down: false };
  private pending = 0;
  private readonly orders = new Map<string, Uint32Array>();
  private ticket = 0;

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
      h("div", { class: "filters", role: "search" }, this.search, this.program, this.run, this.kind, this.memory, this.least, clear, h("button", { type: "button", class: "small", "data-save": "csv", "aria-label": "Save operations as CSV", click: () => void this.save() }, "CSV"), this.found),
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
    onPart("ops", (value) => this.restore(value));
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
    for (const [, control] of this.controls) control.value = "";
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

  // Whether an operation holds every word of the search. Each distinct text is looked at once, whatever the number of operations.
  private async matcher(): Promise<((op: number) => boolean) | null> {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return null;
    const { model } = this.app;
    const [labels, strings, values] = await Promise.all([model.labelIndex(), model.wordIndex(), model.words()]);
    const slices = new Slices();
    const checks: ((op: number) => boolean)[] = [];
    for (const word of words) {
      checks.push(this.holder(word, labels.flags(word), strings.flags(word), values));
      await slices.pause();
    }
    return (op) => checks.every((check) => check(op));
  }

  private holder(word: string, label: Uint8Array | null, attribute: Uint8Array | null, values: Strings): (op: number) => boolean {
    const { ops, texts, details, types } = this.names!;
    const type = types.map((one) => one.text.toLowerCase().includes(word));
    const anyType = type.includes(true);
    const isValue = word.startsWith("%");
    return (op) => {
      const t = ops.text[op];
      if (label && (label[texts.name[t]] || label[texts.location[t]] || label[ops.weight[op]])) return true;
      if (attribute && attribute[details[t].attributes ?? 0]) return true;
      if (anyType && (texts.outputs[t].some((id) => type[id]) || details[t].inputs.some((id) => type[id]))) return true;
      return isValue && valueText(values, details[t].result).includes(word);
    };
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

  // In slices, so that the page draws and listens; the first rows are shown as soon as they are found.
  async apply(): Promise<void> {
    if (!this.names || !this.deltas) return;
    const ticket = ++this.ticket;
    const stale = (): boolean => ticket !== this.ticket;
    this.keep();
    const [filter, order] = await Promise.all([this.filter(), this.order(stale)]);
    if (stale() || !order) return;
    const { n } = this.names.ops;
    let rows = order;
    if (filter) {
      const out = new Uint32Array(n);
      const slices = new Slices();
      let found = 0;
      for (let k = 0; k < n; k++) {
        if (k % 2048 === 0 && slices.over) {
          if (found && rows === order) this.list.setCount((this.rows = rows = out.subarray(0, found)).length);
          await slices.pause();
          if (stale()) return;
        }
        if (filter(order[k])) out[found++] = order[k];
      }
      rows = out.subarray(0, found);
    }
    this.rows = rows;
    this.found.textContent = rows.length === n ? counted(n, "operation") : `${count(rows.length)} of ${counted(n, "operation")}`;
    for (const cell of this.head.children) {
      const own = (cell as HTMLElement).dataset.column === this.sort.column;
      cell.setAttribute("aria-sort", own ? (this.sort.down ? "descending" : "ascending") : "none");
    }
    this.list.element.setAttribute("aria-rowcount", String(rows.length));
    this.list.setCount(rows.length);
  }

  private async filter(): Promise<((op: number) => boolean) | null> {
    const { ops, calls, labels } = this.names!;
    const holds = await this.matcher();
    const { mask, want } = this.kindMask();
    const program = this.program.selectedIndex > 0 ? this.program.value : null;
    const programs = program === null ? null : Uint8Array.from(calls.name, (id) => (labels.get(id) === program ? 1 : 0));
    const run = this.run.value === "" ? -1 : Number(this.run.value);
    const least = this.least.value === "" ? 0 : Number(this.least.value) * 1000;
    const deltas = this.deltas!;
    if (!holds && !mask && !programs && run < 0 && least <= 0) return null;
    return (i) => {
      if ((ops.flags[i] & mask) !== want) return false;
      const call = ops.call[i];
      if (programs && (call < 0 || !programs[call])) return false;
      if (run >= 0 && (call < 0 || calls.run[call] !== run)) return false;
      if (least > 0 && !(Math.abs(deltas[i]) >= least)) return false;
      return !holds || holds(i);
    };
  }

  // ---- Sort -------------------------------------------------------------------------------------------------------

  // All operations in the order of a column; kept, as it costs more than to filter them.
  private async order(stale: () => boolean): Promise<Uint32Array | null> {
    const { column, down } = this.sort;
    const key = `${column} ${down} ${column === "delta" || column === "allocated" ? this.app.view.memory : ""}`;
    let order = this.orders.get(key) ?? null;
    if (order) return order;
    const rank = await this.ranks(column, stale);
    if (!rank) return null;
    const side = down ? -1 : 1;
    const keys = new Float64Array(this.names!.ops.n);
    const slices = new Slices();
    for (let op = 0; op < keys.length; op++) {
      const value = rank(op);
      keys[op] = Number.isNaN(value) ? 0x7fffffff : side * value;
      if (op % 4096 === 0 && slices.over) await slices.pause();
    }
    await slices.pause();
    this.orders.set(key, (order = orderOf(keys)));
    return order;
  }

  private async ranks(column: Column, stale: () => boolean): Promise<((op: number) => number) | null> {
    const { ops, texts, types } = this.names!;
    const label = async (idOf: (op: number) => number): Promise<((op: number) => number) | null> => {
      const index = await this.app.model.labelIndex();
      const place = new Uint32Array(index.size); // 1 + where the label stands among those in use
      const used: string[] = [];
      const slices = new Slices();
      for (let op = 0; op < ops.n; op++) {
        const id = idOf(op);
        if (!place[id]) place[id] = used.push(index.get(id));
        if (op % 4096 === 0 && slices.over) await slices.pause();
      }
      if (used.length > 10000) this.found.textContent = "sorting …";
      const rank = await rankTexts(used, stale);
      return rank && ((op) => rank[place[idOf(op)] - 1]);
    };
    switch (column) {
      case "index":
      case "line":
        return (op) => op;
      case "delta":
        return (op) => this.deltas![op];
      case "allocated":
        return (op) => this.before(op);
      case "run":
        return (op) => runOf(this.names!, op);
      case "name":
        return label((op) => texts.name[ops.text[op]]);
      case "place":
        return label((op) => ops.weight[op] || texts.location[ops.text[op]]);
      default: // output
        return (op) => Math.floor(texts.outputs[ops.text[op]].reduce((sum, id) => sum + (types[id].layout?.padded_bytes ?? 0), 0) / 32); // 32 bits are 64 GB
    }
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
    const delta = this.deltas![op];
    const texts = this.texts(op);
    row.dataset.op = String(op);
    row.setAttribute("aria-rowindex", String(i + 1));
    row.classList.toggle("selected", op === this.app.view.op);
    row.classList.toggle("consteval", (flags & Flag.ConstEval) !== 0);
    row.classList.toggle("failed", (flags & Flag.Failed) !== 0);
    if (op === this.app.view.op) row.setAttribute("aria-current", "true");
    else row.removeAttribute("aria-current");
    texts.forEach((text, k) => (row.children[k].textContent = shorten(k === 2 ? shortPlace(text) : text, 160)));
    row.children[5].className = `num ${delta > 0 ? "plus" : delta < 0 ? "minus" : ""}`;
  }

  private texts(op: number): string[] {
    const names = this.names!;
    const before = this.before(op);
    const delta = this.deltas![op];
    const run = runOf(names, op);
    const scaled = (thousandths: number): number => this.app.scaled(thousandths / 1000, this.app.view.memory);
    return [String(op), nameOf(names, op), placeOf(names, op), outputsOf(names, op).join(", "), before < 0 ? "–" : mb(scaled(before)), Number.isNaN(delta) ? "–" : signed(scaled(delta)), run < 0 || !this.app.model.facts.has_runs ? "" : [count(run), programOf(names, op)].filter(Boolean).join(" · "), names.ops.line[op] > 0 ? String(names.ops.line[op]) : "–"];
  }

  // The rows that the filter leaves, in their order.
  private async save(): Promise<void> {
    const { memory, per } = this.app.view;
    const parts = [csvRow(COLUMNS.map(([column, title]) => (column === "allocated" || column === "delta" ? `${memory} ${title}, MB per ${per}` : title)))];
    const slices = new Slices();
    let part = "";
    for (const [k, op] of this.rows.entries()) {
      part += csvRow(this.texts(op));
      if (k % 256 || !slices.over) continue;
      parts.push(part);
      part = "";
      await slices.pause();
    }
    download(fileName("Operations", "csv"), new Blob([...parts, part], { type: "text/csv;charset=utf-8" }));
  }

  // ---- Address ----------------------------------------------------------------------------------------------------

  private keep(): void {
    const { column, down } = this.sort;
    const words = new URLSearchParams();
    for (const [name, control] of this.controls) if (control.value) words.set(name, control.value);
    if (column !== "index" || down) words.set("by", `${column}${down ? "-" : ""}`);
    setPart("ops", words.toString());
  }

  private restore(value: string): void {
    const words = new URLSearchParams(value);
    for (const [name, control] of this.controls) control.value = words.get(name) ?? "";
    const by = words.get("by") ?? "index";
    const column = COLUMNS.find(([one]) => one === by.replace("-", ""))?.[0] ?? "index";
    this.sort = { column, down: by.endsWith("-") };
    void this.apply();
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
