// SPDX-License-Identifier: Apache-2.0
// Every sentence and every number of the page against the JSON files of the same report.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { inflateSync } from "node:zlib";
import { checkStatements, generate, mb, numberIn, openPage, report, sample, serve, SOURCE, texts, TTMEM, withPage, work } from "./lib.mjs";

const MEMORIES = ["DRAM", "L1", "L1_SMALL", "TRACE"];
const near = (a, b, slack, what) => assert.ok(Math.abs(a - b) <= slack, `${what}: ${a} on the page, ${b} in the JSON`);

const unit = { B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 };
const bytesIn = (text) => numberIn(text) * unit[/\d ([KMG]?B)/.exec(text)[1]];
const rowsOf = (locator) => locator.evaluateAll((rows) => rows.map((row) => ({ op: row.querySelector("[data-op]")?.dataset.op, cells: [...row.cells].map((cell) => cell.innerText.replace(/^▸\s*/, "")) })));
const short = (name) => (name === "N/A" ? "–" : name.length <= 90 ? name : `${name.slice(0, 44)}…${name.slice(-45)}`);
const times = (n) => (n > 1 ? ` ×${n.toLocaleString("en-US")}` : "");

async function checkHeader(page, r) {
  const config = await page.locator('[data-key="config"]').innerText();
  for (const memory of MEMORIES) {
    const own = r.memory.metadata.memory_config[memory];
    if (own?.total_bytes_per_bank_MB) assert.ok(config.includes(`${memory} ${own.num_banks} × ${mb(own.total_bytes_per_bank_MB)} MB`), config);
  }
  assert.match(await page.locator("header").innerText(), new RegExp(`${r.findings.input.lines.toLocaleString("en-US")} lines`));
  assert.equal(numberIn(await page.locator('[data-key="operations"] .fact-value').innerText()), r.memory.metadata.total_operations);
  for (const memory of ["DRAM", "L1"]) {
    const peak = r.findings.peak[memory];
    if (!peak?.allocated_per_bank_MB) continue;
    const text = await page.locator(`[data-key="peak.${memory}"]`).innerText();
    assert.equal(numberIn(text.split("\n").find((line) => line.includes("%"))), Number(peak.utilization_pct.toFixed(1)));
    assert.ok(text.includes(`${mb(peak.allocated_per_bank_MB)} of ${mb(r.findings.memory[memory].capacity_per_bank_MB)} MB per bank`) && text.includes(" per chip"), text);
  }
}

// The classes of the live tensors add up to what was allocated, and each group opens to its rows.
async function checkLive(page, r) {
  for (const [memory, live] of Object.entries(r.findings.live_at_peak)) {
    const box = page.locator(`[data-live="${memory}"]`);
    assert.equal(await box.count(), r.findings.peak[memory].allocated_per_bank_MB > 0 ? 1 : 0);
    if (!(await box.count())) continue;
    const parts = await box.locator("[data-class]").evaluateAll((all) => all.map((e) => Number(e.dataset.mb)));
    near(parts.reduce((a, b) => a + b, 0), live.allocated_per_bank_MB + live.counted_twice_MB, 0.0011, `${memory} live set`);
    const more = box.locator("button", { hasText: "All others" });
    if (await more.count()) {
      const hidden = live.groups.slice(await box.locator("tbody tr").count());
      assert.equal(await more.innerText(), `All others ${mb(hidden.reduce((sum, group) => sum + group.per_bank_MB, 0))} MB per bank`);
      await more.click();
    }
    const rows = await rowsOf(box.locator("tbody tr"));
    assert.equal(rows.length, live.groups.length);
    live.groups.forEach((group, i) => {
      assert.equal(rows[i].cells[2], mb(group.per_bank_MB));
      if (group.name) assert.equal(rows[i].cells[0].replace(" estimated", ""), `${short(group.name)}${times(group.tensors)}`);
    });
    const first = live.groups.findIndex((_, i) => live.rows.filter((row) => row.group === i).length > 1);
    if (first < 0) continue;
    await box.locator(".fold").first().click();
    assert.equal(await box.locator("tr.member").count(), live.rows.filter((row) => row.group === first).length);
  }
}

async function checkConsumers(page, r) {
  for (const memory of MEMORIES) {
    const wanted = r.findings.top_consumers[memory];
    const table = page.locator(`[data-consumers="${memory}"]`);
    const rows = await rowsOf(table.locator("tbody tr"));
    assert.equal(rows.length, wanted.length);
    wanted.forEach((row, i) => {
      assert.equal(rows[i].op, row.index === null ? undefined : String(row.index));
      assert.equal(rows[i].cells[0], `${short(row.name)}${times(row.places)}`);
      assert.equal(rows[i].cells[1], `+${mb(row.total_MB)}`);
    });
    const folded = wanted.find((row) => row.places > 1);
    if (!folded) continue;
    // A folded row opens to its members by the keyboard, and closes again.
    await table.locator(".fold").first().focus();
    await page.keyboard.press("Enter");
    const members = await rowsOf(table.locator("tr.member"));
    folded.members.forEach((member, i) => {
      assert.equal(members[i].op, String(member.index));
      assert.equal(members[i].cells[0], short(member.weight ?? member.loc ?? ""));
      assert.equal(members[i].cells[1], `+${mb(member.effect_MB)}`);
    });
    await page.keyboard.press("Enter");
    assert.equal(await table.locator("tr.member:visible").count(), 0);
  }
}

async function checkTables(page, r) {
  const padding = await rowsOf(page.locator("#padding tbody tr"));
  assert.equal(padding.length, r.findings.padding.top.length);
  r.findings.padding.top.forEach((row, i) => {
    assert.equal(padding[i].cells[0], `${short(row.name)}${times(row.places)}`);
    assert.equal(padding[i].cells[4], mb(row.overhead_MB * row.places));
    const layouts = r.operations[row.index].output_layouts ?? [r.operations[row.index].output_layout_info];
    assert.ok(padding[i].cells[1].includes(` → ${layouts[row.result].padded_shape.join("×")}`), padding[i].cells[1]);
  });

  const weights = r.registry.entries.filter((e) => ["parameter", "constant"].includes(e.type) && !e.repeated);
  assert.equal(await page.locator("#weights").count(), weights.length ? 1 : 0);
  if (weights.length) {
    const more = page.locator("#weights button", { hasText: "Show all" });
    if (await more.count()) await more.click();
    const rows = await rowsOf(page.locator("#weights tbody tr"));
    const count = (name) => Number(/ ×([\d,]+)$/.exec(name)?.[1].replace(/,/g, "") ?? 1);
    assert.equal(rows.reduce((n, row) => n + count(row.cells[0]), 0), r.registry.metadata.total_weights);
    const bytes = r.registry.metadata.total_weight_bytes;
    near(rows.reduce((sum, row) => sum + bytesIn(row.cells[2]), 0), bytes, bytes * 0.01 + rows.length * 60, "weights");
    assert.equal(numberIn(await page.locator('[data-key="weights-sum"]').innerText()), r.registry.metadata.total_weights);
  }

  const distribution = await page.locator("#distribution tbody tr").evaluateAll((all) => all.map((row) => [row.cells[0].innerText, row.cells[1].innerText]));
  Object.entries(r.findings.operations.distribution).slice(0, 15).forEach(([name, n], i) => {
    assert.equal(distribution[i][0], name);
    assert.equal(numberIn(distribution[i][1]), n);
  });
}

// One delta per operation: a const-eval program counts for its load_cached, in the list of consumers, the table and the panel alike.
async function checkDelta(page, r) {
  const cached = r.findings.top_consumers.DRAM.find((row) => row.weight && row.places === 1 && row.effect_MB > 0);
  if (!cached) return;
  await page.evaluate((op) => (location.hash = `op=${op}&mem=DRAM`), cached.index);
  await page.waitForFunction((text) => document.querySelector(".details h2")?.textContent?.startsWith(text), `#${cached.index} `);
  const panel = await rowsOf(page.locator('.details [data-key="op-memory"] tbody tr'));
  const cells = await texts(page.locator(`#operations .op-row[data-op="${cached.index}"] [role=cell]`));
  assert.equal(panel.find((row) => row.cells[0] === "DRAM").cells[3], `+${mb(cached.effect_MB)}`);
  assert.equal(cells[5], `+${mb(cached.effect_MB)}`);
  assert.equal(cells[2], cached.weight);
}

// Operations spread over the report: the table's row and the panel say what the JSON says.
async function checkOperations(page, r) {
  const n = r.operations.length;
  const picks = [...new Set([0, 1, Math.floor(n / 3), Math.floor(n / 2), n - 2, n - 1])].filter((i) => i >= 0 && i < n);
  for (const i of picks) {
    await page.evaluate((op) => (location.hash = `op=${op}&mem=DRAM`), i);
    await page.waitForFunction((text) => document.querySelector(".details h2")?.textContent?.startsWith(text), `#${i} `);
    const [op, state] = [r.operations[i], r.memory.operations[i]];
    assert.equal(await page.locator(".details h2").innerText(), `#${i} ${op.mlir_op}`);
    const panel = await page.locator(".details").innerText();
    if (op.loc) assert.ok(panel.includes(op.loc), `location of ${i}`);
    assert.ok(panel.includes(String(op.line)), `line of ${i}`);
    for (const weight of op.weights) assert.ok(panel.includes(weight.name), `weight of ${i}`);
    if (op.attributes) assert.ok(panel.includes(op.attributes.slice(0, 60).trim()), `attributes of ${i}`);
    op.output_shapes.forEach((shape, k) => assert.ok(panel.includes(`${(shape ?? "scalar").replaceAll("x", "×")} ${op.output_dtypes[k]}`), `output of ${i}`));
    for (const memory of MEMORIES) {
      if (!state.memory?.[memory]) continue;
      const [{ cells }] = await rowsOf(page.locator('.details [data-key="op-memory"] tbody tr', { has: page.locator(`td:text-is("${memory}")`) }));
      const figures = state.memory[memory];
      assert.equal(cells[1], mb(figures.totalBytesAllocatedPerBank_MB), `${memory} before ${i}`);
      assert.equal(cells[4], mb(figures.totalBytesFreePerBank_MB), `${memory} free before ${i}`);
      assert.equal(cells[5], mb(figures.largestContiguousBytesFreePerBank_MB), `${memory} largest free block before ${i}`);
      const effect = state.effect_MB?.[memory];
      if (op.mlir_op.endsWith("load_cached")) continue; // with what its program did
      assert.equal(cells[3], effect === undefined ? "–" : `${effect > 0 ? "+" : effect < 0 ? "−" : ""}${mb(Math.abs(effect))}`, `${memory} delta of ${i}`);
    }
    const row = page.locator(`#operations .op-row[data-op="${i}"]`);
    assert.equal(await row.getAttribute("aria-current"), "true");
    const cells = await texts(row.locator("[role=cell]"));
    assert.equal(cells[1], op.mlir_op);
    if (state.memory?.DRAM) assert.equal(cells[4], mb(state.memory.DRAM.totalBytesAllocatedPerBank_MB));
  }
}

// Failures with their messages, the one that tells most first.
async function checkFailures(page, r) {
  const cards = page.locator(".failure");
  const { incidents } = r.findings;
  const other = r.findings.statements.some((s) => s.id === "weights.exceed-dram");
  assert.equal(await cards.count(), Math.max(incidents.length, Number(other)));
  if (!incidents.length) return;
  const incident = incidents.find((i) => i.kind !== "fatal") ?? incidents[0];
  await cards.first().locator(".message summary").click();
  assert.ok((await cards.first().innerText()).includes(incident.text.slice(0, 80)));
  if (incident.needed_per_bank_B !== null && incident.largest_free_block_B !== null) near(bytesIn(await cards.first().locator(".bars dd .num").first().innerText()), incident.needed_per_bank_B, incident.needed_per_bank_B * 0.01, "needed");
}

const logs = {
  demo: () => join(SOURCE, "demo", "llama_small.log.zst"),
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
      await checkStatements(page, r.findings);
      await checkHeader(page, r);
      await checkFailures(page, r);
      await checkLive(page, r);
      await checkConsumers(page, r);
      await checkTables(page, r);
      await checkOperations(page, r);
      await checkDelta(page, r);
    });
  });
}

test("logs without operations, without states, or with an error message alone make a page too", async () => {
  for (const kind of ["blocks", "ops", "submit"]) {
    const r = report(generate(`${kind}.log`, "--kind", kind, "--runs", "3", "--seed", "3"));
    await withPage(r.page, {}, async (page) => {
      await checkHeader(page, r);
      await checkStatements(page, r.findings);
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
    assert.match(await page.locator(".note-box").innerText(), /made from the JSON files of a report/);
    const highest = Math.max(...memory.operations.map((op) => op.memory.DRAM.totalBytesAllocatedPerBank_MB));
    assert.ok((await page.locator('[data-key="peak.DRAM"]').innerText()).includes(`${mb(highest)} of `));
    assert.equal(await page.locator(".live-bar").count(), 0);
    const panel = await page.locator(".details").innerText();
    assert.ok(panel.includes(operations[73].loc));
    assert.ok(!panel.includes("log line"));
    const before = await page.locator('.details [data-key="op-memory"] tbody tr').first().evaluate((tr) => tr.cells[1].innerText);
    assert.equal(before, mb(memory.operations[73].memory.DRAM.totalBytesAllocatedPerBank_MB));
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
