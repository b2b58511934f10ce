#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""For every real capture our numbers of tt-metal's extractors equal what real ttnn said of it (the truth files beside them), and the
true figures are those derived by hand below."""
import json
import os
import pathlib
import re
import subprocess
import sys

TTMEM = os.environ["TTMEM"]
METAL = pathlib.Path(os.environ["TTMEM_SHARED"]) / "samples" / "metal"
if not METAL.is_dir():
    print("skipped: the real captures are not here")
    sys.exit(77)


def graph(path):
    return json.loads(subprocess.run([TTMEM, "graph", "--json", str(path)], check=True, capture_output=True).stdout)["captures"][0]


def usage(text):
    """The text of ttnn's PeakMemoryUsagePerCore as a dict."""
    return {name: int(n) for name, n in re.findall(r"(\w+):\s+(\d+) bytes", text)}


truths = sorted(METAL.glob("*/*_truth.json"))
assert truths, "no truth files"
for path in truths:
    truth = json.load(open(path))
    got = graph(str(path).replace("_truth", ""))
    ours = got["tt_metal"]["resource_usage_per_core"]
    want = usage(truth["resource_usage_per_core"])
    names = {"CB": "peak_cb", "L1": "peak_l1", "DFB": "peak_dataflow_buffer", "Scratchpad": "peak_scratchpad", "Total": "peak_total"}
    assert set(want) == set(names), want
    for theirs, mine in names.items():
        assert ours[mine] == want[theirs], (path.name, mine, ours[mine], want[theirs])
    assert got["tt_metal"]["peak_L1_memory_usage"] == truth["peak_L1_memory_usage"], path.name
    assert ours["throws"] is None
    # What the device itself said at the end: L1 and DRAM that the capture's tensors still took (NORMAL only).
    assert got["board"]["l1_banks"] == truth["after"]["L1"]["num_banks"]
    assert got["board"]["dram_banks"] == truth["after"]["DRAM"]["num_banks"]
    if got["run_mode"] == "NORMAL":
        assert got["true"]["peak_tensors"] >= truth["after"]["L1"]["total_bytes_allocated_per_bank"]
        assert got["true"]["peak_dram_per_bank"] >= truth["after"]["DRAM"]["total_bytes_allocated_per_bank"]

# Derived by hand, on an n150 (64 L1 banks, base 105,824, L1_SMALL of 16,384 at 1,482,752).
# l1_chain_normal: four tensors of 512 bf16 tiles take ceil(512 / 64) * 2,048 = 16,384 B per core each, three circular buffers of multiply 4,096 B each. The
# lowest tensor is at 1,482,752 - 65,536 = 1,417,216, the buffers end at 105,824 + 12,288 = 118,112.
# mlp_no_dispatch: dataflow buffers of 65,536 + 139,264 + 8,192 B end at 318,816, L1_SMALL begins at 1,482,752. DRAM over 12 banks at the first silu: 22 pages of
# 2,048 (x), twice 342 pages of 1,088 (weights), twice 86 pages of 2,048 (results).
HAND = {
    "ttnn-0.81.1/l1_chain_normal.json": {"fullest": 77824, "tensors": 65536, "program": 12288, "gap": 1299104, "dram": 0},
    "ttnn-0.81.1/mlp_no_dispatch.json": {"fullest": 212992, "tensors": 0, "program": 212992, "gap": 1163936, "dram": 1141504},
    "graph_capture_concat_2024_strings.json": {"fullest": 790528, "tensors": 786432, "program": 32768, "gap": 543648, "dram": 1376},
}
for name, want in HAND.items():
    got = graph(METAL / name)["true"]
    have = {"fullest": got["fullest_core"]["total"], "tensors": got["peak_tensors"], "program": got["peak_program"],
            "gap": got["nearest_to_clash"]["gap"], "dram": got["peak_dram_per_bank"]}
    assert have == want, (name, have)

# Pitfalls are named where they are, and only there.
pitfalls = {p.name: {x["name"] for x in graph(p)["pitfalls"]} for p in METAL.glob("*/*_*dispatch.json")}
pitfalls.update({p.name: {x["name"] for x in graph(p)["pitfalls"]} for p in METAL.glob("*/*_normal.json")})
assert all("dataflow_not_recorded" in found for name, found in pitfalls.items() if name.endswith("_normal.json")), pitfalls
assert not any("dataflow_not_recorded" in found for name, found in pitfalls.items() if "no_dispatch" in name)

# What real ttnn 0.81.1 says of the captures from 2024: it refuses the one, gives a number for the other.
for name, number in {"graph_capture_concat_2024_strings.json": 33587200, "graph_capture_doc_add_repeat.json": 96256}.items():
    got = graph(METAL / name)["tt_metal"]
    assert got["peak_L1_memory_usage"] == number
    assert "max_size_per_bank" in got["resource_usage_per_core"]["throws"]
print(f"{len(truths)} captures as ttnn says, {len(HAND)} checked by hand")
