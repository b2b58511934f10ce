// SPDX-License-Identifier: Apache-2.0
// One box that finds operations, places, tensors, weights, modules, source files and lines of the IR, and goes there. It looks at distinct
// texts, of which there are few, not at operations; a key stroke shows the first of each group.
import type { App } from "./app.js";
import { add, h, replace, shorten } from "./dom.js";
import { bytes, count, counted } from "./format.js";
import type { IrFact } from "./model.js";
import { valueText, type Names } from "./names.js";
import type { TextIndex } from "./textindex.js";

const SHOWN = 6; // of each group
const LOOKED_AT = 3000; // texts that hold the first word, of which the others are then asked

interface Hit {
  text: string;
  note: string;
  go: () => void;
}

interface Group {
  title: string;
  hits: Hit[];
}

// By label: the first operation that has it as its name, its place, and how many have.
interface Uses {
  firstName: Int32Array;
  firstPlace: Int32Array;
  names: Uint32Array;
  places: Uint32Array;
}

function countUses({ ops, texts }: Names, labels: number): Uses {
  const uses = { firstName: new Int32Array(labels).fill(-1), firstPlace: new Int32Array(labels).fill(-1), names: new Uint32Array(labels), places: new Uint32Array(labels) };
  for (let op = ops.n - 1; op >= 0; op--) {
    const name = texts.name[ops.text[op]];
    const place = ops.weight[op] || texts.location[ops.text[op]];
    uses.firstName[name] = uses.firstPlace[place] = op;
    uses.names[name]++;
    uses.places[place]++;
  }
  return uses;
}

const SOURCE = /\.(py|c|cc|cpp|cxx|h|hpp|cu|mlir):\d+/i;

export class Find {
  readonly element: HTMLDialogElement;
  private readonly box = h("input", { type: "search", role: "combobox", "aria-label": "Find", "aria-controls": "find-list", "aria-expanded": "true", "aria-autocomplete": "list", placeholder: "Operation, tensor, weight, module, file, IR …", autocomplete: "off", spellcheck: "false" });
  private readonly list = h("div", { id: "find-list", role: "listbox", "aria-label": "Found" });
  private readonly status = h("p", { class: "muted", role: "status" });
  private names: Names | null = null;
  private uses: Uses | null = null;
  private results = new Uint32Array(); // by text: the value it makes
  private readonly irs: { fact: IrFact; text: string; lower: string }[] = [];
  private hits: Hit[] = [];
  private at = 0;
  private took: number[] = [];

  constructor(private readonly app: App) {
    this.element = h("dialog", { id: "find", "aria-label": "Find" }, this.box, this.status, this.list);
    this.box.addEventListener("input", () => void this.look());
    this.box.addEventListener("keydown", (event) => this.key(event));
    this.element.addEventListener("click", (event) => event.target === this.element && this.element.close());
  }

  // What every key stroke needs is made before the first one.
  async start(names: Names): Promise<void> {
    const index = await this.app.model.labelIndex();
    this.uses = countUses(names, index.size);
    this.results = Uint32Array.from(names.details, (detail) => detail.result);
    this.names = names;
  }

  open(): void {
    if (!this.element.open) this.element.showModal();
    this.box.select();
    void this.look();
    if (!this.irs.length) void this.loadIr();
  }

  private async loadIr(): Promise<void> {
    for (const fact of this.app.model.facts.irs) {
      const text = await this.app.model.irText(fact);
      this.irs.push({ fact, text, lower: text.toLowerCase() });
    }
    await this.look();
  }

  // For the bench: how long each key stroke took, in milliseconds.
  takeTimes(): number[] {
    return this.took.splice(0);
  }

  // ---- Looking ----------------------------------------------------------------------------------------------------

  private async look(): Promise<void> {
    const [labels, registry, strings] = await Promise.all([this.app.model.labelIndex(), this.app.model.registry(), this.app.model.words()]);
    if (!this.names || !this.uses) return;
    const began = performance.now();
    const words = this.box.value.toLowerCase().split(/\s+/).filter(Boolean).sort((a, b) => b.length - a.length);
    const groups: Group[] = [];
    if (words.length) {
      const found = this.labels(labels, words);
      groups.push(
        { title: "Operations", hits: this.operations(words, found) },
        { title: "Modules", hits: this.modules(labels, words, found) },
        { title: "Tensors", hits: this.tensors(words, found, strings) },
        { title: "Weights", hits: registry.filter((entry) => words.every((word) => entry.name.toLowerCase().includes(word))).slice(0, SHOWN).map((entry): Hit => ({ text: entry.name, note: bytes(entry.bytes), go: () => this.goWeight(entry.name) })) },
        { title: "Source files", hits: this.sources(found) },
        { title: "IR", hits: this.ir(words) },
      );
    }
    this.show(groups.filter((group) => group.hits.length), words.length > 0);
    this.took.push(performance.now() - began);
  }

  private labels(index: TextIndex, [first, ...others]: string[]): number[] {
    const found = index.find(first, LOOKED_AT);
    return others.length ? found.filter((id) => others.every((word) => index.get(id).includes(word))) : found;
  }

  private label(id: number): string {
    return this.names!.labels.get(id);
  }

  private operations(words: string[], found: number[]): Hit[] {
    const uses = this.uses!;
    const number = /^#?(\d+)$/.exec(words[0]);
    const hits: Hit[] = [];
    if (words.length === 1 && number && Number(number[1]) < this.names!.ops.n) hits.push(this.operation(Number(number[1]), ""));
    for (const id of found) {
      if (hits.length >= SHOWN) break;
      if (uses.names[id]) hits.push({ text: this.label(id), note: counted(uses.names[id], "operation"), go: () => this.goTable(this.label(id), uses.firstName[id]) });
    }
    return hits;
  }

  private operation(op: number, note: string): Hit {
    const { labels, texts, ops } = this.names!;
    return { text: `#${op} ${labels.get(texts.name[ops.text[op]])}`, note, go: () => this.app.show(op) };
  }

  // A module is the path up to the part in which the last word ends: "layers.3.self_attn" of "layers.3.self_attn.q_proj".
  private modules(index: TextIndex, words: string[], found: number[]): Hit[] {
    const paths = new Map<string, { first: number; n: number }>();
    for (const id of found) {
      if (!this.uses!.places[id] || SOURCE.test(index.get(id))) continue;
      const lower = index.get(id);
      const end = lower.indexOf(".", Math.max(...words.map((word) => lower.indexOf(word) + word.length)));
      if (end < 0) continue;
      const path = this.label(id).slice(0, end);
      const known = paths.get(path);
      if (!known && paths.size >= SHOWN) continue;
      paths.set(path, { first: Math.min(known?.first ?? Infinity, this.uses!.firstPlace[id]), n: (known?.n ?? 0) + this.uses!.places[id] });
    }
    return [...paths].map(([path, { first, n }]) => ({ text: path, note: counted(n, "operation"), go: () => this.goTable(path, first) }));
  }

  // By their place, by the value "%12" they are in a program, or by shape and dtype.
  private tensors(words: string[], found: number[], strings: Awaited<ReturnType<App["model"]["words"]>>): Hit[] {
    const { ops, texts, types } = this.names!;
    const hits: Hit[] = [];
    const wanted = /^%(\d+)$/.exec(words[0]);
    const value = wanted ? Number(wanted[1]) * 4 + 1 : -1;
    for (let op = 0; value >= 0 && words.length === 1 && op < ops.n && hits.length < SHOWN; op++) if (this.results[ops.text[op]] === value) hits.push(this.operation(op, valueText(strings, value)));
    for (const id of found) {
      if (hits.length >= SHOWN) break;
      const op = this.uses!.firstPlace[id];
      if (op >= 0 && texts.outputs[ops.text[op]].length && !SOURCE.test(this.label(id))) hits.push({ text: this.label(id), note: `#${op}, ${counted(this.uses!.places[id], "operation")}`, go: () => this.app.show(op) });
    }
    types.forEach((type, id) => {
      const text = type.layout ? `${type.layout.logical_shape.join("x")} ${type.layout.dtype}` : "";
      if (hits.length >= SHOWN || !text || !words.every((word) => text.includes(word.replace(/×/g, "x")))) return;
      hits.push({ text: text.replace(/x/g, "×"), note: "shape and dtype", go: () => this.goType(id) });
    });
    return hits;
  }

  private sources(found: number[]): Hit[] {
    const hits: Hit[] = [];
    for (const id of found) if (hits.length < SHOWN && this.uses!.places[id] && SOURCE.test(this.label(id))) hits.push({ text: this.label(id), note: counted(this.uses!.places[id], "operation"), go: () => this.goTable(this.label(id), this.uses!.firstPlace[id]) });
    return hits;
  }

  // Lines that hold the longest word and then all of them.
  private ir(words: string[]): Hit[] {
    const hits: Hit[] = [];
    for (const { fact, text, lower } of this.irs) {
      let line = 1;
      let counted = 0;
      for (let at = lower.indexOf(words[0]); at >= 0 && hits.length < SHOWN; ) {
        const start = lower.lastIndexOf("\n", at) + 1;
        const end = (lower.indexOf("\n", at) + lower.length + 1) % (lower.length + 1);
        for (let next = lower.indexOf("\n", counted); next >= 0 && next < at; next = lower.indexOf("\n", next + 1)) [line, counted] = [line + 1, next + 1];
        const own = line;
        if (words.every((word) => lower.slice(start, end).includes(word))) hits.push({ text: text.slice(start, end).trim(), note: `${fact.stage.toUpperCase()} line ${count(own)}`, go: () => void this.app.showIr.line(fact.id, own) });
        at = lower.indexOf(words[0], end);
      }
    }
    return hits;
  }

  // ---- Going ------------------------------------------------------------------------------------------------------

  private goTable(text: string, op: number): void {
    this.app.filterTable.by(text);
    this.app.select(op);
  }

  private goType(type: number): void {
    const { ops, texts } = this.names!;
    for (let op = 0; op < ops.n; op++) if (texts.outputs[ops.text[op]].includes(type)) return this.app.show(op);
  }

  private goWeight(name: string): void {
    const filter = document.querySelector<HTMLInputElement>("#weights .table-filter");
    if (!filter) return;
    filter.value = name;
    filter.dispatchEvent(new Event("input"));
    document.getElementById("weights")!.scrollIntoView({ block: "start" });
  }

  // ---- Showing ----------------------------------------------------------------------------------------------------

  private show(groups: Group[], asked: boolean): void {
    this.hits = groups.flatMap((group) => group.hits);
    this.at = 0;
    replace(this.list);
    let n = 0;
    for (const { title, hits } of groups) {
      const box = h("div", { role: "group", "aria-label": title }, h("h3", { "aria-hidden": true }, title));
      for (const hit of hits) {
        const own = n++;
        add(box, h("div", { role: "option", id: `find-${own}`, "data-group": title, click: () => this.go(own), mousemove: () => this.mark(own) }, h("span", { class: "mono break" }, shorten(hit.text, 160)), h("span", { class: "muted" }, hit.note)));
      }
      add(this.list, box);
    }
    this.status.textContent = this.hits.length ? "" : asked ? "nothing found" : "type to find; arrow keys choose, Enter goes there";
    this.mark(0);
  }

  private mark(at: number): void {
    this.at = Math.max(0, Math.min(this.hits.length - 1, at));
    this.list.querySelectorAll("[role=option]").forEach((option, i) => option.setAttribute("aria-selected", String(i === this.at)));
    this.box.setAttribute("aria-activedescendant", this.hits.length ? `find-${this.at}` : "");
  }

  private go(at: number): void {
    this.element.close();
    this.hits[at]?.go();
  }

  private key(event: KeyboardEvent): void {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (!step && event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Escape") return this.element.close();
    if (event.key === "Enter") return this.go(this.at);
    this.mark((this.at + step + this.hits.length) % Math.max(1, this.hits.length));
    this.list.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }
}
