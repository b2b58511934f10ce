// SPDX-License-Identifier: Apache-2.0
// The module texts of the compiled graphs: numbered lines, search, and ways from an operation to its line and back.
import { onPart, setPart } from "./address.js";
import type { App } from "./app.js";
import { add, h, shorten, visible } from "./dom.js";
import { count, counted } from "./format.js";
import type { IrFact } from "./model.js";
import { graphOf, locationOf, type Names } from "./names.js";
import { VirtualList } from "./virtual.js";

const ORDER = ["ttnn", "ttnn_runtime", "ttir"]; // where an operation is looked for first

interface Text {
  lines: string[];
  lineOf: Map<string, number>;
  locationAt: Map<number, string[]>;
}

export class Ir {
  readonly element: HTMLElement;
  private readonly tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "IR" });
  private readonly search = h("input", { type: "search", placeholder: "Search this text", "aria-label": "Search the IR", size: 24 });
  private readonly found = h("span", { class: "muted", role: "status" });
  private readonly list: VirtualList;
  private readonly texts = new Map<string, Promise<Text>>();
  private fact: IrFact | null = null;
  private first: IrFact | null = null;
  private text: Text | null = null;
  private names: Names | null = null;
  private marked = 0; // 1-based line
  private hits: number[] = [];

  constructor(private readonly app: App) {
    this.list = new VirtualList(
      19,
      () => {
        const row = h("div", { class: "ir-line" }, h("span", { class: "ir-number" }), h("code", {}));
        row.addEventListener("click", () => this.pick(Number(row.dataset.line)));
        return row;
      },
      (row, i) => this.fill(row, i),
      { class: "virtual ir-list", role: "region", "aria-label": "IR text", tabindex: 0 },
    );
    for (const fact of app.model.facts.irs) {
      const graphs = new Set(app.model.facts.irs.map((f) => f.graph)).size;
      const tab = h("button", { type: "button", role: "tab", "data-ir": fact.id, "aria-selected": "false", click: () => void this.show(fact, 0) }, `${graphs > 1 ? `graph ${fact.graph} ` : ""}${fact.stage.toUpperCase()}`);
      add(this.tabs, tab);
    }
    this.search.addEventListener("input", () => this.find());
    this.search.addEventListener("keydown", (event) => event.key === "Enter" && this.next(event.shiftKey ? -1 : 1));
    this.element = h(
      "section",
      { id: "ir", class: "card", "aria-labelledby": "ir-title" },
      h("div", { class: "card-head" }, h("h2", { id: "ir-title" }, "IR"), this.tabs, h("span", { class: "grow" }), this.search, h("button", { type: "button", click: () => this.next(-1), "aria-label": "Previous match" }, "↑"), h("button", { type: "button", click: () => this.next(1), "aria-label": "Next match" }, "↓"), this.found),
      h("p", { class: "hint" }, "A click on a line with a location selects its first operation; lines of executed operations carry a dot."),
      this.list.element,
    );
    app.showIr.open = (op) => this.open(op);
    app.showIr.line = (id, line) => this.goTo(id, line);
  }

  get empty(): boolean {
    return this.app.model.facts.irs.length === 0;
  }

  async start(names: Names): Promise<void> {
    this.names = names;
    this.first = this.app.model.facts.irs.find((f) => f.stage === "ttnn") ?? this.app.model.facts.irs[0] ?? null;
    if (this.first && !this.fact) await this.show(this.first, 0);
    onPart("ir", (value) => {
      const [id, line] = value.split(":");
      const fact = this.app.model.facts.irs.find((one) => one.id === id);
      if (fact) void this.show(fact, Number(line) || 0);
    });
  }

  private load(fact: IrFact): Promise<Text> {
    let kept = this.texts.get(fact.id);
    if (!kept) this.texts.set(fact.id, (kept = this.read(fact)));
    return kept;
  }

  private async read(fact: IrFact): Promise<Text> {
    const [text, locations] = await Promise.all([this.app.model.irText(fact), this.app.model.irLocations(fact)]);
    const lineOf = new Map(Object.entries(locations));
    const locationAt = new Map<number, string[]>();
    for (const [name, line] of lineOf) locationAt.set(line, [...(locationAt.get(line) ?? []), name]);
    return { lines: text.split("\n"), lineOf, locationAt };
  }

  private async show(fact: IrFact, line: number): Promise<void> {
    this.fact = fact;
    const text = await this.load(fact);
    if (this.fact !== fact) return;
    this.text = text;
    this.marked = line;
    for (const tab of this.tabs.children) tab.setAttribute("aria-selected", String((tab as HTMLElement).dataset.ir === fact.id));
    this.list.setCount(text.lines.length);
    this.find(false);
    this.list.scrollTo(Math.max(0, line - 1));
    this.keep();
  }

  // "ir.0.6:120" in the address.
  private keep(): void {
    if (this.fact && (this.marked || this.fact !== this.first)) setPart("ir", `${this.fact.id}:${this.marked}`);
  }

  private async goTo(id: string, line: number): Promise<void> {
    const fact = this.app.model.facts.irs.find((one) => one.id === id);
    if (!fact) return;
    await this.show(fact, line);
    this.element.scrollIntoView({ block: "start" });
  }

  // From an operation to its line: the executed stage first, its graph only.
  async open(op: number): Promise<void> {
    if (!this.names) return;
    const graph = graphOf(this.names, op);
    const location = locationOf(this.names, op);
    const own = this.app.model.facts.irs.filter((f) => f.graph === graph).sort((a, b) => (ORDER.indexOf(a.stage) + 9) % 9 - ((ORDER.indexOf(b.stage) + 9) % 9));
    for (const fact of own) {
      const line = (await this.load(fact)).lineOf.get(location);
      if (line === undefined) continue;
      await this.show(fact, line);
      this.element.scrollIntoView({ block: "start" });
      this.found.textContent = `line ${count(line)} of ${fact.stage.toUpperCase()}`;
      return;
    }
    this.element.scrollIntoView({ block: "start" });
    this.found.textContent = `no line carries the location ${shorten(location, 60)}`;
  }

  // From a line to the operations that carry its location: the first is selected, the table shows all of them.
  private pick(line: number): void {
    const names = this.names;
    const locations = this.text?.locationAt.get(line);
    if (!names || !locations || !this.fact) return;
    const wanted = new Set(locations);
    const texts = Uint8Array.from(names.texts.location, (id) => (wanted.has(names.labels.get(id)) ? 1 : 0));
    let first = -1;
    let n = 0;
    for (let i = 0; i < names.ops.n; i++) {
      if (!texts[names.ops.text[i]] || graphOf(names, i) !== this.fact.graph) continue;
      if (first < 0) first = i;
      n++;
    }
    this.marked = line;
    this.keep();
    this.list.draw(true);
    this.found.textContent = first < 0 ? "not executed in this log" : `executed ${counted(n, "time")}`;
    if (first >= 0) this.app.select(first);
  }

  private find(jump = true): void {
    const word = this.search.value.toLowerCase();
    this.hits = [];
    if (word && this.text) this.text.lines.forEach((line, i) => line.toLowerCase().includes(word) && this.hits.push(i + 1));
    if (word) this.found.textContent = counted(this.hits.length, "match", "matches");
    else if (jump) this.found.textContent = "";
    if (jump && this.hits.length) this.mark(this.hits[0]);
    else this.list.draw(true);
  }

  private next(by: number): void {
    if (!this.hits.length) return;
    let at = this.hits.findIndex((line) => line >= this.marked);
    if (at < 0) at = 0;
    if (this.hits[at] === this.marked) at = (at + by + this.hits.length) % this.hits.length;
    this.mark(this.hits[at]);
  }

  private mark(line: number): void {
    this.marked = line;
    this.list.scrollTo(line - 1);
    this.list.draw(true);
    this.keep();
  }

  private fill(row: HTMLElement, i: number): void {
    const line = i + 1;
    const text = this.text?.lines[i] ?? "";
    row.dataset.line = String(line);
    row.children[0].textContent = count(line);
    row.children[1].textContent = visible(text.length > 3000 ? `${text.slice(0, 3000)}…` : text);
    row.classList.toggle("marked", line === this.marked);
    row.classList.toggle("located", this.text?.locationAt.has(line) ?? false);
  }
}
