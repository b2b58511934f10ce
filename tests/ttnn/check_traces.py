# SPDX-License-Identifier: Apache-2.0
"""Programs with traces through `ttmem run --board`: which tensors their replays overwrite, with both lines of the program, and that the fix which is told
is one. Run by scripts/test-ttnn, on a mock board."""

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
TRACES = os.path.join(os.environ["TTMEM_SOURCE"], "tests/ttnn/programs/traces.py")
STORAGE = os.path.join(os.environ["TTMEM_SOURCE"], "tests/ttnn/programs/trace_storage.py")
PATIENCE = 900  # only bounds a hang
SAFE = ("before", "rewritten", "written_by_operation", "between", "input_again", "in_turn", "released", "fed")


def line(function, text):
    """Of the program: the first line with this text behind the head of the function."""
    with open(TRACES) as f:
        lines = f.read().splitlines()
    at = next(i for i, each in enumerate(lines) if each.startswith("def %s(" % function))
    return next(i + 1 for i in range(at, len(lines)) if text in lines[i])


class Traces(unittest.TestCase):
    def run_case(self, case):
        here = tempfile.mkdtemp(prefix="ttmem-check-traces-")
        self.addCleanup(shutil.rmtree, here, ignore_errors=True)
        env = {k: v for k, v in os.environ.items() if k not in ("TT_METAL_MOCK_CLUSTER_DESC_PATH", "TT_METAL_CACHE")}
        env.update(TTMEM_STAND_IN="1", TMPDIR=here, PYTHONDONTWRITEBYTECODE="1")
        command = [PROGRAM, "run", "-q", "--no-html", "--board", BOARD, "--", sys.executable, TRACES, case]
        run = subprocess.run(command, cwd=here, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(run.returncode, 0, run.stdout[-3000:] + run.stderr[-3000:])
        recording = glob.glob(here + "/logs/*/*_recording.json")[0]
        check = subprocess.run([PROGRAM, "analyze", recording, "--json", "--check"], cwd=here, capture_output=True, text=True, timeout=PATIENCE)
        found = json.loads(check.stdout)
        self.told = [s for s in found["statements"] if s["topic"] == "traces"]
        self.assertEqual(check.returncode, 0 if found["recording"]["traces"]["safe"] else 1, check.stderr)
        return found["recording"]["traces"]

    def only(self, case, kind):
        traces = self.run_case(case)
        harmful = [h for h in traces["hazards"] if h["used_by"]]
        self.assertEqual([h["kind"] for h in harmful], [kind], traces)
        self.assertFalse(traces["safe"])
        return harmful[0]

    def at(self, operation, function, text):
        self.assertEqual(operation["loc"].rsplit(":", 1)[1], str(line(function, text)), operation)

    def test_safe_programs(self):
        for case in SAFE:
            with self.subTest(case):
                traces = self.run_case(case)
                self.assertEqual([h for h in traces["hazards"] if h["used_by"]], [])
                self.assertEqual([s["id"] for s in self.told][:1], ["trace.safe"])

    def test_a_tensor_allocated_after_the_capture(self):
        hazard = self.only("late", "overwrites")
        self.at(hazard["operation"], "new", "ttnn.zeros")
        self.at(hazard["other_operation"], "forward", "ttnn.multiply")
        self.at(hazard["replay"], "replay", "ttnn.execute_trace")
        self.at(hazard["used_by"], "late", "ttnn.add")
        self.assertEqual(hazard["overlap_per_bank_B"], hazard["per_bank_B"])
        self.assertEqual([fix["kind"] for fix in self.told[0]["fixes"]], ["allocate_before"])  # test_safe_programs runs it as `before`

    def test_a_tensor_that_nobody_looks_at_again(self):
        traces = self.run_case("unused")
        self.assertTrue(traces["safe"])
        self.assertEqual([s["id"] for s in self.told], ["trace.safe", "trace.overwrites-unused"])

    def test_the_place_of_a_freed_result(self):
        self.at(self.only("output_freed", "overwrites")["other_operation"], "forward", "ttnn.add")

    def test_a_freed_input(self):
        hazard = self.only("input_freed", "uses_freed")
        self.at(hazard["replay"], "replay", "ttnn.execute_trace")

    def test_a_result_of_another_trace(self):
        hazard = self.only("two", "overwrites")
        self.at(hazard["operation"], "square", "ttnn.multiply")
        self.at(hazard["used_by"], "two", "ttnn.add")

    def test_an_input_that_the_trace_itself_overwrites(self):
        hazard = self.only("starved", "overwrites")
        self.at(hazard["operation"], "in_capture", "ttnn.allocate_tensor_on_device")
        self.at(hazard["used_by"], "replay", "ttnn.execute_trace")

    def test_circular_buffers_of_the_trace(self):
        hazard = self.only("circular", "overwrites")
        self.assertTrue(hazard["other_is_circular_buffer"], hazard)
        self.assertEqual(hazard["memory"], "L1")

    def storage(self, region):
        """Real traces, not pretended ones: a mock board captures those without programs. One is not released."""
        here = tempfile.mkdtemp(prefix="ttmem-check-traces-")
        self.addCleanup(shutil.rmtree, here, ignore_errors=True)
        env = dict(os.environ, TMPDIR=here, PYTHONDONTWRITEBYTECODE="1", TTMEM_VIEWS="all")
        if not env.get("TT_METAL_MOCK_CLUSTER_DESC_PATH"):
            self.skipTest("TT_METAL_MOCK_CLUSTER_DESC_PATH is not set: scripts/test-ttnn sets it")
        command = [PROGRAM, "run", "-q", "--no-html", "--", sys.executable, STORAGE, str(region), "3"]
        run = subprocess.run(command, cwd=here, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(run.returncode, 0, run.stdout[-3000:] + run.stderr[-3000:])
        recording = glob.glob(here + "/logs/*/*_recording.json")[0]
        with open(here + "/truth.json") as f:
            truth = json.load(f)
        found, plan = (json.loads(subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=PATIENCE).stdout)
                       for words in (("analyze", recording, "--json"), ("plan", recording, "--json")))
        recorded = found["recording"]
        self.assertEqual((recorded["corrections"], recorded["hole_corrections"], recorded["unseen_frees"]), (0, 0, 0))
        return truth, found, plan

    def test_traces_at_the_top_of_dram(self):
        truth, found, plan = self.storage(0)
        self.assertGreater(truth["dram"], 0)
        told = {s["id"]: s for s in found["statements"]}
        self.assertEqual([q["value"] for q in told["trace.in-dram"]["quantities"] if q["name"] == "per_bank"], [truth["dram"]])
        self.assertIn("leak.none", told)
        storage = [row for row in found["live_at_peak"]["DRAM"]["rows"] if row["class"] == "program"]
        self.assertEqual([row["per_bank_MB"] * 1048576 for row in storage], [truth["dram"]])
        in_region, others, same = self.storage(1 << 20)
        self.assertEqual((in_region["dram"], in_region["trace"]), (0, truth["dram"]))
        self.assertEqual(others["recording"]["memories"]["TRACE"]["peak_per_bank_B"], truth["dram"])
        self.assertNotIn("trace.in-dram", [s["id"] for s in others["statements"]])
        self.assertEqual(plan["trace_region_size"]["needed_B"], same["trace_region_size"]["needed_B"])


if __name__ == "__main__":
    unittest.main()
