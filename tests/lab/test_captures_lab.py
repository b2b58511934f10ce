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

import lab

NAMES = {"CB": "peak_cb", "L1": "peak_l1", "DFB": "peak_dataflow_buffer", "Scratchpad": "peak_scratchpad", "Total": "peak_total"}


def check(path):
    truth = json.loads(path.read_text())
    done = subprocess.run([os.environ["TTMEM"], "graph", "--json", str(path).replace("_truth", "")], check=True, capture_output=True)
    got = json.loads(done.stdout)["captures"][0]["tt_metal"]
    want = {name: int(n) for name, n in re.findall(r"(\w+):\s+(\d+) bytes", truth["resource_usage_per_core"])}
    assert {name: got["resource_usage_per_core"][ours] for name, ours in NAMES.items()} == want, (path.name, got, want)
    assert got["peak_L1_memory_usage"] == truth["peak_L1_memory_usage"], path.name


def main():
    lab.skip_unless_set_up()
    with tempfile.TemporaryDirectory() as folder:
        for board in ("n150", "p150"):
            lab.on_board(board, "captures.py", board, folder=folder)
        truths = sorted(pathlib.Path(folder).glob("*/*_truth.json"))
        assert len(truths) == 20, len(truths)
        for path in truths:
            check(path)
    print(f"{len(truths)} fresh captures as ttnn says")
    return 0


sys.exit(main())
