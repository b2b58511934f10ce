// SPDX-License-Identifier: Apache-2.0
// The page of `ttmem diff --html`: both runs as drawn against logs whose levels are known, every sentence and row against `diff --json`, and what a
// reader does with it.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { inflateSync } from "node:zlib";
import { generate, mb, numberIn, openServed, report, SOURCE, statementsOf, texts, TTMEM, withPage, work } from "./lib.mjs";

// ---- Logs whose levels are known: [name, location, MB per bank before it, rows of its result] ----------------------------

const type = (rows) => `tensor<${rows}x32xbf16, #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<${rows / 32}x1x!ttcore.tile<32x32, bf16>, #ttnn.buffer_type<dram>>, <interleaved>>>`;
const quote = (text) => text.replaceAll("\\", "\\\\").replaceAll('"', "\\22").replaceAll("\n", "\\0A");
const say = (channel, text) => `${channel.padStart(23)} |    DEBUG | ${text}\n`;
const levels = (allocated) => ["DRAM", "L1", "L1_SMALL", "TRACE"].map((m) => say("Always", `Device ${m} memory state: MemoryView{numBanks: 12, totalBytesPerBank: 1021.169 MB, totalBytesAllocatedPerBank: ${(m === "DRAM" ? allocated : 0).toFixed(3)} MB, totalBytesFreePerBank: ${(1021.169 - (m === "DRAM" ? allocated : 0)).toFixed(3)} MB, largestContiguousBytesFreePerBank: 900.000 MB}`)).join("");
const operation = ([name, location, allocated, rows = 32], i) => say("RuntimeTTNN", `Executing operation: %${i} = "${name}"(%arg0) : (${type(32)}) -> ${type(rows)} loc("${quote(location)}")`) + say("Always", "Device memory state before operation EltwiseBinaryOp") + levels(allocated);

function write(name, ops) {
  const path = join(work, name);
  writeFileSync(path, say("RuntimeTTNN", "Starting execution of program: main") + ops.map(operation).join(""));
  return path;
}

const A = [["ttnn.add", "a", 10], ["ttnn.add", "b", 20], ["ttnn.multiply", "c", 30], ["ttnn.add", "d", 20], ["ttnn.add", "gone", 25], ["ttnn.add", "e", 25], ["ttnn.add", "end", 12]];
const B = [["ttnn.add", "a", 10], ["ttnn.softmax", "new", 15], ["ttnn.add", "b", 25], ["ttnn.multiply", "c", 45, 64], ["ttnn.add", "d", 18], ["ttnn.add", "e", 25], ["ttnn.add", "end", 12]];
// Place by place: operation before and after (-1: none), MB before and after. Where a log has no operation it holds what it held meanwhile.
const PLACES = [[0, 0, 10, 10], [-1, 1, 20, 15], [1, 2, 20, 25], [2, 3, 30, 45], [3, 4, 20, 18], [4, -1, 25, 25], [5, 5, 25, 25], [6, 6, 12, 12]];

const htmlOf = (a, b, name, ...options) => {
  const page = join(work, name);
  execFileSync(TTMEM, ["diff", a, b, "--html", "-o", page, "-q", ...options]);
  return page;
};
const jsonOf = (a, b) => JSON.parse(execFileSync(TTMEM, ["diff", a, b, "--json", "-q"], { maxBuffer: 1 << 28 }));

let small;
before(() => {
  small = htmlOf(write("a.log", A), write("b.log", B), "small.html");
});

const difference = ([, , was, is]) => (is === was ? "0 MB per bank" : `${is > was ? "+" : "−"}${mb(Math.abs(is - was))} MB per bank`);
const pinned = (page) => page.locator(".pinned");
const now = async (page, place) => page.waitForFunction((text) => document.querySelector(".pinned b")?.textContent?.startsWith(text), `Place ${place} of`);
const go = async (page, place) => {
  await page.evaluate((at) => (location.hash = `place=${at}`), place);
  await now(page, place);
};

async function checkPinned(page, at) {
  const place = PLACES[at];
  assert.equal(await pinned(page).locator('[data-key="difference"]').innerText(), difference(place));
  for (const side of [0, 1]) {
    const row = pinned(page).locator(`tr[data-side="${["before", "after"][side]}"]`);
    const cells = await texts(row.locator("td"));
    const op = [A, B][side][place[side]];
    assert.equal(cells[0].split("\n")[0], op ? `#${place[side]} ${op[0]}` : "–");
    assert.equal(cells[1], op ? op[1] : "");
    assert.equal(cells[3].split("\n")[0], `${mb(place[2 + side])} MB`);
    if (op) assert.ok(cells[2].startsWith(`${op[3] ?? 32}x32 bf16`), cells[2]);
  }
}

test("every place says both operations, both levels and their difference", async () => {
  await withPage(small, {}, async (page) => {
    for (let at = 0; at < PLACES.length; at++) {
      await go(page, at);
      await checkPinned(page, at);
    }
    assert.match(await pinned(page).innerText(), /Place 7 of 8/);
    await go(page, 1);
    assert.match(await pinned(page).innerText(), /only after/);
    await go(page, 3);
    assert.match(await pinned(page).innerText(), /other results/);
    await go(page, 5);
    assert.match(await pinned(page).innerText(), /only before/);
  });
});

// In the page: the uppermost pixel like a colour of the style sheet in the column at a place, as a share of the chart's height; null for none.
const uppermost = ({ chart, ink, place, places, lowest }) => {
  const host = document.querySelectorAll("#timeline .chart")[chart];
  const canvas = host.querySelector("canvas");
  const [over, box] = [host.querySelector(".u-over").getBoundingClientRect(), canvas.getBoundingClientRect()];
  const scale = canvas.width / box.width;
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
  copy.drawImage(canvas, 0, 0);
  const probe = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(`--${ink}`).trim();
  probe.fillRect(0, 0, 1, 1);
  const wanted = probe.getImageData(0, 0, 1, 1).data;
  const top = Math.round((over.top - box.top) * scale), tall = Math.round(over.height * scale);
  const found = [];
  for (let part = 0.3; part <= 0.7; part += 0.02) {
    const x = Math.round((over.left - box.left + ((place + part + 0.5) / (places + 0.5)) * over.width) * scale);
    const column = copy.getImageData(x, top, 1, tall).data;
    const rows = [...Array(chart ? tall : tall - 12).keys()].filter((y) => [0, 1, 2].every((k) => Math.abs(column[4 * y + k] - wanted[k]) < 40) && column[4 * y + 3] > 200); // not the ribbon
    if (rows.length) found.push(lowest ? rows[rows.length - 1] : rows[0]);
  }
  return found.length ? found.sort((a, b) => a - b)[found.length >> 1] / tall : null;
};

test("the lines are drawn where the levels are", async () => {
  for (const colorScheme of ["light", "dark"]) {
    await withPage(small, { colorScheme }, async (page) => {
      const tallest = 45 * 1.2; // the axis: a fifth more than the higher peak
      for (const at of [0, 2, 3, 4, 7]) {
        for (const [side, ink] of [[0, "before"], [1, "allocated"]]) {
          if (side === 0 && PLACES[at][2] === PLACES[at][3]) continue; // the other line lies over it
          const y = await page.evaluate(uppermost, { chart: 0, ink, place: at, places: PLACES.length });
          assert.ok(y !== null && Math.abs((1 - y) * tallest - PLACES[at][2 + side]) < 0.6, `${colorScheme}, place ${at}, ${ink}: ${y === null ? "nothing" : (1 - y) * tallest} drawn, ${PLACES[at][2 + side]} in the log`);
        }
      }
      // From −5 to +15, a tenth of room on either side.
      const [low, high] = [-5 - 2, 15 + 2];
      const more = await page.evaluate(uppermost, { chart: 1, ink: "plus", place: 3, places: PLACES.length });
      assert.ok(Math.abs(high - more * (high - low) - 15) < 0.6, `more: ${high - more * (high - low)}`);
      const less = await page.evaluate(uppermost, { chart: 1, ink: "minus", place: 1, places: PLACES.length, lowest: true });
      assert.ok(Math.abs(high - less * (high - low) + 5) < 0.8, `less: ${high - less * (high - low)}`);
    });
  }
});

test("pointer, click, keys and address", async () => {
  await withPage(small, {}, async (page) => {
    const box = await page.locator("#timeline .u-over").first().boundingBox();
    const x = (place) => box.x + ((place + 1) / (PLACES.length + 0.5)) * box.width; // the middle of a place: the axis begins at −0.5
    await page.mouse.move(x(3), box.y + 60);
    const tip = page.locator("#timeline .tip").first();
    await tip.waitFor({ state: "visible" });
    const said = await tip.innerText();
    for (const part of ["Before 30.00 MB per bank · #2 ttnn.multiply", "After 45.00 MB per bank · #3 ttnn.multiply", "Difference +15.00 MB per bank"]) assert.ok(said.replace(/\s+/g, " ").includes(part), said);
    await page.mouse.click(x(3), box.y + 60);
    await now(page, 3);
    await page.waitForFunction(() => location.hash.includes("place=3"));
    await page.keyboard.press("ArrowRight");
    await now(page, 4);
    await page.keyboard.press("n");
    await now(page, 5);
    await page.keyboard.press("N");
    await now(page, 3);
    await page.keyboard.press("N");
    await now(page, 1);
    await page.keyboard.press("P");
    await now(page, 3);
    await page.keyboard.press("+");
    await page.waitForFunction(() => /from=/.test(location.hash));
    await page.keyboard.press("0");
    await page.waitForFunction(() => !/from=/.test(location.hash));
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => !/place=/.test(location.hash));
    await page.keyboard.press("?");
    assert.ok(await page.locator("#help").isVisible());
  });
});

// ---- Against the JSON ----------------------------------------------------------------------------------------------------

const rowsOf = (locator) => locator.evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.innerText.replace(/^▸\s*/, ""))));
const withSign = (n) => (n === 0 ? "0" : `${n > 0 ? "+" : "−"}${mb(Math.abs(n))}`);

async function checkAgainst(page, d) {
  const order = (list) => list.map(({ id, number = 0, severity, headline, detail = "" }) => JSON.stringify({ id, number, severity, headline, detail })).sort();
  assert.deepEqual(order(await statementsOf(page)), order(d.statements));
  const { DRAM } = d.peak;
  if (DRAM.change_MB !== null) assert.equal(await page.locator('[data-key="peak.DRAM"] .fact-value').innerText(), `${withSign(DRAM.change_MB)} MB`);
  const changed = await rowsOf(page.locator('[data-key="changed"] tbody tr'));
  d.changed.forEach((group, i) => {
    assert.equal(changed[i][1], withSign(group.total_change_MB));
    assert.equal(changed[i][5], group.kind);
    for (const [k, side] of ["before", "after"].entries()) assert.equal(changed[i][6 + k], group[side] ? `#${group[side].index} ${group[side].mlir_op}` : "–");
  });
  for (const memory of ["DRAM", "L1"]) {
    const rows = await rowsOf(page.locator(`[data-key="live.${memory}"] tbody tr`));
    d.live_at_peak[memory].forEach((row, i) => assert.deepEqual(rows[i].slice(1, 5), [withSign(row.change_MB), "", ...["before", "after"].map((side) => (row[side].per_bank_MB ? mb(row[side].per_bank_MB) : "–"))]));
  }
}

const model = ["--layers", "6", "--hidden", "256", "--vocab", "1000", "--seq", "64", "--seed", "5"];

test("sentences and ranked rows are those of diff --json, and lead to their places", async () => {
  const a = generate("d_a.log", ...model, "--runs", "2");
  const b = generate("d_b.log", ...model, "--runs", "3", "--weights", "f32", "--odd-layer", "2", "--odd-at", "middle");
  const d = jsonOf(a, b);
  assert.ok(d.changed.length > 3 && d.live_at_peak.DRAM.length > 3);
  await withPage(htmlOf(a, b, "d.html"), {}, async (page) => {
    await checkAgainst(page, d);
    // The first row leads to its place, opens to its layers, and each of them to its own.
    const first = d.changed[0];
    await page.locator('[data-key="changed"] tbody tr').first().locator("a").last().click();
    await page.waitForFunction((op) => document.querySelector('.pinned tr[data-side="after"] td')?.textContent?.startsWith(op), `#${first.after.index} ${first.after.mlir_op}`);
    await page.locator('[data-key="changed"] .fold').first().click();
    const members = page.locator('[data-key="changed"] tr.member');
    assert.equal(await members.count(), first.places);
    const sum = (await texts(members.locator("td:nth-child(2)"))).reduce((all, text) => all + numberIn(text), 0);
    assert.ok(Math.abs(sum - first.total_change_MB) < 0.004, `${sum}`);
    await members.last().locator("a").last().click();
    const name = (await texts(members.last().locator("a"))).pop();
    await page.waitForFunction((op) => document.querySelector('.pinned tr[data-side="after"] td')?.textContent?.startsWith(op), name);
    await page.locator('button[data-per="chip"]').click();
    assert.equal((await rowsOf(page.locator('[data-key="changed"] tbody tr')))[0][1], withSign(first.total_change_MB * 12));
  });
});

test("every kind of input makes a page", async () => {
  const data = (name) => join(SOURCE, "tests", "data", name);
  const log = generate("kind.log", ...model, "--runs", "2");
  const folder = report(log).folder;
  const pairs = [[data("capture_small.json"), data("capture_small.json")], [data("program.mlir"), data("program.mlir")], [folder, log], [log, generate("ranks2.log", ...model, "--runs", "2", "--ranks", "2")], [log, data("program.mlir")], [log, generate("only_ops.log", "--kind", "ops", "--runs", "2", "--seed", "3")], [log, generate("only_submit.log", "--kind", "submit", "--runs", "2", "--seed", "3")], [log, generate("dead.log", ...model, "--runs", "2", "--fail", "exhausted", "--fail-run", "1")]];
  for (const [a, b] of pairs) await withPage(htmlOf(a, b, "kind.html"), {}, async (page) => checkAgainst(page, jsonOf(a, b)));
});

test("a log compared with itself has no difference anywhere", async () => {
  const log = generate("self.log", ...model, "--runs", "3");
  await withPage(htmlOf(log, log, "self.html"), {}, async (page) => {
    const { operations } = jsonOf(log, log).before;
    assert.match(await page.locator("header").innerText(), new RegExp(`${operations.toLocaleString("en-US")} operations`));
    for (const place of [0, 17, operations - 1]) {
      await go(page, place);
      assert.match(await pinned(page).innerText(), new RegExp(`Place ${place.toLocaleString("en-US")} of ${operations.toLocaleString("en-US")} `));
      assert.equal(await pinned(page).locator('[data-key="difference"]').innerText(), "0 MB per bank");
    }
    await page.keyboard.press("n"); // there is none
    await now(page, (operations - 1).toLocaleString("en-US"));
  });
});

test("a large pair is drawn from its pyramid, which has the lowest and highest of every 64 places", async () => {
  const a = generate("large_a.log", "--operations", "132000", "--seed", "12");
  const b = generate("large_b.log", "--operations", "140000", "--seed", "12", "--weights", "f32");
  const file = htmlOf(a, b, "large.html");
  const html = readFileSync(file, "utf8");
  const numbers = (id) => {
    const out = [];
    let value = 0, scale = 1;
    for (const byte of inflateSync(Buffer.from(html.split(`id="data.${id}">`)[1].split("<")[0], "base64"))) {
      value += (byte & 127) * scale;
      scale *= 128;
      if (byte < 128) out.push(value), (value = 0), (scale = 1);
    }
    return out;
  };
  const unfold = (n) => (n % 2 ? -(n + 1) / 2 : n / 2);
  const column = (side) => {
    let last = 0;
    return numbers(`level.0.DRAM.${side}`).map((n) => (last += unfold(n)));
  };
  const [was, is] = [column("before"), column("after")];
  assert.ok(was.length >= 65536 && was.length === is.length, `${was.length}`);
  const d = jsonOf(a, b);
  assert.equal(Math.max(...was) / 1000, d.peak.DRAM.before_per_bank_MB);
  assert.equal(Math.max(...is) / 1000, d.peak.DRAM.after_per_bank_MB);
  const known = was.map((value, i) => (value < 0 || is[i] < 0 ? null : is[i] - value));
  const packed = numbers("pyramid.0.0.DRAM.difference");
  let low = 0, at = 0;
  for (let k = 0; k < Math.ceil(was.length / 64); k++) {
    const group = known.slice(64 * k, 64 * k + 64).filter((value) => value !== null);
    const height = packed[at++];
    if (!height) assert.equal(group.length, 0);
    else {
      low += unfold(packed[at++]);
      assert.deepEqual([low, low + height - 1], [Math.min(...group), Math.max(...group)], `entry ${k}`);
    }
  }
  assert.equal(at, packed.length);
  await withPage(file, {}, async (page) => {
    await checkAgainst(page, d);
    const box = await page.locator("#timeline .u-over").first().boundingBox();
    await page.evaluate(() => window.ttmemRedraws());
    await page.mouse.move(box.x + 200, box.y + 80);
    await page.mouse.down();
    await page.mouse.move(box.x + 260, box.y + 80, { steps: 3 });
    await page.mouse.up();
    await page.waitForFunction(() => /from=/.test(location.hash));
    const times = await page.evaluate(() => window.ttmemRedraws());
    assert.ok(times.length > 0);
  });
});

// ---- Safety, paper, small screens ----------------------------------------------------------------------------------------

test("hostile names are shown, not run", async () => {
  const attack = '<img src=x onerror="window.pwned=1"></script><script>window.pwned=1</script>';
  const evil = [["ttnn.add", attack, 10], ["ttnn.add", "__proto__", 20], ["ttnn.add", `"'><svg/onload=window.pwned=1>`, 30, 64], ["ttnn.add", "\u202eabc\u2028", 5], ["ttnn.add", "end", 1]];
  const [a, b] = [write(`evil <b onclick=x> & "q" '.log`, evil), write("</title><script>window.pwned=1<!--.log".replaceAll("/", ""), evil.map(([name, place, level], i) => [name, place, level + 3 * i]))];
  const file = htmlOf(a, b, "evil.html");
  const html = readFileSync(file, "utf8");
  assert.ok(!html.includes("window.pwned=1</script>") && !html.includes("onerror"));
  assert.equal(html.match(/<script>/g).length, 1);
  await withPage(file, {}, async (page) => {
    for (let place = 0; place < evil.length; place++) await go(page, place);
    await go(page, 0);
    assert.ok((await pinned(page).innerText()).includes("<img src=x onerror="));
    assert.equal(await page.evaluate(() => window.pwned), undefined);
    assert.equal(await page.locator("#app img, #app svg, #app script, #app iframe").count(), 0);
  });
});

test("narrow screens, dark, and paper", async () => {
  for (const colorScheme of ["light", "dark"]) {
    await withPage(small, { width: 390, height: 844, colorScheme, hash: "#place=3" }, async (page) => {
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
      const box = await page.locator("#timeline .u-over").first().boundingBox();
      assert.ok(box.x >= 0 && box.x + box.width <= 390);
      assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), colorScheme);
    });
  }
  await withPage(small, { colorScheme: "dark", hash: "#place=3" }, async (page) => {
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "light");
    assert.ok(!(await page.locator(".top-buttons").isVisible()));
    for (const chart of [0, 1]) assert.ok(await page.locator("#timeline canvas").nth(chart).isVisible());
    assert.ok(await pinned(page).locator("table").isVisible());
    assert.ok((await page.pdf()).length > 10000);
  });
});

test("serve compares the reports that are chosen", async () => {
  const home = join(work, "home");
  const env = { ...process.env, TTMEM_HOME: home };
  for (const name of ["a", "b"]) execFileSync(TTMEM, ["analyze", join(work, `${name}.log`), "-q", "--no-html", "--name", `run ${name}`], { env });
  const server = spawn(TTMEM, ["serve", "--port", "0"], { env, stdio: ["ignore", "pipe", "ignore"] });
  try {
    const [line] = await once(server.stdout, "data");
    const url = String(line).trim();
    const index = await openServed(url, { width: 390, height: 844 });
    await index.page.locator("nav a", { hasText: "Reports" }).click();
    assert.ok((await index.page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
    await index.page.locator("select[name=a]").selectOption("run a");
    await index.page.locator("select[name=b]").selectOption("run b");
    await Promise.all([index.page.waitForURL(/compare\?a=run\+a&b=run\+b/), index.page.locator("form button").click()]);
    await index.page.waitForFunction(() => document.documentElement.dataset.ready === "true");
    assert.equal(await index.page.locator("h1").innerText(), "run a → run b");
    await go(index.page, 3);
    await checkPinned(index.page, 3);
    assert.deepEqual(index.problems, []);
    await index.context.close();
  } finally {
    server.kill();
  }
});
