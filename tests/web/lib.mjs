// SPDX-License-Identifier: Apache-2.0
// What the browser tests share: reports made by the program under test, and pages that fail the test on any console error, page error
// or request that leaves the file.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after } from "node:test";
import { pathToFileURL } from "node:url";

export const SOURCE = process.env.TTMEM_SOURCE ?? join(import.meta.dirname ?? ".", "..", "..");
export const TTMEM = process.env.TTMEM ?? join(SOURCE, "build", "bin", "ttmem");
const GEN_LOG = process.env.GEN_LOG ?? join(SOURCE, "build", "release", "bench", "gen_log");
const SHARED = process.env.TTMEM_SHARED ?? join(SOURCE, "..", "shared");

export const work = mkdtempSync(join(tmpdir(), "ttmem-web-"));

const { chromium } = createRequire(join(SOURCE, "web", "package.json"))("playwright-core");
const browserPath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => existsSync(path));
const browser = await chromium.launch({
  executablePath: browserPath,
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run", "--disable-component-update", "--disable-sync"],
});
after(async () => {
  await browser.close();
  rmSync(work, { recursive: true, force: true });
});

export function sample(name) {
  const path = join(SHARED, "samples", "xla", name);
  return existsSync(path) ? path : null;
}

export function generate(name, ...options) {
  const path = join(work, name);
  execFileSync(GEN_LOG, [...options, "--out", path]);
  return path;
}

// Runs analyze and gives the folder's files, parsed.
export function report(log) {
  const folder = join(work, `${basename(log)}.report`);
  execFileSync(TTMEM, ["analyze", log, "--quiet", "--name", "r", "--output-dir", folder]);
  const json = (file) => JSON.parse(readFileSync(join(folder, `r_${file}.json`), "utf8"));
  return { folder, page: join(folder, "r_report.html"), memory: json("memory"), operations: json("operations"), registry: json("inputs_registry"), ir: json("ir"), findings: json("findings") };
}

// The file that a button saves. A browser that starves may lose a click, or what it began: it is made again, and an error of the page stays a problem.
export async function saved(page, button, tries = 3) {
  const event = page.waitForEvent("download", { timeout: 30000 }).catch((error) => error);
  await button.click();
  const file = await event;
  if (!(file instanceof Error)) return { name: file.suggestedFilename(), content: readFileSync(await file.path()) };
  if (tries > 1) return saved(page, button, tries - 1);
  throw new Error(`${button} saved nothing: ${file.message}`);
}

// A page of a server, which may lead to others of it and to nothing else.
export async function openServed(url, { width = 1280, height = 900 } = {}) {
  const context = await browser.newContext({ viewport: { width, height } });
  const page = await context.newPage();
  const problems = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && problems.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => problems.push(`page error: ${error.message}`));
  page.on("request", (request) => !request.url().startsWith(new URL(url).origin) && !request.url().startsWith("data:") && problems.push(`request: ${request.url()}`));
  await page.goto(url);
  return { context, page, problems };
}

export async function openPage(file, { hash = "", width = 1280, height = 900, colorScheme = "light", url = null } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme, offline: url === null });
  const page = await context.newPage();
  page.setDefaultTimeout(60000); // only bounds a hang
  const problems = [];
  const address = url ?? pathToFileURL(file).href;
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && problems.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => problems.push(`page error: ${error.message}`));
  page.on("request", (request) => {
    const asked = request.url();
    if (asked.split("#")[0] !== address && !asked.startsWith("data:") && !asked.startsWith("blob:")) problems.push(`request: ${asked}`);
  });
  await page.goto(address + hash);
  await page.waitForFunction(() => document.documentElement.dataset.ready === "true" || document.querySelector(".broken"), null, { timeout: 60000 });
  assert.equal(await page.locator(".broken").count(), 0, "the page says it cannot be shown");
  return {
    page,
    problems,
    async close() {
      await context.close();
      assert.deepEqual(problems, []);
    },
  };
}

export async function withPage(file, options, act) {
  const opened = await openPage(file, options);
  try {
    await act(opened.page);
  } finally {
    await opened.close();
  }
}

// A page of the web server, which draws nothing.
export async function plainPage(url, width, act) {
  const context = await browser.newContext({ viewport: { width, height: 900 } });
  const page = await context.newPage();
  await page.goto(url);
  await act(page);
  await context.close();
}

// Serves one file on the loopback and calls `act` with its address.
export async function serve(file, act) {
  const server = http.createServer((_request, response) => {
    response.writeHead(200, { "Content-Type": "text/html; charset=utf-8" });
    response.end(readFileSync(file));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  try {
    await act(`http://127.0.0.1:${server.address().port}/report.html`);
  } finally {
    server.close();
  }
}

// "1,234.5 MB" -> 1234.5
export const numberIn = (text) => Number(/[−+-]?[\d,]*\.?\d+/.exec(text)[0].replace("−", "-").replace(/,/g, ""));

export const texts = (locator) => locator.evaluateAll((all) => all.map((e) => e.innerText));

// Decimal digits as they are printed, a half to the even one: node 18 has no roundingMode.
function evenly(n, digits) {
  const [whole, part = ""] = String(Math.abs(n)).split(".");
  const kept = Number(whole + part.slice(0, digits).padEnd(digits, "0")), rest = Number(`0.${part.slice(digits) || 0}`);
  return Math.sign(n) * (kept + (rest > 0.5 || (rest === 0.5 && kept % 2) ? 1 : 0)) / 10 ** digits;
}

// Megabytes as every surface shows them: "1,023.0", "12.25", "0.512", halves to the even digit.
export function mb(n) {
  const size = Math.abs(n);
  if (size === 0) return "0";
  const digits = size >= 99.995 ? 1 : size >= 0.9995 ? 2 : 3;
  return (size >= 999.95 ? n : evenly(n, digits)).toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

export const statementsOf = (page) =>
  page.locator("[data-statement]").evaluateAll((all) =>
    all.map((e) => ({ id: e.dataset.statement, number: Number(e.dataset.number), severity: e.dataset.severity, headline: e.querySelector(".headline").textContent, detail: e.querySelector(".detail")?.textContent ?? "" })));

// The headline of a statement on the page; null when it is not there.
export const said = async (page, id) => (await statementsOf(page)).find((s) => s.id === id)?.headline ?? null;

// The page says every statement of findings.json, once and word for word, and lists its fixes in their order.
export async function checkStatements(page, findings) {
  const key = (s) => `${s.id} ${s.number} ${s.headline}`;
  const order = (list) => list.map(({ id, number = 0, severity, headline, detail = "" }) => ({ id, number, severity, headline, detail })).sort((a, b) => (key(a) < key(b) ? -1 : 1));
  assert.deepEqual(order(await statementsOf(page)), order(findings.statements));
  const fixes = await page.locator("[data-fix]").evaluateAll((all) => all.map((e) => {
    const paste = e.querySelector("pre")?.textContent ?? "";
    return [e.dataset.fix, e.textContent.slice(0, e.textContent.length - paste.length), paste];
  }));
  assert.deepEqual(fixes, findings.fixes.map((fix) => [fix.kind, fix.text, fix.paste ?? ""]));
}
