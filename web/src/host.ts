// SPDX-License-Identifier: Apache-2.0
// Memory of the host over the run, beside that of the board.
import type { App } from "./app.js";
import { add, h } from "./dom.js";
import { bytes } from "./format.js";
import { saved } from "./save.js";

const BARS = 96;

// Resident bytes as bars, the highest of each stretch.
export function hostTimeline(app: App): HTMLElement | null {
  const host = app.model.findings.recording?.host;
  if (!host || host.timeline.length < 2) return null;
  const step = Math.ceil(host.timeline.length / BARS);
  const words = `Resident memory of the program's processes on this machine, from left to right over the run: ${bytes(host.timeline[0][1])} → ${bytes(host.last_B)}, peak ${bytes(host.peak_B)}`;
  const box = h("div", { class: "spark", role: "img", "aria-label": words });
  for (let i = 0; i < host.timeline.length; i += step) {
    const [op, size] = host.timeline.slice(i, i + step).reduce((best, one) => (one[1] > best[1] ? one : best));
    const bar = h("span", { title: op === null ? bytes(size) : `${bytes(size)}, #${op}` });
    bar.style.height = `${Math.max(2, (size / host.peak_B) * 100)}%`;
    add(box, bar);
  }
  return saved(app, h("figure", { class: "spark-box" }, box, h("figcaption", { class: "muted" }, words)), "Host memory");
}
