// SPDX-License-Identifier: Apache-2.0
// The box that finds: every kind of thing, by the keyboard alone, and where each leads; and that a link restores what was found.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { generate, report, SOURCE, withPage, work } from "./lib.mjs";

let r;
before(() => {
  r = report(generate("find.log", "--runs", "2", "--layers", "4", "--seed", "7"));
});

const hits = (page, group) => page.locator(`#find [role=option]${group ? `[data-group="${group}"]` : ""}`).evaluateAll((all) => all.map((e) => e.children[0].textContent));
const openFind = async (page, text) => {
  await page.keyboard.press("/");
  await page.locator("#find input").fill(text);
  await page.waitForFunction(() => document.querySelector("#find [role=option]") || /nothing/.test(document.querySelector("#find [role=status]").textContent));
};
const selected = async (page, op) => {
  await page.waitForFunction((text) => document.querySelector(".details:not([hidden]) h2")?.textContent?.startsWith(text), `#${op} `);
  assert.equal(await page.locator("#find").evaluate((d) => d.open), false);
};

test("operations, tensors, weights, modules and IR are found, and Enter goes there", async () => {
  await withPage(r.page, {}, async (page) => {
    const name = r.operations[Math.floor(r.operations.length / 2)].mlir_op;
    await openFind(page, name.slice(0, -1).toUpperCase());
    assert.ok((await hits(page, "Operations")).includes(name));
    await page.keyboard.press("Escape");
    assert.equal(await page.locator("#find").evaluate((d) => d.open), false);

    await openFind(page, name);
    await page.keyboard.press("Enter");
    await selected(page, r.operations.findIndex((op) => op.mlir_op.includes(name)));
    assert.equal(await page.locator("#operations input[type=search]").inputValue(), name);

    await openFind(page, "#5");
    assert.deepEqual((await hits(page, "Operations"))[0], `#5 ${r.operations[5].mlir_op}`);
    await page.keyboard.press("Enter");
    await selected(page, 5);

    const weight = r.registry.entries?.find((e) => /proj/.test(e.name))?.name ?? Object.values(r.registry).flat().find((e) => /proj/.test(e?.name ?? "")).name;
    await openFind(page, weight);
    assert.ok((await hits(page, "Weights")).includes(weight));
    await page.locator('#find [data-group="Weights"]').first().click();
    await page.waitForFunction((text) => document.querySelector("#weights .table-filter").value === text, weight);
    assert.ok((await page.locator("#weights tbody tr:visible").count()) >= 1);

    await openFind(page, "self_attn layers.1");
    const modules = await hits(page, "Modules");
    assert.ok(modules.length > 0 && modules.every((path) => path.includes("layers.1") && path.endsWith("self_attn")), modules.join());

    const result = r.operations.find((op) => /^%\d+$/.test(op.result ?? ""));
    await openFind(page, result.result);
    await page.locator('#find [data-group="Tensors"]').first().click();
    await selected(page, r.operations.findIndex((op) => op.result === result.result));

    await openFind(page, "no such thing anywhere");
    assert.deepEqual(await hits(page), []);
    assert.match(await page.locator("#find [role=status]").innerText(), /nothing found/);
  });
});

test("arrow keys move through what was found, and a screen reader follows", async () => {
  await withPage(r.page, {}, async (page) => {
    await openFind(page, "proj");
    const n = (await hits(page)).length;
    assert.ok(n > 3);
    const at = () => page.locator('#find [aria-selected="true"]').evaluateAll((all) => all.map((e) => e.id));
    assert.deepEqual(await at(), ["find-0"]);
    await page.keyboard.press("ArrowDown");
    assert.deepEqual(await at(), ["find-1"]);
    assert.equal(await page.locator("#find input").getAttribute("aria-activedescendant"), "find-1");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    assert.deepEqual(await at(), [`find-${n - 1}`]);
    assert.equal(await page.evaluate(() => document.activeElement.matches("#find input")), true);
  });
});

test("lines of the IR and source files are found", async () => {
  const log = join(work, "sources.log");
  writeFileSync(log, readFileSync(join(SOURCE, "tests", "golden", "small.log"), "utf8").replaceAll('loc("one")', 'loc("/home/me/block.py:16")'));
  const own = report(log);
  await withPage(own.page, {}, async (page) => {
    await openFind(page, "block.py");
    assert.deepEqual(await hits(page, "Source files"), ["/home/me/block.py:16"]);
    await page.keyboard.press("Enter");
    await selected(page, own.operations.findIndex((op) => op.loc === "/home/me/block.py:16"));
    await openFind(page, "func.func");
    await page.waitForFunction(() => document.querySelector('#find [data-group="IR"]'));
    const line = own.ir.ttir.text.split("\n").findIndex((text) => text.includes("func.func"));
    await page.locator('#find [data-group="IR"]', { hasText: `TTIR line ${line + 1}` }).first().click();
    await page.waitForFunction((wanted) => document.querySelector("#ir .ir-line.marked")?.dataset.line === wanted, String(line + 1));
    await page.waitForFunction(() => location.hash.includes("ir="));
    const link = await page.evaluate(() => location.hash);
    await withPage(own.page, { hash: link }, async (again) => {
      await again.waitForFunction((wanted) => document.querySelector("#ir .ir-line.marked")?.dataset.line === wanted, String(line + 1));
    });
  });
});

test("a link restores the search, the filters and the order of the operations", async () => {
  let link;
  let rows;
  const read = (page) => page.locator("#operations .op-row[data-op]:not([hidden])").evaluateAll((all) => all.map((row) => Number(row.dataset.op)));
  await withPage(r.page, {}, async (page) => {
    await page.locator("#operations input[type=search]").fill("proj");
    await page.locator('#operations input[aria-label="Run"]').fill("1");
    await page.locator('#operations [data-column="delta"] button').click();
    await page.waitForFunction(() => location.hash.includes("proj") && location.hash.includes("delta"));
    await page.waitForFunction(() => / of /.test(document.querySelector("#operations [role=status]").textContent));
    rows = await read(page);
    link = await page.evaluate(() => location.hash);
  });
  await withPage(r.page, { hash: link }, async (page) => {
    await page.waitForFunction(() => / of /.test(document.querySelector("#operations [role=status]").textContent));
    assert.deepEqual(await read(page), rows);
    assert.equal(await page.locator("#operations input[type=search]").inputValue(), "proj");
  });
});

test("a link restores the section and the scale of the chart", async () => {
  let link;
  const scale = (page) => page.locator("#timeline button", { hasText: "Fit to" }).innerText();
  await withPage(r.page, {}, async (page) => {
    const before = await scale(page);
    await page.locator("#timeline button", { hasText: "Fit to" }).click();
    assert.notEqual(await scale(page), before);
    await page.locator("nav button", { hasText: "Operations" }).first().click();
    await page.waitForFunction(() => location.hash.includes("at=operations") && location.hash.includes("fit="));
    link = { hash: await page.evaluate(() => location.hash), scale: await scale(page) };
  });
  await withPage(r.page, { hash: link.hash }, async (page) => {
    assert.equal(await scale(page), link.scale);
    await page.waitForFunction(() => Math.abs(document.getElementById("operations").getBoundingClientRect().top) < 400);
  });
});
