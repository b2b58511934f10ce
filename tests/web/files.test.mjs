// SPDX-License-Identifier: Apache-2.0
// What leaves the page as a file: every chart as SVG and PNG, every table as CSV; and how tables are put in order.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { generate, mb, report, saved, SOURCE, withPage, work } from "./lib.mjs";

let r;
before(() => {
  r = report(generate("files.log", "--runs", "3", "--layers", "12", "--fail", "fragmented", "--fail-run", "2", "--binaries"));
});

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

// ---- Tables ---------------------------------------------------------------------------------------------------------------

// RFC 4180, strictly: rows end with CR LF, a quote stands only around or doubled inside a quoted field.
function parse(text) {
  const rows = [[]];
  for (let at = 0; at < text.length; ) {
    const match = /^(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/.exec(text.slice(at));
    assert.ok(match, `no field at ${JSON.stringify(text.slice(at, at + 40))}`);
    rows[rows.length - 1].push(match[1] === undefined ? match[2] : match[1].replaceAll('""', '"'));
    if (match[3] !== ",") rows.push([]);
    at += match[0].length;
  }
  rows.pop();
  for (const row of rows) assert.equal(row.length, rows[0].length);
  return rows;
}

const boxes = (page) => page.locator("main .table-box:visible");

test("every table sorts, filters and saves as CSV", async () => {
  const names = [];
  await withPage(r.page, {}, async (page) => {
    await page.locator("main details").evaluateAll((all) => all.forEach((e) => (e.open = true)));
    assert.equal(await page.locator("main table:visible").count(), await boxes(page).count());
    for (const box of await boxes(page).all()) {
      const caption = await box.locator("caption").innerText();
      names.push(caption);
      const column = (i) => box.locator("tbody tr:visible:not(.member)").evaluateAll((rows, k) => rows.map((row) => row.cells[k].innerText.replace("▸", "").trim()), i);
      const heads = await box.locator("th").evaluateAll((all) => all.map((th) => ({ title: th.textContent, num: th.classList.contains("num") })));
      if (await box.locator(".more:visible").count()) await box.locator(".more").click();
      for (const [i, { title, num }] of heads.entries()) {
        if (!title) continue;
        const before = await column(i);
        await box.locator("th").nth(i).locator("button").click();
        const sorted = await column(i);
        assert.deepEqual([...sorted].sort(), [...before].sort(), `${caption}: ${title}`);
        const values = sorted.map((text) => Number(text.replace(/[,+% ]|MB/g, "").replace("−", "-"))).filter((n) => !Number.isNaN(n));
        if (num && !sorted.some((text) => /[KG]B/.test(text))) assert.deepEqual(values, [...values].sort((a, b) => b - a), `${caption}: ${title}`);
        assert.equal(await box.locator("th").nth(i).getAttribute("aria-sort"), num ? "descending" : "ascending");
        await box.locator("th").nth(i).locator("button").click();
        await box.locator("th").nth(i).locator("button").click();
        assert.deepEqual(await column(i), before, `${caption}: the first order comes back`);
      }
      const all = await column(0);
      const { content } = await saved(page, box.locator("[data-save=csv]"));
      const rows = parse(content.toString());
      assert.equal(rows.length, all.length + 1, caption);
      const word = all[all.length - 1].split(/[\s.×]+/).find((part) => part.length > 2) ?? all[all.length - 1];
      await box.locator(".table-filter").fill(word);
      const left = await column(0);
      assert.ok(left.length > 0 && left.length <= all.length && left.includes(all[all.length - 1]), `${caption}: ${word}`);
      await box.locator(".table-filter").fill("no such row anywhere");
      assert.deepEqual(await column(0), []);
      await box.locator(".table-filter").fill("");
    }
  });
  assert.ok(names.length >= 5, names.join());
});

test("a link restores the order and the filter of a table", async () => {
  let link;
  let shown;
  const rows = (page) => page.locator("#weights tbody tr:visible").evaluateAll((all) => all.map((row) => row.innerText));
  await withPage(r.page, {}, async (page) => {
    await page.locator("#weights th button").first().click();
    await page.locator("#weights .table-filter").fill("proj");
    shown = await rows(page);
    await page.waitForFunction(() => location.hash.includes("proj"));
    link = await page.evaluate(() => location.hash);
  });
  await withPage(r.page, { hash: link }, async (page) => assert.deepEqual(await rows(page), shown));
});

test("a saved table is no formula, whatever the log says", async () => {
  const log = join(work, "formula.log");
  const names = ["=HYPERLINK(1)", "+1+1", "-2+3", "@SUM(A1)", "  =1", "\\t=1", "＝1", "a,b", "quote''s", "5"];
  const lines = readFileSync(join(SOURCE, "tests", "golden", "small.log"), "utf8").split("\n");
  let n = 0;
  writeFileSync(log, lines.map((line) => line.replace(/loc\("[^"]*"\)/, () => `loc("${names[n++ % names.length]}")`)).join("\n"));
  const hostile = report(log);
  await withPage(hostile.page, {}, async (page) => {
    for (const button of await page.locator("[data-save=csv]:visible").all()) {
      const { content } = await saved(page, button);
      for (const row of parse(content.toString())) {
        for (const cell of row) assert.ok(!/^\s*[=+@＝＋－＠-]/.test(cell) || /^-\d+(\.\d+)?$/.test(cell), JSON.stringify(cell));
      }
    }
    const { content } = await saved(page, page.locator("#operations [data-save=csv]"));
    const rows = parse(content.toString());
    assert.equal(rows.length, hostile.operations.length + 1);
    rows.slice(1).forEach((row, i) => assert.equal(row[1], hostile.operations[i].mlir_op));
    const places = rows.map((row) => row[2].replace(/^'/, ""));
    for (const [i, op] of hostile.operations.entries()) if (op.loc && !op.weights.length) assert.equal(places[i + 1].trim(), op.loc.trim());
  });
});
