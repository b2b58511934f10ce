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

  // The ids of the texts that hold a word, in ascending order, up to `most`.
  find(word: string, most = Infinity): number[] {
    const found: number[] = [];
    let id = 1;
    for (let at = this.text.indexOf(word); at >= 0 && found.length < most && word; ) {
      while (this.ends[Math.min(id + 64, this.size - 1)] <= at && id + 64 < this.size) id += 64;
      while (this.ends[id] <= at) id++;
      const inside = at + word.length <= this.ends[id]; // else it runs over the end of one text into the next
      if (inside) found.push(id);
      at = this.text.indexOf(word, inside ? this.ends[id] : at + 1);
    }
    return found;
  }

  // By id: 1 where the text holds the word. Null when none does.
  flags(word: string): Uint8Array | null {
    const found = this.find(word);
    if (!found.length) return null;
    const flags = new Uint8Array(this.size);
    for (const id of found) flags[id] = 1;
    return flags;
  }
}
