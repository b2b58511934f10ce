// SPDX-License-Identifier: Apache-2.0
// Tables: sorted by a click on a column, filtered, saved as CSV. Repeated layers are one row, which opens to its members.
import { onPart, setPart } from "./address.js";
import { csvRow } from "./csv.js";
import { add, h, replace, shorten } from "./dom.js";
import { count } from "./format.js";
import { download, fileName } from "./save.js";

export type Cell = Node | string | null | false;
export type Column = [title: Node | string, kind?: string]; // "num": on the right
interface Folded {
  name: string;
  cells: Cell[];
  places: number;
  members: () => Cell[][];
}
export type Row = Cell[] | Folded;

interface Made {
  row: HTMLTableRowElement;
  members: HTMLTableRowElement[]; // once it was opened
  words: string; // what the filter looks at
}

const folded = (row: Row): row is Folded => !Array.isArray(row) && row.places > 1;
const collator = new Intl.Collator("en", { numeric: true });
const UNITS: Record<string, number> = { KB: 2 ** 10, MB: 2 ** 20, GB: 2 ** 30 };

// What a cell says: without its buttons, whole where the table shows a part.
function textOf(node: Node): string {
  if (!(node instanceof Element)) return node.textContent ?? "";
  if (node.matches("button:not(.link)")) return "";
  const title = node.getAttribute("title");
  if (title !== null && node.textContent?.includes("…")) return title;
  return [...node.childNodes].map(textOf).join(node.classList.contains("op-cell") ? " " : "");
}

// "1,023.0", "−0.5", "62.5 MB"; NaN for what is no number.
function numberOf(text: string): number {
  const [, digits, unit] = /^([+−-]?[\d,]*\.?\d+)(?: ([KMG]B))?/.exec(text) ?? ["", "x", ""];
  return Number(digits.replace("−", "-").replace(/,/g, "")) * (UNITS[unit] ?? 1);
}

class Table {
  readonly element: HTMLElement;
  private readonly made: (Made | undefined)[];
  private readonly body = h("tbody", {});
  private readonly heads: HTMLElement[];
  private readonly filter = h("input", { type: "search", class: "table-filter", placeholder: "Filter", input: () => this.changed() });
  private readonly more = h("button", { type: "button", class: "small more", click: () => this.showAll() });
  private sort: { column: number; down: boolean } | null = null;
  private all = false;

  constructor(
    private readonly caption: string,
    private readonly columns: Column[],
    private readonly rows: Row[],
    private readonly shown: number,
    private readonly rest: (all: number) => Node | string,
    private readonly key: string,
  ) {
    this.made = new Array<Made | undefined>(rows.length);
    this.filter.setAttribute("aria-label", `Filter ${caption}`);
    this.heads = columns.map(([title, kind], i) => h("th", { scope: "col", class: kind ?? "", "aria-sort": title ? "none" : undefined }, title ? h("button", { type: "button", class: "sort", click: () => this.sortBy(i) }, title) : ""));
    const csv = h("button", { type: "button", class: "small", "data-save": "csv", "aria-label": `Save ${caption} as CSV`, click: () => this.save() }, "CSV");
    const box = h("table", { class: rows.some(folded) ? "folds" : "" }, h("caption", { class: "visually-hidden" }, caption), h("thead", {}, h("tr", {}, ...this.heads)), this.body);
    this.element = h("div", { class: "table-box" }, h("div", { class: "table-tools unsaved" }, this.filter, csv), h("div", { class: "scroll-x" }, box));
    if (key) onPart(key, (value) => this.restore(value));
    this.draw();
  }

  // ---- Rows -------------------------------------------------------------------------------------------------------

  private line(cells: Cell[], kind = ""): HTMLTableRowElement {
    const row = h("tr", { class: kind });
    cells.forEach((cell, i) => add(row, h("td", { class: this.columns[i][1] ?? "" }, cell)));
    return row;
  }

  private make(i: number): Made {
    const row = this.rows[i];
    const made: Made = { row: this.line(Array.isArray(row) ? row : row.cells), members: [], words: "" };
    if (folded(row)) made.row.cells[0].prepend(this.opener(made, row));
    return (this.made[i] = made);
  }

  // Opens and closes the rows below its own. They are made when first asked for: most never are.
  private opener(made: Made, row: Folded): HTMLElement {
    const button = h("button", { type: "button", class: "fold", "aria-expanded": "false", "aria-label": `The ${count(row.places)} of ${shorten(row.name, 200)}` }, "▸");
    button.addEventListener("click", () => {
      const open = button.getAttribute("aria-expanded") !== "true";
      button.setAttribute("aria-expanded", String(open));
      if (!made.members.length) made.members = this.membersOf(row);
      for (const member of made.members) member.hidden = !open;
      made.row.after(...made.members);
    });
    return button;
  }

  private membersOf(row: Folded): HTMLTableRowElement[] {
    const members = row.members().map((cells) => this.line(cells, "member"));
    const more = row.places - members.length;
    if (more > 0) members.push(h("tr", { class: "member" }, h("td", { colspan: this.columns.length, class: "muted" }, `and ${count(more)} more`)));
    return members;
  }

  private words(i: number): string {
    const made = this.made[i] ?? this.make(i);
    const row = this.rows[i];
    const inside = (): string => (folded(row) ? row.members().flat().map((cell) => (cell instanceof Node ? textOf(cell) : cell || "")).join(" ") : "");
    return (made.words ||= `${textOf(made.row)} ${inside()}`.toLowerCase());
  }

  // ---- Order ------------------------------------------------------------------------------------------------------

  private sortBy(column: number): void {
    const first = this.columns[column][1] === "num"; // the largest first
    if (this.sort?.column !== column) this.sort = { column, down: first };
    else this.sort = this.sort.down === first ? { column, down: !first } : null;
    this.changed();
  }

  // The rows in their order; those without a number last.
  private order(): number[] {
    const order = this.rows.map((_row, i) => i);
    if (!this.sort) return order;
    const { column, down } = this.sort;
    const texts = order.map((i) => textOf((this.made[i] ?? this.make(i)).row.cells[column]).trim());
    const side = down ? -1 : 1;
    if (this.columns[column][1] !== "num") return order.sort((a, b) => side * collator.compare(texts[a], texts[b]));
    const numbers = texts.map(numberOf);
    return order.sort((a, b) => Number(Number.isNaN(numbers[a])) - Number(Number.isNaN(numbers[b])) || side * (numbers[a] - numbers[b]) || a - b);
  }

  private matching(): number[] {
    const wanted = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const order = this.order();
    return wanted.length ? order.filter((i) => wanted.every((word) => this.words(i).includes(word))) : order;
  }

  private draw(): void {
    const found = this.matching();
    const shown = this.all || this.filter.value ? found : found.slice(0, this.shown);
    for (const made of this.made) for (const row of made ? [made.row, ...made.members] : []) row.hidden = true;
    const rows = shown.map((i) => this.made[i] ?? this.make(i));
    for (const { row, members } of rows) {
      row.hidden = false;
      const open = row.querySelector(".fold")?.getAttribute("aria-expanded") === "true";
      for (const member of members) member.hidden = !open;
      this.body.append(row, ...members);
    }
    this.heads.forEach((head, i) => head.hasAttribute("aria-sort") && head.setAttribute("aria-sort", this.sort?.column === i ? (this.sort.down ? "descending" : "ascending") : "none"));
    this.more.remove();
    if (shown.length === found.length) return;
    replace(this.more, this.rest(found.length));
    this.element.append(this.more);
  }

  private showAll(): void {
    this.all = true;
    this.changed();
  }

  // ---- Address and file -------------------------------------------------------------------------------------------

  // "2d all words of the filter"
  private changed(): void {
    this.draw();
    const order = this.sort ? `${this.sort.column}${this.sort.down ? "d" : "u"}` : "-";
    const value = `${order}${this.all ? "a" : ""} ${this.filter.value}`.trim();
    if (this.key) setPart(this.key, value === "-" ? "" : value);
  }

  private restore(value: string): void {
    const [, column, side, all, words] = /^(?:(\d+)([du])|-)?(a?) ?(.*)$/.exec(value) ?? [];
    this.sort = column && Number(column) < this.columns.length ? { column: Number(column), down: side === "d" } : null;
    this.all = Boolean(all);
    this.filter.value = words ?? "";
    this.draw();
  }

  // The rows that the filter leaves, in their order, with the members of those that are open.
  private save(): void {
    const kept = this.columns.flatMap(([title, kind], i) => (title && kind !== "bar" ? [i] : []));
    const cells = (row: HTMLTableRowElement): string => csvRow(kept.map((i) => (row.cells[i] ? textOf(row.cells[i]).trim() : "")));
    const lines = [csvRow(kept.map((i) => this.heads[i].textContent ?? ""))];
    for (const i of this.matching()) {
      const { row, members } = this.made[i] ?? this.make(i);
      const open = row.querySelector(".fold")?.getAttribute("aria-expanded") === "true";
      lines.push(cells(row), ...(open ? members.map(cells) : []));
    }
    download(fileName(this.caption, "csv"), new Blob(lines, { type: "text/csv;charset=utf-8" }));
  }
}

const keys = new Map<string, number>();

// A name for the address; tables of panels that come and go have none.
function keyOf(caption: string): string {
  const stem = caption.toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 40);
  const n = (keys.get(stem) ?? 0) + 1;
  keys.set(stem, n);
  return n > 1 ? `${stem}.${n}` : stem;
}

// The first rows, and a button for the rest.
export function longTable(caption: string, columns: Column[], rows: Row[], shown: number, rest = (all: number): Node | string => `Show all ${count(all)}`): HTMLElement {
  return new Table(caption, columns, rows, shown, rest, keyOf(caption)).element;
}

export const table = (caption: string, columns: Column[], rows: Row[]): HTMLElement => longTable(caption, columns, rows, Infinity);

// Of a panel that shows now this, now that.
export const passingTable = (caption: string, columns: Column[], rows: Row[]): HTMLElement => new Table(caption, columns, rows, Infinity, () => "", "").element;
