# SPDX-License-Identifier: Apache-2.0
"""Real ttnn on mock boards, for the tests of this folder: where the lab is set up (shared/lab/setup) it has to work."""
import os
import subprocess
import sys

SHARED = os.path.abspath(os.environ.get("TTMEM_SHARED") or os.path.join(os.path.dirname(__file__), "..", "..", "..", "shared"))
LAB = os.environ.get("LAB_DIR", os.path.join(os.path.expanduser("~"), ".cache", "ttmem-lab"))
SKIPPED = 77
ON_BOARD = os.path.join(SHARED, "lab", "on-board")


def skip_unless_set_up():
    if not os.path.exists(os.path.join(LAB, "bin", "python")) or not os.path.exists(ON_BOARD):
        print(f"skipped: the lab is not set up ({LAB}); shared/lab/setup makes it")
        sys.exit(SKIPPED)


def on_board(board, program, *arguments, folder):
    """Runs a program of the lab's, or one given by its path."""
    program = os.path.join(SHARED, "lab", program)
    made = subprocess.run([ON_BOARD, board, program, *arguments], capture_output=True, text=True, cwd=folder)
    if made.returncode:
        sys.exit(f"FAIL: {program} on a mock {board}, exit status {made.returncode}:\n{made.stdout[-1000:]}{made.stderr[-2000:]}")
