#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fresh traces of real ttnn's allocator on mock boards, replayed by our own: every free block of every state.
Runs where the lab is set up (shared/lab/setup), and says so when it skips."""
import os
import subprocess
import sys
import tempfile

import lab

REPLAY = os.path.join(os.path.dirname(os.environ["TTMEM"]), "..", "tests", "test_bank_trace")


def main():
    lab.skip_unless_set_up()
    with tempfile.TemporaryDirectory() as folder:
        traces = []
        for seed, board in enumerate(["n150", "n300", "galaxy", "p100", "p150"], 11):
            trace = os.path.join(folder, board + ".jsonl")
            lab.on_board(board, "allocator_trace.py", trace, str(seed), "300", "both", folder=folder)
            traces.append(trace)
        done = subprocess.run([REPLAY, *traces], capture_output=True, text=True)
        print(done.stdout.replace(folder + "/", ""), done.stderr)
        return done.returncode


sys.exit(main())
