// SPDX-License-Identifier: Apache-2.0
// `ttmem serve` opened on a history, in a real browser: search and pages by keyboard, trends, two runs compared; nothing but its own pages is asked for.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { openServed, SOURCE, TTMEM, work } from "./lib.mjs";

const generator = join(dirname(process.env.GEN_LOG ?? join(SOURCE, "build", "release", "bench", "gen_log")), "gen_history");
const store = join(work, "history.sqlite");
execFileSync(generator, [store, "400"]);

async function withSite(use, ...options) {
  const env = { ...process.env, TTMEM_HOME: join(work, "history-home"), TTMEM_SHM_DIR: work };
  const server = spawn(TTMEM, ["serve", "--port", "0", "--store", store, ...options], { env, stdio: ["ignore", "pipe", "ignore"] });
  try {
    const [line] = await once(server.stdout, "data");
    await use(String(line).trim());
  } finally {
    server.kill();
  }
}

async function fits(page) {
  const wide = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
  assert.ok(wide[0] <= wide[1], `the page is ${wide[0]} px wide on ${wide[1]}`);
}

for (const width of [390, 1280]) {
  test(`history: search, trend and comparison at ${width} px`, async () => {
    await withSite(async (url) => {
      const { page, context, problems } = await openServed(url, { width });
      for (const other of [width, 600, 800, 1024, 1400, 1600, width]) {
        await page.setViewportSize({ width: other, height: 900 });
        await fits(page);
      }
      assert.equal(await page.locator("tbody tr").count(), 50);
      // By keyboard alone: past the five links to the search.
      for (let i = 0; i < 6; i++) await page.keyboard.press("Tab");
      assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("name")), "q");
      await page.keyboard.type("model-03");
      await Promise.all([page.waitForURL(/q=model-03/), page.keyboard.press("Enter")]);
      const models = await page.locator("tbody td[data-of=Model]").allInnerTexts();
      assert.ok(models.length > 2 && models.every((name) => name.includes("model-03")), models.join());
      assert.equal(await page.locator("input[name=q]").inputValue(), "model-03");
      // The first is chosen, the last is compared with it.
      await Promise.all([page.waitForURL(/from=/), page.getByRole("link", { name: /^compare run/ }).first().click()]);
      assert.equal(await page.locator("input[name=q]").inputValue(), "model-03");
      await Promise.all([page.waitForURL(/run\?a=.*&b=/), page.getByRole("link", { name: /^compare run/ }).last().click()]);
      assert.equal(await page.locator("h1").innerText(), "Two runs");
      assert.match(await page.locator("body").innerText(), /DRAM peak is [0-9,.]+ MB (higher|lower) per bank/);
      await fits(page);
      await Promise.all([page.waitForURL(/trend\?model=model-03/), page.locator("a", { hasText: "model-03" }).first().click()]);
      assert.equal(await page.getByRole("img", { name: /^DRAM peaks of the last \d+ runs$/ }).count(), 1);
      const chart = await page.locator("svg").first().boundingBox();
      assert.ok(chart && chart.width > width / 2 && chart.height > 100);
      const line = await page.locator("svg path").first().evaluate((path) => getComputedStyle(path).stroke);
      assert.notEqual(line, "none");
      await fits(page);
      await Promise.all([page.waitForURL(/models/), page.locator("nav a", { hasText: "Models" }).click()]);
      assert.ok((await page.locator("svg.spark").count()) >= 30);
      await fits(page);
      await Promise.all([page.waitForURL(/live/), page.locator("nav a", { hasText: "Live" }).click()]);
      assert.match(await page.locator("body").innerText(), /No ttnn program uses a device/);
      assert.deepEqual(problems, []);
      await context.close();
    });
  });
}

test("history: dark and light differ, and the cookie of a token holds for all pages", async () => {
  await withSite(async (url) => {
    const { page, context, problems } = await openServed(url);
    const colors = [];
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      colors.push(await page.evaluate(() => getComputedStyle(document.querySelector("h1")).color));
    }
    assert.notEqual(colors[0], colors[1]);
    await Promise.all([page.waitForURL(/page=2$/), page.getByRole("link", { name: "older" }).click()]);
    assert.ok(!page.url().includes("a-token-of-the-test"));
    assert.equal(await page.locator("tbody tr").count(), 50);
    assert.deepEqual(problems, []);
    await context.close();
  }, "--token", "a-token-of-the-test");
});
