// SPDX-License-Identifier: Apache-2.0
// Elements without markup: whatever a log says only ever becomes the text of a node.

type Child = Node | string | number | null | undefined | false;
type Attributes = Record<string, string | number | boolean | undefined | ((event: never) => void)>;

// Attributes that are functions become listeners ("click"), booleans set or leave out the attribute.
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value as EventListener);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== undefined && value !== false) element.setAttribute(name, name === "title" || name === "aria-label" ? visible(String(value)) : String(value));
  }
  add(element, ...children);
  return element;
}

export function add(parent: Node, ...children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    parent.appendChild(child instanceof Node ? child : document.createTextNode(visible(String(child))));
  }
}

export function replace(parent: Element, ...children: Child[]): void {
  parent.textContent = "";
  add(parent, ...children);
}

// A long text is shown in part, with a button for the rest: one attribute can be a megabyte.
export function longText(text: string, limit = 2000): HTMLElement {
  const box = h("span", { class: "mono break" }, visible(text.slice(0, limit)));
  if (text.length <= limit) return box;
  const button = h("button", { type: "button", class: "link", click: () => replace(box, visible(text)) }, `… show all ${text.length.toLocaleString("en-US")} characters`);
  add(box, " ", button);
  return box;
}

// A text that is too long loses its middle: both ends tell most of a name.
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return visible(text);
  return visible(`${text.slice(0, Math.ceil(limit / 2) - 1)}…${text.slice(-Math.floor(limit / 2))}`);
}

// Control characters, direction marks, tags, variation selectors and all else without a width would hide or reorder what stands around them. So would
// an accent without a letter before it.
const hidden = /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u{2800}\u{1D159}]|(?<=^| )[\p{Mn}\p{Me}]/gu;
export function visible(text: string): string {
  return text.replace(hidden, (c) => {
    const code = c.codePointAt(0) ?? 0;
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : code < 0x10000 ? `\\u${code.toString(16).padStart(4, "0")}` : `\\U${code.toString(16).padStart(8, "0")}`;
  });
}

// Starts a page; when that fails, says so where it would have been, and how to have the same as text.
export function run(start: () => Promise<void>, command: string): void {
  start().catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    replace(document.getElementById("app")!, h("div", { class: "broken", role: "alert" }, h("h1", {}, "This report cannot be shown"), h("p", {}, why), h("p", {}, `The page needs a browser of 2023 or newer. The same report as text: ${command}`)));
    throw error;
  });
}
