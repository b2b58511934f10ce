// SPDX-License-Identifier: Apache-2.0
// Looks for a word in many texts at once: they stand in one string, which the browser searches at the speed of memory.
import type { Strings } from "./data.js";

export class TextIndex {
  private readonly text: string;
  private readonly ends: Uint32Array; // by id; text 0 is empty

  constructor(strings: Strings) {
    ({ text: this.text, ends: this.ends } = strings.lower());
  }

  get size(): number {
    return this.ends.length;
  }

  // In lower case.
  get(id: number): string {
    return id > 0 ? this.text.slice(this.ends[id - 1], this.ends[id]) : "";
  }

  // Calls `take` with the ids of the texts that hold a word, in ascending order, as long as it says so.
  private each(word: string, take: (id: number) => boolean): void {
    let id = 1;
    for (let at = word ? this.text.indexOf(word) : -1; at >= 0; ) {
      while (id + 64 < this.size && this.ends[id + 64] <= at) id += 64;
      while (this.ends[id] <= at) id++;
      const inside = at + word.length <= this.ends[id]; // else it runs over the end of one text into the next
      if (inside && !take(id)) return;
      at = this.text.indexOf(word, inside ? this.ends[id] : at + 1);
    }
  }

  find(word: string, most: number): number[] {
    const found: number[] = [];
    this.each(word, (id) => found.push(id) < most);
    return found;
  }

  // By id: 1 where the text holds the word. Null when none does.
  flags(word: string): Uint8Array | null {
    const flags = new Uint8Array(this.size);
    let any = false;
    this.each(word, (id) => (any = Boolean((flags[id] = 1))));
    return any ? flags : null;
  }
}
