// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them. MB is 1024 * 1024 bytes, as in the logs; memory figures are 0.001 MB per bank inside.

const three = new Intl.NumberFormat("en-US", { maximumFractionDigits: 3 });
const fixed = new Intl.NumberFormat("en-US", { minimumFractionDigits: 3, maximumFractionDigits: 3 });
const one = new Intl.NumberFormat("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

export const count = (n: number): string => whole.format(n);
export const number = (n: number): string => three.format(n);

// 969432 -> "969.432"
export const milli = (thousandths: number): string => three.format(thousandths / 1000);
export const mb = (megabytes: number): string => `${three.format(megabytes)} MB`;
// In columns the decimals stand below each other.
export const column = (megabytes: number): string => fixed.format(megabytes);
// A figure of the log, which prints thousandths of a MB: smaller units would show digits that nobody measured.
export const measured = (megabytes: number): string => (megabytes < 1 ? mb(megabytes) : bytes(megabytes * 1048576));

export function signed(thousandths: number): string {
  if (thousandths === 0) return "0";
  return `${thousandths > 0 ? "+" : "−"}${column(Math.abs(thousandths) / 1000)}`;
}

export function bytes(n: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let unit = 0;
  let value = n;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  if (unit === 0) return `${whole.format(n)} B`;
  return `${value >= 100 ? value.toFixed(1) : value.toFixed(2)} ${units[unit]}`;
}

export function percent(part: number, all: number): string {
  if (all <= 0) return "0 %";
  const value = (part / all) * 100;
  return `${value >= 10 || value === 0 ? one.format(value) : value < 0.005 ? "< 0.01" : value.toFixed(2)} %`;
}

// "1 run", "2 runs"
export const counted = (n: number, noun: string, several = `${noun}s`): string => `${count(n)} ${n === 1 ? noun : several}`;

export const shape = (dims: readonly number[]): string => (dims.length ? dims.join("×") : "scalar");
// "32x4096" of the JSON files
export const shapeText = (text: string | null): string => (text ?? "scalar").replace(/x/g, "×");

// "/home/me/models/block.py:16" -> "block.py:16": where the room is short, its end tells most.
export const shortPlace = (location: string): string => /^\/.*\/([^/]+)$/.exec(location)?.[1] ?? location;

// A line of the log; reports of the Python tool do not tell.
export const logLine = (line: number): string => (line > 0 ? `log line ${count(line)}` : "log line not known");
