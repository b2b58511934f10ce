// SPDX-License-Identifier: Apache-2.0
// Tables as CSV (RFC 4180), for spreadsheets that would run a text as a formula.
import { visible } from "./dom.js";

const NUMBER = /^[+-]?\d+(\.\d+)?$/;

// "1,023.0" and "−0.5" as numbers. A text that a spreadsheet would take for a formula, also behind spaces or in wide letters, gets an
// apostrophe: names come from the log.
function field(text: string): string {
  const plain = text.replace(/^−/, "-").replace(/^\+(?=\d)/, "").replace(/(?<=\d),(?=\d{3})/g, "");
  if (NUMBER.test(plain)) return plain;
  const safe = /^\s*[=+\-@|%＝＋－＠−]/u.test(text) ? `'${visible(text)}` : visible(text);
  return /[",\r\n;\t']/.test(safe) || safe !== safe.trim() ? `"${safe.replace(/"/g, '""')}"` : safe;
}

export const csvRow = (cells: string[]): string => `${cells.map(field).join(",")}\r\n`;
