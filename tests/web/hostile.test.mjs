// SPDX-License-Identifier: Apache-2.0
// Whatever a log holds is text: a page made of hostile names shows them and runs none of them.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { report, withPage, work } from "./lib.mjs";

const attack = '<img src=x onerror="window.pwned=1"></script><script>window.pwned=1</script>';
const odd = "a\u2028b\u2029c\u0007d\u001b[31me\u202ef\u200bf\u2060f 'g' `h` ${i} &lt; ]]> <!-- j";
const long = "L".repeat(1 << 20);

const block = (name, allocated) =>
  `RuntimeTTNN | DEBUG | Device memory state before operation ${name}:\n` +
  ["DRAM", "L1", "L1_SMALL", "TRACE"].map((m) => `RuntimeTTNN | DEBUG | Device ${m} memory state: MemoryView{numBanks: 12, totalBytesPerBank: 1021.169 MB, totalBytesAllocatedPerBank: ${m === "DRAM" ? allocated : "0.000"} MB, totalBytesFreePerBank: ${(1021.169 - (m === "DRAM" ? Number(allocated) : 0)).toFixed(3)} MB, largestContiguousBytesFreePerBank: 900.000 MB, blockTable: none}\n`).join("");

const quote = (text) => text.replaceAll("\\", "\\\\").replaceAll('"', "\\22").replaceAll("\n", "\\0A");
const type = "tensor<32x32xbf16, #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, #ttnn.buffer_type<dram>>, <interleaved>>>";
const operation = (n, name, location, attribute) => `RuntimeTTNN | DEBUG | Executing operation: %${n} = "${name}"(%arg0) <{note = "${quote(attribute)}"}> : (${type}) -> ${type} loc("${quote(location)}")\n`;

function hostileLog() {
  const texts = [attack, odd, long, `"'><svg/onload=window.pwned=1>`, "javascript:window.pwned=1", "</title><script>window.pwned=1</script>", "__proto__", "constructor"];
  let log = `RuntimeTTNN | DEBUG | Starting execution of program: ${attack}\n`;
  texts.forEach((text, i) => {
    log += operation(i, "ttnn.add", text, text) + block("EltwiseBinaryOp", (i + 1).toFixed(3));
  });
  log += operation(98, "ttnn.softmax", "last", "x") + block("SoftmaxOp", "90.000");
  log += `TT_FATAL: Out of Memory: Not enough space to allocate 117440512 B DRAM buffer across 12 banks, where each bank needs to store 9787392 B, but bank size is 1072603072 B (allocated: 1016522752 B, free: 56080320 B, largest free block: 8388608 B) ${attack}\n`;
  return { log, texts };
}

test("hostile texts are shown, not run", async () => {
  const { log, texts } = hostileLog();
  const path = join(work, `evil <b onclick=x> & "q" '.log`);
  writeFileSync(path, log);
  const r = report(path);
  assert.equal(r.operations.length, texts.length + 1);
  const page = readFileSync(r.page, "utf8");
  // The markup is ours alone: nothing of the log stands in it unpacked.
  assert.ok(!page.includes("pwned"));
  assert.equal(page.match(/<script>/g).length, 1);
  assert.ok(!page.includes("onerror"));
  await withPage(r.page, {}, async (tab) => {
    for (let i = 0; i < texts.length; i++) {
      await tab.evaluate((op) => (location.hash = `op=${op}`), i);
      await tab.waitForFunction((text) => document.querySelector(".details h2")?.textContent?.startsWith(text), `#${i} `);
    }
    assert.equal(await tab.evaluate(() => window.pwned), undefined);
    assert.equal(await tab.locator("#app img, #app svg, #app script, #app iframe").count(), 0);
    await tab.evaluate(() => (location.hash = "op=0"));
    await tab.waitForFunction(() => document.querySelector(".details h2")?.textContent?.startsWith("#0 "));
    assert.ok((await tab.locator(".details").innerText()).includes("<img src=x onerror="));
    await tab.locator("#operations input[type=search]").fill("<img");
    await tab.waitForFunction(() => /^1 of/.test(document.querySelector("#operations [role=status]").textContent));
    // A megabyte of one text is shortened until asked for.
    await tab.evaluate(() => (location.hash = "op=2"));
    await tab.waitForFunction(() => document.querySelector(".details h2")?.textContent?.startsWith("#2 "));
    assert.ok((await tab.locator(".details").innerText()).length < 20000);
    await tab.locator(".details button", { hasText: "show all" }).first().click();
    assert.ok((await tab.locator(".details").innerText()).length > 1 << 20);
    // Control characters and direction marks do not reach the reader.
    await tab.evaluate(() => (location.hash = "op=1"));
    await tab.waitForFunction(() => document.querySelector(".details h2")?.textContent?.startsWith("#1 "));
    assert.ok(!/[\u0007\u001b\u200b\u2028\u202e\u2060]/.test(await tab.locator("body").innerText()));
    assert.equal(await tab.evaluate(() => window.pwned), undefined);
  });
});

test("the policy allows only what is inside", async () => {
  const { log } = hostileLog();
  const path = join(work, "policy.log");
  writeFileSync(path, log);
  const page = readFileSync(report(path).page, "utf8");
  const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page)[1];
  assert.match(policy, /^default-src 'none';/);
  assert.ok(!policy.includes("unsafe"));
  // Outside the notices of its licences the page names no address at all; that of SVG is the name of a language.
  const code = page.replace(/\/\*[^]*?\*\//g, "").replaceAll('"http://www.w3.org/2000/svg"', "");
  assert.deepEqual(code.match(/(https?:)?\/\/[a-z0-9.-]+\.[a-z]{2,}/gi) ?? [], []);
});

test("a page of 150,000 different operation names opens", async () => {
  const path = join(work, "names.log");
  const lines = [];
  for (let i = 0; i < 150000; i++) lines.push(`RuntimeTTNN | DEBUG | Executing operation: %${i} = "ttnn.name_${i}"(%arg0) : (${type}) -> ${type} loc("here")\n`);
  writeFileSync(path, lines.join("") + operation(150000, "ttnn.softmax", "last", "x") + block("SoftmaxOp", "90.000"));
  const r = report(path);
  await withPage(r.page, {}, async (tab) => {
    await tab.waitForFunction(() => document.querySelectorAll("#distribution tbody tr").length === 15, undefined, { timeout: 60000 });
    await tab.locator("#operations input[type=search]").fill("name_149999");
    await tab.waitForFunction(() => /^1 of/.test(document.querySelector("#operations [role=status]").textContent), undefined, { timeout: 60000 });
  });
});
