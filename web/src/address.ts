// SPDX-License-Identifier: Apache-2.0
// What the address says about one part of the page: the order of a table, a line of the IR. The view has what is of the whole page.

const parts = new Map<string, string>(); // by name, which is "t.…" in the address
const readers = new Map<string, (value: string) => void>();
const writer = { write: (): void => undefined };

// Reads what the address says now, and again whenever somebody changes it by hand.
export function onPart(name: string, read: (value: string) => void): void {
  readers.set(name, read);
  if (parts.has(name)) read(parts.get(name)!);
}

export function setPart(name: string, value: string): void {
  if ((parts.get(name) ?? "") === value) return;
  if (value) parts.set(name, value);
  else parts.delete(name);
  writer.write();
}

export function whenSet(write: () => void): void {
  writer.write = write;
}

export function addParts(words: URLSearchParams): URLSearchParams {
  for (const [name, value] of parts) words.set(`t.${name}`, value);
  return words;
}

export function readParts(words: URLSearchParams): void {
  const before = [...parts.keys()];
  parts.clear();
  for (const [name, value] of words) if (name.startsWith("t.")) parts.set(name.slice(2), value);
  for (const name of new Set([...before, ...parts.keys()])) readers.get(name)?.(parts.get(name) ?? "");
}
