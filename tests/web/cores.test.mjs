// SPDX-License-Identifier: Apache-2.0
// L1 core by core: colours of known cores, blocks of one core to scale, the clash on its cores, keys, and what is read out. capture_small.json is
// worked out by hand; recording_clash.json was recorded by `ttmem run --board n150`: shards on [0-0 - 3-1], a large L1 tensor made
// in clash.py:8, and the softmax of clash.py:9 that meets it on [0-0 - 7-1].
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { report, SOURCE, withPage } from "./lib.mjs";

const small = report(join(SOURCE, "tests", "data", "capture_small.json"));
const clash = report(join(SOURCE, "tests", "data", "recording_clash.json"));
const SIZE = 1499136, BASE = 105824;

const cell = (page, core) => page.locator(`#cores [data-core="${core}"]`);

// Colours that the screen really shows: of a core, a little inside its upper left corner, where no number stands.
async function pixels(page, locator, points) {
  await locator.scrollIntoViewIfNeeded();
  await page.evaluate(() => window.scrollBy(0, -80)); // below the navigation
  const png = (await locator.screenshot()).toString("base64");
  return page.evaluate(async ([data, at]) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.width, image.height];
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(image, 0, 0);
    return at.map(([x, y]) => [...context.getImageData(Math.round(x * image.width), Math.round(y * image.height), 1, 1).data.slice(0, 3)]);
  }, [png, points]);
}

const colorOf = async (page, core) => (await pixels(page, cell(page, core), [[0.2, 0.25]]))[0];

const near = (a, b, what) => assert.ok(a.every((v, i) => Math.abs(v - b[i]) <= 3), `${what}: ${a} is not ${b}`);

// A tenth of the full colour for what is little, all of it for the fullest core of the capture.
const shade = (share, empty, full) => empty.map((v, i) => v + (full[i] - v) * (0.1 + 0.9 * share));

for (const [colorScheme, empty, full] of [["light", [255, 255, 255], [0, 114, 178]], ["dark", [22, 29, 37], [86, 180, 233]]]) {
  test(`the colour of a core is its share of the fullest, ${colorScheme}`, async () => {
    await withPage(small.page, { colorScheme, hash: "#step=0" }, async (page) => {
      const most = 6144 + 4096 + 16384;
      for (const [core, used] of [["4-4", most], ["7-7", most], ["0-0", 6144 + 4096 + 8192], ["4-3", 6144 + 4096]]) near(await colorOf(page, core), shade(used / most, empty, full), core);
      await page.locator('#cores [data-metric="buffers"]').click();
      near(await colorOf(page, "4-3"), shade(4096 / 20480, empty, full), "buffers of 4-3");
      near(await colorOf(page, "4-4"), full, "buffers of 4-4");
    });
  });
}

test("one core to scale: buffers from the base, tensors from the top, the gap between", async () => {
  await withPage(small.page, { hash: "#step=0&core=4-4" }, async (page) => {
    const track = await page.locator("#cores .core-track").boundingBox();
    const block = async (at) => {
      const box = await page.locator(`#cores .core-block[data-at="${at}"]:not(.core-overlap)`).first().boundingBox();
      return { at: ((track.y + track.height - 1 - box.y - box.height) / (track.height - 2)) * SIZE, bytes: (box.height / (track.height - 2)) * SIZE };
    };
    const pixel = SIZE / 438;
    for (const [at, bytes] of [[0, BASE], [109920, 16384], [126304, 1492992 - 126304]]) {
      const drawn = await block(at);
      assert.ok(Math.abs(drawn.at - at) <= pixel && Math.abs(drawn.bytes - bytes) <= pixel, `${at} + ${bytes} is drawn as ${drawn.at} + ${drawn.bytes}`);
    }
    const rows = await page.locator("#cores tbody tr").evaluateAll((all) => all.map((row) => [...row.cells].map((c) => c.innerText)));
    assert.deepEqual(rows.filter((row) => row[0] === "circular buffer").map((row) => row.slice(1)), [["16.0 KB", "109,920 – 126,304", "[4-4 - 7-7]"], ["4.0 KB", "105,824 – 109,920", "[0-0 - 7-7]"]]);
    assert.deepEqual(rows.find((row) => row[0] === "free").slice(1, 3), ["1.30 MB", "126,304 – 1,492,992"]);
    assert.ok(rows.some((row) => row[0].includes("#0 ttnn.add") && row[1] === "4.0 KB" && row[3] === "interleaved over all banks"));
    assert.ok(rows.some((row) => row[0] === "circular buffer in a tensor" && row[2] === "1,492,992 – 1,495,040"));
  });
});

test("the clash is on the cores of its message, with the line of the tensor in the way", async () => {
  await withPage(clash.page, {}, async (page) => {
    const incident = clash.findings.incidents[0];
    assert.deepEqual([incident.core_range, incident.l1_buffer_at, incident.static_buffers_end], ["[0-0 - 7-1]", 155648, 202080]);
    // The page opens with it.
    const crossed = await page.locator("#cores .core-cell.core-clash").evaluateAll((all) => all.map((e) => e.dataset.core));
    assert.deepEqual(crossed, [0, 1].flatMap((y) => Array.from({ length: 8 }, (_, x) => `${x}-${y}`)));
    const failure = await page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--failure").trim());
    const wanted = [1, 3, 5].map((i) => parseInt(failure.slice(i, i + 2), 16));
    const seen = await pixels(page, cell(page, "3-1"), Array.from({ length: 40 }, (_, i) => [0.05 + i * 0.005, 0.2]));
    assert.ok(seen.some((color) => color.every((v, i) => Math.abs(v - wanted[i]) <= 12)), "no red in the core");
    const way = page.locator("#cores tbody tr", { hasText: "in the way" });
    assert.equal(await way.count(), 1);
    assert.match(await way.innerText(), /ttnn\.empty.*in the way\s+clash\.py:8/s);
    assert.match(await page.locator("#cores .cores-caption").innerText(), /ttnn\.softmax clash\.py:9/);
    const overlap = page.locator("#cores .core-block.core-overlap");
    assert.deepEqual(await overlap.evaluate((e) => [e.dataset.at, e.dataset.bytes].map(Number)), [155648, 202080 - 155648]);
    const [track, box] = [await page.locator("#cores .core-track").boundingBox(), await overlap.boundingBox()];
    assert.ok(Math.abs(box.height - ((202080 - 155648) / SIZE) * (track.height - 2)) < 1);
    // From the failure to it, wherever the slider was left.
    await page.locator("#cores input[type=range]").fill("0");
    assert.equal(await page.locator("#cores .core-clash.core-cell").count(), 0);
    await page.getByRole("button", { name: "Show it core by core" }).click();
    assert.equal(await page.locator("#cores .core-cell.core-clash").count(), 16);
  });
});

test("where a tensor has its data: shards on their cores, interleaved everywhere", async () => {
  await withPage(clash.page, { hash: "#step=1" }, async (page) => {
    const row = page.locator("#cores tbody tr", { hasText: "clash.py:6" });
    assert.match(await row.innerText(), /data on \[0-0 - 3-1\]/);
    await page.locator('#cores [data-metric="tensors"]').click();
    near(await colorOf(page, "7-7"), [255, 255, 255], "no shard here");
    assert.notDeepEqual(await colorOf(page, "3-1"), [255, 255, 255]);
    assert.match(await cell(page, "7-7").getAttribute("aria-label"), /tensors 32\.0 KB, tensor data on this core 0 B/);
  });
});

test("keys: arrows move the core, the slider and Page keys the program; the address keeps both", async () => {
  await withPage(clash.page, { hash: "#step=1&core=2-3" }, async (page) => {
    const selected = () => page.locator('#cores [role=gridcell][aria-selected="true"]').evaluateAll((all) => all.map((e) => e.dataset.core));
    const address = (text) => page.waitForFunction((wanted) => location.hash.includes(wanted), text);
    assert.deepEqual(await selected(), ["2-3"]);
    await cell(page, "2-3").focus();
    for (const key of ["ArrowRight", "ArrowDown", "ArrowDown", "ArrowLeft"]) await page.keyboard.press(key);
    assert.deepEqual(await selected(), ["2-5"]);
    assert.equal(await page.evaluate(() => document.activeElement.dataset.core), "2-5");
    await address("core=2-5");
    assert.equal(await page.locator(".details:visible").count(), 0); // the arrows did not select operations
    await page.keyboard.press("PageDown");
    await address("step=2");
    assert.deepEqual(await selected(), ["2-5"]);
    await page.locator("#cores input[type=range]").focus();
    await page.keyboard.press("ArrowRight");
    assert.equal(await page.locator("#cores input[type=range]").inputValue(), "3");
    assert.match(await page.locator("#cores input[type=range]").getAttribute("aria-valuetext"), /4 of 4.*ttnn\.softmax/);
    await page.keyboard.press("ArrowRight"); // the last one
    assert.equal(await page.locator("#cores input[type=range]").inputValue(), "3");
  });
});

test("an operation selected elsewhere is shown", async () => {
  await withPage(clash.page, {}, async (page) => {
    const made = clash.operations.find((op) => op.loc === "clash.py:8");
    await page.evaluate((op) => (location.hash = `#op=${op}`), made.index);
    await page.waitForFunction(() => document.querySelector("#cores .cores-caption").innerText.includes("clash.py:8"));
  });
});

test("what is read out has the numbers; a telephone needs no sideways scrolling", async () => {
  await withPage(small.page, { width: 390, hash: "#step=0&core=4-4" }, async (page) => {
    assert.equal(await page.locator("#cores [role=grid]").getAttribute("aria-label"), "64 cores, L1 in use");
    assert.equal(await cell(page, "4-4").getAttribute("aria-label"), "Core 4-4: 26.0 KB of 1.33 MB, program buffers 20.0 KB, tensors 6.0 KB");
    assert.match(await page.locator("#cores .core-track").getAttribute("aria-label"), /^Core 4-4: .*circular buffer 16\.0 KB at 109,920; .*free 1\.30 MB at 126,304$/);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
    const box = await cell(page, "7-7").boundingBox();
    assert.ok(box.x + box.width <= 390 && box.width > 20, "the grid is cut off");
  });
});

test("a log has no cores, and its page no such part", async () => {
  const log = report(join(SOURCE, "demo", "llama_small.log.zst"));
  assert.ok(!readFileSync(log.page, "utf8").includes('id="data.cores.'));
  await withPage(log.page, {}, async (page) => assert.equal(await page.locator("#cores").count(), 0));
});
