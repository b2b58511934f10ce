#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// The pictures of README.md and docs/: the demo's report in the real browser, and the programs in a real terminal (tmux), whose screen the browser
// draws. `make screenshots` makes all of them anew in docs/images, so that they show what the program shows today.
// usage: screenshots.mjs [FOLDER]   TTMEM names the program
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const source = resolve(import.meta.dirname ?? ".", "..");
const ttmem = resolve(process.env.TTMEM ?? join(source, "build/bin/ttmem"));
const images = resolve(process.argv[2] ?? join(source, "docs/images"));
const demo = join(source, "demo");
const work = mkdtempSync(join(tmpdir(), "ttmem-shots-"));
const { chromium } = createRequire(join(source, "web/package.json"))("playwright-core");

// Of the page: what stands in the picture. Widths are those of a reader's window.
const PAGES = [
  { name: "page", height: 900 },
  { name: "timeline", element: "#timeline" },
  { name: "blocks", element: "#blocks" },
  { name: "modules", element: "#modules" },
  { name: "cores", element: "#cores", report: "clash" },
];

// Of the terminal: a command, then keys, each sent once the text before it is on the screen.
const OPEN = [["Browse reports", "4"], ["llama-small", "Enter"], ["1,520 operations in 4 runs", "2"]];
const TERMINALS = [
  { name: "terminal", command: "ttmem", rows: 44, columns: 110, keys: [...OPEN, ["w weights", "v"], ["largest free block", null]] },
];

/* ---- The terminal -------------------------------------------------------------------------------------------------------- */

const COLORS = ["#1d1f21", "#cc6666", "#b5bd68", "#e6c547", "#81a2be", "#b294bb", "#70c0ba", "#c5c8c6", "#666666", "#ff3334", "#9ec400", "#f0c674", "#81a2be", "#b77ee0", "#54ced6", "#ffffff"];
const LIGHT = ["#ffffff", "#b02a2a", "#3f7d20", "#8a6500", "#1f5fa8", "#7d3f98", "#12767c", "#24292f", "#6e7781", "#cf222e", "#2da44e", "#9a6700", "#0969da", "#8250df", "#1b7c83", "#000000"];

function paletteColor(n, colors) {
  if (n < 16) return colors[n];
  if (n >= 232) return `rgb(${Array(3).fill(8 + 10 * (n - 232))})`;
  const level = (v) => (v ? 55 + 40 * v : 0);
  const cube = n - 16;
  return `rgb(${[Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map(level)})`;
}

// One "m" sequence: what it changes of the style.
function applyStyle(style, numbers) {
  for (let i = 0; i < numbers.length; i++) {
    const n = numbers[i];
    if (n === 0) Object.assign(style, { fg: null, bg: null, bold: false, dim: false, reverse: false, underline: false });
    else if (n === 1) style.bold = true;
    else if (n === 2) style.dim = true;
    else if (n === 4) style.underline = true;
    else if (n === 7) style.reverse = true;
    else if (n === 22) style.bold = style.dim = false;
    else if (n === 27) style.reverse = false;
    else if (n >= 30 && n <= 37) style.fg = n - 30;
    else if (n >= 90 && n <= 97) style.fg = n - 82;
    else if (n >= 40 && n <= 47) style.bg = n - 40;
    else if (n >= 100 && n <= 107) style.bg = n - 92;
    else if (n === 39) style.fg = null;
    else if (n === 49) style.bg = null;
    else if ((n === 38 || n === 48) && numbers[i + 1] === 5) style[n === 38 ? "fg" : "bg"] = numbers[(i += 2)];
  }
}

function screenToHtml(text, dark) {
  const colors = dark ? COLORS : LIGHT;
  const paper = dark ? "#16181d" : "#ffffff";
  const ink = dark ? "#d5d8de" : "#24292f";
  const style = { fg: null, bg: null };
  const escape = (s) => s.replace(/[&<>]/g, (c) => `&#${c.charCodeAt(0)};`);
  const body = text.split("\x1b[").map((piece, i) => {
    const code = i ? /^([\d;]*)m/.exec(piece) : null;
    if (code) applyStyle(style, code[1].split(";").map(Number));
    let fg = style.fg === null ? ink : paletteColor(style.fg, colors);
    let bg = style.bg === null ? paper : paletteColor(style.bg, colors);
    if (style.reverse) [fg, bg] = [bg, fg];
    const rules = [`color:${fg}`, `background:${bg}`, style.bold && "font-weight:bold", style.dim && "opacity:.65", style.underline && "text-decoration:underline"];
    return `<span style="${rules.filter(Boolean).join(";")}">${escape(code ? piece.slice(code[0].length) : piece)}</span>`;
  });
  return `<body style="margin:0;background:${paper}"><pre style="margin:0;padding:14px 18px;display:inline-block;font:14px/1.25 'DejaVu Sans Mono',monospace;color:${ink};background:${paper}">${body.join("")}</pre>`;
}

async function onScreen(shot, dark) {
  const tmux = (...words) => execFileSync("tmux", ["-S", join(work, "tmux"), "-f", "/dev/null", ...words], { encoding: "utf8" });
  const columns = shot.columns ?? 100;
  const program = `cd '${work}'; export PATH='${work}':$PATH TTMEM_HOME='${work}/home' LC_ALL=C.UTF-8 TERM=screen-256color COLORFGBG='${dark ? "15;0" : "0;15"}'; clear; ${shot.command}; sleep 1000`;
  tmux("new-session", "-d", "-s", "shot", "-x", `${columns}`, "-y", `${shot.rows}`, program);
  try {
    for (const [text, key] of shot.keys) {
      for (let tries = 0; !tmux("capture-pane", "-p", "-t", "shot").includes(text); tries++) {
        if (tries > 300) throw new Error(`${shot.name}: "${text}" never came on the screen:\n${tmux("capture-pane", "-p", "-t", "shot")}`);
        await new Promise((done) => setTimeout(done, 100));
      }
      if (key) tmux("send-keys", "-t", "shot", key);
    }
    return tmux("capture-pane", "-e", "-p", "-t", "shot").replace(/\n+$/, "\n");
  } finally {
    tmux("kill-session", "-t", "shot");
  }
}

/* ---- The browser ----------------------------------------------------------------------------------------------------------- */

async function shootPage(browser, shot, scheme, file) {
  const context = await browser.newContext({ viewport: { width: shot.width ?? 1280, height: shot.height ?? 1100 }, colorScheme: scheme, offline: true });
  const page = await context.newPage();
  await page.goto(pathToFileURL(file).href);
  await page.waitForFunction(() => document.documentElement.dataset.ready === "true");
  const target = shot.element ? page.locator(shot.element).first() : page;
  if (shot.element) await target.scrollIntoViewIfNeeded(); // pictures are drawn when they come into view
  await page.waitForTimeout(800);
  await target.screenshot({ path: join(images, `${shot.name}-${scheme}.png`) });
  await context.close();
}

async function shootTerminal(browser, shot, scheme) {
  const context = await browser.newContext({ viewport: { width: 1400, height: 1000 }, offline: true });
  const page = await context.newPage();
  await page.setContent(screenToHtml(await onScreen(shot, scheme === "dark"), scheme === "dark"));
  await page.locator("pre").screenshot({ path: join(images, `${shot.name}-${scheme}.png`) });
  await context.close();
}

/* ---- Other programs --------------------------------------------------------------------------------------------------------- */

// What `ttmem export` writes, in the client it is for.
const CLIENTS = [
  { name: "export-perfetto", client: "perfetto", format: "--perfetto", file: "demo.perfetto-trace", size: "1280x620" },
  { name: "export-chrome", client: "perfetto", format: "--chrome", file: "demo.trace.json", size: "1280x620" },
  { name: "export-speedscope", client: "speedscope", format: "--pprof", file: "demo.pb.gz", size: "1280x330" },
];

function shootClient(shot) {
  const times = shot.client === "perfetto" ? ["--times", "operations"] : [];
  execFileSync(ttmem, ["export", shot.format, "llama_small.log.zst", ...times, "-o", shot.file, "--quiet"], { cwd: work });
  execFileSync("node", [join(source, "scripts/clients.mjs"), shot.client, join(work, shot.file), "--size", shot.size, "--shot", join(images, `${shot.name}.png`)]);
}

mkdirSync(images, { recursive: true });
execFileSync("ln", ["-s", ttmem, join(work, "ttmem")]);
const reports = { demo: join(work, "llama_small.html"), clash: join(work, "clash.html") };
execFileSync("ln", ["-s", join(demo, "llama_small.log.zst"), work]);
execFileSync("ln", ["-s", join(source, "tests/data/recording_clash.json"), work]);
execFileSync(ttmem, ["html", "llama_small.log.zst", "-o", reports.demo, "--quiet"], { cwd: work });
execFileSync(ttmem, ["html", "recording_clash.json", "-o", reports.clash, "--quiet"], { cwd: work });
execFileSync(ttmem, ["analyze", "llama_small.log.zst", "--quiet"], { cwd: work, env: { ...process.env, TTMEM_HOME: join(work, "home") } });
const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => existsSync(path));
const browser = await chromium.launch({ executablePath, args: ["--headless", "--no-sandbox", "--disable-gpu"] });
try {
  for (const shot of PAGES) for (const scheme of shot.schemes ?? ["light", "dark"]) await shootPage(browser, shot, scheme, reports[shot.report ?? "demo"]);
  for (const shot of TERMINALS) for (const scheme of shot.schemes ?? ["light", "dark"]) await shootTerminal(browser, shot, scheme);
  if (existsSync(join(source, "build/clients"))) CLIENTS.forEach(shootClient);
  else console.log("screenshots: the pictures of other programs stay as they are: scripts/test-clients --bring brings the programs");
} finally {
  await browser.close();
  try {
    execFileSync("tmux", ["-S", join(work, "tmux"), "kill-server"], { stdio: "ignore" });
  } catch {
    // it ended with its last session
  }
  rmSync(work, { recursive: true, force: true });
}
