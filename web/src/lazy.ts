// SPDX-License-Identifier: Apache-2.0
// Parts of the page that follow the cursor: drawn once at the start, then when they are on the screen, or when they come there; before a print all
// of them.
export class Lazy {
  private isStale = true;
  private isSeen = false;

  constructor(
    private readonly element: HTMLElement,
    private readonly draw: () => void,
  ) {}

  start(): void {
    this.freshen(true);
    new IntersectionObserver(
      (entries) => {
        this.isSeen = entries[entries.length - 1].isIntersecting;
        this.freshen();
      },
      { rootMargin: "300px" },
    ).observe(this.element);
    window.addEventListener("beforeprint", () => this.freshen(true));
  }

  private freshen(always = false): void {
    if (!this.isStale || !(this.isSeen || always)) return;
    this.isStale = false;
    this.draw();
  }

  stale(): void {
    this.isStale = true;
    this.freshen();
  }
}
