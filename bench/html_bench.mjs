// SPDX-License-Identifier: Apache-2.0
// make bench, the page: size per operation, time to the first chart, to redraw a zoom, to move the cursor, to find, filter and sort, in headless chromium. Logs go through a pipe:
// nothing but the page is kept. One endless program, in which every operation is a text of its own, is the worst case for the size.
// usage: node bench/html_bench.mjs [OPERATIONS...]     (GEN_LOG, TTMEM: other programs than those of the release build; TTMEM_PAGES: a folder that keeps the pages)
import { execSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const ttmem = process.env.TTMEM ?? join(root, "build", "bin", "ttmem");
const genLog = process.env.GEN_LOG ?? join(root, "build", "release", "bench", "gen_log");
const work = join(root, "build", "bench");
const browserPath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => existsSync(path));
const counts = process.argv.slice(2).map(Number);

if (!browserPath || !existsSync(join(root, "web", "node_modules", "playwright-core"))) {
  console.log("\nThe page was not measured: chromium or web/node_modules is missing (scripts/setup test).");
  process.exit(0);
}
const { chromium } = createRequire(join(root, "web", "package.json"))("playwright-core");

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const row = (what, value, goal, met) => console.log(`| ${what} | ${value} | ${goal} | ${met ? "yes" : "**no**"} |`);

// A page of about so many operations: the generator counts frees too, which are a little more than half of the lines.
function makePage(operations) {
  const file = join(process.env.TTMEM_PAGES ?? work, `page_${operations}.html`);
  if (existsSync(file)) return file;
  execSync(`set -o pipefail; "${genLog}" --operations ${Math.round(operations * 2.09)} --one-run --seed 5 --out - | "${ttmem}" html - --name bench -o "${file}" --quiet`, { shell: "/bin/bash", stdio: ["ignore", "inherit", "inherit"] });
  return file;
}

// The bytes of the page without its module texts.
function sizeWithoutIr(file) {
  const text = readFileSync(file, "latin1");
  let ir = 0;
  for (const match of text.matchAll(/<script type="text\/plain" id="data\.ir\.[^<]*<\/script>\n/g)) ir += match[0].length;
  return statSync(file).size - ir;
}

async function measure(file) {
  const browser = await chromium.launch({ executablePath: browserPath, args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run", "--disable-component-update", "--disable-sync"] });
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 900 }, offline: true })).newPage();
  await page.goto(pathToFileURL(file).href, { waitUntil: "commit" });
  await page.waitForFunction(() => document.documentElement.dataset.charted !== undefined, null, { timeout: 120000 });
  const first = Number(await page.evaluate(() => document.documentElement.dataset.firstChart));
  await page.waitForFunction(() => document.documentElement.dataset.ready === "true", null, { timeout: 120000 });
  const ready = await page.evaluate(() => performance.now());
  const operations = Number(await page.locator('[data-key="operations"] .fact-value').innerText().then((text) => text.replace(/,/g, "")));
  await page.locator("#timeline .chart").focus();
  await page.evaluate(() => window.ttmemRedraws());
  for (let i = 0; i < 30; i++) await page.keyboard.press(i % 15 < 12 ? "+" : "-");
  const redraws = await page.evaluate(() => window.ttmemRedraws());
  const cursor = await page.evaluate(moveCursor);
  // By tensor is the costliest stack: the largest of all rows are sought anew for every view.
  await page.locator("#timeline [data-stack=tensor]").click();
  await page.waitForFunction(() => document.querySelector("#timeline [data-band]"), null, { timeout: 60000 });
  await page.locator("#timeline .chart").focus();
  await page.evaluate(() => window.ttmemRedraws());
  for (let i = 0; i < 30; i++) await page.keyboard.press(i % 15 < 12 ? "-" : "+");
  const tensors = await page.evaluate(() => window.ttmemRedraws());
  await page.evaluate(() => document.getElementById("blocks").scrollIntoView({ behavior: "instant" }));
  await page.evaluate(() => window.ttmemBlockRedraws());
  await page.evaluate(moveCursor);
  const blocks = await page.evaluate(() => window.ttmemBlockRedraws());
  await page.keyboard.press("/");
  await page.evaluate(() => window.ttmemFound());
  for (const text of ["layers.1", "matmul", "%123", "no such thing"]) {
    await page.locator("#find input").fill("");
    await page.locator("#find input").pressSequentially(text);
  }
  const found = await page.evaluate(() => window.ttmemFound());
  await page.keyboard.press("Escape");
  const filter = await page.evaluate(useTable, { words: "matmul" });
  await page.evaluate(useTable, { words: "" });
  const number = await page.evaluate(useTable, { column: "delta" });
  const text = await page.evaluate(useTable, { column: "place" });
  await browser.close();
  return { first, ready, operations, redraw: median(redraws), tensor: median(tensors), blocks: median(blocks), cursor: median(cursor), find: Math.max(...found), filter, number, text };
}

// In the page: from a key to the picture that shows it.
async function moveCursor() {
  const times = [];
  for (let i = 0; i < 20; i++) {
    const began = performance.now();
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
    times.push(performance.now() - began); // what the page does with it
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  }
  return times;
}

// In the page: filters or sorts the operations. How long the page stood still at most, and when all rows were there.
async function useTable({ words, column }) {
  const status = document.querySelector("#operations [role=status]");
  const head = document.querySelector(`#operations [data-column="${column}"]`);
  const before = status.textContent;
  let still = 0;
  let last = performance.now();
  const began = last;
  const watch = setInterval(() => {
    still = Math.max(still, performance.now() - last);
    last = performance.now();
  });
  if (column) head.querySelector("button").click();
  else {
    const box = document.querySelector("#operations input[type=search]");
    box.value = words;
    box.dispatchEvent(new Event("input"));
  }
  const done = () => (column ? head.getAttribute("aria-sort") !== "none" : status.textContent !== before);
  while (!done()) await new Promise((next) => setTimeout(next));
  const whole = performance.now() - began;
  await new Promise((next) => setTimeout(next, 50));
  clearInterval(watch);
  return { still, whole };
}

mkdirSync(work, { recursive: true });
console.log("\n| the HTML page | measured | goal | met |\n|---|---|---|---|");
for (const operations of counts.length ? counts : [20000, 200000, 1000000]) {
  const file = makePage(operations);
  const { first, ready, operations: n, redraw, tensor, blocks, cursor, find, filter, number, text } = await measure(file);
  const size = sizeWithoutIr(file);
  const goal = 40 * n + 2e6;
  const name = `${n.toLocaleString("en-US")} operations`;
  row(`${name}: size`, `${(size / 1e6).toFixed(2)} MB, ${(size / n).toFixed(1)} bytes per operation`, `<= ${(goal / 1e6).toFixed(1)} MB`, size <= goal);
  row(`${name}: first chart`, `${first.toFixed(0)} ms (all of the page ${ready.toFixed(0)} ms)`, "<= 1500 ms", first <= 1500);
  row(`${name}: median zoom redraw, by class`, `${redraw.toFixed(1)} ms`, "<= 50 ms", redraw <= 50);
  row(`${name}: median zoom redraw, by tensor`, `${tensor.toFixed(1)} ms`, "<= 50 ms", tensor <= 50);
  row(`${name}: median step of the block map`, `${blocks.toFixed(1)} ms`, "<= 50 ms", blocks <= 50);
  row(`${name}: median move of the cursor`, `${cursor.toFixed(1)} ms`, "<= 50 ms", cursor <= 50);
  row(`${name}: slowest key stroke of Find`, `${find.toFixed(1)} ms`, "<= 50 ms", find <= 50);
  for (const [what, { still, whole }] of [["filter the table", filter], ["sort it by delta", number], ["sort it by place", text]]) row(`${name}: ${what}, the page stands still`, `${still.toFixed(1)} ms (all rows after ${whole.toFixed(0)} ms)`, "<= 50 ms", still <= 50);
  if (!process.env.TTMEM_PAGES) rmSync(file);
}
