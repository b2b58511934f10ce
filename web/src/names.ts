// SPDX-License-Identifier: Apache-2.0
// Names of operations by their index: the columns that nearly every part of the page needs, loaded together.
import type { Strings } from "./data.js";
import { shape } from "./format.js";
import type { Detail, Calls, Model, Operations, Texts, Type } from "./model.js";

export interface Names {
  ops: Operations;
  texts: Texts;
  labels: Strings;
  calls: Calls;
  types: Type[];
  details: Detail[];
  places: { element: Int32Array; place: Uint8Array };
}

export async function loadNames(model: Model): Promise<Names> {
  const [ops, texts, labels, calls, types, details, places] = await Promise.all([model.operations(), model.texts(), model.labels(), model.calls(), model.types(), model.details(), model.places()]);
  return { ops, texts, labels, calls, types, details, places };
}

export const nameOf = (n: Names, op: number): string => n.labels.get(n.texts.name[n.ops.text[op]]);
// As the module text has it; what an operation is called is its place.
export const locationOf = (n: Names, op: number): string => n.labels.get(n.texts.location[n.ops.text[op]]);

export const placeOf = (n: Names, op: number): string => (n.ops.weight[op] ? n.labels.get(n.ops.weight[op]) : locationOf(n, op));

// "32×4096 bf16", or the text of what is no tensor.
export function shapeOf(type: Type): string {
  return type.layout ? `${shape(type.layout.logical_shape)} ${type.layout.dtype}` : type.text;
}

export const outputsOf = (n: Names, op: number): string[] => n.texts.outputs[n.ops.text[op]].map((t) => shapeOf(n.types[t]));

export function programOf(n: Names, op: number): string {
  const call = n.ops.call[op];
  return call < 0 ? "" : n.labels.get(n.calls.name[call]);
}

export const runOf = (n: Names, op: number): number => (n.ops.call[op] < 0 ? -1 : n.calls.run[n.ops.call[op]]);

// The compiled graph an operation belongs to, that of the program around all others; -1 when no dump fits.
export function graphOf(n: Names, op: number): number {
  let call = n.ops.call[op];
  if (call < 0) return -1;
  while (n.calls.parent[call] >= 0) call = n.calls.parent[call];
  return n.calls.graph[call];
}

export function describe(n: Names, op: number): { name: string; place: string; inputs: string[]; outputs: string[] } {
  return { name: nameOf(n, op), place: placeOf(n, op), inputs: n.details[n.ops.text[op]].inputs.map((t) => shapeOf(n.types[t])), outputs: outputsOf(n, op) };
}

// A value of an operation as printed: "%12", "%arg3", or a text.
export function valueText(words: Strings, value: number): string {
  const rest = Math.floor(value / 4);
  return value % 4 === 1 ? `%${rest}` : value % 4 === 2 ? `%arg${rest}` : words.get(rest);
}
