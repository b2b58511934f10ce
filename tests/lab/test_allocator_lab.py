#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fresh traces of real ttnn's allocator on mock boards, replayed by our own: every free block of every state.
Runs where the lab is set up (shared/lab/setup), and says so when it skips."""
import os
import subprocess
import sys
import tempfile

SHARED = os.environ.get("TTMEM_SHARED", os.path.join(os.path.dirname(__file__), "..", "..", "..", "shared"))
LAB = os.environ.get("LAB_DIR", os.path.join(os.path.expanduser("~"), ".cache", "ttmem-lab"))
REPLAY = os.path.join(os.path.dirname(os.environ["TTMEM"]), "..", "tests", "test_bank_trace")


def main():
    python = os.path.join(LAB, "bin", "python")
    if not os.path.exists(python) or subprocess.run([python, "-c", "import ttnn"], capture_output=True).returncode:
        print(f"skipped: the lab is not set up ({LAB}); shared/lab/setup makes it")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        traces = []
        for seed, board in enumerate(["n150", "n300", "galaxy", "p100", "p150"], 11):
            trace = os.path.join(folder, board + ".jsonl")
            made = subprocess.run([os.path.join(SHARED, "lab", "on-board"), board, os.path.join(SHARED, "lab", "allocator_trace.py"), trace,
                                   str(seed), "300", "both"], capture_output=True, text=True, cwd=folder)
            if made.returncode:
                print(f"skipped: ttnn does not run here on a mock {board}: {made.stderr[-300:]}")
                return 77
            traces.append(trace)
        done = subprocess.run([REPLAY, *traces], capture_output=True, text=True)
        print(done.stdout.replace(folder + "/", ""), done.stderr)
        return done.returncode


sys.exit(main())
