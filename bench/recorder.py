# SPDX-License-Identifier: Apache-2.0
"""The rows of make bench about the recorder of `ttmem run`: processor time of a small decoder on a mock board with and without it, in turn, and the memory it
takes in the program.
Environment: TTMEM_TTNN_PYTHON, a Python with ttnn and a kernel compiler that answers on a mock board (default: that of make test-ttnn)."""
import os
import shutil
import subprocess
import sys

from table import ENV, ROOT, TTMEM, WORK, row

PYTHON = os.environ.get("TTMEM_TTNN_PYTHON", os.path.join(ROOT, "build", "ttnn", "bin", "python"))
PROGRAM = os.path.join(ROOT, "bench", "decode.py")
FAKE = os.path.join(ROOT, "tests", "launch", "fake_ttnn", "site-packages")
OPERATIONS = 100000


def figures(command, env):
    """What the program printed: {name: number}."""
    run = subprocess.run(command, cwd=WORK, env=dict(ENV, **env), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    line = next((line for line in run.stdout.splitlines() if line.startswith(("STEP ", "RSS "))), None)
    if run.returncode or not line:
        sys.exit(f"bench: {' '.join(command)}: exit {run.returncode}\n{run.stdout[-2000:]}")
    words = line.split()
    return {name: float(number) for name, number in zip(words[::2], words[1::2])}


def recorded(*command):
    return [TTMEM, "run", *command]


def time_rows(rounds):
    if not os.access(PYTHON, os.X_OK):
        print("| a recorded decode step / the plain one | left out: there is no ttnn (make test-ttnn brings it) | | |")
        return
    kernels = os.path.join(WORK, "kernels")
    board = {"TT_METAL_MOCK_CLUSTER_DESC_PATH": os.path.join(ROOT, "boards", "n150.yaml"), "TT_METAL_CACHE": kernels}
    ours = recorded("--board", "n150", "--output-dir", os.path.join(WORK, "runs"), "--", PYTHON, PROGRAM)
    pairs = []
    for _ in range(rounds):
        shutil.rmtree(kernels, ignore_errors=True)  # a recorded run compiles them anew
        pairs.append((figures([PYTHON, PROGRAM], board), figures(ours, {})))
    for name, what, goal in (("STEP", "a recorded decode step of 16 layers / the plain one", 1.5), ("WHOLE", "the whole recorded program / the plain one", 1.3)):
        ratio = min(ours[name] for _, ours in pairs) / min(plain[name] for plain, _ in pairs)
        row(f"{what}, on a mock board, processor time", f"{ratio:.2f}", f"<= {goal}", ratio <= goal)


def memory_row():
    command, env = [sys.executable, PROGRAM, "--count", str(OPERATIONS)], {"PYTHONPATH": FAKE}
    plain = figures(command, env)["RSS"]
    ours = figures(recorded("--output-dir", os.path.join(WORK, "runs"), "--", *command), env)["RSS"] - plain
    row(f"memory that recording {OPERATIONS} operations takes in the program", f"{ours / 1e6:.1f} MB", "< 100 MB", ours < 100e6)


def rows(rounds):
    time_rows(rounds)
    memory_row()
