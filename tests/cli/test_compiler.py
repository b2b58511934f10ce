#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What tt-mlir planned (its decision trace) against what the runtime held: matched by location or by order, the largest disagreement first."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from tt_mlir_files import BUDGET, TILE, Place, Program  # noqa: E402

TTMEM = os.environ["TTMEM"]


def program(relu=Place(8, "l1", "height_sharded", (8, 8)), shard=16, prefix="layer", kept=False):
    """A matmul whose result is sharded into L1, a relu on it and an add; `kept`: the runtime frees the shards late."""
    free = [("free", 1)]
    return Program([("ttnn.matmul", prefix + ".0|matmul", Place(4096), []),
                    ("ttnn.to_memory_config", prefix + ".0|shard", Place(shard, "l1", "block_sharded", (8, 8)), [0]),
                    ("ttnn.relu", prefix + ".0|relu", relu, [1])] + ([] if kept else free) +
                   [("ttnn.gelu", prefix + ".0|gelu", Place(4, "l1", "height_sharded", (8, 8)), [2]),
                    ("ttnn.add", prefix + ".0|add", Place(8192), [0, 2])] + (free if kept else []))


class Compiler(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def ask(self, *words, status=0):
        done = subprocess.run([TTMEM, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout if not status else done.stderr

    def compare(self, plan, run, runs=1, evicted=(), report=False):
        trace = plan.write_trace(self.folder / "main_decision_trace.json", evicted)
        path = run.write_report(self.folder / "memory_report.json") if report else run.write_log(self.folder / "run.log", runs)
        found = json.loads(self.ask("analyze", path, "--decision-trace", trace, "--json", "--no-html", "--output-dir", self.folder / "out"))
        return {s["id"]: s for s in found["statements"] if s["topic"] == "compiler"}, found["compiler"][0]

    def test_as_planned(self):
        for report in (False, True):
            said, plan = self.compare(program(), program(), runs=1 if report else 3, report=report)
            self.assertEqual(set(said), {"compiler.join", "compiler.l1-as-planned", "compiler.layout-as-planned"})
            self.assertEqual((plan["matched_by_location"], plan["matched_by_order"], plan["not_in_input"]), (5, 0, 0))
            self.assertEqual(plan["L1_budget_per_core_B"], BUDGET)
            relu = next(row for row in plan["operations"] if row["mlir_op"] == "ttnn.relu")
            self.assertEqual(relu["planned_L1_per_core_B"], 24 * TILE)
            self.assertLess(abs(relu["held_L1_per_core_B"] - 24 * TILE), 1049)
            self.assertEqual(relu["planned_layout"], "L1 height_sharded 8x8")

    def test_a_late_free_holds_more_than_planned(self):
        said, plan = self.compare(program(), program(kept=True))
        worst = plan["operations"][0]
        self.assertEqual(worst["mlir_op"], "ttnn.gelu")
        self.assertLess(abs(worst["apart_B"] - 16 * TILE), 1049)
        self.assertEqual(said["compiler.l1"]["severity"], "warning")
        self.assertIn("more than planned: behind #3 ttnn.gelu", said["compiler.l1"]["headline"])

    def test_a_result_elsewhere(self):
        said, plan = self.compare(program(), program(relu=Place(8, "dram")))
        self.assertIn("1 of 5 results lie elsewhere", said["compiler.layout"]["headline"])
        self.assertIn("DRAM interleaved, planned L1 height_sharded 8x8", said["compiler.layout"]["points"][0]["text"])
        relu = next(row for row in plan["operations"] if row["mlir_op"] == "ttnn.relu")
        self.assertTrue(relu["elsewhere"])

    def test_other_names_of_places_are_matched_by_order(self):
        _, plan = self.compare(program(), program(prefix="model.layers"))
        self.assertEqual((plan["matched_by_location"], plan["matched_by_order"]), (0, 5))
        self.assertEqual({row["matched_by"] for row in plan["operations"]}, {"order"})

    def test_evictions_are_told(self):
        said, _ = self.compare(program(), program(), evicted=(1,))
        self.assertIn("evicted 1 result from L1", said["compiler.evictions"]["headline"])
        self.assertIn("ttnn.to_memory_config", said["compiler.evictions"]["points"][0]["text"])

    def test_another_model_is_not_compared(self):
        other = Program([("ttnn.conv2d", "conv", Place(8), [])], "forward")
        trace = other.write_trace(self.folder / "forward_decision_trace.json")
        log = program().write_log(self.folder / "run.log")
        text = self.ask("ask", log, "--findings", "--decision-trace", self.folder)  # a folder of traces
        self.assertIn("The plan of forward cannot be compared: no operation of it is in this input", " ".join(text.split()))
        self.assertIn("cut or damaged", self.ask("analyze", log, "--decision-trace", self.cut(trace), status=2))
        self.assertIn("is no decision trace", self.ask("analyze", log, "--decision-trace", log, status=2))

    def cut(self, path):
        whole = pathlib.Path(path).read_text()
        pathlib.Path(path).write_text(whole[:-20])
        return path


if __name__ == "__main__":
    unittest.main()
