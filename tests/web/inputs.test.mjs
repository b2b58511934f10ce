// SPDX-License-Identifier: Apache-2.0
// What a page may say depends on what it was made of: a capture, a recording, states around programs, error messages. What cannot be told is
// called unknown, and nothing is concluded from what is not there.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { checkStatements, generate, report, said, SOURCE, statementsOf, TTMEM, withPage, work } from "./lib.mjs";

const severity = async (page, id) => (await statementsOf(page)).find((s) => s.id === id)?.severity ?? null;

// Pixels of free memory that is not in the largest block.
const inPieces = async (page) => {
  const total = page.locator('#timeline [data-stack="total"]:enabled');
  if (await total.count()) await total.click(); // the bands have colours of their own
  return page.locator("#timeline canvas").evaluate((canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let n = 0;
    for (let i = 0; i < data.length; i += 4) n += data[i + 3] > 60 && data[i + 1] > 140 && data[i] - data[i + 2] > 100;
    return n;
  });
};

test("a capture: how free memory is cut up is unknown, L1 per core is told", async () => {
  const r = report(join(SOURCE, "tests", "data", "capture_small.json"));
  assert.equal(r.findings.input.kind, "capture");
  await withPage(r.page, {}, async (page) => {
    await checkStatements(page, r.findings);
    for (const id of ["fragmentation.unknown", "runs.unknown"]) assert.equal(await severity(page, id), "unknown", id);
    assert.equal(await severity(page, "leak.none"), "ok");
    assert.equal(await page.locator("#runs, #fragmentation, #growth, #weights").count(), 0);
    assert.ok(!(await page.locator("main").innerText()).includes("TTXLA"));
    assert.equal(await page.locator("#timeline .key-pieces").count(), 0);
    assert.equal(await inPieces(page), 0);
    // 20,480 B of circular buffers and 6,144 B of tensors on the fullest core, as `ttmem graph` says.
    assert.match(await said(page, "l1.core"), /26\.0 KB.*tensors 6\.0 KB.*circular buffers 20\.0 KB/);
    assert.equal(await page.locator('#l1_core [data-key="core"]').count(), 1);
    assert.match(await page.locator("#l1_core figcaption").innerText(), /Wormhole core, 1,499,136 B/);
  });
});

test("buffers that just touch a tensor leave 0 bytes between them", async () => {
  const log = join(work, "touching.json");
  const capture = readFileSync(join(SOURCE, "tests", "data", "capture_small.json"), "utf8");
  writeFileSync(log, capture.replace('"size": 16384', `"size": ${1492992 - 109920}`)); // from its address to that of the lowest tensor
  await withPage(report(log).page, {}, async (page) => {
    assert.match(await page.locator('[data-statement="l1.core"] .detail').innerText(), /^At most 0 B between a program's buffers and the lowest tensor/);
    assert.equal(await page.locator("#l1_core .core-overlap").count(), 0);
  });
});

test("samples of running programs: no operation, no message, no layer is concluded from them", async () => {
  const log = join(work, "live.txt");
  writeFileSync(log, "ttmem-live 1\nstart 1700000000000 100\ndevice 0 0 0 n150\nprocess 0 4242 python\ns 0 0 0 0 0 0 0\ns 100 0 104857600 0 0 0 0 0:104857600,0,0,0,0\ns 300 0 0 0 0 0 0 0:0,0,0,0,0\nend 400\n");
  const r = report(log);
  await withPage(r.page, {}, async (page) => {
    await checkStatements(page, r.findings);
    for (const id of ["alive.unknown", "late.unknown", "runs.unknown", "leak.unknown", "fragmentation.unknown", "waste.unknown"]) assert.equal(await severity(page, id), "unknown", id);
    assert.equal(await page.locator("#layers").count(), 0);
    assert.ok(!(await page.locator("main").innerText()).includes("between runs"));
  });
});

test("a recording: bars and picture of the fullest core, and its numbers are those of the JSON", async () => {
  const program = join(work, "model.py");
  writeFileSync(program, "import ttnn\ndevice = ttnn.open_device(device_id=0)\nx = ttnn.empty(4096, device)\nfor i in range(3):\n    x = ttnn.softmax(ttnn.relu(x))\nttnn.close_device(device)\n");
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(TT_|TTNN_|PYTHON|VIRTUAL_ENV)/.test(name)));
  const packages = join(SOURCE, "tests", "launch", "fake_ttnn", "site-packages");
  execFileSync(TTMEM, ["run", "--quiet", "--name", "r", "--output-dir", join(work, "run"), "--", "python3", program], { env: { ...env, PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: "1" }, stdio: "ignore" });
  const folder = join(work, "run", readdirSync(join(work, "run"))[0]);
  const { l1_per_core: use } = JSON.parse(readFileSync(join(folder, "r_findings.json"), "utf8")).recording;
  const shown = (n) => `${n.toLocaleString("en-US")} B`;
  assert.ok(use.fullest_B > 0);
  const check = async (page) => {
    for (const [label, value] of [["circular buffers", use.circular_buffers_B], ["dataflow buffers", use.dataflow_buffers_B], ["L1 tensors", use.tensors_B]]) {
      const bar = page.locator(`#l1_core [data-l1="${label}"]`);
      assert.equal(await bar.count(), value > 0 ? 1 : 0, label);
      if (value > 0) assert.equal((await bar.innerText()).trim(), shown(value));
    }
    assert.equal((await page.locator('#l1_core [data-l1="capacity"]').innerText()).trim(), shown(use.limit_B));
    assert.equal(await page.locator('#l1_core [data-key="core"]').count(), 1);
  };
  await withPage(join(folder, "r_report.html"), {}, async (page) => {
    await check(page);
    assert.equal(await said(page, "fragmentation.unknown"), null); // a recording knows addresses
    assert.match(await page.locator("[data-live] .legend").first().innerText(), /activations/);
  });
});

test("a model of semaphores, caches and weights: each class of live tensors has its colour", async () => {
  await withPage(report(join(SOURCE, "demo", "llama_8b_n150.json.zst")).page, {}, async (page) => {
    const parts = await page.locator("[data-live] .live-part").evaluateAll((all) => all.map((part) => [part.title, getComputedStyle(part).background]));
    assert.ok(parts.some(([title]) => title.startsWith("semaphores")));
    for (const [title, background] of parts) assert.ok(!background.startsWith("rgba(0, 0, 0, 0) none"), `${title}: ${background}`);
  });
});

// Without a module, from which the states between would be predicted.
test("states around programs alone: nobody is said to have added nothing", async () => {
  const r = report(generate("around.log", "--kind", "submit", "--runs", "3", "--no-dumps"));
  await withPage(r.page, {}, async (page) => {
    await checkStatements(page, r.findings);
    for (const id of ["late.unknown", "waste.unknown"]) assert.equal(await severity(page, id), "unknown", id);
    assert.equal(await page.locator("[data-consumers], #freed_late, #waste").count(), 0);
    assert.equal(await severity(page, "input"), "unknown");
    assert.equal(await page.locator("#input").count(), 1);
  });
});

test("a capture that never used DRAM: nothing of it is explained by no tensors", async () => {
  const log = join(work, "l1_only.json");
  const capture = readFileSync(join(SOURCE, "tests", "data", "capture_small.json"), "utf8").replaceAll('"DRAM"', '"L1"').replaceAll('"buffer_type": 0', '"buffer_type": 1');
  writeFileSync(log, capture.replace(/"max_size_per_bank": \d+/, '"max_size_per_bank": 480')); // less than 0.001 MB: allocated and free do not add up
  const r = report(log);
  assert.equal(r.findings.peak.DRAM.allocated_per_bank_MB, 0);
  await withPage(r.page, {}, async (page) => {
    assert.equal(await page.locator('[data-live="DRAM"]').count(), 0);
    assert.equal(await inPieces(page), 0);
  });
});

test("states without operation lines: no largest tensor is known, so none fits", async () => {
  const r = report(generate("blocks.log", "--kind", "blocks", "--runs", "3", "--seed", "4"));
  assert.equal(r.findings.fragmentation.largest_request.per_bank_MB, 0);
  assert.ok(r.findings.fragmentation.worst.pct >= 0.05);
  await withPage(r.page, {}, async (page) => {
    assert.ok((await inPieces(page)) > 0);
    assert.ok(!/largest tensor/.test(await page.locator("#fragmentation").innerText()));
    assert.equal(await page.locator("#padding").count(), 0);
  });
});

test("error messages alone: no empty chart, and a plain error says its message", async () => {
  const log = join(work, "messages.log");
  writeFileSync(log, "TT_FATAL: /src/op.cpp:12: something else was wrong\n");
  await withPage(report(log).page, {}, async (page) => {
    assert.equal(await page.locator("#timeline canvas").count(), 0);
    assert.equal(await page.locator("#timeline").count(), 0);
    assert.equal(await said(page, "fatal"), "Fatal error");
    assert.match(await page.locator('[data-statement="fatal"] .detail').innerText(), /something else was wrong/);
    assert.equal(await severity(page, "peak.unknown"), "unknown");
  });
});

test("a clash names the buffers that clash", async () => {
  const log = join(work, "dataflow.log");
  writeFileSync(log, "TT_THROW: Statically allocated dataflow buffers in program 7 clash with L1 buffers on core range [(x=0,y=0) - (x=7,y=7)]. L1 buffer allocated at 1000000 and static dataflow buffer region ends at 1100000\n");
  const r = report(log);
  assert.equal(r.findings.incidents[0].kind, "l1_clash");
  await withPage(r.page, {}, async (page) => {
    await checkStatements(page, r.findings);
    assert.match(await page.locator(".failure .core").innerText(), /dataflow buffers/);
    assert.equal(await page.locator(".failure .core-overlap").count(), 2);
    assert.ok(!/circular buffers/i.test(await page.locator(".failure").innerText()));
  });
});

test("findings of before there were statements are made again", async () => {
  const r = report(generate("old.log", "--runs", "2", "--seed", "5"));
  const path = join(r.folder, "r_findings.json");
  const { statements, ...old } = JSON.parse(readFileSync(path, "utf8"));
  assert.ok(statements.length > 5);
  writeFileSync(path, JSON.stringify(old));
  rmSync(r.page); // a page that is there would only be renewed
  execFileSync(TTMEM, ["html", r.folder, "--quiet"]);
  await withPage(r.page, {}, async (page) => {
    assert.equal(await said(page, "peak.dram"), statements.find((s) => s.id === "peak.dram").headline);
    assert.equal(await severity(page, "late.unknown"), "unknown");
  });
});

test("nothing is wider than a narrow screen", async () => {
  const logs = [join(SOURCE, "tests", "golden", "small.log"), join(SOURCE, "tests", "data", "capture_small.json"), generate("narrow.log", "--runs", "3", "--waste", "--upcast", "--fail", "clash", "--fail-run", "2")];
  for (const log of logs) {
    await withPage(report(log).page, { width: 390, colorScheme: "dark" }, async (page) => {
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, log);
    });
  }
});
