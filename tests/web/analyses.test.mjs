// SPDX-License-Identifier: Apache-2.0
// The part of each analysis on the page against findings.json, on logs in which its cause was planted, and the ways from a finding to its place.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { generate, numberIn, report, sample, SOURCE, texts, TTMEM, withPage, work } from "./lib.mjs";

const shown = (n) => n.toLocaleString("en-US", { maximumFractionDigits: 3 });
const column = (n) => n.toLocaleString("en-US", { minimumFractionDigits: 3, maximumFractionDigits: 3 }); // in tables the decimals stand below each other
const line = (n) => `log line ${n.toLocaleString("en-US")}`;
const cells = (locator) => locator.evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.innerText)));
const ops = (locator) => locator.evaluateAll((rows) => rows.map((row) => [...row.querySelectorAll("[data-op]")].map((e) => Number(e.dataset.op))));
const state = (page, name) => page.locator(`#findings [data-finding="${name}"]`).getAttribute("data-state");

async function checkLate(page, late) {
  const text = await page.locator('#late [data-key="late"]').innerText();
  const rows = await cells(page.locator("#late tbody tr"));
  const links = await ops(page.locator("#late tbody tr"));
  assert.equal(rows.length, late.tensors.length);
  assert.equal(await page.locator("#late .basis").getAttribute("data-basis"), late.basis);
  if (!late.tensors.length) return assert.match(text, /No tensor/);
  late.tensors.forEach((tensor, i) => {
    assert.equal(links[i][0], tensor.made_by.index);
    assert.ok(rows[i][0].includes(tensor.made_by.loc), rows[i][0]);
    assert.ok(rows[i][2].includes(line(tensor.freed_line)), rows[i][2]);
    assert.equal(rows[i][3], column(tensor.per_bank_MB));
    assert.equal(numberIn(rows[i][4]), tensor.times);
    assert.equal(numberIn(rows[i][5]), tensor.operations_late);
    assert.ok(rows[i][6].startsWith(column(tensor.peak_if_freed_per_bank_MB)), rows[i][6]);
  });
  if (late.replay_agrees) assert.match(text, /confirmed by replaying/);
}

async function checkRuns(page, r) {
  const { programs, leaks, runs } = r.findings;
  const leakTexts = await texts(page.locator("#runs .leak"));
  assert.equal(leakTexts.length, leaks.length);
  leaks.forEach((leak, i) => {
    assert.ok(leakTexts[i].includes(`${shown(leak.per_run_MB)} MB per bank`), leakTexts[i]);
    assert.ok(leakTexts[i].includes(`over ${shown(leak.runs_seen)} run`), leakTexts[i]);
    if (leak.runs_until_full !== null) assert.ok(leakTexts[i].includes(`after ${shown(leak.runs_until_full)} more`), leakTexts[i]);
    if (leak.loc) assert.ok(leakTexts[i].includes(leak.loc), leakTexts[i]);
    for (const one of leak.culprits) assert.ok(leakTexts[i].includes(one.loc), leakTexts[i]);
  });
  const sums = await page.locator('[data-key="attribution"]').innerText();
  assert.equal(numberIn(/= ([+−]?[\d.,]+)/.exec(sums)[1]), r.findings.attribution.total_MB);
  const words = await texts(page.locator('#runs [data-key="program"]'));
  assert.equal(words.length, Math.min(8, programs.length));
  for (const [i, program] of programs.slice(0, 8).entries()) {
    if (program.peak_MB !== null) assert.ok(words[i].includes(`${shown(program.peak_MB)} MB per bank, in run ${program.peak_run}`), words[i]);
    // The folded rows stand for every run, once.
    const rows = await cells(page.locator("#runs [data-program]").nth(i).locator("tbody tr"));
    const own = runs.filter((run) => run.program === program.program && run.rank === program.rank && run.graph === program.graph);
    const covered = rows.reduce((n, row) => n + (row[0].includes("–") ? own.filter((run) => run.run >= numberIn(row[0].split("–")[0]) && run.run <= numberIn(row[0].split("–")[1])).length : 1), 0);
    assert.equal(covered, own.length);
    assert.ok(rows[0][2].startsWith(own[0].start_MB === null ? "–" : shown(own[0].start_MB)));
  }
}

async function checkLayers(page, layers) {
  if (!layers) return assert.match(await page.locator("#layers").innerText(), /No block of operations repeats/);
  const text = await page.locator('#layers [data-key="layers"]').innerText();
  assert.ok(text.startsWith(`${shown(layers.count)} layer`), text);
  assert.ok(text.includes(`${shown(layers.operations)} operation`), text);
  assert.ok(text.includes(`${shown(layers.peak_above_start_per_bank_MB)} MB per bank above its start`), text);
  const blocks = page.locator("#layers .layer");
  if (await blocks.count()) {
    assert.equal(await blocks.count(), layers.count + layers.odd_count);
    assert.deepEqual(await page.locator("#layers .layer.odd").evaluateAll((all) => all.map((e) => Number(e.dataset.layer))), layers.odd.map((o) => o.layer));
    assert.equal((await ops(page.locator("#layers tbody tr"))).length, layers.operations);
  }
  const odd = await texts(page.locator("#layers .plain li"));
  layers.odd.forEach((one, i) => assert.ok(odd[i].includes(one.differs.loc) && odd[i].includes(`${one.operations} operations`), odd[i]));
}

async function checkFragmentation(page, r) {
  const found = r.findings.fragmentation;
  const box = page.locator("#fragmentation");
  if (!found) return assert.match(await box.innerText(), /Unknown from this kind of input/);
  if (found.worst.free_per_bank_MB - found.worst.largest_free_block_MB < 0.0005) return assert.match(await box.innerText(), /in one piece/);
  assert.ok((await box.locator('[data-key="fragmentation"]').innerText()).includes(`${shown(found.worst.free_per_bank_MB)} MB free, the largest block ${shown(found.worst.largest_free_block_MB)} MB`));
  assert.ok((await box.innerText()).includes(line(found.worst.line)));
  await box.evaluate((e) => e.scrollIntoView({ behavior: "instant" }));
  await page.waitForFunction(() => document.getElementById("fragmentation").dataset.refusing !== undefined && document.querySelector("#fragmentation canvas"));
  if (r.findings.input.ranks < 2) {
    // The chart is drawn from the states: it must find what the analysis found.
    assert.equal(Number(await box.getAttribute("data-refusing")), found.largest_request.states_that_would_refuse_it);
    const stranded = Number(await box.getAttribute("data-stranded")) / 1000;
    assert.ok(Math.abs(stranded - (found.worst.free_per_bank_MB - found.worst.largest_free_block_MB)) < 0.0011, `${stranded}`);
  }
  const pins = await cells(box.locator("tbody tr"));
  assert.equal(pins.length, found.pinned_by.tensors.length);
  found.pinned_by.tensors.forEach((pin, i) => {
    assert.equal(numberIn(pins[i][1]), pin.address);
    assert.equal(pins[i][2], column(pin.per_bank_MB));
    assert.equal(pins[i][4], column(pin.free_block_without_MB));
    if (pin.made_by) assert.ok(pins[i][0].includes(pin.made_by.loc), pins[i][0]);
  });
}

async function checkWaste(page, waste) {
  for (const [kind, mb] of Object.entries(waste.per_bank_MB)) {
    const bar = page.locator(`#waste [data-waste="${kind}"]`);
    assert.equal(await bar.count(), mb > 0 ? 1 : 0, kind);
    if (mb > 0) assert.ok((await page.locator('#waste [data-key="waste"]').innerText()).includes(`${shown(mb)} MB`), kind);
  }
  const more = page.locator("#waste button", { hasText: "Show all" });
  if (await more.count()) await more.click();
  const rows = await cells(page.locator("#waste tbody tr"));
  assert.equal(rows.length, waste.top.length);
  waste.top.forEach((row, i) => {
    assert.equal(rows[i][3], column(row.per_bank_MB));
    if (row.name) assert.ok(rows[i][0].includes(row.name), rows[i][0]);
    if (row.kind === "tile_padding" && row.better_shape) assert.ok(rows[i][4].includes(row.better_shape.replaceAll("x", "×")), rows[i][4]);
    assert.notEqual(rows[i][4], "");
  });
}

async function checkIncidents(page, r) {
  const all = r.findings.incidents.map((incident, i) => ({ incident, i })).sort((a, b) => Number(a.incident.kind === "fatal") - Number(b.incident.kind === "fatal"));
  for (const [at, { incident }] of all.slice(0, 3).entries()) {
    const card = page.locator(".incident").nth(at);
    const ways = await card.locator(".ways li").allTextContents();
    assert.equal(ways.length, incident.ways.length);
    incident.ways.forEach((way, w) => assert.ok(ways[w].includes(way.text.slice(0, 80)) && ways[w].includes(way.basis), ways[w]));
    assert.equal(await card.locator('[data-key="core"]').count(), ["l1_clash", "l1_overflow"].includes(incident.kind) && incident.static_buffers_end !== null ? 1 : 0);
  }
}

async function checkInOperation(page, r) {
  for (const memory of ["DRAM", "L1"]) {
    const inside = r.findings.peak[memory]?.in_operation_peak;
    if (!inside) continue;
    const text = await page.locator(`.peak[data-memory="${memory}"]`).innerText();
    assert.ok(text.includes("inside an operation") && text.includes(line(inside.line)) && text.includes(`${shown(inside.allocated_per_bank_MB)} MB`), text);
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
      assert.equal(await page.locator("#findings li").count(), 10);
      await checkIncidents(page, r);
      await checkInOperation(page, r);
      await checkLate(page, r.findings.late_frees);
      await checkRuns(page, r);
      await checkLayers(page, r.findings.layers);
      await checkFragmentation(page, r);
      await checkWaste(page, r.findings.waste_at_peak);
      assert.equal(await state(page, "Leaks"), r.findings.leaks.length ? "found" : Math.max(0, ...r.findings.programs.map((p) => p.runs)) < 5 ? "untold" : "fine");
      assert.equal(await state(page, "Late frees"), r.findings.late_frees.tensors.length ? "found" : "fine");
      assert.equal(await state(page, "Waste"), r.findings.waste_at_peak.top.length ? "found" : "fine");
      assert.equal(await state(page, "What went wrong"), r.findings.incidents.length ? "found" : "fine");
    });
  });
}

test("from a finding to its operation, its moment and its stretch of the chart", async () => {
  const r = report(logs["late frees"]());
  const late = r.findings.late_frees.tensors[0];
  await withPage(r.page, {}, async (page) => {
    const selected = () => page.evaluate(() => new URLSearchParams(location.hash.slice(1)).get("op"));
    await page.locator("#late tbody [data-op]").first().click();
    await page.waitForFunction((op) => new URLSearchParams(location.hash.slice(1)).get("op") === op, String(late.made_by.index));
    // A line of the log selects the operation that had begun there.
    await page.locator("#late [data-log-line]").first().click();
    const before = r.operations.findLastIndex((op) => op.line <= late.freed_line);
    await page.waitForFunction((op) => new URLSearchParams(location.hash.slice(1)).get("op") === op, String(before));
    // "Show" zooms to the tensor's life, "Show this layer" to the layer.
    await page.locator("#late tbody button", { hasText: "Show" }).first().click();
    await page.waitForFunction(() => location.hash.includes("from="));
    const zoom = await page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.slice(1))));
    assert.ok(Number(zoom.from) < late.made_by.index && Number(zoom.to) > late.last_use.index, JSON.stringify(zoom));
    assert.equal(await selected(), String(late.made_by.index));
    await page.locator("#layers .layer").nth(1).click();
    await page.waitForFunction((old) => !location.hash.includes(`from=${old}`), zoom.from);
    const layer = await page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.slice(1))));
    const { first, operations } = r.findings.layers;
    assert.ok(Number(layer.from) < first.index + operations && Number(layer.to) > first.index + 2 * operations - 1, JSON.stringify(layer));
    // A row of the findings leads to its part of the page.
    await page.locator("#findings button", { hasText: "Fragmentation" }).click();
    await page.waitForFunction(() => Math.abs(document.getElementById("fragmentation").getBoundingClientRect().top) < 200);
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
    for (const [name, expected] of [["Late frees", "untold"], ["Waste", "untold"], ["What is live then", "untold"], ["Advice", "untold"], ["Layers", "found"]]) assert.equal(await state(page, name), expected, name);
    assert.match(await page.locator("#late").innerText(), /hold no deallocations/);
    assert.match(await page.locator("#waste").innerText(), /Unknown from this kind of input/);
    assert.equal(await page.locator("#advice").count(), 0);
    // That memory rises is measured; who does it takes the frees.
    assert.match(await page.locator("#runs .leak").innerText(), /0\.018 MB per bank behind.*\n?.*cannot be told/s);
    await checkLayers(page, r.findings.layers);
  });
  // With its findings the rebuilt page is as full as the first one.
  const kept = join(work, "kept");
  cpSync(r.folder, kept, { recursive: true });
  rmSync(join(kept, "r_report.html"));
  execFileSync(TTMEM, ["html", kept, "--quiet"]);
  await withPage(join(kept, "r_report.html"), {}, async (page) => {
    await checkWaste(page, r.findings.waste_at_peak);
    await checkLate(page, r.findings.late_frees);
    await checkRuns(page, r);
  });
  // The Python tool's files: no lines, no frees.
  const old = join(work, "python");
  cpSync(join(SOURCE, "tests", "golden", "llama-tiny"), old, { recursive: true, filter: (name) => !name.endsWith(".log") });
  execFileSync(TTMEM, ["html", old, "--quiet"]);
  await withPage(join(old, "tiny_report.html"), {}, async (page) => {
    assert.equal(await state(page, "Late frees"), "untold");
    assert.equal(await state(page, "Waste"), "untold");
    assert.equal(await page.locator("[data-log-line]").count(), 0); // no log line is known
  });
});
