// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them. MB is 1024 * 1024 bytes, as in the logs; memory figures are 0.001 MB per bank inside.

const three = new Intl.NumberFormat("en-US", { maximumFractionDigits: 3 });
const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

export const count = (n: number): string => whole.format(n);
export const number = (n: number): string => three.format(n);

// 969432 -> "969.432"
export const milli = (thousandths: number): string => three.format(thousandths / 1000);
export const mb = (megabytes: number): string => `${three.format(megabytes)} MB`;

export function signed(thousandths: number): string {
  if (thousandths === 0) return "0";
  return `${thousandths > 0 ? "+" : "−"}${milli(Math.abs(thousandths))}`;
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
  return `${value >= 10 || value === 0 ? value.toFixed(1) : value.toFixed(2)} %`;
}

// "1 run", "2 runs"
export const counted = (n: number, noun: string): string => `${count(n)} ${noun}${n === 1 ? "" : "s"}`;

export const shape = (dims: readonly number[]): string => (dims.length ? dims.join("×") : "scalar");

// A line of the log; reports of the Python tool do not tell.
export const logLine = (line: number): string => (line > 0 ? `log line ${count(line)}` : "log line not known");
