// SPDX-License-Identifier: Apache-2.0
// Bundles the pages and turns them into C. Runs on any node since 12 and starts esbuild's own executable, which needs no node at all:
// Ubuntu 22.04 has only node 12.
// usage: node web/build.mjs OUT.c                      the pages of reports
//        node web/build.mjs --open OUT.html ENGINE LICENCE...    the page that needs nothing installed, with the engine (cmake/wasm.cmake) inside
import { spawnSync } from "child_process";
import { createHash } from "crypto";
import { existsSync, mkdtempSync, readFileSync, rmdirSync, unlinkSync, writeFileSync } from "fs";
import { tmpdir } from "os";
import { dirname, join } from "path";
import { fileURLToPath } from "url";
import { deflateSync } from "zlib";

const here = dirname(fileURLToPath(import.meta.url));
const esbuild = join(here, "node_modules", "@esbuild", `linux-${process.arch}`, "bin", "esbuild");

function fail(why) {
  console.error(`web/build.mjs: ${why}`);
  process.exit(1);
}

function bundle(entry) {
  if (!existsSync(esbuild)) fail("web/node_modules is not complete; run: scripts/setup build");
  const folder = mkdtempSync(join(tmpdir(), "ttmem-web-"));
  const done = spawnSync(
    esbuild,
    [join(here, "src", entry), "--bundle", "--minify", "--format=iife", "--target=es2020", "--charset=utf8",
      "--legal-comments=none", "--log-level=warning", `--outfile=${join(folder, "page.js")}`],
    { stdio: ["ignore", "inherit", "inherit"] },
  );
  if (done.status !== 0) fail(`esbuild could not bundle web/src/${entry}`);
  const parts = ["page.js", "page.css"].map((name) => {
    if (!existsSync(join(folder, name))) return ""; // a worker has no style
    const text = readFileSync(join(folder, name), "utf8").trim();
    unlinkSync(join(folder, name));
    return text;
  });
  rmdirSync(folder);
  return parts;
}

// uPlot is MIT-licensed: its notice goes where its code goes.
function notice() {
  const text = readFileSync(join(here, "node_modules", "uplot", "LICENSE"), "utf8").trim();
  return `/* This page contains uPlot.\n${text.replace(/\*\//g, "")}\n*/\n`;
}

const hash = (text) => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;

function array(name, text) {
  const bytes = [...Buffer.from(text, "utf8")];
  const lines = [];
  for (let i = 0; i < bytes.length; i += 40) lines.push(bytes.slice(i, i + 40).join(","));
  return `static const unsigned char ${name}[] = {\n${lines.join(",\n")}};\n` +
    `const ttm_str ttm_html_${name} = {(const char *)${name}, sizeof ${name}};\n`;
}

// A page: its name in C, where its program begins, what it is called behind its title, and the command that says the same as text.
const PAGES = [
  ["page", "main.ts", "memory report", "ttmem --llm --logfile LOG"],
  ["diff", "diff.ts", "memory compared", "ttmem diff BEFORE AFTER"],
];

// The program and the style of a page, as they stand in it.
function parts(entry) {
  const [code, style] = bundle(entry);
  // "</script" inside a string of the program would end the element.
  return [(notice() + code).replace(/<\/(script)/gi, "<\\/$1").replace(/<!--/g, "<\\!--"), style];
}

function template(scripts, styles, more) {
  return readFileSync(join(here, "page.html"), "utf8")
    .replace(/<!-- SPDX.*?-->\n/, "")
    .replace("{{policy}}", () => `default-src 'none'; script-src ${scripts}; style-src ${styles}; img-src data:; ${more}base-uri 'none'; form-action 'none'`);
}

function page([name, entry, subject, instead]) {
  const [script, style] = parts(entry);
  const html = template(hash(script), hash(style), "")
    .replace("{{subject}}", subject)
    .replace("{{instead}}", instead)
    .replace("{{style}}", () => style);
  const pieces = html.split(/\{\{(?:title|data|program)\}\}/);
  if (pieces.length !== 4) fail("web/page.html must hold {{title}}, {{data}} and {{program}} once each, in this order");
  const [start, body, between, end] = pieces;
  return array(`${name}_start`, start) + array(`${name}_body`, body) + array(`${name}_program`, `${between}<script>${script}</script>\n`) + array(`${name}_end`, end);
}

// The page that needs nothing installed. What is inside inherits its policy: the worker, which compiles nothing but the engine, and the
// frame with the report's page, whose program and style are allowed by their hashes.
function openPage(engine, licences) {
  const [script, style] = parts("open.ts"), [reportScript, reportStyle] = parts("main.ts");
  const data = (id, bytes) => `<script type="text/plain" id="data.${id}">${deflateSync(bytes, { level: 9 }).toString("base64")}</script>\n`;
  return template(`${hash(script)} ${hash(reportScript)} 'wasm-unsafe-eval'`, `${hash(style)} ${hash(reportStyle)}`, "worker-src blob:; frame-src blob:; ")
    .replace("{{title}} — {{subject}}", "ttmem")
    .replace(/\n<meta name="generator".*/, "") // no report: it holds no data
    .replace("This report draws itself", "This page reads logs")
    .replace("{{instead}}", "ttmem analyze LOG")
    .replace("{{style}}", () => style)
    .replace("{{data}}", () => data("worker", bundle("engine.ts")[0]) + data("engine", engine))
    .replace("{{program}}", () => `<script>${script}</script>\n<script type="text/plain" id="licences">\nThe engine in this page contains:\n\n${licences.join("\n\n").replace(/</g, "‹")}\n</script>`);
}

const [out, ...rest] = process.argv.slice(2);
if (out === "--open" && rest.length >= 2) {
  const [page, engine, ...licences] = rest;
  writeFileSync(page, openPage(readFileSync(engine), licences.map((file) => `${file.replace(/^build\/(sources\/|.*ziglang\/lib\/libc\/)/, "")}\n${readFileSync(file, "utf8").trim()}`)));
  process.exit();
}
if (!out || rest.length) fail("usage: node web/build.mjs OUT.c | --open OUT.html ENGINE LICENCE...");
writeFileSync(out, `/* SPDX-License-Identifier: Apache-2.0 */\n/* Made by web/build.mjs; not to be edited. */\n#include "report/html/html_page.h"\n\n${PAGES.map(page).join("")}`);
