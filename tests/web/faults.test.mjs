// SPDX-License-Identifier: Apache-2.0
// What pages get wrong to the eye, at every width and on paper: texts on each other, cut texts, charts that are not there, sideways
// scrolling, numbers that alarm about nothing.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { generate, plainPage, report, sample, SOURCE, TTMEM, withPage, work } from "./lib.mjs";

const WIDTHS = [390, 520, 800, 1280];
const logs = {};
before(() => {
  logs.fragmented = report(generate("faults.log", "--runs", "3", "--layers", "12", "--fail", "fragmented", "--fail-run", "2", "--binaries"));
  logs.full = report(generate("full.log", "--runs", "2", "--fail", "tight", "--fail-run", "1"));
  logs.padded = report(generate("padded.log", "--runs", "3", "--waste"));
  logs.long = report(generate("long.log", "--operations", "30000", "--one-run", "--seed", "3"));
  for (const name of ["21_llama8b_oom_real_allocator.log", "22_llama8b_leak_real_allocator.log"]) if (sample(name)) logs[name] = report(sample(name));
});

// The texts of a chart where they stand, out of the picture it saves as.
const overlaps = (svg) => {
  const picture = document.importNode(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement, true);
  document.body.append(picture);
  const found = [];
  const whole = picture.getBoundingClientRect();
  const boxes = [...picture.querySelectorAll("text")].filter((e) => e.textContent.trim()).map((e) => ({ text: e.textContent, box: e.getBoundingClientRect() }));
  boxes.forEach((a, i) => {
    if (a.box.left < whole.left - 1 || a.box.right > whole.right + 1) found.push(`"${a.text}" sticks out`);
    for (const b of boxes.slice(i + 1)) {
      const wide = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
      const high = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
      if (wide > 1 && high > 3) found.push(`"${a.text}" on "${b.text}"`);
    }
  });
  picture.remove();
  return found;
};

// Without a file: browsers take few downloads at a time.
const svgOf = (button) =>
  button.evaluate(async (e) => {
    const { createObjectURL } = URL;
    const { click } = HTMLAnchorElement.prototype;
    const blob = await new Promise((done) => {
      URL.createObjectURL = (content) => (done(content), "");
      HTMLAnchorElement.prototype.click = () => undefined;
      e.click();
    });
    Object.assign(URL, { createObjectURL });
    Object.assign(HTMLAnchorElement.prototype, { click });
    return blob.text();
  });

test("no label of a chart lies on another or sticks out, at any width", async () => {
  const found = [];
  for (const name of Object.keys(logs).filter((key) => /fragmented|full|21/.test(key))) {
    const r = logs[name];
    for (const width of WIDTHS) {
      await withPage(r.page, { width }, async (page) => {
        for (const memory of ["DRAM", "L1"]) {
          await page.locator(`#timeline [data-memory="${memory}"]`).click();
          for (const zoom of ["", "Fit to data", "Fit to capacity"]) {
            const button = page.locator("#timeline button", { hasText: zoom || "Show all" });
            if (zoom && !(await button.count())) continue;
            if (zoom) await button.click();
            for (const save of await page.locator("#timeline [data-save=svg]").all()) found.push(...(await page.evaluate(overlaps, await svgOf(save))).map((text) => `${name} ${memory} ${width} ${zoom}: ${text}`));
          }
        }
        for (const save of await page.locator("main section:not(#timeline) [data-save=svg]:visible").all()) found.push(...(await page.evaluate(overlaps, await svgOf(save))).map((text) => `${name} ${width}: ${text}`));
      });
    }
  }
  assert.deepEqual(found, []);
});

test("no text of the drawer is cut", async () => {
  for (const r of [logs.fragmented, logs.long]) {
    const busiest = r.operations.reduce((best, op) => (op.weights.length > best.weights.length ? op : best)).index;
    for (const width of WIDTHS) {
      for (const op of [0, busiest]) {
        await withPage(r.page, { width, hash: `#op=${op}&per=chip` }, async (page) => {
          const cut = await page.locator(".details, .details .scroll-x, .details th, .details td").evaluateAll((all) => all.filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent.slice(0, 80)));
          assert.deepEqual(cut, [], `${width} pixels, operation ${op}`);
        });
      }
    }
  }
});

test("the padding chart is about padding", async () => {
  await withPage(logs.padded.page, {}, async (page) => {
    const svg = await svgOf(page.locator("#padding [data-save=svg]"));
    const ticks = [...svg.matchAll(/>([\d,.]+) ([KMG]?B)</g)].map(([, n, unit]) => Number(n.replaceAll(",", "")) * { B: 1, KB: 2 ** 10, MB: 2 ** 20, GB: 2 ** 30 }[unit]);
    const most = Math.max(...logs.padded.memory.operations.map((op) => op.unpadded_memory.DRAM.overhead_MB * 2 ** 20));
    assert.ok(ticks.length > 2, `${ticks}`);
    assert.ok(most > 0 && Math.max(...ticks) <= 1.25 * most, `${ticks} for ${most}`);
  });
});

test("no share on the page is above 100 %", async () => {
  const tiny = join(work, "rows.log");
  writeFileSync(tiny, readFileSync(join(SOURCE, "tests", "golden", "small.log")));
  for (const r of [...Object.values(logs), report(tiny)]) {
    await withPage(r.page, {}, async (page) => {
      const seen = new Set();
      for (let op = 0; op < r.operations.length; op += Math.ceil(r.operations.length / 25)) {
        await page.evaluate((n) => (location.hash = `op=${n}`), op);
        await page.waitForFunction((text) => document.querySelector(".details h2")?.textContent?.startsWith(text), `#${op} `);
        for (const text of (await page.locator("body").innerText()).match(/[\d,]*\d(\.\d+)? %(?!\w)/g) ?? []) seen.add(text);
      }
      assert.deepEqual([...seen].filter((text) => Number(text.replace(/[, %]/g, "")) > 100), []);
    });
  }
});

test("every chart is on paper, and no wider than it", async () => {
  for (const r of [logs.fragmented, logs.padded]) await withPage(r.page, {}, async (page) => {
    // Right after it is there, before anybody scrolled.
    const drawn = () => page.locator(".chart").evaluateAll((charts) => charts.map((chart) => {
      const canvas = chart.querySelector("canvas");
      const pixels = canvas && new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
      return { label: chart.getAttribute("aria-label"), inks: pixels ? new Set(pixels).size : 0 };
    }));
    for (const { label, inks } of await drawn()) assert.ok(inks > 5, `${label} is empty`);
    await page.pdf();
    await page.emulateMedia({ media: "print" });
    await page.setViewportSize({ width: 718, height: 1000 });
    const squeezed = await page.locator("main td:visible, main th:visible").evaluateAll((cells) => cells.filter((cell) => cell.innerText.trim().length > 3 && cell.clientWidth < 24).map((cell) => cell.innerText));
    assert.deepEqual(squeezed, [], "columns of single letters");
    const cut = await page.locator(".scroll-x:visible").evaluateAll((boxes) => boxes.filter((box) => box.scrollWidth > box.clientWidth + 1).map((box) => box.innerText.slice(0, 60)));
    assert.deepEqual(cut, [], "tables wider than the paper");
    const seen = await page.locator(".chart canvas").evaluateAll((all) => all.map((e) => ({ label: e.closest("[aria-label]").getAttribute("aria-label"), width: e.getBoundingClientRect().width, room: document.querySelector("main").clientWidth })));
    assert.ok(seen.length >= 2);
    for (const { label, width, room } of seen) assert.ok(width > 200 && width <= room, `${label}: ${width} of ${room}`);
  });
});

const wide = (page) => page.evaluate(() => document.documentElement.scrollWidth > innerWidth);

test("no page scrolls sideways on a phone", async () => {
  for (const [name, r] of Object.entries(logs)) {
    await withPage(r.page, { width: 390, hash: "#op=1&per=chip" }, async (page) => assert.equal(await wide(page), false, name));
  }
});

test("the index of serve fits a phone, however long its names are", async () => {
  const root = join(work, "served");
  cpSync(logs.fragmented.folder, join(root, "a_report_whose_name_says_everything_about_the_model_the_board_and_the_batch_size_20261116"), { recursive: true });
  cpSync(logs.padded.folder, join(root, "short"), { recursive: true });
  const server = spawn(TTMEM, ["serve", root], { stdio: ["ignore", "pipe", "pipe"] });
  try {
    const url = await new Promise((done, fail) => {
      let text = "";
      const read = (chunk) => {
        text += chunk;
        const found = /http:\/\/\S+/.exec(text);
        if (found) done(found[0]);
      };
      server.stdout.on("data", read);
      server.stderr.on("data", read);
      server.on("exit", () => fail(new Error(text)));
    });
    for (const path of ["", "short/"]) {
      await plainPage(url.replace(/\/?$/, "/") + path, 390, async (page) => {
        assert.ok((await page.locator("body").innerText()).includes("DRAM"));
        assert.equal(await wide(page), false, path || "index");
      });
    }
  } finally {
    server.kill();
  }
});
