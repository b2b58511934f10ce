// SPDX-License-Identifier: Apache-2.0
// What leaves the page as a file: every chart as SVG and PNG.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before, test } from "node:test";
import { generate, mb, report, withPage } from "./lib.mjs";

let r;
before(() => {
  r = report(generate("files.log", "--runs", "3", "--layers", "12", "--fail", "fragmented", "--fail-run", "2", "--binaries"));
});

async function saved(page, button) {
  const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
  return { name: download.suggestedFilename(), content: readFileSync(await download.path()) };
}

// In the page: the pixels of a picture.
const helpers = () => {
  window.pixelsOf = async (type, text) => {
    const image = new Image();
    image.src = `data:${type};base64,${text}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.width, image.height];
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, image.width, image.height);
  };
};

// The saved timeline against the canvas on the screen: edges may be drawn a little differently, areas may not.
const compare = async (text) => {
  const canvas = document.querySelector("#timeline canvas");
  const screen = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const card = getComputedStyle(document.querySelector("#timeline")).backgroundColor.match(/\d+/g).map(Number);
  const file = await window.pixelsOf("image/svg+xml", text);
  let same = 0;
  let drawn = 0;
  for (let y = 0; y < screen.height; y++) {
    for (let x = 0; x < screen.width; x++) {
      const a = 4 * (y * screen.width + x);
      const b = 4 * ((y + 16 + 46) * file.width + x + 16); // the margin, and the title
      const alpha = screen.data[a + 3] / 255;
      if (alpha > 0.05) drawn++;
      if ([0, 1, 2].every((k) => Math.abs(screen.data[a + k] * alpha + card[k] * (1 - alpha) - file.data[b + k]) < 48)) same++;
    }
  }
  return { same: same / (screen.width * screen.height), drawn, card, width: file.width, height: file.height };
};

for (const colorScheme of ["light", "dark"]) {
  test(`the timeline saves as it is shown, ${colorScheme}`, async () => {
    await withPage(r.page, { colorScheme }, async (page) => {
      const svg = await saved(page, page.locator("#timeline [data-save=svg]"));
      assert.equal(svg.name, "r_Memory-over-time-DRAM.svg");
      const texts = await page.evaluate((text) => [...new DOMParser().parseFromString(text, "image/svg+xml").querySelectorAll("text")].map((e) => e.textContent), svg.content.toString());
      for (const wanted of ["Memory over time · DRAM", "r", "allocated", "capacity", `peak ${mb(r.findings.peak.DRAM.allocated_per_bank_MB)} MB`, "✕ failure", "0"]) assert.ok(texts.includes(wanted), `${wanted} in ${texts}`);
      assert.ok(texts.some((text) => /^[\d,]+ MB$/.test(text)), "ticks of the y axis");
      await page.evaluate(helpers);
      const { same, drawn, card, width, height } = await page.evaluate(compare, svg.content.toString("base64"));
      assert.ok(drawn > 20000, `${drawn} pixels are drawn`);
      assert.ok(same > 0.98, `${same} of the pixels are the same`);
      const png = await saved(page, page.locator("#timeline [data-save=png]"));
      const raster = await page.evaluate(async (text) => {
        const all = await window.pixelsOf("image/png", text);
        return { width: all.width, height: all.height, corner: Array.from(all.data.slice(0, 3)) };
      }, png.content.toString("base64"));
      assert.deepEqual(raster, { width: 2 * width, height: 2 * height, corner: card });
    });
  });
}

test("every chart saves with its title, whatever it is drawn with", async () => {
  await withPage(r.page, {}, async (page) => {
    await page.evaluate(helpers);
    const charts = page.locator("[data-save=svg]");
    const n = await charts.count();
    assert.ok(n >= 4, `${n} charts`);
    for (let i = 0; i < n; i++) {
      const button = charts.nth(i);
      await button.scrollIntoViewIfNeeded();
      const title = /^Save (.*) as SVG$/.exec(await button.getAttribute("aria-label"))[1];
      const { content } = await saved(page, button);
      const text = content.toString();
      assert.ok(text.includes(`>${title}</text>`), title);
      const inks = await page.evaluate(async (base64) => new Set(new Uint32Array((await window.pixelsOf("image/svg+xml", base64)).data.buffer)).size, content.toString("base64"));
      assert.ok(inks > 8, `${title}: more than its title is drawn`);
      assert.doesNotMatch(text, /NaN|undefined|var\(/, title);
    }
  });
});
