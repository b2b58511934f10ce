# SPDX-License-Identifier: Apache-2.0
"""The programs of tests/ttnn/programs through `ttmem run --board`: the report's peaks, and every state that was recorded, against what each
program itself saw in ttnn.get_memory_view after every operation, to the byte. Run by scripts/test-ttnn, on a mock board."""

import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.environ.get("TTMEM") or __import__("ttmem").program()
BOARD = os.environ["TTMEM_BOARD"]
PROGRAMS = os.path.join(os.environ["TTMEM_SOURCE"], "tests/ttnn/programs")
PATIENCE = 900  # only bounds a hang


def line_of(program, text):
    with open(os.path.join(PROGRAMS, program)) as f:
        return next(n for n, line in enumerate(f, 1) if text in line)


class Replay:
    """The recording added up here, apart from ttmem: bytes per bank of (DRAM, L1) after each allocation and free. Behind every operation
    stands a window, up to the next one: only frees can come there, when names of the program are given something else, and the program
    looks somewhere among them."""

    def __init__(self, path):
        with open(path) as f:
            nodes = json.load(f)["graph"]
        self.now, self.peaks, self.windows = [0, 0], [0, 0], [("open_device", [])]
        begun, depth = [], 0  # operations whose scope is still to come in the capture; scopes open there
        for n in nodes:
            kind, params = n["node_type"], n["params"]
            if kind == "operation":
                begun.append(params["name"])
            elif kind == "piece":
                depth = 0
            elif kind == "function_start":
                if not depth and begun and params["name"] == begun[0]:
                    self.windows.append((begun.pop(0).rpartition(".")[2], []))
                depth += 1
            elif kind == "function_end":
                depth = max(0, depth - 1)
            elif kind == "memory_view" and params["buffer_type"] < 2:
                assert self.now[params["buffer_type"]] == params["allocated_per_bank"], (n, self.now)
            elif kind in ("buffer_allocate", "buffer_deallocate") and params["buffer_type"] < 2:
                self.now[params["buffer_type"]] += params["max_size_per_bank"] * (1 if kind == "buffer_allocate" else -1)
                self.peaks = [max(pair) for pair in zip(self.peaks, self.now)]
            if not depth:
                self.windows[-1][1].append(tuple(self.now))

    def missing(self, states):
        """The first state of the program's own that is not in the recording, in its place; None when all are."""
        at = 0
        for state in states:
            wanted, name = (state["dram_B"], state["l1_B"]), state["after"].split()[0]
            while at < len(self.windows) and (wanted not in self.windows[at][1] or self.windows[at][0] not in (name, "empty")):
                at += 1
            if at == len(self.windows):
                return state
        return None


class Programs(unittest.TestCase):
    def run_it(self, program, *arguments, status=0, inside=()):
        """(findings of the report, what the program itself saw). Checks the states of the recording."""
        here = tempfile.mkdtemp(prefix="ttmem-check-programs-")
        self.addCleanup(shutil.rmtree, here, ignore_errors=True)
        env = {k: v for k, v in os.environ.items() if k not in ("TT_METAL_MOCK_CLUSTER_DESC_PATH", "TT_METAL_CACHE")}
        # Whole captures, which the replay below reads. A memory view after each operation in the recording too: the reader then holds its sums against every one of them.
        env.update(OWN_VIEW=here + "/own.json", TTMEM_VIEWS="all", TTMEM_BRIEF="0", TMPDIR=here, PYTHONDONTWRITEBYTECODE="1")
        command = [PROGRAM, "run", "-q", "--no-html", "--board", BOARD, "--", sys.executable, os.path.join(PROGRAMS, program), *arguments]
        run = subprocess.run(command, cwd=here, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(run.returncode, status, run.stdout[-3000:] + run.stderr[-3000:])
        with open(glob.glob(here + "/logs/*/*_findings.json")[0]) as f, open(here + "/own.json") as own:
            found, own = json.load(f), json.load(own)
        self.check(found, own, Replay(glob.glob(here + "/logs/*/*_recording.json")[0]), inside)
        return found, own

    def check(self, found, own, replay, inside):
        recording = found["recording"]
        self.assertIsNone(replay.missing(own["states"]), replay.windows)
        for ours, theirs, peak in zip(("DRAM", "L1"), ("dram", "l1"), replay.peaks):
            memory = recording["memories"][ours]
            self.assertEqual((memory["banks"], memory["capacity_per_bank_B"]), (own[theirs]["banks"], own[theirs]["bank_B"]), ours)
            self.assertEqual(memory["peak_per_bank_B"], peak, ours)
            # An operation may hold more while it runs than when it is done; the program can only look then.
            (self.assertGreater if ours in inside else self.assertEqual)(peak, own[theirs + "_peak_B"], ours)
        self.assertEqual([recording[k] for k in ("corrections", "hole_corrections", "unseen_frees", "lost_operations")], [0] * 4)
        self.assertGreaterEqual(recording["memory_views"], len(own["states"]))
        self.assertGreater(own["dram_peak_B"], 0)

    def test_transformer_block(self):
        found, own = self.run_it("transformer_block.py")
        recording = found["recording"]
        self.assertGreater(own["l1_peak_B"], 0)
        peak = recording["memories"]["L1"]["peak_operation"]
        self.assertEqual(peak["mlir_op"], "ttnn.gelu")
        self.assertTrue(peak["loc"].endswith("transformer_block.py:%d" % line_of("transformer_block.py", "ttnn.gelu(")), peak)
        self.assertGreater(recording["l1_per_core"]["fullest_B"], own["l1_peak_B"])  # with what kernels hold
        self.assertLess(recording["l1_per_core"]["fullest_B"], recording["l1_per_core"]["limit_B"])

    def test_convolution_net_with_from_torch(self):
        found, own = self.run_it("conv_net.py", inside=("L1",))
        recording = found["recording"]
        self.assertEqual(recording["memories"]["L1"]["peak_operation"]["mlir_op"], "ttnn.conv2d")
        self.assertTrue(recording["memories"]["DRAM"]["peak_operation"]["loc"].rpartition(":")[0].endswith("conv_net.py"))

    def test_sharded_chain(self):
        found, own = self.run_it("sharded_chain.py")
        recording = found["recording"]
        self.assertEqual(own["l1_peak_B"], 3 * 64 * 512 * 2)  # three tensors of 64 rows on every core
        self.assertEqual(recording["memories"]["L1"]["peak_operation"]["mlir_op"], "ttnn.multiply")

    def test_history_loop_runs_out_of_memory(self):
        found, own = self.run_it("history_loop.py", status=1)
        incident = found["incidents"][-1]
        self.assertEqual((incident["kind"], incident["memory"], incident["operation"]["mlir_op"]), ("oom", "DRAM", "ttnn.add"))
        self.assertTrue(incident["operation"]["loc"].endswith("history_loop.py:%d" % line_of("history_loop.py", "ttnn.add(")))
        last = own["states"][-1]
        self.assertEqual((incident["allocated_per_bank_B"], incident["largest_free_block_B"]), (last["dram_B"], last["dram_largest_free_B"]))
        self.assertEqual(incident["verdict"], "exhausted")  # one tensor after the other, none freed: no holes


if __name__ == "__main__":
    unittest.main()
