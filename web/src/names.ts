// SPDX-License-Identifier: Apache-2.0
// Names of operations by their index: the columns that nearly every part of the page needs, loaded together.
import type { Strings } from "./data.js";
import { shape } from "./format.js";
import type { Detail, Frames, Model, Operations, Texts, Type } from "./model.js";

export interface Names {
  ops: Operations;
  texts: Texts;
  labels: Strings;
  frames: Frames;
  types: Type[];
  details: Detail[];
  places: { element: Int32Array; place: Uint8Array };
}

export async function loadNames(model: Model): Promise<Names> {
  const [ops, texts, labels, frames, types, details, places] = await Promise.all([model.operations(), model.texts(), model.labels(), model.frames(), model.types(), model.details(), model.places()]);
  return { ops, texts, labels, frames, types, details, places };
}

export const nameOf = (n: Names, op: number): string => n.labels.get(n.texts.name[n.ops.text[op]]);
export const locationOf = (n: Names, op: number): string => n.labels.get(n.texts.location[n.ops.text[op]]);

// "32×4096 bf16", or the text of what is no tensor.
function shapeOf(type: Type): string {
  return type.layout ? `${shape(type.layout.logical_shape)} ${type.layout.dtype}` : type.text;
}

export const outputsOf = (n: Names, op: number): string[] => n.texts.outputs[n.ops.text[op]].map((t) => shapeOf(n.types[t]));

export function programOf(n: Names, op: number): string {
  const frame = n.ops.frame[op];
  return frame < 0 ? "" : n.labels.get(n.frames.name[frame]);
}

export const runOf = (n: Names, op: number): number => (n.ops.frame[op] < 0 ? -1 : n.frames.run[n.ops.frame[op]]);

// The compiled graph an operation belongs to, that of the program around all others; -1 when no dump fits.
export function graphOf(n: Names, op: number): number {
  let frame = n.ops.frame[op];
  if (frame < 0) return -1;
  while (n.frames.parent[frame] >= 0) frame = n.frames.parent[frame];
  return n.frames.graph[frame];
}

export function describe(n: Names, op: number): { name: string; location: string; inputs: string[]; outputs: string[] } {
  return { name: nameOf(n, op), location: locationOf(n, op), inputs: n.details[n.ops.text[op]].inputs.map((t) => shapeOf(n.types[t])), outputs: outputsOf(n, op) };
}

// A value of an operation as printed: "%12", "%arg3", or a text.
export function valueText(words: Strings, value: number): string {
  const rest = Math.floor(value / 4);
  return value % 4 === 1 ? `%${rest}` : value % 4 === 2 ? `%arg${rest}` : words.get(rest);
}
