// SPDX-License-Identifier: Apache-2.0
// Any chart as a file, in the colours it is shown in.
//
//   const figure = h("div", {}, canvas, legend);                 // all that belongs in the picture
//   add(head, saveButtons(app, figure, () => "Block map · DRAM")); // "SVG" and "PNG"
//   drawnBy(canvas, (surface) => this.draw(surface));             // the function that draws the canvas, in its own pixels
//
// The picture is what `figure` shows under its title: boxes, borders, stripes and texts of elements, inline SVG, and each canvas drawn
// again, so that it is sharp at any size (one without `drawnBy` becomes an image). Elements of class "unsaved" are left out.
import { h } from "./dom.js";
import { SvgSurface, svgElement, type Surface } from "./surface.js";

// What the picture is of.
export interface Named {
  readonly model: { readonly facts: { readonly name: string } };
}

const MARGIN = 16;
const HEAD = 46; // title, and the report below it
const LEFT_OUT = ".unsaved, .tip, .hint, .visually-hidden, .u-over, button.small, input, select";

const drawers = new WeakMap<HTMLCanvasElement, (surface: Surface) => void>();
export const drawnBy = (canvas: HTMLCanvasElement, draw: (surface: Surface) => void): unknown => drawers.set(canvas, draw);

// ---- From elements to a picture ---------------------------------------------------------------------------------------

const clear = (color: string): boolean => color === "transparent" || /^rgba\(.*, 0\)$/.test(color);

// "repeating-linear-gradient(135deg, rgb(1, 2, 3) 0px, rgb(1, 2, 3) 4px, …)": all there are in the style sheet.
function stripes(surface: SvgSurface, image: string, box: DOMRect): boolean {
  const angle = (Number(/^repeating-linear-gradient\(([\d.]+)deg/.exec(image)?.[1] ?? NaN) * Math.PI) / 180;
  const stops = [...image.matchAll(/((?:rgba?|color)\([^)]*\)|transparent) ([\d.]+)px/g)].map((m): [number, string] => [Number(m[2]), m[1]]);
  if (Number.isNaN(angle) || !stops.length) return false;
  const length = stops[stops.length - 1][0];
  surface.stripes([box.x, box.y], [box.x + Math.sin(angle) * length, box.y - Math.cos(angle) * length], stops.map(([at, color]) => [at / length, color]));
  return true;
}

function drawBox(surface: SvgSurface, style: CSSStyleDeclaration, box: DOMRect): void {
  const radius = Math.min(parseFloat(style.borderTopLeftRadius) || 0, box.height / 2);
  surface.fillStyle = style.backgroundColor;
  if (!clear(style.backgroundColor) || stripes(surface, style.backgroundImage, box)) surface.fillRect(box.x, box.y, box.width, box.height, radius);
  const sides = (["Top", "Right", "Bottom", "Left"] as const).map((side) => ({ width: parseFloat(style[`border${side}Width`]), color: style[`border${side}Color`], dashed: style[`border${side}Style`] === "dashed" }));
  const seen = sides.map((side) => side.width > 0 && !clear(side.color));
  const { x, y, right, bottom } = box;
  const ends: [number, number, number, number][] = [[x, y, right, y], [right, y, right, bottom], [x, bottom, right, bottom], [x, y, x, bottom]];
  sides.forEach(({ width, color, dashed }, i) => {
    if (!seen[i] || (seen.every(Boolean) && i > 0)) return;
    Object.assign(surface, { strokeStyle: color, lineWidth: width });
    surface.setLineDash(dashed ? [4, 3] : []);
    if (seen.every(Boolean)) return surface.strokeRect(x + width / 2, y + width / 2, box.width - width, box.height - width, radius);
    const [x0, y0, x1, y1] = ends[i];
    surface.beginPath();
    surface.moveTo(x0, y0);
    surface.lineTo(x1, y1);
    surface.stroke();
  });
}

// Line by line, as the browser broke it.
function drawText(surface: SvgSurface, node: Text, style: CSSStyleDeclaration, offset: DOMPoint): void {
  const range = document.createRange();
  let line: { words: string; box: DOMRect } | null = null;
  const flush = (): void => {
    if (line) surface.fillText(line.words, line.box.x + offset.x, line.box.y + line.box.height / 2 + offset.y);
  };
  Object.assign(surface, { fillStyle: style.color, font: `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`, textAlign: "left", textBaseline: "middle" });
  for (const match of node.data.matchAll(/\S+/g)) {
    range.setStart(node, match.index);
    range.setEnd(node, match.index + match[0].length);
    const box = range.getBoundingClientRect();
    if (line && Math.abs(line.box.y - box.y) < 2) line.words += ` ${match[0]}`;
    else {
      flush();
      line = { words: match[0], box };
    }
  }
  flush();
}

function drawSvg(surface: SvgSurface, element: SVGSVGElement, box: DOMRect): void {
  const copy = element.cloneNode(true) as SVGSVGElement;
  const originals = element.querySelectorAll("*");
  copy.querySelectorAll("*").forEach((own, i) => {
    const style = getComputedStyle(originals[i]);
    for (const name of ["fill", "stroke", "stroke-width", "font-size", "font-family", "opacity"]) own.setAttribute(name, style.getPropertyValue(name));
  });
  for (const name of ["x", "y", "width", "height"] as const) copy.setAttribute(name, String(box[name]));
  surface.add("g", {}).append(copy);
}

function drawCanvas(surface: SvgSurface, canvas: HTMLCanvasElement, box: DOMRect): void {
  const draw = drawers.get(canvas);
  if (draw) surface.within(box, canvas.width, canvas.height, draw);
  else surface.add("image", { x: box.x, y: box.y, width: box.width, height: box.height, href: canvas.toDataURL() });
}

function drawElement(surface: SvgSurface, element: Element, offset: DOMPoint): void {
  const style = getComputedStyle(element);
  if (element.matches(LEFT_OUT) || style.display === "none" || style.visibility === "hidden") return;
  const { x, y, width, height } = element.getBoundingClientRect();
  const box = new DOMRect(x + offset.x, y + offset.y, width, height);
  surface.save();
  surface.globalAlpha = Number(style.opacity) * surface.globalAlpha;
  if (style.display !== "contents") drawBox(surface, style, box);
  if (style.overflowX !== "visible" && width && height) {
    surface.beginPath();
    surface.rect(box.x, box.y, width, height);
    surface.clip();
  }
  if (element instanceof HTMLCanvasElement) drawCanvas(surface, element, box);
  else if (element instanceof SVGSVGElement) drawSvg(surface, element, box);
  else
    for (const child of element.childNodes) {
      if (child instanceof Text) drawText(surface, child, style, offset);
      else if (child instanceof Element) drawElement(surface, child, offset);
    }
  surface.restore();
}

// ---- From a picture to a file -----------------------------------------------------------------------------------------

function picture(app: Named, figure: Element, title: string): { svg: string; width: number; height: number } {
  const box = figure.getBoundingClientRect();
  const [width, height] = [Math.ceil(box.width) + 2 * MARGIN, Math.ceil(box.height) + 2 * MARGIN + HEAD];
  const surface = new SvgSurface(width, height);
  const colors = getComputedStyle(document.documentElement);
  const color = (name: string): string => colors.getPropertyValue(`--${name}`).trim();
  const family = getComputedStyle(document.body).fontFamily;
  surface.root.prepend(svgElement("title", {}));
  surface.root.firstChild!.textContent = title;
  surface.fillStyle = color("card");
  surface.fillRect(0, 0, width, height);
  Object.assign(surface, { font: `650 16px ${family}`, fillStyle: color("text") });
  surface.fillText(title, MARGIN, MARGIN + 14);
  Object.assign(surface, { font: `12px ${family}`, fillStyle: color("muted") });
  surface.fillText(app.model.facts.name, MARGIN, MARGIN + 32);
  drawElement(surface, figure, new DOMPoint(MARGIN - box.x, MARGIN + HEAD - box.y));
  return { svg: new XMLSerializer().serializeToString(surface.root), width, height };
}

export function download(file: string, content: Blob): void {
  const href = URL.createObjectURL(content);
  h("a", { href, download: file }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60000);
}

// "report_Memory-over-time.svg"
export const fileName = (title: string, kind: string): string => `${[document.title.replace(/ — memory report$/, ""), title].map((part) => part.replace(/[^\p{L}\p{N}.]+/gu, "-").replace(/^[-.]+|-$/g, "")).join("_").slice(0, 120)}.${kind}`;

// Twice the size of the screen's pixels: sharp in a slide.
async function raster(svg: string, width: number, height: number): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = h("canvas", { width: width * 2, height: height * 2 });
  canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, fail) => canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("this picture is too large"))), "image/png"));
}

async function saveChart(app: Named, figure: Element, title: string, kind: "svg" | "png"): Promise<void> {
  const { svg, width, height } = picture(app, figure, title);
  download(fileName(title, kind), kind === "svg" ? new Blob([svg], { type: "image/svg+xml" }) : await raster(svg, width, height));
}

export function saveButtons(app: Named, figure: Element, title: () => string): HTMLElement {
  const button = (kind: "svg" | "png"): HTMLElement => h("button", { type: "button", class: "small", "data-save": kind, "aria-label": `Save ${title()} as ${kind.toUpperCase()}`, click: () => void saveChart(app, figure, title(), kind) }, kind.toUpperCase());
  return h("span", { class: "save unsaved" }, button("svg"), button("png"));
}

export const saved = (app: Named, figure: HTMLElement, title: string): HTMLElement => h("div", { class: "saved" }, figure, saveButtons(app, figure, () => title));
