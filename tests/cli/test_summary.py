#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The one screen of `ttmem analyze` and the full text of `ttmem ask --findings` against findings.json, on logs with planted causes."""
import json
import os
import re
import subprocess
import sys
import tempfile

TTMEM, GEN_LOG = os.environ["TTMEM"], os.environ["GEN_LOG"]
SCREEN = 23  # rows: a terminal of 24 with the prompt below
SMALL = ["--seed", "7"]
LOGS = {
    "leak": ["--runs", "8", "--layers", "8", "--leak", "--upcast", "--odd-layer", "5"],
    "leaks": ["--runs", "8", "--layers", "4", "--leak", "--leak-more", "1"],
    "late": ["--runs", "3", "--layers", "8", "--late", "--seq", "2048", "--no-const-eval"],
    "fragmented": ["--runs", "3", "--layers", "12", "--fail", "fragmented", "--fail-run", "2", "--binaries"],
    "exhausted": ["--runs", "2", "--fail", "exhausted", "--fail-run", "1", "--fail-copies", "3"],
    "clash": ["--runs", "2", "--fail", "clash", "--fail-run", "1"],
    "clean": ["--runs", "5", "--layers", "4", "--ranks", "2"],
    "zoo": ["--runs", "3", "--zoo"],
    "blocks": ["--runs", "3", "--kind", "blocks"],
    "ops": ["--runs", "3", "--kind", "ops"],
}
# What must be found in them: else text and findings.json could agree on nothing at all.
PLANTED = {
    "leak": lambda f: len(f["leaks"]) == 1 and len(f["layers"]["odd"]) == 1 and "no_upcast" in kinds(f["advice"]),
    "leaks": lambda f: len(f["leaks"][0]["culprits"]) == 2 and "stop_leak" in kinds(f["advice"]),
    "late": lambda f: len(f["late_frees"]["tensors"]) == 1 and "free_earlier" in kinds(f["advice"]),
    "fragmented": lambda f: f["incidents"][0]["verdict"] == "fragmented" and f["incidents"][0]["ways"] and f["fragmentation"]["worst"]["pct"] > 50
    and f["fragmentation"]["largest_request"]["states_that_would_refuse_it"],
    "exhausted": lambda f: f["incidents"][0]["verdict"] == "exhausted" and f["incidents"][0]["ways"] and f["peak"]["DRAM"]["in_operation_peak"],
    "clash": lambda f: kinds(f["incidents"]) == ["l1_clash"] and f["incidents"][0]["ways"],
    "clean": lambda f: not f["leaks"] and not f["incidents"] and not f["late_frees"]["tensors"] and f["layers"]["count"] == 4,
    "zoo": lambda f: not f["leaks"] and not f["incidents"] and f["live_at_peak"]["DRAM"]["rows"],
    "blocks": lambda f: f["input"]["kind"] == "blocks" and f["late_frees"] is None and f["fragmentation"],
    "ops": lambda f: f["input"]["kind"] == "ops" and f["late_frees"] is None and f["layers"]["count"] == 4,
}
HEADINGS = ["What went wrong", "What raised the peak", "What is live then", "Late frees", "Runs", "Leaks", "Layers", "Fragmentation of DRAM",
            "Waste at the DRAM peak", "Advice"]
failures = []


def kinds(rows):
    return [row["kind"] for row in rows]


def check(ok, name, what, text):
    if not ok:
        failures.append(name)
        print("FAIL: %s: %s in\n%s" % (name, what, text), file=sys.stderr)


def run(*args):
    return subprocess.run([TTMEM, *args], check=True, capture_output=True, text=True).stdout


def section(text, title):
    """The lines below a heading, joined."""
    return " ".join(re.search(r"^%s(?:  \w+)?\n((?:  .*\n?)*)" % re.escape(title), text, re.M).group(1).split())


def has(name, text, *wanted):
    for one in wanted:
        check(one in text, name, "missing %r" % one, text)


def check_summary(name, text, f):
    lines = text.splitlines()
    check(len(lines) <= SCREEN, name, "%d lines" % len(lines), text)
    too_wide = [line for line in lines if len(line) > 80 and line.split()[0] not in ("Report", "Next", "ttmem", "Log")]
    check(not too_wide, name, "too wide: %r" % too_wide, text)
    flat = " ".join(text.split())
    if f["leaks"]:
        leak = f["leaks"][0]
        has(name, flat, "Leak %.3f MB/bank each run, %d runs seen; full after %s more" % (leak["per_run_MB"], leak["runs_seen"], format(leak["runs_until_full"], ",")))
        has(name, flat, "#%d %s" % (leak["index"], leak["mlir_op"]))
    check(("Leak " in flat) == bool(f["leaks"]), name, "leak or none", text)
    for incident in f["incidents"][:1]:
        has(name, flat, "log line %d" % incident["line"])
        if len(f["incidents"]) == 1 and incident["ways"]:
            has(name, flat, "Way out: " + incident["ways"][0]["text"])
    if f["advice"]:
        has(name, flat, f["advice"][0]["text"].replace("  ", " "))
    x = f["fragmentation"]
    if x and x["largest_request"]["states_that_would_refuse_it"]:
        has(name, flat, "%d states refuse %.2f MB" % (x["largest_request"]["states_that_would_refuse_it"], x["largest_request"]["per_bank_MB"]))
    else:
        check("Pieces" not in flat, name, "fragmentation that harms nobody", text)
    has(name, flat, "Next ttmem ask ")


def check_full(name, text, f):
    headings = [line.split("  ")[0] for line in text.splitlines() if line and not line.startswith(" ")]
    check(headings == HEADINGS, name, "headings %r" % headings, text)
    too_wide = [line for line in text.splitlines() if len(line) > 80]
    check(not too_wide, name, "too wide: %r" % too_wide, text)
    late = section(text, "Late frees")
    live = f["live_at_peak"].get("DRAM")
    if live and live["kv_cache_by_name_MB"]:
        has(name, section(text, "What is live then"), "%.3f MB/bank are KV cache by the name of the argument alone (estimated)" % live["kv_cache_by_name_MB"])
    if live and live["padding_total_MB"]:
        has(name, section(text, "What is live then"), "padding takes %.2f MB" % live["padding_total_MB"], "rounding %.2f MB" % live["rounding_total_MB"])
    if f["input"]["kind"] != "full":
        for title in ("Late frees", "Waste at the DRAM peak", "What is live then", "Advice"):
            check(section(text, title).startswith("Unknown: "), name, title + " guessed", text)
        return
    check(("No tensor" in late) == (not f["late_frees"]["tensors"]), name, "late or none", text)
    for row in f["late_frees"]["tensors"][:5]:
        has(name, late, "%.3f" % row["per_bank_MB"], "#%d " % row["made_by"]["index"], "freed in log line %d" % row["freed_line"],
            "%d operations late" % row["operations_late"], "without that the peak is %.3f" % row["peak_if_freed_per_bank_MB"])
    runs = section(text, "Runs")
    for program in f["programs"][:8]:
        if program["peak_MB"] is not None:
            has(name, runs, "highest DRAM %.3f MB/bank, in run %d" % (program["peak_MB"], program["peak_run"]))
    leaks = section(text, "Leaks")
    for leak in f["leaks"]:
        has(name, leaks, "%.3f MB/bank behind, %d runs prove it, after %d more" % (leak["per_run_MB"], leak["runs_seen"], leak["runs_until_full"]), leak["loc"] or leak["mlir_op"],
            "Confidence " + leak["confidence"], *[one["loc"] for one in leak["culprits"]])
    layers = section(text, "Layers")
    if f["layers"]:
        has(name, layers, "%d layers of %d operations" % (f["layers"]["count"], f["layers"]["operations"]))
        for odd in f["layers"]["odd"]:
            has(name, layers, "layer %d differs: %d operations" % (odd["layer"], odd["operations"]), odd["differs"]["loc"] or odd["differs"]["mlir_op"])
    else:
        has(name, layers, "No block of operations repeats")
    pieces = section(text, "Fragmentation of DRAM")
    if f["fragmentation"] and f["fragmentation"]["worst"]["pct"] > 0:
        has(name, pieces, "log line %d" % f["fragmentation"]["worst"]["line"])
        request = f["fragmentation"]["largest_request"]
        for state in request["states"]:
            has(name, pieces, "refused at log line %d: %.3f MB/bank free, the largest block %.3f" % (state["line"], state["free_per_bank_MB"], state["largest_free_block_MB"]))
        more = request["states_that_would_refuse_it"] - len(request["states"])
        check(("and at %d more" % more in pieces) == (more > 0), name, "how many more", text)
        for pin in f["fragmentation"]["pinned_by"]["tensors"]:
            has(name, pieces, "address %d" % pin["address"], "%.3f" % pin["free_block_without_MB"])
    waste = section(text, "Waste at the DRAM peak")
    for row in f["waste_at_peak"]["top"][:5]:
        has(name, waste, "%.3f" % row["per_bank_MB"], row["name"] or row["made_by"]["mlir_op"])
    wrong = section(text, "What went wrong")
    for incident in f["incidents"][:5]:
        has(name, wrong, "log line %d" % incident["line"], *[way["text"] for way in incident["ways"]])
    peak = section(text, "What raised the peak")
    for memory in f["peak"].values():
        if memory and memory["in_operation_peak"]:
            has(name, peak, "%.3f MB/bank inside the failing operation" % memory["in_operation_peak"]["allocated_per_bank_MB"])
        if memory and memory["caused_by"]:
            has(name, peak, "raised %.3f by #%d" % (memory["caused_by"]["effect_MB"], memory["caused_by"]["index"]))
    has(name, peak, "= %+.3f MB/bank from the first state to the last" % f["attribution"]["total_MB"])
    live = section(text, "What is live then")
    for row in f["live_at_peak"].get("DRAM", {}).get("rows", [])[:5]:
        has(name, live, "%.3f %s: " % (row["per_bank_MB"], row["class"]))
    advice = section(text, "Advice")
    has(name, advice, *[one["text"] for one in f["advice"]])


def main():
    with tempfile.TemporaryDirectory(prefix="ttmem-summary-") as work:
        for name, options in LOGS.items():
            log = os.path.join(work, name + ".log")
            subprocess.run([GEN_LOG, *SMALL, *options, "--out", log], check=True)
            summary = run("analyze", log, "--name", "r", "--output-dir", os.path.join(work, name))
            with open(os.path.join(work, name, "r_findings.json"), encoding="utf-8") as file:
                f = json.load(file)
            check(PLANTED[name](f), name, "not what was planted", json.dumps(f, indent=1)[:20000])
            check_summary(name, summary, f)
            check_full(name, run("ask", log, "--findings"), f)
    return 1 if failures else 0


sys.exit(main())
