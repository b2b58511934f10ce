# SPDX-License-Identifier: Apache-2.0
"""The programs of tests/ttnn/programs through `ttmem run --board`: the report's peaks against what each program itself saw in
ttnn.get_memory_view after every operation, to the byte. Run by scripts/test-ttnn, on a mock board."""

import glob
import json
import os
import re
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


class Programs(unittest.TestCase):
    def run_it(self, program, *arguments, status=0):
        """(findings of the report, what the program itself saw)"""
        here = tempfile.mkdtemp(prefix="ttmem-check-programs-")
        self.addCleanup(shutil.rmtree, here, ignore_errors=True)
        env = {k: v for k, v in os.environ.items() if k not in ("TT_METAL_MOCK_CLUSTER_DESC_PATH", "TT_METAL_CACHE")}
        # A memory view after each operation in the recording too: the reader then holds its sums against every one of them.
        env.update(OWN_VIEW=here + "/own.json", TTMEM_VIEWS="all", TTMEM_STAND_IN="1", TMPDIR=here, PYTHONDONTWRITEBYTECODE="1")
        command = [PROGRAM, "run", "-q", "--no-html", "--board", BOARD, "--", sys.executable, os.path.join(PROGRAMS, program), *arguments]
        run = subprocess.run(command, cwd=here, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(run.returncode, status, run.stdout[-3000:] + run.stderr[-3000:])
        with open(glob.glob(here + "/logs/*/*_findings.json")[0]) as f, open(here + "/own.json") as own:
            return json.load(f), json.load(own)

    def check(self, found, own, inside=()):
        recording = found["recording"]
        for ours, theirs in (("DRAM", "dram"), ("L1", "l1")):
            memory = recording["memories"][ours]
            self.assertEqual((memory["banks"], memory["capacity_per_bank_B"]), (own[theirs]["banks"], own[theirs]["bank_B"]), ours)
            if ours in inside:  # an operation holds more while it runs than when it is done: only the recording can know
                self.assertGreater(memory["peak_per_bank_B"], own[theirs + "_peak_B"], ours)
            else:
                self.assertEqual(memory["peak_per_bank_B"], own[theirs + "_peak_B"], ours)
        self.assertEqual([recording[k] for k in ("corrections", "hole_corrections", "unseen_frees", "lost_operations")], [0] * 4)
        self.assertGreaterEqual(recording["memory_views"], len(own["states"]))
        self.assertGreater(own["dram_peak_B"], 0)
        return recording

    def test_transformer_block(self):
        found, own = self.run_it("transformer_block.py")
        recording = self.check(found, own)
        self.assertGreater(own["l1_peak_B"], 0)
        peak = recording["memories"]["L1"]["peak_operation"]
        self.assertEqual(peak["mlir_op"], "ttnn.gelu")
        self.assertTrue(peak["loc"].endswith("transformer_block.py:%d" % line_of("transformer_block.py", "ttnn.gelu(")), peak)
        self.assertGreater(recording["l1_per_core"]["fullest_B"], own["l1_peak_B"])  # with what kernels hold
        self.assertLess(recording["l1_per_core"]["fullest_B"], recording["l1_per_core"]["limit_B"])

    def test_convolution_net_with_from_torch(self):
        found, own = self.run_it("conv_net.py")
        recording = self.check(found, own, inside=("L1",))
        self.assertEqual(recording["memories"]["L1"]["peak_operation"]["mlir_op"], "ttnn.conv2d")
        self.assertTrue(recording["memories"]["DRAM"]["peak_operation"]["loc"].rpartition(":")[0].endswith("conv_net.py"))

    def test_sharded_chain(self):
        found, own = self.run_it("sharded_chain.py")
        recording = self.check(found, own)
        self.assertEqual(own["l1_peak_B"], 3 * 64 * 512 * 2)  # three tensors of 64 rows on every core
        self.assertEqual(recording["memories"]["L1"]["peak_operation"]["mlir_op"], "ttnn.multiply")

    def test_history_loop_runs_out_of_memory(self):
        found, own = self.run_it("history_loop.py", status=1)
        self.check(found, own)
        incident = found["incidents"][-1]
        self.assertEqual((incident["kind"], incident["memory"], incident["operation"]["mlir_op"]), ("oom", "DRAM", "ttnn.add"))
        self.assertTrue(incident["operation"]["loc"].endswith("history_loop.py:%d" % line_of("history_loop.py", "ttnn.add(")))
        last = own["states"][-1]
        self.assertEqual((incident["allocated_per_bank_B"], incident["largest_free_block_B"]), (last["dram_B"], last["dram_largest_free_B"]))
        self.assertTrue(re.fullmatch(r"exhausted|fragmented", incident["verdict"]), incident)


if __name__ == "__main__":
    unittest.main()
