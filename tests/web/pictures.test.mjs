// SPDX-License-Identifier: Apache-2.0
// The pictures drawn from who held which block: what stands on the screen against what the program says of the same moment (`ask --at`), the
// measured levels of memory.json and the live tensors of findings.json.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { generate, mb, numberIn, report, sample, SOURCE, TTMEM, withPage, work } from "./lib.mjs";

const logs = {
  "every class, late frees, a leak": () => generate("held.log", "--runs", "3", "--layers", "3", "--kv-cache", "named", "--late", "--leak", "--binaries", "--waste"),
  "a fragmented failure": () => generate("held-frag.log", "--runs", "3", "--layers", "12", "--fail", "fragmented", "--fail-run", "2", "--binaries"),
  "the demo": () => join(SOURCE, "demo", "llama_small.log.zst"),
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
    await page.waitForFunction((n) => document.querySelectorAll("#timeline details tbody tr").length > n, bands);
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

// ---- Block map --------------------------------------------------------------------------------------------------------

const MB = 1048576;

// The free blocks that `ask --at` prints: bytes (rounded) and address.
function freeAt(r, ...at) {
  const { text } = askAt(r, ...at);
  return [...text.slice(text.indexOf("Free, MB per bank")).matchAll(/^ +([\d,.]+) +(\d+)$/gm)].map(([, size, address]) => ({ size: Number(size.replace(/,/g, "")) * MB, address: Number(address) }));
}

// The colours of a canvas at places of its box.
const inksAt = (page, selector, places) =>
  page.evaluate(
    ([selector, places]) => {
      const canvas = document.querySelector(selector);
      const scale = canvas.width / canvas.getBoundingClientRect().width;
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return places.map(([x, y]) => {
        const at = 4 * (Math.floor(y * scale) * canvas.width + Math.floor(x * scale));
        return `rgb(${data[at]}, ${data[at + 1]}, ${data[at + 2]})`;
      });
    },
    [selector, places],
  );

const cssColor = (page, name) =>
  page.evaluate((name) => {
    const probe = document.createElement("span");
    probe.style.color = `var(--${name})`;
    document.body.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  }, name);

test("the block map: blocks, free blocks and the refused one stand at their addresses", async () => {
  const r = reportOf("the demo");
  const failure = r.findings.incidents.find((one) => one.memory === "DRAM");
  const at = failure.operation.index;
  await withPage(r.page, { hash: `#mem=DRAM&op=${at}` }, async (page) => {
    await page.locator("#blocks").scrollIntoViewIfNeeded();
    await page.locator("#blocks details summary", { hasText: "table" }).click();
    await page.locator("#blocks details tbody tr").first().waitFor();
    const more = page.locator("#blocks .more");
    if (await more.count()) await more.click();
    const rows = await page.locator("#blocks details tbody tr").evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
    const free = freeAt(r, at);
    assert.ok(free.length > 1, "the free memory is cut up");
    for (const { size, address } of free) assert.ok(rows.some(([where, mb, what]) => numberIn(where) === address && Math.abs(numberIn(mb) * MB - size) <= size * 0.005 + 1100 && what === "free"), `free at ${address}`);
    assert.equal(rows.filter((row) => row[2] === "free").length, numberIn(await page.locator('#moment [data-level="free blocks"]').innerText()));
    // The bar, pixel by pixel: its scale is that of the last row's end.
    const canvas = await page.locator("#blocks canvas.bank").boundingBox();
    const last = rows[rows.length - 1];
    const cut = await page.locator("#blocks .key-cut").count();
    assert.equal(cut, 0, "a full bank is drawn whole");
    const end = Math.round((numberIn(last[0]) + numberIn(last[1]) * MB) / MB) * MB;
    const perByte = canvas.width / end;
    const paper = await cssColor(page, "card");
    const wide = rows.filter(([, size]) => numberIn(size) * MB * perByte >= 4);
    const line = Array.from({ length: Math.floor(canvas.width) }, (_, x) => [x, 16 + 46 + 28]);
    const inks = await inksAt(page, "#blocks canvas.bank", [...wide.map(([where, size]) => [(numberIn(where) + (numberIn(size) * MB) / 2) * perByte, 16 + 23]), ...line]);
    wide.forEach(([where, , what], i) => assert.equal(inks[i] === paper, what === "free", `${what} at ${where}: ${inks[i]}`));
    assert.ok(wide.length > 5, `${wide.length} blocks were looked at`);
    // What was refused is as long as it is large, on the same scale.
    const red = await cssColor(page, "failure");
    const refused = inks.slice(wide.length).filter((ink) => ink === red).length;
    assert.ok(Math.abs(refused - failure.needed_per_bank_B * perByte) <= 2, `${refused} pixels for ${failure.needed_per_bank_B}`);
    assert.match(await page.locator('#blocks [data-key="exactness"]').innerText(), /Derived|Estimated/);
  });
});

test("addresses over time: a block's rectangle begins and ends with it, and the keyboard steps through the bank", async () => {
  const r = reportOf("the demo");
  const ops = some(r, 3);
  for (const op of ops) {
    await withPage(r.page, { hash: `#mem=DRAM&op=${op}&from=${op - 3}&to=${op + 5}` }, async (page) => {
      await page.locator("#blocks").scrollIntoViewIfNeeded();
      await page.locator("#blocks .u-over").scrollIntoViewIfNeeded();
      await page.locator("#blocks details summary", { hasText: "table" }).click();
      await page.locator("#blocks details tbody tr").first().waitFor();
      const more = page.locator("#blocks .more");
      if (await more.count()) await more.click();
      const rows = await page.locator("#blocks details tbody tr").evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
      const end = Math.round((numberIn(rows.at(-1)[0]) + numberIn(rows.at(-1)[1]) * MB) / MB) * MB;
      if (await page.locator("#blocks .key-cut").count()) return;
      const over = await page.locator("#blocks .u-over").boundingBox();
      const canvas = await page.locator("#blocks .chart canvas").boundingBox();
      const { from, to } = await page.evaluate(() => Object.fromEntries([...new URLSearchParams(location.hash.slice(1))].map(([k, v]) => [k, Number(v)])));
      const [left, right] = [Math.max(from, -0.5), Math.min(to, r.operations.length)];
      const paper = await cssColor(page, "card");
      const tall = rows.filter(([, size]) => (numberIn(size) * MB * over.height) / end >= 3);
      const x = over.x - canvas.x + ((op - left) / (right - left)) * over.width + 3;
      const inks = await inksAt(page, "#blocks .chart canvas", tall.map(([where, size]) => [x, over.y - canvas.y + over.height * (1 - (numberIn(where) + (numberIn(size) * MB) / 2) / end)]));
      tall.forEach(([where, , what], i) => assert.equal(inks[i] === paper, what === "free", `#${op}: ${what} at ${where}: ${inks[i]}`));
      assert.ok(tall.length > 2, `${tall.length} blocks were looked at`);
      await page.locator("#blocks canvas.bank").focus();
      await page.keyboard.press("ArrowRight");
      await page.keyboard.press("ArrowRight");
      await page.locator("#blocks .pinned h3").waitFor();
      assert.equal(await page.evaluate(() => new URLSearchParams(location.hash.slice(1)).get("op")), String(op), "the cursor stays");
      await page.waitForFunction((words) => document.querySelector("#blocks [aria-live]").textContent.includes(words), `addresses ${rows[1][0]} to`);
    });
  }
});

// ---- Modules ----------------------------------------------------------------------------------------------------------

test("modules: as wide as what they hold at the peak, layers folded and unfolded, found by search", async () => {
  const r = reportOf("the demo");
  const live = r.findings.live_at_peak.DRAM;
  await withPage(r.page, { hash: "#mem=DRAM" }, async (page) => {
    await page.locator("#modules").scrollIntoViewIfNeeded();
    await page.locator('[data-view="peak"]').click();
    await page.waitForFunction(() => /at the peak/.test(document.querySelector("#modules .card-head .muted").textContent));
    const nodes = () => page.locator("#modules .ice").evaluateAll((all) => all.map((e) => ({ path: e.dataset.path, mb: Number(e.dataset.mb), width: e.getBoundingClientRect().width })));
    const drawn = await nodes();
    const root = drawn.find((node) => node.path === "");
    assert.ok(Math.abs(root.mb - r.findings.peak.DRAM.allocated_per_bank_MB) < 0.01, `${root.mb} at the peak`);
    for (const node of drawn) assert.ok(Math.abs(node.width - (node.mb / root.mb) * root.width) < 1.5, `${node.path} is ${node.width} wide`);
    // Every weight of the folded layers is under one node.
    const weights = live.rows.filter((row) => /(^|\.)layers\.\d+\./.test(row.name ?? "") && row.name.startsWith("model."));
    const sum = weights.reduce((all, row) => all + row.per_bank_MB, 0);
    const layers = drawn.find((node) => node.path === "model › layers.*");
    assert.ok(weights.length && Math.abs(layers.mb - sum) < 0.01, `${layers?.mb} ${sum}`);
    await page.locator("#modules button", { hasText: "Each layer" }).click();
    await page.waitForFunction(() => document.querySelector('#modules [data-path="model › layers.1"]'));
    const first = (await nodes()).find((node) => node.path === "model › layers.1");
    const own = weights.filter((row) => row.name.startsWith("model.layers.1."));
    assert.ok(Math.abs(first.mb - own.reduce((all, row) => all + row.per_bank_MB, 0)) < 0.01);
    await page.locator("#modules button", { hasText: "Each layer" }).click();
    await page.locator("#modules input[type=search]").fill("self_attn");
    const attention = weights.filter((row) => row.name.includes("self_attn")).reduce((all, row) => all + row.per_bank_MB, 0);
    await page.waitForFunction(() => /module/.test(document.querySelector("#modules [role=status]").textContent));
    assert.ok(numberIn((await page.locator("#modules [role=status]").innerText()).split(",").slice(1).join(",")) >= attention - 0.06);
    // A click fills the width with a module, the trail leads back; what stays is not among what was freed.
    await page.locator('#modules [data-path="model › layers.*"]').click();
    assert.ok(Math.abs((await nodes()).find((node) => node.path === "model › layers.*").width - root.width) < 2);
    await page.locator("#modules .trail button").first().click();
    await page.locator('[data-view="freed"]').click();
    await page.waitForFunction(() => /came and went/.test(document.querySelector("#modules .card-head .muted").textContent));
    const freed = await nodes();
    assert.ok(freed[0].mb > 0 && freed.some((node) => node.path.startsWith("layers.*")), JSON.stringify(freed.slice(0, 5)));
  });
});

test("modules of a recording are its calls, from the outermost in", async () => {
  const log = join(work, "calls_recording.json");
  writeFileSync(log, readFileSync(join(SOURCE, "tests", "data", "recording_lanes.json"), "utf8").replaceAll(/"at":"(model.py:\d+)"/g, '"at":"$1","stack":"main.py:3|lib/block.py:5|$1"'));
  const r = report(log);
  const op = r.operations.findLast((one) => /empty/.test(one.mlir_op));
  await withPage(r.page, { hash: `#op=${op.index + 1}` }, async (page) => {
    await page.locator("#modules").scrollIntoViewIfNeeded();
    await page.locator('#modules [data-path^="main.py:3 › lib/block.py:5 › model.py:"]').first().waitFor();
    const paths = await page.locator("#modules .ice").evaluateAll((all) => all.map((e) => e.dataset.path));
    assert.ok(paths.some((path) => /^main\.py:3 › lib\/block\.py:5 › model\.py:\d+ › ttnn\./.test(path)), paths.join("\n"));
  });
});

test("a print has every picture, though nobody scrolled to them", async () => {
  const r = reportOf("a fragmented failure");
  await withPage(r.page, {}, async (page) => {
    await page.pdf();
    assert.ok(await page.locator("#blocks canvas.bank").evaluate((canvas) => canvas.width > 300), "the bank was drawn");
    await page.locator("#moment [data-alive] tbody tr").first().waitFor();
    await page.locator("#modules .ice").first().waitFor();
  });
});
