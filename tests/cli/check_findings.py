# SPDX-License-Identifier: Apache-2.0
"""Checks a report's JSON files against counts, a truth file of the samples, or a table of incidents.
usage: check_findings.py REPORT/PREFIX "key=value ..." [TRUTH.json]
       check_findings.py --incidents REPORT/PREFIX TABLE"""
import json
import sys


def load(prefix, part):
    with open(f"{prefix}_{part}.json", encoding="utf-8") as file:
        return json.load(file)


def expect(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: {got!r} instead of {wanted!r}")


def check_counts(findings, pairs):
    counts = dict(findings["input"], operations=findings["operations"]["total"],
                  incidents=len(findings["incidents"]), runs=len(findings["runs"]))
    for pair in pairs.split():
        key, wanted = pair.split("=")
        expect(key, str(counts[key]), wanted)


def check_oom(incidents, oom):
    expect("incidents", len(incidents), 1)
    incident = incidents[0]
    for key, wanted in (("needed_per_bank_B", "per_bank"), ("free_per_bank_B", "free"),
                        ("largest_free_block_B", "largest"), ("bank_size_B", "bank")):
        expect(key, incident[key], oom[wanted])
    operation = incident["operation"]
    expect("operation in flight", f'{operation["mlir_op"].split(".")[-1]} "{operation["loc"]}"', oom["op"])
    # 56 MB are free, no hole is 9.8 MB: fragmented, and what is missing is the hole.
    expect("verdict", incident["verdict"], "fragmented")
    expect("shortfall", incident["shortfall_per_bank_B"], oom["per_bank"] - oom["largest"])


def check_truth(prefix, findings, truth):
    memory, registry = load(prefix, "memory"), load(prefix, "inputs_registry")
    source = findings["input"]
    expect("op_lines", source["op_lines"], truth["op_lines"])
    expect("deallocations", source["deallocations"], truth["dealloc"])
    expect("blocks", source["blocks"], truth["blocks"])
    expect("elements", len(memory["operations"]), truth["reported"])
    expect("weights", registry["metadata"]["total_weights"], truth["n_weights"])
    expect("weight bytes", registry["metadata"]["total_weight_bytes"], truth["weights_bytes"])
    const_eval = [op for op in memory["operations"] if op["const_eval_graph"]]
    expect("const-eval elements", len(const_eval), truth["const_eval_ops"])
    for name, wanted in truth["peak_any"].items():
        peak = findings["peak"][name]
        expect(f"{name} peak", peak["allocated_per_bank_MB"], wanted["v"])
        cause = peak["caused_by"]
        text = cause and f'{cause["mlir_op"].split(".")[-1]} "{cause["loc"]}"'
        expect(f"{name} culprit", text, wanted["caused_by"])
    for name, wanted in truth["peak_before"].items():  # the old rule: highest state before an element
        states = [op["memory"][name]["totalBytesAllocatedPerBank_MB"] for op in memory["operations"]]
        expect(f"{name} highest state before an element", max(states), wanted["v"])
        expect(f"{name} its index", states.index(max(states)), wanted["index"])
    expect("leaks", findings["leaks"], truth["leaks"])
    if truth["oom"]:
        check_oom(findings["incidents"], truth["oom"])
    else:
        expect("incidents", findings["incidents"], [])


def check_incidents(findings, table):
    keys = ("line", "kind", "memory", "verdict", "needed_per_bank_B", "free_per_bank_B", "largest_free_block_B",
            "bank_size_B", "shortfall_per_bank_B")
    with open(table, encoding="utf-8") as file:
        wanted = [line.split() for line in file if not line.startswith("#")]
    got = [["-" if i[key] is None else str(i[key]) for key in keys] for i in findings["incidents"]]
    expect("incidents", got, wanted)


def main():
    if sys.argv[1] == "--incidents":
        check_incidents(load(sys.argv[2], "findings"), sys.argv[3])
        return
    findings = load(sys.argv[1], "findings")
    check_counts(findings, sys.argv[2])
    if len(sys.argv) > 3:
        with open(sys.argv[3], encoding="utf-8") as file:
            check_truth(sys.argv[1], findings, json.load(file))


main()
