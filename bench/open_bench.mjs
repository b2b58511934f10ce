// SPDX-License-Identifier: Apache-2.0
// make bench, the page that needs nothing installed: MB/s of a 1 GiB log from the drop to the report's bytes in headless chromium, processor time, and the most memory that its tab
// took. On a busy machine the time says little; the processor time of all its processes does. The log is that of bench/run.py.
// usage: node bench/open_bench.mjs [LOG]      (GEN_LOG: another generator than that of the release build)
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const html = join(root, "build", "ttmem.html");
const log = process.argv[2] ?? join(root, "build", "bench", "large.log");
const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => existsSync(path));
const ROUNDS = 5, MB = 1 << 20;

if (!executablePath || !existsSync(html)) {
  console.log("\nThe page that needs nothing installed was not measured: chromium or build/ttmem.html (make web) is missing.");
  process.exit(0);
}
if (!existsSync(log)) {
  mkdirSync(dirname(log), { recursive: true });
  execFileSync(process.env.GEN_LOG ?? join(root, "build", "release", "bench", "gen_log"), ["--bytes", "1G", "--seed", "1", "--out", log]);
}
const { chromium } = createRequire(join(root, "web", "package.json"))("playwright-core");

const read = (file) => {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return ""; // it ended
  }
};

// The processes below this one: seconds of processor time in all, and the most memory that one of them took.
function children() {
  const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map((id) => ({ id, fields: read(`/proc/${id}/stat`).replace(/^.*\) /, "").split(" ") }));
  const ours = new Set([String(process.pid)]);
  for (let before = 0; before < ours.size; ) {
    before = ours.size;
    for (const { id, fields } of all) if (ours.has(fields[1])) ours.add(id);
  }
  ours.delete(String(process.pid));
  const seconds = all.filter(({ id }) => ours.has(id)).reduce((sum, { fields }) => sum + (Number(fields[11]) + Number(fields[12])) / 100, 0);
  const memory = Math.max(...[...ours].map((id) => (/--type=renderer/.test(read(`/proc/${id}/cmdline`)) ? Number(/VmHWM:\s+(\d+)/.exec(read(`/proc/${id}/status`))?.[1] ?? 0) / 1024 : 0)));
  return { seconds, memory };
}

async function round() {
  const browser = await chromium.launch({ executablePath, args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run", "--disable-component-update", "--disable-sync"] });
  const page = await (await browser.newContext({ offline: true })).newPage();
  await page.goto(pathToFileURL(html).href);
  await page.waitForFunction(() => document.documentElement.dataset.ready === "true");
  await page.evaluate(() => new MutationObserver(() => document.getElementById("report") && (window.shown ??= performance.now())).observe(document.body, { childList: true, subtree: true }));
  await page.evaluate(() => document.getElementById("file").addEventListener("change", () => (window.dropped = performance.now()), true));
  const before = children();
  await page.setInputFiles("#file", log);
  await page.waitForFunction(() => window.shown, null, { timeout: 120000 });
  const after = children(), seconds = await page.evaluate(() => (window.shown - window.dropped) / 1000);
  await browser.close();
  return { seconds, processor: after.seconds - before.seconds, memory: after.memory };
}

const rounds = [];
for (let i = 0; i < ROUNDS; i++) rounds.push(await round());
const size = statSync(log).size / MB, best = (key) => Math.min(...rounds.map((one) => one[key]));
console.log(`\n| the page that needs nothing installed, a log of ${size.toFixed(0)} MB, best of ${ROUNDS} | | goal |\n|---|---|---|`);
console.log(`| from the drop to the report | ${best("seconds").toFixed(2)} s, ${(size / best("seconds")).toFixed(0)} MB/s | >= 300 MB/s |`);
console.log(`| processor time of all processes of the browser | ${best("processor").toFixed(2)} s, ${(size / best("processor")).toFixed(0)} MB/s | |`);
console.log(`| most memory of the tab | ${Math.max(...rounds.map((one) => one.memory)).toFixed(0)} MB | |`);
