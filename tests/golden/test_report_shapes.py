#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What holds for the JSON files of any log: valid, aligned, one element per line, nothing stored twice, the same bytes
again with another number of threads. Logs of every kind come from bench/gen_log."""
import json
import os
import subprocess
import sys
import tempfile

SUFFIXES = ("memory", "operations", "inputs_registry", "ir", "findings")
LOGS = {
    "full": ["--runs", "2"],
    "blocks": ["--kind", "blocks", "--runs", "2"],
    "ops": ["--kind", "ops", "--runs", "2"],
    "submit": ["--kind", "submit", "--program-level", "--runs", "3"],
    "graphs": ["--graphs", "3", "--runs", "4"],
    "ranks": ["--ranks", "3", "--runs", "2"],
    "dirty": ["--zoo", "--noise", "200", "--bad-bytes", "--tqdm", "--crlf", "--runs", "2"],
    "leak": ["--leak", "--runs", "6"],
    "dead": ["--fail", "fragmented", "--runs", "2"],
    "cut": ["--truncate", "l1", "--runs", "2"],
    # Long enough that the analyses run on several threads, and with something for each of them to find.
    "long": ["--operations", "8000", "--leak", "--late", "--upcast", "--waste"],
}


def analyze(log, folder, threads):
    options = ["--output-dir", folder, "--name", "x", "--quiet", "--threads", threads]
    subprocess.run([os.environ["TTMEM"], "analyze", log, *options], check=True)
    return {s: open(os.path.join(folder, f"x_{s}.json"), "rb").read() for s in SUFFIXES}


def check_elements(kind, memory, operations):
    states = memory["operations"]
    assert memory["metadata"]["total_operations"] == len(states) == len(operations)
    for i, (state, op) in enumerate(zip(states, operations)):
        for key in ("index", "mlir_op", "loc", "line", "const_eval_graph", "const_eval_cache_miss"):
            assert state[key] == op[key], (key, state, op)
        assert state["index"] == i and state["line"] > 0
        assert "deallocate" not in op["mlir_op"] and "get_device" not in op["mlir_op"]
        assert op["is_weight_op"] == bool(op["weights"] or op["const_eval_graph"])
        assert len(op["output_shapes"]) == len(op["output_dtypes"])
        if kind == "ops":
            assert state["memory"] is None and state["effect_MB"] is None and state["op_type"] is None
        if kind == "blocks":
            assert op["input_types"] is None and op["inputs"] == [] and op["output_layout_info"] is None
    if kind in ("full", "blocks"):
        assert all(s["effect_MB"] is None or set(s["effect_MB"]) <= set(s["memory"]) for s in states)
        assert any(s["effect_MB"] and s["effect_MB"]["DRAM"] > 0 for s in states)


def check_ir(ir, registry):
    texts = [ir["ttir"], ir["ttnn"]] + [s for g in ir["graphs"] for s in g["stages"].values()]
    for text in texts:
        lines = text["text"].count("\n") + 1
        assert all(1 <= line <= lines for line in text["loc_index"].values())
    places = [t["line"] for t in texts if "line" in t]
    assert len(places) == len(set(places)), "a dump is stored twice"
    assert len(ir["graphs"]) == len(registry["graphs"])
    assert all("ttir" not in g["stages"] for g in ir["graphs"][:1])
    assert all({"ttir", "ttnn"} <= set(g["stages"]) for g in ir["graphs"][1:])


def check_registry(registry, operations):
    entries, total = registry["entries"], registry["metadata"]
    once = [e for e in entries if not e["repeated"] and e["type"] in ("parameter", "constant")]
    assert total["total_weights"] == len(once) and total["total_weight_bytes"] == sum(e["bytes"] for e in once)
    for op in operations:
        for weight in op["weights"]:
            entry = entries[weight["registry_index"]]
            assert entry["type"] in ("parameter", "constant")
            assert {k: entry[k] for k in ("name", "shape", "dtype", "bytes")} == {k: v for k, v in weight.items()
                                                                                 if k != "registry_index"}


def check_findings(name, kind, files):
    findings, states = files["findings"], files["memory"]["operations"]
    assert findings["schema_version"] == 1 and findings["input"]["kind"] == kind
    assert sum(findings["operations"]["distribution"].values()) == findings["operations"]["total"] == len(states)
    blocks = [s["memory"]["DRAM"] for s in states if s["memory"] and "DRAM" in s["memory"]]
    if blocks:
        highest = max(b["totalBytesAllocatedPerBank_MB"] for b in blocks)
        assert findings["peak"]["DRAM"]["allocated_per_bank_MB"] >= highest
    for run in findings["runs"]:
        if run["first_index"] is not None:
            assert states[run["first_index"]]["run"] == states[run["last_index"]]["run"] == run["run"]
    if name == "dead":
        assert [i["verdict"] for i in findings["incidents"]] == ["fragmented"]
    if name == "cut":
        assert findings["input"]["truncated"]
    if name == "ranks":
        assert findings["input"]["ranks"] == 3 and {s["rank"] for s in states} == {0, 1, 2}


def check(name, folder):
    log = os.path.join(folder, name + ".log")
    subprocess.run([os.environ["GEN_LOG"], "--seed", "7", "--layers", "2", "--out", log, *LOGS[name]], check=True)
    raw = analyze(log, os.path.join(folder, name), "1")
    assert raw == analyze(log, os.path.join(folder, name + "-again"), "3"), "not the same bytes again"
    files = {s: json.loads(raw[s].decode("utf-8")) for s in SUFFIXES}
    for suffix in ("memory", "operations"):
        rows = [line for line in raw[suffix].split(b"\n") if line.startswith(b'{"index":')]
        assert len(rows) == len(files["operations"])
    kind = name if name in ("blocks", "ops", "submit") else "full"
    check_elements(kind, files["memory"], files["operations"])
    check_ir(files["ir"], files["inputs_registry"])
    check_registry(files["inputs_registry"], files["operations"])
    check_findings(name, kind, files)
    return len(files["operations"])


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name in LOGS:
            print(f"{name}: {check(name, folder)} operations")
    return 0


if __name__ == "__main__":
    sys.exit(main())
