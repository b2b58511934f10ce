// SPDX-License-Identifier: Apache-2.0
// Tables. Repeated layers are one row, which opens to its members.
import { add, h, shorten } from "./dom.js";
import { count } from "./format.js";

export type Cell = Node | string | null | false;
export type Column = [title: Node | string, kind?: string]; // "num": on the right
interface Folded {
  name: string;
  cells: Cell[];
  places: number;
  members: () => Cell[][];
}
export type Row = Cell[] | Folded;

function line(columns: Column[], cells: Cell[], kind = ""): HTMLTableRowElement {
  const row = h("tr", { class: kind });
  cells.forEach((cell, i) => add(row, h("td", { class: columns[i][1] ?? "" }, cell)));
  return row;
}

// Opens and closes the rows below its own. They are made when first asked for: most never are.
function opener(columns: Column[], row: HTMLElement, folded: Folded): HTMLElement {
  let members: HTMLElement[] | null = null;
  const button = h("button", { type: "button", class: "fold", "aria-expanded": "false", "aria-label": `The ${count(folded.places)} of ${shorten(folded.name, 200)}` }, "▸");
  button.addEventListener("click", () => {
    const open = button.getAttribute("aria-expanded") !== "true";
    button.setAttribute("aria-expanded", String(open));
    if (!members) {
      members = folded.members().map((cells) => line(columns, cells, "member"));
      const more = folded.places - members.length;
      if (more > 0) members.push(h("tr", { class: "member" }, h("td", { colspan: columns.length, class: "muted" }, `and ${count(more)} more`)));
      row.after(...members);
    }
    for (const member of members) member.hidden = !open;
  });
  return button;
}

export function table(caption: string, columns: Column[], rows: Row[]): HTMLElement {
  const head = h("tr", {});
  for (const [title, kind] of columns) add(head, h("th", { scope: "col", class: kind ?? "" }, title));
  const body = h("tbody", {});
  const folds = rows.some((row) => !Array.isArray(row) && row.places > 1);
  for (const row of rows) {
    const own = line(columns, Array.isArray(row) ? row : row.cells);
    if (!Array.isArray(row) && row.places > 1) own.cells[0].prepend(opener(columns, own, row));
    add(body, own);
  }
  return h("div", { class: "scroll-x" }, h("table", { class: folds ? "folds" : "" }, h("caption", { class: "visually-hidden" }, caption), h("thead", {}, head), body));
}

// The first rows, and a button for the rest.
export function longTable(caption: string, columns: Column[], rows: Row[], shown: number): HTMLElement {
  const box = h("div", {}, table(caption, columns, rows.slice(0, shown)));
  if (rows.length > shown) add(box, h("button", { type: "button", class: "small more", click: () => box.replaceChildren(table(caption, columns, rows)) }, `Show all ${count(rows.length)}`));
  return box;
}
