// SPDX-License-Identifier: Apache-2.0
// A picture that becomes SVG: takes the calls of a canvas, so that one function draws a chart on the screen and into a file.
import { visible } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";

// What a drawing function may use; a CanvasRenderingContext2D has all of it.
export interface Surface {
  fillStyle: string | CanvasGradient | CanvasPattern;
  strokeStyle: string | CanvasGradient | CanvasPattern;
  lineWidth: number;
  globalAlpha: number;
  font: string;
  textAlign: CanvasTextAlign;
  textBaseline: CanvasTextBaseline;
  save(): void;
  restore(): void;
  beginPath(): void;
  closePath(): void;
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
  rect(x: number, y: number, w: number, h: number): void;
  arc(x: number, y: number, radius: number, from: number, to: number): void;
  fill(): void;
  stroke(): void;
  clip(): void;
  fillRect(x: number, y: number, w: number, h: number): void;
  strokeRect(x: number, y: number, w: number, h: number): void;
  clearRect(x: number, y: number, w: number, h: number): void;
  drawImage(image: HTMLCanvasElement, x: number, y: number, w: number, h: number): void;
  fillText(text: string, x: number, y: number): void;
  measureText(text: string): TextMetrics;
  setLineDash(dash: number[]): void;
  translate(x: number, y: number): void;
  scale(x: number, y: number): void;
  rotate(angle: number): void;
  setTransform(a: number, b: number, c: number, d: number, e: number, f: number): void;
}

const round = (n: number): number => Math.round(n * 100) / 100;
// Programs other than browsers know no color().
const plain = (color: string): string => color.replace(/^color\(srgb ([\d.e-]+) ([\d.e-]+) ([\d.e-]+)(?: \/ ([\d.]+))?\)$/, (_all, r, g, b, a) => `rgba(${[r, g, b].map((part) => Math.round(Number(part) * 255)).join(",")},${a ?? 1})`);

const ruler = document.createElement("canvas").getContext("2d")!;

export function svgElement(tag: string, attributes: Record<string, string | number>): SVGElement {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, typeof value === "number" ? String(round(value)) : value);
  return element;
}

type State = Pick<Surface, "fillStyle" | "strokeStyle" | "lineWidth" | "globalAlpha" | "font" | "textAlign" | "textBaseline"> & { dash: number[]; matrix: DOMMatrix; group: SVGElement };

export class SvgSurface implements Surface {
  readonly root: SVGElement;
  fillStyle: Surface["fillStyle"] = "#000";
  strokeStyle: Surface["strokeStyle"] = "#000";
  lineWidth = 1;
  globalAlpha = 1;
  font = "10px sans-serif";
  textAlign: CanvasTextAlign = "left";
  textBaseline: CanvasTextBaseline = "alphabetic";
  private readonly defs = svgElement("defs", {});
  private readonly states: State[] = [];
  private dash: number[] = [];
  private matrix = new DOMMatrix();
  private base = new DOMMatrix(); // what setTransform starts from
  private group: SVGElement;
  private path = "";
  private made = 0; // of defs

  constructor(width: number, height: number) {
    this.root = svgElement("svg", { width, height, viewBox: `0 0 ${Math.ceil(width)} ${Math.ceil(height)}` });
    this.root.append(this.defs);
    this.group = this.root;
  }

  // ---- State ------------------------------------------------------------------------------------------------------

  save(): void {
    const { fillStyle, strokeStyle, lineWidth, globalAlpha, font, textAlign, textBaseline, dash, matrix, group } = this;
    this.states.push({ fillStyle, strokeStyle, lineWidth, globalAlpha, font, textAlign, textBaseline, dash, matrix, group });
  }

  restore(): void {
    Object.assign(this, this.states.pop());
  }

  translate(x: number, y: number): void {
    this.matrix = this.matrix.translate(x, y);
  }

  scale(x: number, y: number): void {
    this.matrix = this.matrix.scale(x, y);
  }

  rotate(angle: number): void {
    this.matrix = this.matrix.rotate((angle * 180) / Math.PI);
  }

  setTransform(a: number, b: number, c: number, d: number, e: number, f: number): void {
    this.matrix = this.base.multiply(new DOMMatrix([a, b, c, d, e, f]));
  }

  setLineDash(dash: number[]): void {
    this.dash = dash;
  }

  // Draws what thinks that it has a canvas of its own, of `width` by `height` pixels, into a box of this picture.
  within(box: DOMRect, width: number, height: number, draw: (surface: Surface) => void): void {
    const outer = this.base;
    this.save();
    this.translate(box.x, box.y);
    this.scale(box.width / width, box.height / height);
    this.base = this.matrix;
    this.beginPath();
    this.rect(0, 0, width, height);
    this.clip();
    draw(this);
    this.restore();
    this.base = outer;
  }

  // ---- Shapes -----------------------------------------------------------------------------------------------------

  beginPath(): void {
    this.path = "";
  }

  closePath(): void {
    this.path += "Z";
  }

  moveTo(x: number, y: number): void {
    this.path += `M${round(x)} ${round(y)}`;
  }

  lineTo(x: number, y: number): void {
    this.path += `${this.path ? "L" : "M"}${round(x)} ${round(y)}`;
  }

  rect(x: number, y: number, w: number, h: number): void {
    this.path += `M${round(x)} ${round(y)}h${round(w)}v${round(h)}h${round(-w)}Z`;
  }

  arc(x: number, y: number, radius: number, from: number, to: number): void {
    const middle = (from + to) / 2; // two halves: one arc of a whole circle is nothing
    const at = (angle: number): string => `${round(x + radius * Math.cos(angle))} ${round(y + radius * Math.sin(angle))}`;
    this.path += `${this.path ? "L" : "M"}${at(from)}A${radius} ${radius} 0 0 1 ${at(middle)}A${radius} ${radius} 0 0 1 ${at(to)}`;
  }

  fill(): void {
    this.add("path", { d: this.path, fill: this.ink(this.fillStyle) });
  }

  stroke(): void {
    this.add("path", { d: this.path, ...this.line() });
  }

  clip(): void {
    const id = `clip${++this.made}`;
    const shape = svgElement("path", { d: this.path, ...this.transform() });
    const clip = svgElement("clipPath", { id });
    clip.append(shape);
    this.defs.append(clip);
    const group = svgElement("g", { "clip-path": `url(#${id})` });
    this.group.append(group);
    this.group = group;
  }

  fillRect(x: number, y: number, width: number, height: number, rx = 0): void {
    if (width < 0) [x, width] = [x + width, -width];
    if (height < 0) [y, height] = [y + height, -height];
    if (width && height) this.add("rect", { x, y, width, height, fill: this.ink(this.fillStyle), ...(rx ? { rx } : {}) });
  }

  strokeRect(x: number, y: number, width: number, height: number, rx = 0): void {
    this.add("rect", { x, y, width, height, ...this.line(), ...(rx ? { rx } : {}) });
  }

  drawImage(image: HTMLCanvasElement, x: number, y: number, width: number, height: number): void {
    this.add("image", { x, y, width, height, href: image.toDataURL() });
  }

  clearRect(): void {
    // Nothing was drawn before.
  }

  fillText(text: string, x: number, y: number): void {
    const [, style, size, family] = /^(.*?)([\d.]+)px (.+)$/.exec(this.font) ?? ["", "", "10", "sans-serif"];
    const { fontBoundingBoxAscent: up, fontBoundingBoxDescent: down } = this.measureText(text);
    const shift = this.textBaseline === "top" ? up : this.textBaseline === "bottom" ? -down : this.textBaseline === "middle" ? (up - down) / 2 : 0;
    const anchor = this.textAlign === "center" ? "middle" : this.textAlign === "right" || this.textAlign === "end" ? "end" : "start";
    const weight = /bold|\d{3}/.exec(style)?.[0];
    const element = this.add("text", { x, y: y + shift, fill: this.ink(this.fillStyle), "font-size": size, "font-family": family, "text-anchor": anchor, "xml:space": "preserve", ...(weight ? { "font-weight": weight } : {}) });
    element.textContent = visible(text);
  }

  measureText(text: string): TextMetrics {
    ruler.font = this.font;
    return ruler.measureText(text);
  }

  // Stripes that repeat along a line: [where, colour] with the last where as the length.
  stripes(from: [number, number], to: [number, number], stops: [number, string][]): void {
    const id = `stripes${++this.made}`;
    const gradient = svgElement("linearGradient", { id, gradientUnits: "userSpaceOnUse", spreadMethod: "repeat", x1: from[0], y1: from[1], x2: to[0], y2: to[1] });
    for (const [offset, color] of stops) gradient.append(svgElement("stop", { offset, "stop-color": plain(color) }));
    this.defs.append(gradient);
    this.fillStyle = `url(#${id})`;
  }

  private ink(style: Surface["fillStyle"]): string {
    return typeof style === "string" ? plain(style) : "#808080";
  }

  private line(): Record<string, string | number> {
    return { fill: "none", stroke: this.ink(this.strokeStyle), "stroke-width": this.lineWidth, ...(this.dash.length ? { "stroke-dasharray": this.dash.join(" ") } : {}) };
  }

  private transform(): Record<string, string> {
    const { a, b, c, d, e, f, isIdentity } = this.matrix;
    return isIdentity ? {} : { transform: `matrix(${[a, b, c, d, e, f].map((n) => Math.round(n * 1e4) / 1e4).join(" ")})` };
  }

  add(tag: string, attributes: Record<string, string | number>): SVGElement {
    const element = svgElement(tag, { ...attributes, ...this.transform(), ...(this.globalAlpha < 1 ? { opacity: this.globalAlpha } : {}) });
    this.group.append(element);
    return element;
  }
}
