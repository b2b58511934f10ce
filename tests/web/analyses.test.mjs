// SPDX-License-Identifier: Apache-2.0
// The part of each analysis on the page against findings.json, on logs in which its cause was planted, and the ways from a finding to its place.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { checkStatements, generate, mb, numberIn, report, said, sample, SOURCE, TTMEM, withPage, work } from "./lib.mjs";

const cells = (locator) => locator.evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
const ops = (locator) => locator.evaluateAll((rows) => rows.map((row) => [...row.querySelectorAll("[data-op]")].map((e) => Number(e.dataset.op))));
const point = (s) => s.points.map((one) => one.text);

// The evidence of a statement, where no table stands for it.
async function checkPoints(page, r) {
  for (const s of r.findings.statements) {
    const shown = await page.locator(`[data-statement="${s.id}"][data-number="${s.number ?? 0}"] .points > li > div > span:first-child`).allTextContents();
    if (/^(leak|fragmentation|waste|layers|input)/.test(s.id) && s.points) assert.deepEqual(shown, point(s), s.id);
  }
}

async function checkLate(page, late) {
  const rows = await cells(page.locator("#freed_late tbody tr"));
  const links = await ops(page.locator("#freed_late tbody tr"));
  assert.equal(rows.length, late.tensors.length);
  late.tensors.forEach((tensor, i) => {
    assert.deepEqual(links[i], [tensor.made_by.index, tensor.last_use.index].filter((index) => index !== null));
    assert.ok(rows[i][0].includes(tensor.made_by.loc), rows[i][0]);
    assert.equal(numberIn(rows[i][1]), tensor.times);
    assert.equal(rows[i][2], mb(tensor.per_bank_MB));
    assert.equal(numberIn(rows[i][4]), tensor.operations_late);
    assert.equal(rows[i][5], `log line ${tensor.freed_line}`);
    assert.equal(rows[i][6], mb(tensor.peak_if_freed_per_bank_MB));
  });
}

async function checkRuns(page, r) {
  const { programs, runs } = r.findings;
  for (const [i, program] of programs.entries()) {
    const own = runs.filter((run) => run.program === program.program && run.rank === program.rank && run.graph === program.graph);
    const box = page.locator(`[data-statement="runs.program"][data-number="${i}"]`);
    const more = box.locator("button", { hasText: "Show all" });
    if (await more.count()) await more.click();
    const rows = await cells(box.locator("tbody tr"));
    assert.equal(rows.length, own.length > 1 ? own.length : 0);
    rows.forEach((row, k) => {
      assert.equal(numberIn(row[0]), own[k].run);
      assert.equal(/warm-up/.test(row[0]), own[k].finished && k < program.warm_up_runs);
      assert.equal(/not finished/.test(row[0]), !own[k].finished);
      assert.deepEqual(row.slice(1, 4), [own[k].start_MB, own[k].peak_MB, own[k].end_MB].map((level) => (level === null ? "–" : mb(level))));
    });
  }
  assert.equal(await page.locator("#growth .spark").count(), r.findings.leaks.length);
}

async function checkLayers(page, layers) {
  const blocks = page.locator("#layers .layer");
  if (!layers) return assert.equal(await blocks.count(), 0);
  if (!(await blocks.count())) return;
  assert.equal(await blocks.count(), layers.count + layers.odd_count);
  assert.deepEqual(await page.locator("#layers .layer.odd").evaluateAll((all) => all.map((e) => Number(e.dataset.layer))), layers.odd.map((o) => o.layer));
  assert.equal((await ops(page.locator("#layers tbody tr"))).length, layers.operations);
}

async function checkFragmentation(page, r) {
  const found = r.findings.fragmentation;
  const cut = r.findings.statements.some((s) => s.id === "fragmentation.dram");
  assert.equal(await page.locator("#fragmentation").count(), cut ? 1 : 0);
  if (!cut) return;
  const box = page.locator("#fragmentation [data-statement] > div > div").first();
  await box.evaluate((e) => e.scrollIntoView({ behavior: "instant" }));
  await page.waitForFunction(() => document.querySelector("#fragmentation [data-failing] canvas"));
  // The chart is drawn from the states: it must find what the analysis found.
  if (r.findings.input.ranks < 2) assert.equal(Number(await page.locator("#fragmentation [data-failing]").getAttribute("data-failing")), found.largest_request.states_that_would_refuse_it);
}

// A row of waste that stands for several layers opens to their tensors.
async function checkWaste(page, waste) {
  const folded = waste.top.filter((row) => row.members.length > 1);
  const boxes = page.locator("#waste .points details");
  assert.equal(await boxes.count(), folded.length);
  for (const [i, row] of folded.slice(0, 1).entries()) {
    await boxes.nth(i).locator("summary").click();
    const rows = await cells(boxes.nth(i).locator("tbody tr"));
    assert.equal(rows.length, row.members.length);
    row.members.forEach((one, k) => assert.equal(rows[k][1], mb(one.per_bank_MB)));
  }
}

async function checkCores(page, r) {
  const all = r.findings.incidents.map((incident) => incident).sort((a, b) => Number(a.kind === "fatal") - Number(b.kind === "fatal"));
  for (const [at, incident] of all.slice(0, 3).entries()) {
    assert.equal(await page.locator(".failure").nth(at).locator('[data-key="core"]').count(), ["l1_clash", "l1_overflow"].includes(incident.kind) && incident.static_buffers_end !== null ? 1 : 0);
  }
}

const logs = {
  "a leak, an odd layer, upcast weights": () => generate("planted.log", "--runs", "8", "--layers", "8", "--leak", "--upcast", "--odd-layer", "5"),
  "a leak of many operations": () => generate("leaks.log", "--runs", "8", "--layers", "4", "--leak", "--leak-more", "1"),
  "late frees": () => generate("late.log", "--runs", "3", "--layers", "8", "--late", "--seq", "2048", "--no-const-eval"),
  "fragmented memory": () => generate("frag.log", "--runs", "3", "--layers", "12", "--fail", "fragmented", "--fail-run", "2", "--binaries"),
  "two ranks, nothing planted": () => generate("clean.log", "--runs", "5", "--layers", "4", "--ranks", "2"),
  "types of every kind": () => generate("zoo2.log", "--runs", "3", "--zoo"),
  "a clash": () => generate("clash2.log", "--runs", "2", "--fail", "clash", "--fail-run", "1"),
  "an overflow": () => generate("overflow.log", "--runs", "2", "--fail", "overflow", "--fail-run", "1"),
  "memory exhausted inside an operation": () => generate("exhausted.log", "--runs", "2", "--fail", "exhausted", "--fail-run", "1", "--fail-copies", "3"),
  "sample 21": () => sample("21_llama8b_oom_real_allocator.log"),
};

for (const [name, make] of Object.entries(logs)) {
  test(`${name}: every analysis on the page is the one of findings.json`, async (t) => {
    const log = make();
    if (!log) return t.skip("../shared/samples is not here");
    const r = report(log);
    await withPage(r.page, {}, async (page) => {
      await checkStatements(page, r.findings);
      await checkPoints(page, r);
      await checkCores(page, r);
      await checkLate(page, r.findings.late_frees);
      await checkRuns(page, r);
      await checkLayers(page, r.findings.layers);
      await checkFragmentation(page, r);
      await checkWaste(page, r.findings.waste_at_peak);
    });
  });
}

test("from a finding to its operation, its moment and its stretch of the chart", async () => {
  const r = report(logs["late frees"]());
  const late = r.findings.late_frees.tensors[0];
  await withPage(r.page, {}, async (page) => {
    const selected = () => page.evaluate(() => new URLSearchParams(location.hash.slice(1)).get("op"));
    await page.locator("#freed_late tbody [data-op]").first().click();
    await page.waitForFunction((op) => new URLSearchParams(location.hash.slice(1)).get("op") === op, String(late.made_by.index));
    // A line of the log selects the operation that had begun there.
    await page.locator("#freed_late tbody [data-log-line]").first().click();
    const before = r.operations.findLastIndex((op) => op.line <= late.freed_line);
    await page.waitForFunction((op) => new URLSearchParams(location.hash.slice(1)).get("op") === op, String(before));
    // "Show" zooms to the tensor's life, "Show this layer" to the layer.
    await page.locator("#freed_late tbody button", { hasText: "Show" }).first().click();
    await page.waitForFunction(() => location.hash.includes("from="));
    const zoom = await page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.slice(1))));
    assert.ok(Number(zoom.from) < late.made_by.index && Number(zoom.to) > late.last_use.index, JSON.stringify(zoom));
    assert.equal(await selected(), String(late.made_by.index));
    await page.locator("#layers .layer").nth(1).click();
    await page.waitForFunction((old) => !location.hash.includes(`from=${old}`), zoom.from);
    const layer = await page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.slice(1))));
    const { first, operations } = r.findings.layers;
    assert.ok(Number(layer.from) < first.index + operations && Number(layer.to) > first.index + 2 * operations - 1, JSON.stringify(layer));
    // The operation that a sentence names is a link to it; the navigation leads to each part of the page.
    await page.locator('[data-statement="peak.dram"] .headline [data-op]').click();
    await page.waitForFunction((op) => new URLSearchParams(location.hash.slice(1)).get("op") === op, String(r.findings.peak.DRAM.caused_by.index));
    await page.locator("nav button", { hasText: "Layers" }).click();
    await page.waitForFunction(() => Math.abs(document.getElementById("layers").getBoundingClientRect().top) < 200);
  });
});

test("a page rebuilt from the JSON files says what it cannot tell, and guesses nothing", async () => {
  const r = report(logs["a leak, an odd layer, upcast weights"]());
  const bare = join(work, "bare");
  cpSync(r.folder, bare, { recursive: true });
  rmSync(join(bare, "r_findings.json"));
  rmSync(join(bare, "r_report.html"));
  execFileSync(TTMEM, ["html", bare, "--quiet"]);
  await withPage(join(bare, "r_report.html"), {}, async (page) => {
    for (const id of ["late.unknown", "waste.unknown", "alive.unknown"]) assert.match(await said(page, id), /do not hold the frees/, id);
    assert.equal(await page.locator("#freed_late, #waste, #alive, [data-fix=no_upcast]").count(), 0);
    // That memory rises is measured; who does it takes the frees.
    assert.match(await page.locator('[data-statement="leak.run"]').innerText(), /0\.018 MB per bank.*Which tensors are never freed is unknown/s);
    await checkLayers(page, r.findings.layers);
  });
  // With its findings the rebuilt page is as full as the first one.
  const kept = join(work, "kept");
  cpSync(r.folder, kept, { recursive: true });
  rmSync(join(kept, "r_report.html"));
  execFileSync(TTMEM, ["html", kept, "--quiet"]);
  await withPage(join(kept, "r_report.html"), {}, async (page) => {
    await checkStatements(page, r.findings);
    await checkWaste(page, r.findings.waste_at_peak);
    await checkLate(page, r.findings.late_frees);
    await checkRuns(page, r);
  });
  // The Python tool's files: no lines, no frees.
  const old = join(work, "python");
  cpSync(join(SOURCE, "tests", "golden", "llama-tiny"), old, { recursive: true, filter: (name) => !name.endsWith(".log") });
  execFileSync(TTMEM, ["html", old, "--quiet"]);
  await withPage(join(old, "tiny_report.html"), {}, async (page) => {
    assert.notEqual(await said(page, "late.unknown"), null);
    assert.notEqual(await said(page, "waste.unknown"), null);
    assert.equal(await page.locator("[data-log-line]").count(), 0); // no log line is known
  });
});
