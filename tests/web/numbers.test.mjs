// SPDX-License-Identifier: Apache-2.0
// Every section's numbers against the JSON files of the same report.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { inflateSync } from "node:zlib";
import { generate, numberIn, openPage, report, sample, serve, SOURCE, texts, TTMEM, withPage, work } from "./lib.mjs";

const MEMORIES = ["DRAM", "L1", "L1_SMALL", "TRACE"];
const near = (a, b, slack, what) => assert.ok(Math.abs(a - b) <= slack, `${what}: ${a} on the page, ${b} in the JSON`);

const unit = { B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3, TB: 1024 ** 4 };
const bytesIn = (text) => numberIn(text) * unit[/\d ([KMGT]?B)/.exec(text)[1]];

async function checkHeader(page, r) {
  const config = await page.locator('[data-key="config"]').innerText();
  for (const memory of MEMORIES) {
    const own = r.memory.metadata.memory_config[memory];
    if (own) assert.ok(config.includes(`${memory} ${own.num_banks} × ${own.total_bytes_per_bank_MB.toLocaleString("en-US", { maximumFractionDigits: 3 })} MB`), config);
  }
  assert.match(await page.locator("header").innerText(), new RegExp(`${r.findings.input.lines.toLocaleString("en-US")} lines`));
  assert.equal(numberIn(await page.locator('[data-key="operations"] .fact-value').innerText()), r.memory.metadata.total_operations);
  for (const memory of ["DRAM", "L1"]) {
    const peak = r.findings.peak[memory];
    if (peak) assert.equal(numberIn(await page.locator(`[data-key="peak.${memory}"] .fact-value`).innerText()), peak.allocated_per_bank_MB);
  }
}

async function checkPeaks(page, r) {
  for (const memory of MEMORIES) {
    const peak = r.findings.peak[memory];
    const card = page.locator(`.peak[data-memory="${memory}"]`);
    if (!peak || peak.allocated_per_bank_MB === 0) {
      assert.equal(await card.count(), 0);
      continue;
    }
    const text = await card.innerText();
    assert.equal(numberIn(await card.locator(".pairs dd").first().innerText()), peak.allocated_per_bank_MB);
    assert.ok(text.includes(`log line ${peak.line.toLocaleString("en-US")}`));
    if (peak.caused_by?.index != null) assert.equal(await card.locator(".pairs [data-op]").first().getAttribute("data-op"), String(peak.caused_by.index));
    // The bar adds up to what was allocated.
    const live = r.findings.live_at_peak[memory];
    if (!live) continue;
    const parts = await card.locator(".live-list > li[data-mb]").evaluateAll((all) => all.map((e) => Number(e.dataset.mb)));
    near(parts.reduce((a, b) => a + b, 0), peak.allocated_per_bank_MB + live.counted_twice_MB, 0.0011, `${memory} live set`);
  }
}

async function checkTables(page, r) {
  await page.locator('#timeline [data-memory="DRAM"]').click();
  const consumers = await page.locator("#consumers tbody tr").evaluateAll((rows) => rows.map((row) => [row.querySelector("[data-op]")?.dataset.op, row.cells[2].innerText, row.cells[4].innerText]));
  const wanted = r.findings.top_consumers.DRAM;
  assert.equal(consumers.length, wanted.length);
  wanted.forEach((row, i) => {
    assert.equal(consumers[i][0], row.index === null ? undefined : String(row.index));
    assert.equal(numberIn(consumers[i][1]), row.effect_MB);
    assert.equal(numberIn(consumers[i][2]), row.allocated_before_MB);
  });

  const padding = await page.locator("#padding tbody tr").evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.innerText)));
  assert.equal(padding.length, r.findings.padding.top.length);
  r.findings.padding.top.forEach((row, i) => {
    near(numberIn(padding[i][6]), row.overhead_MB, 0.0006, "padding");
    const layouts = r.operations[row.index].output_layouts ?? [r.operations[row.index].output_layout_info];
    assert.equal(padding[i][3], layouts[row.result].padded_shape.join("×"));
  });
  near(bytesIn((await page.locator('[data-key="padding-sum"]').innerText()).split(/holds? /)[1]) / 1048576, r.findings.padding.at_peak.unpadded_MB, r.findings.padding.at_peak.unpadded_MB * 0.01 + 0.01, "padding at peak");

  const weights = r.registry.entries.filter((e) => ["parameter", "constant"].includes(e.type) && !e.repeated).sort((a, b) => b.bytes - a.bytes);
  if (weights.length) {
    const rows = await page.locator("#weights tbody tr").evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.innerText)));
    assert.equal(rows.length, Math.min(20, weights.length));
    rows.forEach((row, i) => near(bytesIn(row[3]), weights[i].bytes, weights[i].bytes * 0.006 + 1, "weight"));
    assert.equal(numberIn(await page.locator('[data-key="weights-sum"]').innerText()), r.registry.metadata.total_weights);
  }

  const distribution = await page.locator("#distribution tbody tr").evaluateAll((all) => all.map((row) => [row.cells[0].innerText, row.cells[1].innerText]));
  Object.entries(r.findings.operations.distribution).slice(0, 15).forEach(([name, n], i) => {
    assert.equal(distribution[i][0], name);
    assert.equal(numberIn(distribution[i][1]), n);
  });
}

// Operations spread over the report: the table's row and the panel say what the JSON says.
async function checkOperations(page, r) {
  const n = r.operations.length;
  const picks = [...new Set([0, 1, Math.floor(n / 3), Math.floor(n / 2), n - 2, n - 1])].filter((i) => i >= 0 && i < n);
  for (const i of picks) {
    await page.evaluate((op) => (location.hash = `op=${op}&mem=DRAM`), i);
    await page.waitForFunction((text) => document.querySelector(".details h2")?.textContent?.startsWith(text), `#${i.toLocaleString("en-US")} `);
    const [op, state] = [r.operations[i], r.memory.operations[i]];
    assert.equal(await page.locator(".details h2").innerText(), `#${i.toLocaleString("en-US")} ${op.mlir_op}`);
    const panel = await page.locator(".details").innerText();
    if (op.loc) assert.ok(panel.includes(op.loc), `location of ${i}`);
    assert.ok(panel.includes(op.line.toLocaleString("en-US")), `line of ${i}`);
    for (const weight of op.weights) assert.ok(panel.includes(weight.name), `weight of ${i}`);
    if (op.attributes) assert.ok(panel.includes(op.attributes.slice(0, 60).trim()), `attributes of ${i}`);
    op.output_shapes.forEach((shape, k) => assert.ok(panel.includes(`${(shape ?? "scalar").replaceAll("x", "×")} ${op.output_dtypes[k]}`), `output of ${i}`));
    for (const memory of MEMORIES) {
      if (!state.memory?.[memory]) continue;
      const row = await page.locator('.details [data-key="op-memory"] tbody tr', { has: page.locator(`td:text-is("${memory}")`) }).evaluate((tr) => [...tr.cells].map((cell) => cell.innerText));
      const figures = state.memory[memory];
      assert.equal(numberIn(row[1]), figures.totalBytesAllocatedPerBank_MB, `${memory} before ${i}`);
      assert.equal(numberIn(row[4]), figures.totalBytesFreePerBank_MB, `${memory} free before ${i}`);
      assert.equal(numberIn(row[5]), figures.largestContiguousBytesFreePerBank_MB, `${memory} largest block before ${i}`);
      const effect = state.effect_MB?.[memory];
      if (effect === undefined) assert.equal(row[3], "–");
      else assert.equal(numberIn(row[3]), effect, `${memory} effect of ${i}`);
    }
    const row = page.locator(`#operations .op-row[data-op="${i}"]`);
    assert.equal(await row.getAttribute("aria-current"), "true");
    const cells = await texts(row.locator("[role=cell]"));
    assert.equal(cells[1], op.mlir_op);
    if (state.memory?.DRAM) assert.equal(numberIn(cells[4]), state.memory.DRAM.totalBytesAllocatedPerBank_MB);
  }
}

async function checkAdvice(page, r) {
  const shown = await texts(page.locator("#advice li"));
  assert.equal(shown.length, (r.findings.advice ?? []).length);
  (r.findings.advice ?? []).forEach((one, i) => assert.ok(shown[i].includes(one.text.slice(0, 60)), shown[i]));
}

async function checkIncident(page, r) {
  const cards = page.locator(".incident");
  if (!r.findings.incidents.length) {
    assert.equal(await cards.count(), 0);
    return;
  }
  const incident = r.findings.incidents.find((i) => i.kind !== "fatal") ?? r.findings.incidents[0];
  const text = await cards.first().innerText();
  if (incident.verdict) assert.equal(await cards.first().locator(".verdict").innerText(), incident.verdict);
  if (incident.operation) assert.equal(await cards.first().locator(".incident-op [data-op]").getAttribute("data-op"), String(incident.operation.index));
  if (incident.shortfall_per_bank_B !== null && incident.needed_per_bank_B !== null) {
    near(bytesIn(/: ([\d.,]+ [KMG]?B) per bank short/.exec(text)[0]), incident.shortfall_per_bank_B, incident.shortfall_per_bank_B * 0.01, "shortfall");
  }
  const message = cards.first().locator(".incident-text");
  if (!(await message.evaluate((e) => e.open))) await message.locator("summary").click(); // open where nothing else tells what happened
  assert.ok((await cards.first().innerText()).includes(incident.text.slice(0, 80)));
}

const logs = {
  small: () => join(SOURCE, "tests", "golden", "small.log"),
  "sample 21": () => sample("21_llama8b_oom_real_allocator.log"),
  "sample 22": () => sample("22_llama_small_two_runs_real_allocator.log"),
  "real program-level log": () => sample("03_mochi_conv1_norm2.txt"),
  generated: () => generate("zoo.log", "--operations", "3000", "--seed", "7", "--zoo", "--program-level"),
  "two ranks": () => generate("ranks.log", "--operations", "3000", "--seed", "8", "--ranks", "2"),
  "a failed run": () => generate("fail.log", "--runs", "3", "--seed", "9", "--fail", "exhausted", "--fail-run", "2"),
  "a clash": () => generate("clash.log", "--runs", "2", "--seed", "10", "--fail", "clash", "--fail-run", "1"),
};

for (const [name, make] of Object.entries(logs)) {
  test(`${name}: the page says what the JSON says`, async (t) => {
    const log = make();
    if (!log) return t.skip("../shared/samples is not here");
    const r = report(log);
    await withPage(r.page, {}, async (page) => {
      await checkHeader(page, r);
      await checkIncident(page, r);
      await checkAdvice(page, r);
      await checkPeaks(page, r);
      await checkTables(page, r);
      await checkOperations(page, r);
    });
  });
}

test("logs without operations, without states, or with an error message alone make a page too", async () => {
  for (const kind of ["blocks", "ops", "submit"]) {
    const r = report(generate(`${kind}.log`, "--kind", kind, "--runs", "3", "--seed", "3"));
    await withPage(r.page, {}, async (page) => {
      await checkHeader(page, r);
      await checkPeaks(page, r);
    });
  }
});

test("the same page over http", async () => {
  const r = report(logs.small());
  await serve(r.page, async (url) => {
    const opened = await openPage(r.page, { url });
    await checkHeader(opened.page, r);
    await opened.close();
  });
});

test("a report of the Python tool, which knows neither lines nor frees", async () => {
  const folder = join(work, "old");
  cpSync(join(SOURCE, "tests", "golden", "llama-tiny"), folder, { recursive: true, filter: (name) => !name.endsWith(".log") });
  execFileSync(TTMEM, ["html", folder, "--quiet"]);
  const json = (file) => JSON.parse(readFileSync(join(folder, `tiny_${file}.json`), "utf8"));
  const [memory, operations] = [json("memory"), json("operations")];
  await withPage(join(folder, "tiny_report.html"), { hash: "#op=73" }, async (page) => {
    assert.equal(numberIn(await page.locator('[data-key="operations"] .fact-value').innerText()), operations.length);
    assert.match(await page.locator(".note-box").innerText(), /rebuilt from the JSON files/);
    const highest = Math.max(...memory.operations.map((op) => op.memory.DRAM.totalBytesAllocatedPerBank_MB));
    assert.equal(numberIn(await page.locator('[data-key="peak.DRAM"] .fact-value').innerText()), highest);
    assert.equal(await page.locator(".live-bar").count(), 0);
    const panel = await page.locator(".details").innerText();
    assert.ok(panel.includes(operations[73].loc));
    assert.ok(!panel.includes("log line"));
    const before = await page.locator('.details [data-key="op-memory"] tbody tr').first().evaluate((tr) => tr.cells[1].innerText);
    assert.equal(numberIn(before), memory.operations[73].memory.DRAM.totalBytesAllocatedPerBank_MB);
  });
});

test("the pyramid of a large log is the lowest and highest of every 64 states", async () => {
  const r = report(generate("large.log", "--operations", "70000", "--seed", "12"));
  const html = readFileSync(r.page, "utf8");
  const bytes = (id) => inflateSync(Buffer.from(new RegExp(`id="data\\.${id}">([^<]*)<`).exec(html)[1], "base64"));
  const numbers = (id) => {
    const out = [];
    let value = 0;
    let scale = 1;
    for (const byte of bytes(id)) {
      value += (byte & 127) * scale;
      scale *= 128;
      if (byte < 128) out.push(value), (value = 0), (scale = 1);
    }
    return out;
  };
  const unfold = (n) => (n % 2 ? -(n + 1) / 2 : n / 2);
  let last = 0;
  const allocated = numbers("state\\.DRAM\\.allocated").map((n) => (last += unfold(n)));
  assert.ok(allocated.length >= 65536);
  const pairs = numbers("pyramid\\.0\\.0\\.DRAM\\.allocated");
  assert.equal(pairs.length / 2, Math.ceil(allocated.length / 64));
  let high = 0;
  for (let k = 0; k < pairs.length / 2; k++) {
    const low = high + unfold(pairs[2 * k]);
    high = low + pairs[2 * k + 1];
    const group = allocated.slice(64 * k, 64 * k + 64);
    assert.deepEqual([low, high], [Math.min(...group), Math.max(...group)], `entry ${k}`);
  }
  assert.equal(Math.max(...allocated) / 1000, r.findings.peak.DRAM.allocated_per_bank_MB);
  await withPage(r.page, {}, async (page) => checkHeader(page, r));
});
