// SPDX-License-Identifier: Apache-2.0
// What a reader does with the page: hover, click, zoom, tabs, search, sort, filter, links, IR, keys, theme, print, narrow screens.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { generate, mb, numberIn, report, SOURCE, texts, withPage, work } from "./lib.mjs";

let r;
before(() => {
  r = report(generate("use.log", "--operations", "4000", "--seed", "11", "--program-level"));
});

// The page answers a little later, the address later still: looks until it is so; what was last seen tells why it never was.
async function eventually(read, wanted, message = "") {
  const so = typeof wanted === "function" ? wanted : (value) => isDeepStrictEqual(value, wanted);
  let value = await read();
  for (const end = Date.now() + 20000; !so(value) && Date.now() < end; value = await read()) await pause(20);
  assert.ok(so(value), `${message} ${JSON.stringify(value)}, wanted ${wanted}`);
  return value;
}
const hashOf = (page) => new URLSearchParams(new URL(page.url()).hash.slice(1));
const inHash = (page, name, wanted) => eventually(() => hashOf(page).get(name), wanted, name);
const rowOps = (page) => page.locator("#operations .op-row[data-op]:not([hidden])").evaluateAll((rows) => rows.map((row) => Number(row.dataset.op)));
const found = async (page) => numberIn(await page.locator("#operations [role=status]").innerText());
const nowFound = (page, wanted) => eventually(() => found(page), wanted, "operations found:");
const canvas = (page) => page.locator("#timeline canvas").evaluate((c) => c.toDataURL());
const chartBox = (page) => page.locator("#timeline .u-over").boundingBox();

test("hovering tells the operation, a click selects it everywhere", async () => {
  await withPage(r.page, {}, async (page) => {
    const box = await chartBox(page);
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    const tip = page.locator("#timeline .tip");
    await tip.waitFor({ state: "visible" });
    const text = await tip.innerText();
    const index = Number(/#(\d+)/.exec(text)[1]);
    assert.ok(text.includes(r.operations[index].mlir_op), text);
    assert.match(text, /MB per bank/);
    assert.match(text, /largest free block/);
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    await page.locator(".details h2").waitFor();
    const selected = numberIn(await page.locator(".details h2").innerText());
    assert.ok(Math.abs(selected - index) <= 1);
    assert.equal(await page.locator(`#operations .op-row[data-op="${selected}"]`).getAttribute("aria-current"), "true");
    await inHash(page, "op", String(selected));
    await page.locator(".details .close").click();
    assert.equal(await page.locator(".details").isVisible(), false);
  });
});

test("drag, wheel and keys zoom; double click and the button show all", async () => {
  await withPage(r.page, {}, async (page) => {
    const whole = await canvas(page);
    const box = await chartBox(page);
    await page.mouse.move(box.x + box.width * 0.25, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.5, box.y + 60, { steps: 4 });
    await page.mouse.up();
    const n = r.operations.length;
    await inHash(page, "from", (from) => Math.abs(Number(from) - n * 0.25) < n * 0.02);
    await inHash(page, "to", (to) => Math.abs(Number(to) - n * 0.5) < n * 0.02);
    await eventually(() => canvas(page), (drawn) => drawn !== whole);
    const width = () => Number(hashOf(page).get("to")) - Number(hashOf(page).get("from"));
    const before = width();
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -200);
    await page.keyboard.up("Control");
    await eventually(width, (now) => now < before);
    const from = Number(hashOf(page).get("from"));
    await page.keyboard.down("Shift");
    await page.mouse.wheel(0, 200);
    await page.keyboard.up("Shift");
    await inHash(page, "from", (now) => Number(now) > from);
    await page.locator("#timeline button", { hasText: "Show all" }).click();
    await inHash(page, "from", null);
    await page.keyboard.press("+");
    await inHash(page, "from", (now) => now !== null);
    await page.keyboard.press("0");
    await inHash(page, "from", null);
  });
});

test("tabs change chart and table", async () => {
  await withPage(r.page, {}, async (page) => {
    const dram = await canvas(page);
    await page.locator('#timeline [data-memory="L1"]').click();
    await inHash(page, "mem", "L1");
    assert.equal(await page.locator('#timeline [data-memory="L1"]').getAttribute("aria-selected"), "true");
    await eventually(() => canvas(page), (drawn) => drawn !== dram);
    assert.equal(await page.locator('#operations select[aria-label="Memory"]').inputValue(), "L1");
    await page.keyboard.press("4");
    assert.equal(await page.locator('#timeline [data-memory="TRACE"]').getAttribute("aria-selected"), "true");
    await page.locator('#timeline [data-memory="TRACE"]').focus();
    await page.keyboard.press("ArrowRight");
    assert.equal(await page.locator('#timeline [data-memory="DRAM"]').getAttribute("aria-selected"), "true");
  });
});

test("search, filters and sorting agree with the JSON", async () => {
  await withPage(r.page, {}, async (page) => {
    const search = page.locator("#operations input[type=search]");
    const name = r.operations[Math.floor(r.operations.length / 2)].mlir_op;
    await search.fill(name);
    const holds = (op) => [op.mlir_op, op.loc ?? "", op.result ?? "", op.attributes ?? "", op.input_types, op.output_type].join(" ").toLowerCase().includes(name);
    await nowFound(page, r.operations.filter(holds).length);
    await search.fill("no such thing anywhere");
    await nowFound(page, 0);
    await page.locator("#operations button", { hasText: "Clear" }).click();
    await nowFound(page, r.operations.length);

    await page.locator('#operations select[aria-label="Kind of operation"]').selectOption("consteval");
    await nowFound(page, r.operations.filter((op) => op.const_eval_graph !== null).length);
    await page.locator('#operations select[aria-label="Kind of operation"]').selectOption("weight");
    await nowFound(page, r.operations.filter((op) => op.weights.length > 0).length);
    await page.locator('#operations select[aria-label="Kind of operation"]').selectOption("");

    await page.locator('#operations input[aria-label="Run"]').fill("1");
    await nowFound(page, r.memory.operations.filter((op) => op.run === 1).length);
    await page.locator('#operations input[aria-label="Run"]').fill("");

    const program = r.memory.operations[5].program;
    await page.locator('#operations select[aria-label="Program"]').selectOption(program);
    await nowFound(page, r.memory.operations.filter((op) => op.program === program).length);
    await page.locator('#operations select[aria-label="Program"]').selectOption({ index: 0 });

    // A load_cached has the delta of its const-eval program: up to the state before the operation that follows it.
    const level = (op) => op?.memory?.DRAM?.totalBytesAllocatedPerBank_MB;
    const effects = r.memory.operations.map((op, i, all) => {
      let next = i + 1;
      while (r.operations[i].mlir_op.endsWith("load_cached") && next < all.length && r.operations[next].const_eval_graph !== null) next++;
      return next > i + 1 ? Math.round((level(all[next]) - level(op)) * 1000) / 1000 : (op.effect_MB?.DRAM ?? null);
    });
    const limit = [...effects].map(Math.abs).sort((a, b) => b - a)[20];
    await page.locator("#operations input.wide").fill(String(limit));
    await nowFound(page, effects.filter((e) => e !== null && Math.abs(e) >= limit).length);
    await page.locator("#operations button", { hasText: "Clear" }).click();

    await page.locator('#operations [data-column="delta"] button').click();
    const order = effects.map((effect, i) => [effect, i]).filter(([effect]) => effect !== null).sort((a, b) => b[0] - a[0] || a[1] - b[1]);
    await eventually(async () => (await rowOps(page)).slice(0, 10), order.slice(0, 10).map(([, i]) => i));
    await page.locator('#operations [data-column="delta"] button').click();
    await eventually(async () => effects[(await rowOps(page))[0]], Math.min(...effects.filter((e) => e !== null)));
    await page.locator('#operations [data-column="name"] button').click();
    const all = r.operations.map((op) => op.mlir_op).sort();
    await eventually(async () => (await rowOps(page)).map((i) => r.operations[i].mlir_op), (names) => names.length > 10 && isDeepStrictEqual(names, all.slice(0, names.length)));
    await page.locator('#operations [data-column="place"] button').click();
    await page.waitForFunction(() => document.querySelector('#operations [data-column="place"]').getAttribute("aria-sort") === "ascending");
    const places = await page.locator("#operations .op-row[data-op]:not([hidden])").evaluateAll((rows) => rows.map((row) => row.children[2].textContent.toLowerCase()));
    assert.ok(places.length > 10);
    assert.deepEqual(places, [...places].sort());
  });
});

test("one switch shows the figures of every table per chip", async () => {
  const row = r.findings.top_consumers.DRAM[0];
  const { banks } = r.findings.memory.DRAM;
  await withPage(r.page, {}, async (page) => {
    const figure = () => page.locator('[data-consumers="DRAM"] tbody .figure').first().innerText();
    const before = () => page.locator(`#operations .op-row[data-op="0"] [role=cell]`).nth(4).innerText();
    const own = numberIn(await before());
    assert.equal(await figure(), `+${mb(row.total_MB)}`);
    await page.locator("[data-per=chip]").click();
    assert.equal(await figure(), `+${mb(row.total_MB * banks)}`);
    assert.ok(Math.abs(numberIn(await before()) - own * banks) <= banks * 0.006);
    assert.equal(await page.locator('[data-consumers="DRAM"] th .unit').innerText(), "MB per chip");
    await inHash(page, "per", "chip");
    await page.keyboard.press("b");
    assert.equal(await figure(), `+${mb(row.total_MB)}`);
    await inHash(page, "per", null);
  });
  await withPage(r.page, { hash: "#per=chip" }, async (page) => {
    assert.equal(await page.locator("[data-per=chip]").getAttribute("aria-pressed"), "true");
    assert.equal(await page.locator('[data-consumers="DRAM"] tbody .figure').first().innerText(), `+${mb(row.total_MB * banks)}`);
  });
});

test("the table reaches its first and last row", async () => {
  await withPage(r.page, {}, async (page) => {
    const list = page.locator("#operations .virtual");
    await list.evaluate((e) => (e.scrollTop = e.scrollHeight));
    await eventually(async () => Math.max(...(await rowOps(page))), r.operations.length - 1);
    await list.evaluate((e) => (e.scrollTop = 0));
    await eventually(async () => Math.min(...(await rowOps(page))), 0);
  });
});

test("a deep link opens the operation, the memory and the zoom", async () => {
  await withPage(r.page, { hash: "#op=123&mem=L1&from=100&to=200" }, async (page) => {
    assert.equal(numberIn(await page.locator(".details h2").innerText()), 123);
    assert.equal(await page.locator('#timeline [data-memory="L1"]').getAttribute("aria-selected"), "true");
    assert.equal(await page.locator("#timeline button", { hasText: "Show all" }).isEnabled(), true);
    assert.deepEqual((await rowOps(page)).includes(123), true);
  });
  await withPage(r.page, { hash: "#op=999999999&mem=nonsense&from=7&to=3" }, async (page) => {
    assert.equal(await page.locator(".details").isVisible(), false);
  });
});

test("from an operation to its IR line and back", async () => {
  // The golden log, with an operation at a location its module texts name.
  const log = join(work, "ir.log");
  writeFileSync(log, readFileSync(join(SOURCE, "tests", "golden", "small.log"), "utf8").replaceAll('loc("one")', 'loc("fc.0")'));
  const r = report(log);
  const index = r.ir.ttnn.loc_index;
  const op = r.operations.find((o) => o.loc && index[o.loc] && o.const_eval_graph === null);
  assert.ok(op, "the log has an operation with an IR line");
  await withPage(r.page, { hash: `#op=${op.index}` }, async (page) => {
    await page.locator('.details [data-action="ir"]').click();
    const marked = page.locator("#ir .ir-line.marked");
    await marked.waitFor();
    assert.equal(Number(await marked.getAttribute("data-line")), index[op.loc]);
    const line = r.ir.ttnn.text.split("\n")[index[op.loc] - 1];
    assert.equal((await marked.locator("code").innerText()).trim(), line.slice(0, 3000).trim());
    await page.locator(".details .close").click();
    await marked.click();
    await page.locator(".details h2").waitFor();
    const back = numberIn(await page.locator(".details h2").innerText());
    assert.equal(r.operations[back].loc, op.loc);

    await page.locator("#ir input[type=search]").fill("func.func");
    const matches = r.ir.ttnn.text.split("\n").filter((text) => text.includes("func.func")).length;
    await eventually(async () => numberIn(await page.locator("#ir [role=status]").innerText()), matches);
    await page.locator('#ir [role=tab]', { hasText: "TTIR" }).first().click();
    await eventually(async () => (await texts(page.locator("#ir .ir-line code")))[0].trim(), r.ir.ttir.text.split("\n")[0].trim());
  });
});

test("the keyboard alone does it all", async () => {
  await withPage(r.page, {}, async (page) => {
    await page.keyboard.press("p");
    const at = (op) => page.waitForFunction((text) => document.querySelector(".details:not([hidden]) h2")?.textContent?.startsWith(text), `#${op} `);
    const peak = r.findings.peak.DRAM.caused_by.index;
    await at(peak);
    await page.keyboard.press("ArrowRight");
    await at(peak + 1);
    await page.keyboard.press("ArrowLeft");
    await at(peak);
    await page.keyboard.press("Escape");
    assert.equal(await page.locator(".details").isVisible(), false);
    await page.keyboard.press("f");
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("type")), "search");
    await page.keyboard.type("p?/");
    assert.equal(await page.locator("#operations input[type=search]").inputValue(), "p?/");
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    assert.equal(await page.locator("#help").evaluate((d) => d.open), true);
    await page.keyboard.press("Escape");
    assert.equal(await page.locator("#help").evaluate((d) => d.open), false);
    await page.locator("#operations button", { hasText: "Clear" }).click();
    await page.waitForFunction(() => /^[\d,]+ operations$/.test(document.querySelector("#operations [role=status]").textContent));
    await page.locator("#operations .virtual").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await at(1);
  });
});

test("light and dark follow the system, and the switch", async () => {
  const background = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  let light;
  await withPage(r.page, { colorScheme: "light" }, async (page) => {
    light = await background(page);
    const before = await canvas(page);
    await page.locator("#theme").click();
    assert.notEqual(await background(page), light);
    assert.notEqual(await canvas(page), before);
    await page.keyboard.press("t");
    assert.equal(await background(page), light);
  });
  await withPage(r.page, { colorScheme: "dark" }, async (page) => {
    assert.notEqual(await background(page), light);
    await page.emulateMedia({ colorScheme: "light" });
    await page.waitForFunction(() => document.documentElement.dataset.theme === "light");
    assert.equal(await background(page), light);
  });
});

test("nothing sticks out at 1280 and at 800 pixels, and it prints", async () => {
  for (const width of [1280, 800]) {
    await withPage(r.page, { width }, async (page) => {
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), `sideways scrolling at ${width}`);
    });
  }
  await withPage(r.page, {}, async (page) => {
    const pdf = await page.pdf();
    assert.ok(pdf.length > 20000);
    // On paper all stands below each other, and what only a screen can do is not there.
    await page.emulateMedia({ media: "print" });
    const lefts = await page.locator(".two > *").evaluateAll((cards) => cards.map((card) => Math.round(card.getBoundingClientRect().left)));
    assert.ok(lefts.length > 1 && new Set(lefts).size === 1, `${lefts}`);
    assert.equal(await page.locator("#operations").isVisible(), false);
    await page.setViewportSize({ width: 718, height: 1000 }); // A4 within its margins, where nothing can be scrolled
    const cut = await page.locator(".scroll-x:visible").evaluateAll((boxes) => boxes.filter((box) => box.scrollWidth > box.clientWidth + 1).map((box) => box.innerText.slice(0, 60)));
    assert.deepEqual(cut, []);
  });
});

test("a screen reader finds its way", async () => {
  await withPage(r.page, { hash: "#op=3" }, async (page) => {
    for (const landmark of ["header", "nav", "main", "aside", "footer"]) assert.equal(await page.locator(landmark).count(), 1, landmark);
    assert.equal(await page.locator("h1").count(), 1);
    const nameless = await page.evaluate(() =>
      [...document.querySelectorAll("button, input, select, section, nav, aside, [role=table], [role=tablist], [role=img]")]
        .filter((e) => !(e.getAttribute("aria-label") || e.getAttribute("aria-labelledby") || e.textContent?.trim()))
        .map((e) => e.outerHTML.slice(0, 120)));
    assert.deepEqual(nameless, []);
    const tables = await page.locator("table").count();
    assert.equal(await page.locator("table caption").count(), tables);
    // Tab reaches the controls in the order they stand in.
    const seen = [];
    for (let i = 0; i < 24; i++) {
      await page.keyboard.press("Tab");
      seen.push(await page.evaluate(() => document.activeElement?.textContent?.slice(0, 20) ?? ""));
    }
    assert.deepEqual(seen.slice(0, 4), ["/ Find", "per bank", "per chip", "◐ Theme"]);
    assert.ok(seen.some((text) => text === "DRAM"), seen.join(" | "));
  });
});
