// SPDX-License-Identifier: Apache-2.0
// A list of any length of which only the rows in view exist. Browsers cap the height of an element, so beyond that cap one pixel of the
// scroll bar stands for more than one pixel of rows.
import { h } from "./dom.js";

const TALLEST = 8_000_000;
const BELOW = 20; // pixels under the last row, for a scroll bar that runs sideways

export class VirtualList {
  readonly element: HTMLElement;
  private readonly spacer = h("div", { class: "virtual-spacer" });
  private readonly window = h("div", { class: "virtual-window", role: "presentation" });
  private n = 0;
  private pool: HTMLElement[] = [];
  private first = 0;

  constructor(
    private readonly rowHeight: number,
    private readonly makeRow: () => HTMLElement,
    private readonly fill: (row: HTMLElement, i: number) => void,
    attributes: Record<string, string | number>,
  ) {
    this.element = h("div", { class: "virtual", ...attributes }, this.spacer, this.window);
    this.element.addEventListener("scroll", () => this.draw(), { passive: true });
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  setCount(n: number): void {
    this.n = n;
    this.element.style.height = `${n * this.rowHeight + BELOW}px`; // the style sheet has the most there can be
    this.spacer.style.height = `${Math.min(TALLEST, n * this.rowHeight)}px`;
    this.draw(true);
  }

  private get rows(): number {
    return Math.max(1, Math.ceil(this.element.clientHeight / this.rowHeight) + 1);
  }

  private get scaled(): boolean {
    return this.n * this.rowHeight > TALLEST;
  }

  draw(refill = false): void {
    const rows = Math.min(this.rows, this.n);
    while (this.pool.length < rows) {
      const row = this.makeRow();
      row.style.height = `${this.rowHeight}px`;
      this.pool.push(row);
      this.window.appendChild(row);
      refill = true;
    }
    const { scrollTop, clientHeight } = this.element;
    let first: number;
    if (this.scaled) {
      const most = Math.max(1, TALLEST - clientHeight);
      first = Math.round((scrollTop / most) * (this.n - Math.floor(clientHeight / this.rowHeight)));
    } else {
      first = Math.floor(scrollTop / this.rowHeight);
    }
    first = Math.max(0, Math.min(first, this.n - 1));
    this.window.style.transform = `translateY(${this.scaled ? scrollTop : first * this.rowHeight}px)`;
    if (first === this.first && !refill) return;
    this.first = first;
    this.pool.forEach((row, k) => {
      const i = first + k;
      row.hidden = i >= this.n || k >= rows;
      if (!row.hidden) this.fill(row, i);
    });
  }

  scrollTo(i: number): void {
    const visible = Math.floor(this.element.clientHeight / this.rowHeight);
    if (i >= this.first && i < this.first + visible - 1 && this.pool.length) return this.draw(true);
    const want = Math.max(0, i - Math.floor(visible / 3));
    if (this.scaled) this.element.scrollTop = (want / (this.n - visible)) * (TALLEST - this.element.clientHeight);
    else this.element.scrollTop = want * this.rowHeight;
    this.draw(true);
  }
}
