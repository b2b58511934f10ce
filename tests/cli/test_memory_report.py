#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The memory report of tt-mlir's builder and of ttrt as an input of its own: the profile is that of the log of the same run."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from tt_mlir_files import Place, Program  # noqa: E402

TTMEM = os.environ["TTMEM"]


def program(extra=0):
    return Program([("ttnn.matmul", "layer.0|matmul", Place(4096), []),
                    ("ttnn.to_memory_config", "layer.0|shard", Place(16 + extra, "l1", "block_sharded", (8, 8)), [0]),
                    ("ttnn.relu", "layer.0|relu", Place(8, "l1", "height_sharded", (8, 8)), [1]),
                    ("free", 1),
                    ("ttnn.add", "layer.0|add", Place(8192), [0, 2]),
                    ("free", 2), ("free", 0),
                    ("ttnn.softmax", "layer.0|softmax", Place(1024), [4])])


def ask(*words, status=0):
    done = subprocess.run([TTMEM, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == status, done.stderr
    return done.stdout + (done.stderr if status else "")


class MemoryReport(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def findings(self, path, *more):
        return json.loads(ask("analyze", path, "--no-html", "--json", "--output-dir", self.folder / "out", *more))

    def test_damaged_figures_are_not_judged(self):
        path = pathlib.Path(program().write_report(self.folder / "memory_report.json"))
        whole = path.read_text()
        peak = '"total_bytes_allocated_per_bank": 25165824'
        for damaged in (whole.replace(peak, peak.replace("25", "15")), whole.replace('"dram"', '"drum"', 1)):
            self.assertNotEqual(damaged, whole)
            path.write_text(damaged)
            ask("analyze", path, "--budget", "dram:99%", "--quiet", "--no-json", status=2)
        path.write_text(whole)
        ask("analyze", path, "--budget", "dram:99%", "--quiet", "--no-json")

    def test_both_writers_give_the_profile_of_the_log(self):
        small = program()
        log = self.findings(small.write_log(self.folder / "run.log"))
        for ttrt in (False, True):
            found = self.findings(small.write_report(self.folder / "memory_report.json", ttrt))
            self.assertEqual(found["operations"]["total"], log["operations"]["total"])
            for memory in ("DRAM", "L1"):
                self.assertEqual(found["peak"][memory]["allocated_per_bank_MB"], log["peak"][memory]["allocated_per_bank_MB"])
                self.assertEqual(found["peak"][memory]["caused_by"]["loc"], log["peak"][memory]["caused_by"]["loc"])
            self.assertEqual(found["input"]["kind"], "full")

    def test_the_blocks_of_the_peak_have_their_makers(self):
        found = self.findings(program().write_report(self.folder / "memory_report.json"))
        blocks = next(s for s in found["statements"] if s["id"] == "blocks.dram")
        self.assertEqual(blocks["basis"], "measured")
        self.assertIn("2 blocks", blocks["headline"])
        self.assertIn("ttnn.add layer.0|add", blocks["points"][0]["text"])
        rows = found["blocks"]["DRAM"]
        self.assertEqual([(row["address"], row["per_bank_B"]) for row in rows], [(0, 4096 * 2048), (4096 * 2048, 8192 * 2048)])
        self.assertEqual(rows[1]["allocated_by"]["mlir_op"], "ttnn.add")
        self.assertIsNone(rows[0]["allocated_by"])  # the first state stands behind the first operation

    def test_diff_with_a_log(self):
        small, large = program(), program(16)
        log = small.write_log(self.folder / "run.log")
        same = json.loads(ask("diff", small.write_report(self.folder / "memory_report.json"), log, "--json"))
        self.assertEqual(same["peak"]["DRAM"]["change_MB"], 0)
        other = json.loads(ask("diff", log, large.write_report(self.folder / "large.json"), "--json"))
        self.assertAlmostEqual(other["peak"]["L1"]["change_MB"], 16 * 2048 / 2**20, places=2)

    def test_what_is_cut_or_empty_is_told(self):
        path = pathlib.Path(program().write_report(self.folder / "memory_report.json"))
        whole = path.read_text()
        path.write_text(whole[:len(whole) * 2 // 3])
        found = self.findings(path)
        self.assertTrue(found["input"]["truncated"])
        path.write_text('[{"loc": "loc(unknown)", "debug_str": "nonsense"')
        self.assertIn("holds no memory state", ask("analyze", path, status=2))


if __name__ == "__main__":
    unittest.main()
