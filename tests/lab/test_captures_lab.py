#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fresh captures of real ttnn on mock boards: our numbers equal ttnn's own extractors, in both run modes.
Runs where the lab is set up (shared/lab/setup), and says so when it skips."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SHARED = os.environ.get("TTMEM_SHARED", os.path.join(os.path.dirname(__file__), "..", "..", "..", "shared"))
LAB = os.environ.get("LAB_DIR", os.path.join(os.path.expanduser("~"), ".cache", "ttmem-lab"))
NAMES = {"CB": "peak_cb", "L1": "peak_l1", "DFB": "peak_dataflow_buffer", "Scratchpad": "peak_scratchpad", "Total": "peak_total"}


def check(path):
    truth = json.load(open(path))
    done = subprocess.run([os.environ["TTMEM"], "graph", "--json", str(path).replace("_truth", "")], check=True, capture_output=True)
    got = json.loads(done.stdout)["captures"][0]["tt_metal"]
    want = {name: int(n) for name, n in re.findall(r"(\w+):\s+(\d+) bytes", truth["resource_usage_per_core"])}
    assert {name: got["resource_usage_per_core"][ours] for name, ours in NAMES.items()} == want, (path.name, got, want)
    assert got["peak_L1_memory_usage"] == truth["peak_L1_memory_usage"], path.name


def main():
    python = os.path.join(LAB, "bin", "python")
    if not os.path.exists(python) or subprocess.run([python, "-c", "import ttnn"], capture_output=True).returncode:
        print(f"skipped: the lab is not set up ({LAB}); shared/lab/setup makes it")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        for board in ("n150", "p150"):
            made = subprocess.run([os.path.join(SHARED, "lab", "on-board"), board, os.path.join(SHARED, "lab", "captures.py"), board],
                                  capture_output=True, text=True, cwd=folder)
            if made.returncode:
                print(f"skipped: ttnn does not run here on a mock {board}: {made.stderr[-300:]}")
                return 77
        truths = sorted(pathlib.Path(folder).glob("*/*_truth.json"))
        assert len(truths) == 20, len(truths)
        for path in truths:
            check(path)
    print(f"{len(truths)} fresh captures as ttnn says")
    return 0


sys.exit(main())
