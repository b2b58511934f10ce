// SPDX-License-Identifier: Apache-2.0
// The page that needs nothing installed, against the program: the same bytes, sentences and numbers; and nothing leaves it.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import http from "node:http";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { checkStatements, generate, openPage, openServed, report, saved, SOURCE, TTMEM, withPage, work } from "./lib.mjs";

const PAGE = process.env.TTMEM_PAGE ?? join(SOURCE, "build", "ttmem.html");
const data = (name) => join(SOURCE, "tests", "data", name);

// A browser knows the time of a file to the millisecond, and the report names it.
function settle(path) {
  utimesSync(path, 1700000000, 1700000000);
  return path;
}
function given(path, name = basename(path)) {
  copyFileSync(path, join(work, name));
  return settle(join(work, name));
}
function written(name, bytes) {
  writeFileSync(join(work, name), bytes);
  return settle(join(work, name));
}

// What the program says: its page, or its sentence.
function native(path) {
  const done = spawnSync(TTMEM, ["html", basename(path), "-o", "-"], { cwd: work, maxBuffer: 1 << 30, env: { ...process.env, LC_ALL: "C.UTF-8" } });
  return done.status === 0 ? { page: done.stdout } : { sentence: done.stderr.toString().replace(/^ttmem: error: /, "") };
}

async function drop(where, ...files) {
  const transfer = await where.evaluateHandle((list) => {
    const made = new DataTransfer();
    for (const { name, text } of list) made.items.add(new File([text], name));
    return made;
  }, files);
  await where.dispatchEvent("body", "drop", { dataTransfer: transfer });
}

// The frame of the report, drawn.
async function shown(page) {
  await page.waitForSelector("#report, .failure", { timeout: 60000 });
  assert.equal(await page.locator(".failure").count(), 0, await page.locator("body").innerText());
  const frame = await (await page.$("#report")).contentFrame();
  await frame.waitForFunction(() => document.documentElement.dataset.ready === "true" || document.querySelector(".broken"), null, { timeout: 60000 });
  return frame;
}

const savedPage = async (page) => (await saved(page, page.locator("#save"))).content;

function inputs() {
  execFileSync(TTMEM, ["export", "--visualizer", join(work, "visualizer"), data("recording_layers.json.zst")]);
  return [
    given(join(SOURCE, "demo", "llama_small.log.zst")), written("packed.log.gz", gzipSync(readFileSync(data("small.log")))), given(data("capture_small.json")),
    given(data("recording_hybrid.json.zst")), given(join(work, "visualizer", "db.sqlite"), "run.sqlite"), given(data("too_large.mlir")), given(data("submit.log")),
    settle(generate("ranks.log", "--bytes", "24M", "--ranks", "2", "--seed", "7")),
  ];
}

test("every input gives the bytes of ttmem html", async () => {
  await withPage(PAGE, {}, async (page) => {
    for (const path of inputs()) {
      await page.setInputFiles("#file", path);
      await page.waitForFunction((name) => document.querySelector(".open-name, .failure")?.textContent === name, basename(path), { timeout: 120000 });
      await shown(page);
      const { page: wanted } = native(path), got = await savedPage(page);
      assert.ok(wanted.equals(got), `${basename(path)}: ${got.length} bytes, the program writes ${wanted.length}`);
    }
  });
});

test("a browser without JSPI reads the same", async () => {
  await withPage(PAGE, {}, async (page) => {
    await page.addInitScript(() => {
      const make = URL.createObjectURL;
      const without = "delete WebAssembly.Suspending; delete WebAssembly.promising; ";
      URL.createObjectURL = (blob) => make(blob.type === "text/javascript" ? new Blob([without, blob], { type: blob.type }) : blob);
    });
    await page.reload();
    const path = settle(generate("ranks.log", "--bytes", "24M", "--ranks", "2", "--seed", "7"));
    await page.setInputFiles("#file", path);
    await shown(page);
    assert.ok(native(path).page.equals(await savedPage(page)));
  });
});

test("the report in the page says the program's statements", async () => {
  const path = given(join(SOURCE, "demo", "llama_small.log.zst"));
  const { findings } = report(path);
  await withPage(PAGE, {}, async (page) => {
    await page.setInputFiles("#file", path);
    const frame = await shown(page);
    await checkStatements(frame, findings);
    // It works as it does alone: an operation is chosen, and the address of the frame names it.
    await frame.locator("#operations .op-row[data-op]:not([hidden])").first().click();
    await frame.waitForFunction(() => document.querySelector(".details h2")?.textContent?.startsWith("#"));
    await frame.waitForFunction(() => /[#&]op=/.test(location.hash));
  });
});

test("what cannot be read is said in the program's sentence", async () => {
  const bad = [written("empty.log", ""), written("words.txt", "no log\n"), given(join(SOURCE, "demo", "tinyllama_train.log")), written("cut.json", readFileSync(data("capture_small.json")).subarray(0, 500)), written("broken.sqlite", `SQLite format 3\0${"x".repeat(2000)}`)];
  await withPage(PAGE, {}, async (page) => {
    for (const path of bad) {
      await page.setInputFiles("#file", path);
      await page.waitForFunction((name) => document.querySelector(".failure h2, #report")?.textContent === name, basename(path));
      assert.equal(await page.locator(".failure pre").textContent(), native(path).sentence.trim());
    }
    // A good one after a bad one.
    await page.setInputFiles("#file", given(data("small.log")));
    await shown(page);
  });
});

test("reading can be canceled, and another file be dropped", async () => {
  const big = generate("big.log", "--bytes", "400M", "--seed", "3");
  await withPage(PAGE, {}, async (page) => {
    await page.setInputFiles("#file", big);
    await page.waitForFunction(() => document.querySelector("progress")?.value > 0);
    assert.match(await page.locator("[role=status]").innerText(), /^[\d.,]+ [KM]B of 400\.\d MB/);
    await page.locator("#cancel").click();
    await page.waitForSelector(".drop");
    const text = readFileSync(data("small.log"), "utf8");
    await drop(page, { name: "first.log", text });
    const frame = await shown(page);
    assert.equal(await page.title(), "first.log — ttmem");
    await drop(frame, { name: "second.log", text }); // on the report itself
    await page.waitForFunction(() => document.querySelector(".open-name")?.textContent === "second.log");
    await shown(page);
    await drop(page, { name: "a", text }, { name: "b", text });
    assert.match(await page.locator(".failure").innerText(), /Drop one/);
  });
});

test("a hostile name is a text", async () => {
  const name = `<img src=x onerror=window.pwned=1>\u202e\u0007"'&.log`;
  await withPage(PAGE, {}, async (page) => {
    for (const text of [readFileSync(data("small.log"), "utf8"), "no log"]) {
      await page.setInputFiles("#file", { name, mimeType: "text/html", buffer: Buffer.from(text) });
      await page.waitForSelector(text.length > 10 ? "#report" : ".failure");
      assert.equal(await page.locator("#app img").count(), 0);
      assert.ok(!/[\u0007\u202e]/.test(await page.locator("body").innerText()));
      assert.equal(await page.evaluate(() => window.pwned), undefined);
    }
    await page.setInputFiles("#file", { name: "-", mimeType: "text/plain", buffer: readFileSync(data("small.log")) });
    await shown(page);
  });
});

test("the policy lets nothing out: not the page, its worker or its report", async () => {
  let hits = 0;
  const server = http.createServer((_request, response) => {
    hits++;
    response.writeHead(200, { "Access-Control-Allow-Origin": "*" });
    response.end("1");
  });
  server.on("upgrade", (_request, socket) => (hits++, socket.destroy()));
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const address = `http://127.0.0.1:${server.address().port}/x`;
  const attempt = async (url) => {
    const outcomes = {};
    const settle = async (name, act) => (outcomes[name] = await Promise.race([Promise.resolve().then(act).then(() => "done", () => "refused"), new Promise((later) => setTimeout(later, 1500, "silent"))]));
    await settle("fetch", () => fetch(url));
    await settle("imported", () => import(url));
    await settle("socket", () => new Promise((done, fail) => Object.assign(new WebSocket(url.replace("http", "ws")), { onopen: done, onerror: fail })));
    await settle("events", () => new Promise((done, fail) => Object.assign(new EventSource(url), { onopen: done, onerror: fail })));
    if (globalThis.document) {
      navigator.sendBeacon(url, "x");
      await settle("image", () => new Promise((done, fail) => Object.assign(new Image(), { onload: done, onerror: fail, src: url })));
      for (const [tag, key] of [["script", "src"], ["iframe", "src"], ["link", "href"], ["object", "data"], ["video", "src"]]) document.body.append(Object.assign(document.createElement(tag), { [key]: url, rel: "stylesheet" }));
      const form = Object.assign(document.createElement("form"), { action: url, method: "post" });
      document.body.append(form);
      form.submit();
      await settle("elements", () => new Promise(() => undefined));
    } else await settle("scripts", () => importScripts(url));
    return outcomes;
  };
  const opened = await openPage(PAGE, { url: pathToFileURL(PAGE).href });
  try {
    const { page, problems } = opened;
    await page.setInputFiles("#file", given(data("small.log")));
    const frame = await shown(page);
    assert.deepEqual(problems, []); // up to here not even an attempt
    const inWorker = await page.evaluate(({ code, url }) => new Promise((done, fail) => {
      const worker = new Worker(URL.createObjectURL(new Blob([`onmessage = async () => postMessage(await (${code})("${url}"))`])));
      Object.assign(worker, { onmessage: (event) => done(event.data), onerror: (event) => fail(new Error(event.message)) });
      worker.postMessage(0);
    }), { code: attempt.toString(), url: address });
    for (const outcomes of [inWorker, await page.evaluate(attempt, address), await frame.evaluate(attempt, address)]) assert.ok(!Object.values(outcomes).includes("done"), JSON.stringify(outcomes));
    assert.equal(hits, 0);
    assert.ok(problems.length > 0); // the browser named what it refused
    problems.length = 0;
  } finally {
    await opened.close();
    server.close();
  }
});

test("keyboard, narrow screens, light and dark", async () => {
  for (const colorScheme of ["light", "dark"]) {
    await withPage(PAGE, { width: 390, colorScheme }, async (page) => {
      const fits = async () => assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
      assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), colorScheme);
      await fits();
      const asked = page.waitForEvent("filechooser");
      await page.keyboard.press("Tab");
      await page.waitForFunction(() => document.activeElement.id === "choose");
      await page.keyboard.press("Enter");
      await (await asked).setFiles(given(join(SOURCE, "demo", "llama_small.log.zst"), `${"long-".repeat(30)}name.log.zst`));
      const frame = await shown(page);
      await fits();
      assert.ok((await frame.evaluate(() => document.documentElement.scrollWidth)) <= 390);
      await page.setInputFiles("#file", written("words.txt", "no log\n"));
      await page.waitForSelector(".failure");
      await fits();
      assert.equal(await page.evaluate(() => document.activeElement.id), "choose");
    });
  }
});

test("ttmem serve hands the page out, where it lies beside the program or is installed", async () => {
  const program = join(work, "installed", "bin", "ttmem"), page = join(work, "installed", "share", "ttmem", "ttmem.html");
  for (const path of [program, page]) mkdirSync(dirname(path), { recursive: true });
  copyFileSync(TTMEM, program);
  copyFileSync(PAGE, page);
  const env = { ...process.env, TTMEM_HOME: join(work, "home") };
  execFileSync(program, ["analyze", data("small.log"), "--quiet"], { env }); // a server wants reports
  const server = spawn(program, ["serve", "--port", "0"], { env, stdio: ["ignore", "pipe", "inherit"] });
  try {
    const [line] = await once(server.stdout, "data", { signal: AbortSignal.timeout(20000) });
    const { page: tab, problems, context } = await openServed(String(line).trim());
    await tab.getByRole("link", { name: "Open a file" }).first().click();
    await tab.waitForFunction(() => document.documentElement.dataset.ready === "true");
    assert.equal(await tab.evaluate(() => window.origin), "null"); // it reads no other page of the server
    const path = given(data("small.log"));
    await tab.setInputFiles("#file", path);
    await shown(tab);
    assert.ok(native(path).page.equals(await savedPage(tab)));
    assert.deepEqual(problems.filter((problem) => !problem.startsWith("request: blob:")), []);
    await context.close();
  } finally {
    server.kill();
  }
});

test("the page is one file of a size to send by mail", () => assert.ok(statSync(PAGE).size < 3 << 20));
