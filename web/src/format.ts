// SPDX-License-Identifier: Apache-2.0
// Numbers as every surface of ttmem has them (src/base/format.c). MB is 1024 * 1024 bytes, as in the logs.

const MB = 1048576;
// Halves go to the even digit, as printf has them; ES2023, older browsers round them up.
const even = { roundingMode: "halfEven" } as Intl.NumberFormatOptions;
const decimals = [0, 1, 2, 3].map((n) => new Intl.NumberFormat("en-US", { minimumFractionDigits: n, maximumFractionDigits: n, ...even }));
const thousands = new Intl.NumberFormat("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const short = new Intl.NumberFormat("en-US", { maximumFractionDigits: 3 });

export const count = (n: number): string => decimals[0].format(n);
// Of an axis: no more decimals than it needs.
export const number = (n: number): string => short.format(n);

// "1,023.0", "12.25", "0.512": never finer than the log, 0.001 MB.
export function mb(megabytes: number): string {
  const size = Math.abs(megabytes);
  if (size === 0) return "0";
  if (size >= 999.95) return thousands.format(megabytes);
  return decimals[size >= 99.995 ? 1 : size >= 0.9995 ? 2 : 3].format(megabytes);
}

export const signed = (megabytes: number): string => (megabytes === 0 ? "0" : `${megabytes > 0 ? "+" : "−"}${mb(Math.abs(megabytes))}`);

export function bytes(n: number): string {
  if (n >= MB) return n >= 10 * 1024 * MB ? `${mb(n / MB / 1024)} GB` : `${mb(n / MB)} MB`;
  return n >= 1024 ? `${decimals[1].format(n / 1024)} KB` : `${count(n)} B`;
}

// "11.5 of 12.0 GB"
export function pair(part: number, whole: number): string {
  const [unit, name] = whole >= 1024 * MB ? [1024 * MB, "GB"] : whole >= MB ? [MB, "MB"] : [1024, "KB"];
  return `${decimals[1].format(part / unit)} of ${decimals[1].format(whole / unit)} ${name}`;
}

export const percent = (part: number, all: number): string => `${decimals[1].format(all > 0 ? (part / all) * 100 : 0)} %`;

// "1 run", "2 runs"
export const counted = (n: number, noun: string, several = `${noun}s`): string => `${count(n)} ${n === 1 ? noun : several}`;

export const shape = (dims: readonly number[]): string => (dims.length ? dims.join("×") : "scalar");
// "32x4096" of the JSON files
export const shapeText = (text: string | null): string => (text ?? "scalar").replace(/x/g, "×");

// "/home/me/models/block.py:16" -> "block.py:16": where the room is short, its end tells most.
export const shortPlace = (location: string): string => /^\/.*\/([^/]+)$/.exec(location)?.[1] ?? location;
