// SPDX-License-Identifier: Apache-2.0
// The pictures drawn from who held which block: what stands on the screen against what the program says of the same moment (`ask --at`), the
// measured levels of memory.json and the live tensors of findings.json.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { generate, mb, numberIn, report, sample, TTMEM, withPage } from "./lib.mjs";

const logs = {
  "every class, late frees, a leak": () => generate("held.log", "--runs", "3", "--layers", "3", "--kv-cache", "named", "--late", "--leak", "--binaries", "--waste"),
  "a fragmented failure": () => generate("held-frag.log", "--runs", "3", "--layers", "12", "--fail", "fragmented", "--fail-run", "2", "--binaries"),
  "sample 22": () => sample("22_llama_small_two_runs_real_allocator.log"),
};
const made = new Map();
const reportOf = (name) => {
  if (!made.has(name)) {
    const log = logs[name]();
    made.set(name, log && { log, ...report(log) });
  }
  return made.get(name);
};

// The colours of a chart's canvas at one place of its x axis, from the bottom.
const pixelsAt = (page, chart, share, offset = 0) =>
  page.evaluate(
    ([chart, share, offset]) => {
      const over = document.querySelector(`${chart} .u-over`).getBoundingClientRect();
      const canvas = document.querySelector(`${chart} canvas`);
      const box = canvas.getBoundingClientRect();
      const scale = canvas.width / box.width;
      const x = Math.round((over.left - box.left + share * over.width + offset) * scale);
      const data = canvas.getContext("2d").getImageData(x, 0, 1, canvas.height).data;
      const runs = [];
      const bottom = Math.round((over.bottom - box.top) * scale) - 1;
      for (let y = bottom; y >= Math.round((over.top - box.top) * scale); y--) {
        const color = data[4 * y + 3] ? `${data[4 * y]},${data[4 * y + 1]},${data[4 * y + 2]}` : "";
        if (runs.length && runs[runs.length - 1].color === color) runs[runs.length - 1].height++;
        else runs.push({ color, height: 1 });
      }
      return { runs, height: over.height * scale };
    },
    [chart, share, offset],
  );

// The colour of each band in the legend.
const bandColors = (page) =>
  page.evaluate(() => Object.fromEntries([...document.querySelectorAll("#timeline [data-band]")].map((e) => [getComputedStyle(e.querySelector(".key")).backgroundColor.replace(/rgb\(|\)| /g, ""), e.textContent])));

const scaleTop = (r, memory) => {
  const { allocated_per_bank_MB: peak, capacity_per_bank_MB: capacity, utilization_pct: full } = r.findings.peak[memory];
  return full >= 40 ? capacity * 1.06 : peak * 1.25;
};

// The rows of `ask --at`: MB per bank and class, as printed.
function askAt(r, op, ...more) {
  const text = execFileSync(TTMEM, ["ask", r.log, "--at", String(op), ...more], { encoding: "utf8" });
  const table = text.slice(text.indexOf("MB per bank  Class"), text.indexOf("Free, MB per bank"));
  return { text, rows: [...table.matchAll(/^ +([\d,.]+) {2}(\S.*?)(?: \(| {2}|$)/gm)].map(([, size, words]) => [size, words]) };
}

const some = (r, n) => {
  const states = r.memory.operations.filter((one) => one.memory?.DRAM && !one.const_eval_graph);
  return Array.from({ length: n }, (_, i) => states[Math.floor(((i + 0.5) / n) * states.length)].index);
};

for (const name of Object.keys(logs)) {
  test(`${name}: the live tensors at any operation are those that ask --at prints`, async (t) => {
    const r = reportOf(name);
    if (!r) return t.skip("../shared/samples is not here");
    await withPage(r.page, {}, async (page) => {
      for (const op of some(r, 5)) {
        await page.evaluate((op) => (location.hash = `#op=${op}&mem=DRAM`), op);
        await page.locator("#moment").scrollIntoViewIfNeeded();
        await page.waitForFunction((op) => document.querySelector("#moment .card-head .muted").textContent === `DRAM before #${op.toLocaleString("en-US")}`, op);
        const more = page.locator("#moment .more");
        if (await more.count()) await more.first().click();
        const ask = askAt(r, op);
        const rows = await page.locator("#moment [data-alive] tbody tr").evaluateAll((all) => all.map((row) => [row.cells[2].textContent, row.cells[1].textContent]));
        assert.ok(rows.length, `#${op} has live tensors`);
        assert.deepEqual(rows.slice(0, ask.rows.length), ask.rows, `#${op}`);
        const level = async (label) => (await page.locator(`#moment [data-level="${label}"]`).innerText()).trim();
        const flat = ask.text.replace(/\s+/g, " ");
        assert.ok(flat.includes(`${await level("free")} MB per bank free`), flat);
        assert.ok(flat.includes(`largest free block ${await level("largest free block")} MB, fragmentation ${await level("fragmentation")}`), flat);
        const blocks = await level("free blocks");
        assert.ok(flat.includes(blocks.startsWith("unknown") ? "Where it lies is unknown" : `in ${numberIn(blocks)} block`), flat);
      }
    });
  });

  test(`${name}: the bands of the timeline are as tall as the classes are large`, async (t) => {
    const r = reportOf(name);
    if (!r) return t.skip("../shared/samples is not here");
    for (const op of some(r, 4)) {
      await withPage(r.page, { hash: `#op=${op}&mem=DRAM&from=${op - 4}&to=${op + 6}` }, async (page) => {
        await page.waitForFunction(() => document.querySelectorAll("#timeline [data-band]").length > 0);
        await page.waitForTimeout(100);
        const { from, to } = await page.evaluate(() => Object.fromEntries([...new URLSearchParams(location.hash.slice(1))].map(([k, v]) => [k, Number(v)])));
        const width = Math.min(to, r.operations.length) - Math.max(from, -0.5) || 1;
        const { runs, height } = await pixelsAt(page, "#timeline", (op - Math.max(from, -0.5)) / width, 3);
        const colors = await bandColors(page);
        const perPixel = scaleTop(r, "DRAM") / height;
        const sizes = {};
        for (const run of runs) if (colors[run.color]) sizes[colors[run.color]] = (sizes[colors[run.color]] ?? 0) + run.height * perPixel;
        const classes = await page.locator("#moment [data-class]").evaluateAll((all) => all.map((e) => [e.textContent.replace(/ [\d.]+ %$/, ""), Number(e.dataset.mb)]));
        const padding = sizes.padding ?? 0;
        for (const [words, size] of classes) {
          if (size < 4 * perPixel) continue;
          assert.ok(sizes[words] <= size + 2.5 * perPixel, `#${op} ${words}: ${sizes[words]} drawn, ${size} held`);
          assert.ok(sizes[words] >= size - padding - 4 * perPixel, `#${op} ${words}: ${sizes[words]} drawn, ${size} held`);
        }
        // All of them together are what was measured.
        const level = r.memory.operations[op].memory.DRAM.totalBytesAllocatedPerBank_MB;
        const sum = Object.values(sizes).reduce((a, b) => a + b, 0);
        assert.ok(Math.abs(sum - level) <= 8 * perPixel, `#${op}: ${sum} drawn, ${level} measured`);
      });
    }
  });
}

test("at the peak the live tensors are those of findings.json", async () => {
  const r = reportOf("every class, late frees, a leak");
  for (const memory of ["DRAM", "L1"]) {
    await withPage(r.page, { hash: `#at=peak&mem=${memory}` }, async (page) => {
      await page.locator("#moment").scrollIntoViewIfNeeded();
      await page.locator(`#moment [data-alive="${memory}"]`).waitFor();
      const more = page.locator("#moment .more");
      if (await more.count()) await more.first().click();
      const rows = await page.locator("#moment [data-alive] tbody tr").evaluateAll((all) => all.map((row) => [row.cells[0].textContent.replace("▸", ""), row.cells[2].textContent]));
      const expected = r.findings.live_at_peak[memory].groups.filter((group) => group.name).map((group) => [group.name + (group.tensors > 1 ? ` ×${group.tensors}` : ""), mb(group.per_bank_MB)]);
      for (const row of expected) assert.ok(rows.some((one) => one[0].replace(/ ?estimated$/, "") === row[0] && one[1] === row[1]), `${memory}: ${row} in ${JSON.stringify(rows)}`);
      const classes = await page.locator("#moment [data-class]").evaluateAll((all) => Object.fromEntries(all.map((e) => [`${e.dataset.class}_MB`, Number(e.dataset.mb)])));
      for (const [key, size] of Object.entries(r.findings.live_at_peak[memory].classes)) assert.ok(Math.abs((classes[key] ?? 0) - size) < 0.0021, `${memory} ${key}: ${classes[key]} ${size}`);
    });
  }
});

test("a band names itself, pins itself and opens the others", async () => {
  const r = reportOf("every class, late frees, a leak");
  await withPage(r.page, { hash: "#stack=tensor" }, async (page) => {
    const others = page.locator("#timeline [data-band='-1']");
    await others.waitFor();
    const bands = await page.locator("#timeline [data-band]").count();
    await others.click();
    await page.locator("#timeline .pinned h3").waitFor();
    assert.match(await page.locator("#timeline .pinned h3").innerText(), /other tensor/);
    await page.locator('[data-action="more-bands"]').click();
    await page.waitForFunction((n) => document.querySelectorAll("#timeline [data-band]").length > n, bands);
    // One tensor: life, maker, last use, line.
    await page.locator("#timeline [data-band]").last().click();
    const facts = page.locator("#timeline .pinned .pairs");
    await facts.waitFor();
    const text = await facts.innerText();
    for (const word of ["size", "class", "made by", "last used by", "lifetime", "address"]) assert.ok(text.includes(word), `${word} in ${text}`);
    // The keyboard reaches the bands, the table says the same, and the address brings the view back.
    await page.locator("#timeline details summary", { hasText: "table" }).click();
    assert.ok((await page.locator("#timeline details tbody tr").count()) > bands);
    await page.waitForFunction(() => location.hash.includes("stack=tensor"));
    await page.locator('[data-stack="layer"]').click();
    await page.waitForFunction(() => [...document.querySelectorAll("#timeline [data-band]")].some((e) => e.textContent === "layers.2"));
    await page.locator('[data-stack="module"]').click();
    await page.waitForFunction(() => [...document.querySelectorAll("#timeline [data-band]")].some((e) => e.textContent.includes("layers.*")));
    assert.equal(await page.locator("#timeline .pinned").isVisible(), false);
  });
});

test("two ranks: each has its own blocks", async () => {
  const r = { ...report(generate("held-ranks.log", "--runs", "2", "--layers", "2", "--ranks", "2")) };
  await withPage(r.page, { hash: "#rank=1" }, async (page) => {
    await page.waitForFunction(() => document.querySelectorAll("#timeline [data-band]").length > 0);
    await page.locator("#moment").scrollIntoViewIfNeeded();
    await page.locator("#moment [data-alive] tbody tr").first().waitFor();
  });
});
