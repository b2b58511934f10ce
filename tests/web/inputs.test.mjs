// SPDX-License-Identifier: Apache-2.0
// What a page may say depends on what it was made of: a capture, a recording, states around programs, error messages. What cannot be told is
// called unknown, and nothing is concluded from what is not there.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { generate, report, sample, SOURCE, TTMEM, withPage, work } from "./lib.mjs";

const state = (page, name) => page.locator(`#findings [data-finding="${name}"]`).getAttribute("data-state");
const UNKNOWN = /unknown from this kind of input/i;

// As another input of the same findings: the page is made again from the folder, whose findings it keeps.
function changed(r, change) {
  const path = join(r.folder, "r_findings.json");
  const findings = JSON.parse(readFileSync(path, "utf8"));
  change(findings);
  writeFileSync(path, JSON.stringify(findings));
  rmSync(r.page); // a page that is there would only be renewed
  execFileSync(TTMEM, ["html", r.folder, "--quiet"]);
  return { ...r, findings };
}

// Pixels of free memory that is not in the largest block.
const inPieces = (page) =>
  page.locator("#timeline canvas").evaluate((canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let n = 0;
    for (let i = 0; i < data.length; i += 4) n += data[i + 3] > 60 && data[i + 1] > 140 && data[i] - data[i + 2] > 100;
    return n;
  });

test("a capture: how free memory is cut up is unknown, L1 per core is told", async () => {
  const r = report(join(SOURCE, "tests", "data", "capture_small.json"));
  assert.equal(r.findings.input.kind, "capture");
  await withPage(r.page, {}, async (page) => {
    for (const name of ["What went wrong", "Fragmentation", "Runs", "Leaks"]) assert.equal(await state(page, name), "untold", name);
    assert.equal(await page.locator("#runs table").count(), 0);
    assert.match(await page.locator("#fragmentation").innerText(), UNKNOWN);
    for (const card of await page.locator(".peak").all()) assert.match(await card.innerText(), /largest free block\s+unknown from this kind of input/);
    assert.equal(await page.locator("#timeline .key-pieces").count(), 0);
    assert.equal(await inPieces(page), 0);
    assert.match(await page.locator("#weights").innerText(), UNKNOWN);
    assert.ok(!(await page.locator("#weights").innerText()).includes("TTXLA"));
    // 20,480 B of circular buffers and 6,144 B of tensors on the fullest core, as `ttmem graph` says.
    assert.match(await page.locator('#l1 [data-key="l1"]').innerText(), /26,624 of 1,393,312 B/);
    assert.equal(await page.locator('#l1 [data-key="core"]').count(), 1);
    assert.match(await page.locator("#l1 figcaption").innerText(), /Wormhole core, 1,499,136 B/);
  });
});

test("buffers that just touch a tensor leave 0 bytes between them", async () => {
  const log = join(work, "touching.json");
  const capture = readFileSync(join(SOURCE, "tests", "data", "capture_small.json"), "utf8");
  writeFileSync(log, capture.replace('"size": 16384', `"size": ${1492992 - 109920}`)); // from its address to that of the lowest tensor
  await withPage(report(log).page, {}, async (page) => {
    assert.match(await page.locator('#l1 [data-key="core"]').innerText(), /end at 1,492,992, the lowest tensor starts at 1,492,992: 0 B left between them/);
  });
});

test("samples of running programs: no operation, no message, no layer is concluded from them", async () => {
  const log = join(work, "live.txt");
  writeFileSync(log, "ttmem-live 1\nstart 1700000000000 100\ndevice 0 0 0 n150\nprocess 0 4242 python\ns 0 0 0 0 0 0 0\ns 100 0 104857600 0 0 0 0 0:104857600,0,0,0,0\ns 300 0 0 0 0 0 0 0:0,0,0,0,0\nend 400\n");
  await withPage(report(log).page, {}, async (page) => {
    for (const name of ["What went wrong", "What is live then", "Late frees", "Runs", "Leaks", "Layers", "Fragmentation", "Waste", "Advice"]) assert.equal(await state(page, name), "untold", name);
    assert.ok(!(await page.locator("#consumers").innerText()).includes("between runs"));
  });
});

test("a recording: bars and picture of the fullest core, and its numbers are those of the JSON", async () => {
  const program = join(work, "model.py");
  writeFileSync(program, "import ttnn\ndevice = ttnn.open_device(device_id=0)\nx = ttnn.empty(4096, device)\nfor i in range(3):\n    x = ttnn.softmax(ttnn.relu(x))\nttnn.close_device(device)\n");
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(TT_|TTNN_|PYTHON|VIRTUAL_ENV)/.test(name)));
  const packages = join(SOURCE, "tests", "capture", "fake_ttnn", "site-packages");
  execFileSync(TTMEM, ["run", "--quiet", "--name", "r", "--output-dir", join(work, "run"), "--", "python3", program], { env: { ...env, PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: "1" }, stdio: "ignore" });
  const folder = join(work, "run", readdirSync(join(work, "run"))[0]);
  const { l1_per_core: use } = JSON.parse(readFileSync(join(folder, "r_findings.json"), "utf8")).recording;
  const shown = (n) => `${n.toLocaleString("en-US")} B`;
  assert.ok(use.fullest_B > 0);
  const check = async (page) => {
    for (const [label, value] of [["circular buffers", use.circular_buffers_B], ["dataflow buffers", use.dataflow_buffers_B], ["L1 tensors", use.tensors_B]]) {
      const bar = page.locator(`#l1 [data-l1="${label}"]`);
      assert.equal(await bar.count(), value > 0 ? 1 : 0, label);
      if (value > 0) assert.equal((await bar.innerText()).trim(), shown(value));
    }
    assert.equal((await page.locator('#l1 [data-l1="a core has"]').innerText()).trim(), shown(use.limit_B));
    assert.equal(await page.locator('#l1 [data-key="core"]').count(), 1);
  };
  await withPage(join(folder, "r_report.html"), {}, async (page) => {
    await check(page);
    assert.match(await page.locator('.peak[data-memory="DRAM"]').innerText(), / over 1 bank ·/);
    assert.match(await page.locator("#fragmentation").innerText(), /MB|in one piece/); // a recording knows addresses
    assert.match(await page.locator(".live-list").first().innerText(), /tensors/); // nothing tells weights from activations
  });
});

test("states around programs alone: nobody is said to have added nothing", async (t) => {
  const log = sample("03_mochi_conv1_norm2.txt");
  const r = report(log ?? generate("around.log", "--kind", "submit", "--runs", "3"));
  if (!log) t.diagnostic("../shared/samples is not here: a generated log instead");
  await withPage(r.page, {}, async (page) => {
    assert.equal(await state(page, "What raised the peak"), "untold");
    for (const id of ["#consumers", "#late", "#waste"]) assert.match(await page.locator(id).innerText(), UNKNOWN, id);
    assert.equal(await page.locator('[data-key="attribution"]').count(), 0);
    assert.match(await page.locator('.peak[data-memory="DRAM"]').innerText(), /raised by\s+unknown from this kind of input/);
  });
});

test("a capture that never used DRAM: nothing of it is explained by no tensors", async () => {
  const log = join(work, "l1_only.json");
  const capture = readFileSync(join(SOURCE, "tests", "data", "capture_small.json"), "utf8").replaceAll('"DRAM"', '"L1"').replaceAll('"buffer_type": 0', '"buffer_type": 1');
  writeFileSync(log, capture.replace(/"max_size_per_bank": \d+/, '"max_size_per_bank": 480')); // less than 0.001 MB: allocated and free do not add up
  const r = report(log);
  assert.equal(r.findings.peak.DRAM.allocated_per_bank_MB, 0);
  await withPage(r.page, {}, async (page) => {
    assert.match(await page.locator('#findings [data-finding="What is live then"]').innerText(), /DRAM is empty\./);
    assert.equal(await inPieces(page), 0);
  });
});

test("states without operation lines: no largest tensor is known, so none fits", async () => {
  const r = report(generate("blocks.log", "--kind", "blocks", "--runs", "3", "--seed", "4"));
  assert.equal(r.findings.fragmentation.largest_request.per_bank_MB, 0);
  assert.ok(r.findings.fragmentation.worst.pct >= 0.05);
  await withPage(r.page, {}, async (page) => {
    assert.ok((await inPieces(page)) > 0);
    assert.ok(!/largest tensor/.test(await page.locator('[data-key="fragmentation"]').innerText()));
    assert.match(await page.locator("#padding").innerText(), UNKNOWN);
    assert.equal(await page.locator('[data-key="padding-sum"]').count(), 0);
  });
});

test("free memory that is one piece only where that is known, and rows that need less than tiles", async () => {
  const r = report(generate("pieces.log", "--runs", "2", "--waste"));
  const shown = async (found) => {
    let text = "";
    await withPage(changed(r, (f) => Object.assign(f.fragmentation, found)).page, {}, async (page) => {
      assert.equal(await page.locator("#fragmentation canvas").count(), 0);
      text = `${await page.locator('#findings [data-finding="Fragmentation"]').innerText()} ${await page.locator("#fragmentation").innerText()}`;
    });
    return text;
  };
  const whole = { basis: "derived", line: 9, free_per_bank_MB: 5, largest_free_block_MB: 5, pct: 0 };
  assert.match(await shown({ worst: whole }), /one piece at every state.*one piece at every state\./s);
  assert.match(await shown({ worst: whole, unknown_states: 4 }), /wherever that is known.*wherever that is known.*At 4 states nothing tells/s);
  // Megabytes are told however large the device.
  const far = changed(r, (f) => {
    f.fragmentation.worst = { basis: "derived", line: 9, free_per_bank_MB: 12000, largest_free_block_MB: 11997, pct: 0.025 };
    f.waste_at_peak.top = [{ kind: "tile_padding", name: null, per_bank_MB: 3, shape: "1x7", dtype: "bf16", better_shape: null, row_major_saves_per_bank_MB: 2.5, made_by: null }];
  });
  await withPage(far.page, {}, async (page) => {
    assert.match(await page.locator('[data-key="fragmentation"]').innerText(), /At most 3 MB per bank are out of reach/);
    assert.match(await page.locator("#waste tbody").innerText(), /in ROW_MAJOR layout, where its operations take that, it needs 2\.5 MB per bank less/);
  });
});

test("error messages alone: no empty chart, and the message of a plain error is open", async () => {
  const log = join(work, "messages.log");
  writeFileSync(log, "TT_FATAL: /work/op.cpp:12: something else was wrong\n");
  await withPage(report(log).page, {}, async (page) => {
    assert.equal(await page.locator("#timeline canvas").count(), 0);
    assert.match(await page.locator("#timeline").innerText(), UNKNOWN);
    assert.ok(await page.locator(".incident-text").evaluate((e) => e.open));
    assert.equal(await page.locator(".incident-story").count(), 0);
  });
});

test("weights that do not fit: by what they take on the device, not by their own types", async () => {
  const r = report(generate("oom.log", "--runs", "2", "--seed", "9", "--fail", "exhausted", "--fail-run", "1"));
  const capacity = r.findings.memory.DRAM.capacity_total_MB;
  const hint = async (weights) => {
    const other = changed(r, (f) => Object.assign(f.weights, weights));
    let text = "";
    await withPage(other.page, {}, async (page) => {
      if (await page.locator(".incident-hint").count()) text = await page.locator(".incident-hint").innerText();
    });
    return text;
  };
  // Larger than the device in bf16, but stored there as bfp8: they fit.
  assert.equal(await hint({ MB: capacity * 1.5, bytes: capacity * 1.5 * 1048576, on_device_MB: capacity * 0.8, fit_in_DRAM: true }), "");
  // Smaller in their own types than as they are stored.
  assert.match(await hint({ MB: capacity * 0.7, bytes: capacity * 0.7 * 1048576, on_device_MB: capacity * 1.4, fit_in_DRAM: false }), /cannot all be on this device.*estimated/s);
  assert.equal(await hint({ MB: capacity * 1.5, bytes: capacity * 1.5 * 1048576, on_device_MB: null, fit_in_DRAM: null }), "");
});

test("a clash names the buffers that clash", async () => {
  const log = join(work, "dataflow.log");
  writeFileSync(log, "TT_THROW: Statically allocated dataflow buffers in program 7 clash with L1 buffers on core range [(x=0,y=0) - (x=7,y=7)]. L1 buffer allocated at 1000000 and static dataflow buffer region ends at 1100000\n");
  const r = report(log);
  assert.equal(r.findings.incidents[0].kind, "l1_clash");
  await withPage(r.page, {}, async (page) => {
    const text = await page.locator(".incident").innerText();
    assert.match(text, /Dataflow buffers reach up to address 1,100,000/);
    assert.ok(!/circular buffers/i.test(await page.locator(".incident-story").innerText()));
  });
});

test("a KV cache that only its name tells is marked, and padding and rounding are totalled", async () => {
  const log = sample("22_llama_small_two_runs_real_allocator.log") ?? generate("kv.log", "--runs", "2");
  const r = changed(report(log), (f) => {
    const { classes } = f.live_at_peak.DRAM;
    classes.kv_cache_MB = classes.weights_MB / 2;
    classes.weights_MB /= 2;
    f.live_at_peak.DRAM.kv_cache_by_name_MB = classes.kv_cache_MB;
    f.live_at_peak.DRAM.padding_total_MB = 3;
    f.live_at_peak.DRAM.rounding_total_MB = 2;
  });
  await withPage(r.page, {}, async (page) => {
    const card = page.locator('.peak[data-memory="DRAM"]');
    assert.equal(await card.locator('[data-kind="kv_cache"] [data-basis="estimated"]').count(), 1);
    assert.equal(await card.locator('[data-kind="weights"] [data-basis]').count(), 0);
    assert.match(await card.locator('[data-key="overhead"]').innerText(), /3\.00 MB padding, 2\.00 MB rounding/);
  });
});

test("two runs that differ prove no steady state, one run is the only one", async () => {
  for (const [runs, wanted] of [["1", ["the only one"]], ["2", ["like no other yet", "like no other yet"]]]) {
    const r = report(generate(`runs${runs}.log`, "--runs", runs, "--seed", "5"));
    await withPage(r.page, {}, async (page) => {
      const words = await page.locator("#runs tbody tr td:nth-child(2)").allTextContents();
      assert.deepEqual(words.map((text) => text.split(",")[0]), wanted);
    });
  }
});

test("nothing is wider than a narrow screen", async () => {
  const logs = [join(SOURCE, "tests", "golden", "small.log"), join(SOURCE, "tests", "data", "capture_small.json"), generate("narrow.log", "--runs", "3", "--waste", "--upcast", "--fail", "clash", "--fail-run", "2")];
  for (const log of logs) {
    await withPage(report(log).page, { width: 390, colorScheme: "dark" }, async (page) => {
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, log);
    });
  }
});
