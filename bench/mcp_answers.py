#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same questions to `ttmem mcp` and to ttnn-visualizer's agent server: how much text an agent has to read for each answer. The table of docs/mcp.md.

usage: mcp_answers.py VISUALIZER_MCP REPORT_FOLDER TTMEM_INPUT [--tokens FOLDER] [--show]
VISUALIZER_MCP is bin/ttnn-visualizer-mcp of a venv with ttnn-visualizer, REPORT_FOLDER holds its db.sqlite, TTMEM_INPUT a recording, capture or log of the same
program. --tokens: a folder whose node_modules has gpt-tokenizer; else only bytes are counted. TTMEM names the program."""
import argparse
import json
import os
import subprocess

COUNT = """import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { readFileSync } from "node:fs";
console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map((text) => encode(text).length)));"""


class Server:
    def __init__(self, *words):
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, "USAGE_RECORDING_DISABLED": "true"})
        self.count = 0
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}})

    def ask(self, method, params=None):
        self.count += 1
        request = {"jsonrpc": "2.0", "id": self.count, "method": method, "params": params or {}}
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())["result"]

    def call(self, tool, **arguments):
        return self.ask("tools/call", {"name": tool, "arguments": arguments})["content"][0]["text"]


def questions(visualizer, ttmem, folder, log):
    """(question, the visualizer's answer, ttmem's)"""
    loaded = visualizer.call("load_report", profiler_path=folder)
    handle = json.loads(loaded)["handle"]
    found = visualizer.call("find_operations", handle=handle, name_contains="matmul")
    operation = json.loads(found)["operations"][0]["operation_id"]
    detail = visualizer.call("operation_detail", handle=handle, operation_id=operation)
    tensor = json.loads(detail)["outputs"][0]["tensor_id"]
    rows = ttmem.call("find_operations", input=log, name="matmul")
    index = rows.splitlines()[2].split()[0]
    yield "the list of tools", json.dumps(visualizer.ask("tools/list")), json.dumps(ttmem.ask("tools/list"))
    yield "what is in it", loaded, ttmem.call("summary", input=log)
    yield "what fills DRAM at the peak", visualizer.call("memory_profile", handle=handle, buffer_type="DRAM"), ttmem.call("peak", input=log, memory="dram")
    yield "the matrix multiplications", found, rows
    yield "one of them", detail, ttmem.call("operation", input=log, index=index)
    yield "its line in the source", visualizer.call("operation_provenance", handle=handle, operation_id=operation), ttmem.call("operation", input=log, index=index)
    yield "its result: who made it, who uses it", visualizer.call("tensor_flow", handle=handle, tensor_id=tensor), ttmem.call("operation", input=log, index=index)
    yield "live tensors before it", "", ttmem.call("live_set", input=log, at=index)
    yield "every finding, and what to change", "", ttmem.call("findings", input=log)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("visualizer", "report", "input"):
        parser.add_argument(name)
    parser.add_argument("--tokens")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    ttmem = Server(os.environ.get("TTMEM", "ttmem"), "mcp", "--root", os.path.dirname(os.path.abspath(options.input)))
    rows = list(questions(Server(options.visualizer), ttmem, os.path.abspath(options.report), os.path.abspath(options.input)))
    texts = [text for row in rows for text in row[1:]]
    counts = [len(text.encode()) for text in texts]
    if options.tokens:
        done = subprocess.run(["node", "--input-type=module", "-e", COUNT], input=json.dumps(texts), capture_output=True, text=True, cwd=options.tokens, check=True)
        counts = json.loads(done.stdout)
    print(f"| question | ttnn-visualizer | ttmem |  ({'tokens' if options.tokens else 'bytes'})\n|---|---:|---:|")
    for i, (question, *_) in enumerate(rows):
        print(f"| {question} | {counts[2 * i] or '-'} | {counts[2 * i + 1]} |")
    if options.show:
        for question, theirs, ours in rows[1:]:
            print(f"\n===== {question}\n--- ttnn-visualizer\n{theirs}\n--- ttmem\n{ours}")


main()
