# SPDX-License-Identifier: Apache-2.0
"""Loops of tests/ttnn/programs through `ttmem run --board`: those that grow are told, with the iteration after which memory really ends, and those that
do not are not. Run by scripts/test-ttnn, on a mock board."""

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
STEPS = 24
CLEAN = ("rebind", "window", "hidden", "lazy", "lazy_hidden", "training", "shared", "first_step", "heads", "prefix", "fixed_cache", "pyramid", "uploads")

CAPTURED = """import ttnn
device = ttnn.open_device(device_id=0)
x, kept = ttnn.zeros((1, 1, 2048, 2048), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device), []
ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
for _ in range(12):
    y = ttnn.relu(x)
    kept.append(ttnn.add(y, x))
    ttnn.deallocate(y)
ttnn.graph.end_graph_capture_to_file("captured.json")
ttnn.close_device(device)
"""


class Growth(unittest.TestCase):
    def setUp(self):
        self.here = tempfile.mkdtemp(prefix="ttmem-check-growth-")
        self.addCleanup(shutil.rmtree, self.here, ignore_errors=True)

    def statements(self, program, *arguments, status=0):
        """Those about growth, the first one's quantities among them."""
        shutil.rmtree(self.here + "/logs", ignore_errors=True)
        env = {k: v for k, v in os.environ.items() if k not in ("TT_METAL_MOCK_CLUSTER_DESC_PATH", "TT_METAL_CACHE")}
        env.update(TMPDIR=self.here, PYTHONDONTWRITEBYTECODE="1")
        command = [PROGRAM, "run", "-q", "--no-html", "--board", BOARD, "--", sys.executable, os.path.join(PROGRAMS, program), *arguments]
        run = subprocess.run(command, cwd=self.here, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(run.returncode, status, run.stdout[-3000:] + run.stderr[-3000:])
        with open(glob.glob(self.here + "/logs/*/*_findings.json")[0]) as f:
            found = json.load(f)
        self.fixes = [fix["kind"] for fix in found["fixes"]]
        told = [s for s in found["statements"] if s["topic"] == "growth"]
        for statement in told:
            statement["numbers"] = {q["name"]: q["value"] for q in statement.get("quantities", [])}
        return told

    def until_full(self, kind):
        """Iterations that the loop really does on this board."""
        run = subprocess.run([sys.executable, os.path.join(PROGRAMS, "growing_loops.py"), kind], cwd=self.here, stdin=subprocess.DEVNULL,
                             capture_output=True, text=True, timeout=PATIENCE)
        return int(re.search(r"ended after (\d+)", run.stdout).group(1))

    def check_end(self, kind, statement_id, off=0):
        told = self.statements("growing_loops.py", kind, str(STEPS))
        self.assertEqual([s["id"] for s in told], [statement_id], told)
        until, about = told[0]["numbers"]["iterations_until_full"], "about" in told[0]["headline"]
        self.assertEqual(about, bool(off), told)
        self.assertAlmostEqual(until, self.until_full(kind), delta=off, msg=told)
        return told[0]

    def test_results_that_are_kept(self):
        told = self.check_end("history", "growth.loop")
        self.assertTrue(told["headline"].startswith("%d live tensors from " % STEPS), told)
        self.assertIn("one more each iteration", told["headline"])
        self.assertIn("stop_leak", self.fixes)

    def test_a_loop_in_a_thread(self):
        told = self.statements("growing_loops.py", "thread", str(STEPS))
        self.assertTrue(told[0]["headline"].startswith("%d live tensors from " % STEPS), told)

    def test_a_capture_around_the_loop(self):
        """Without lines of the program, and without the allocator's word."""
        program = os.path.join(self.here, "captured.py")
        with open(program, "w") as f:
            f.write(CAPTURED)
        subprocess.run([sys.executable, program], cwd=self.here, check=True, capture_output=True, timeout=PATIENCE)
        run = subprocess.run([PROGRAM, "analyze", "captured.json", "--json"], cwd=self.here, check=True, capture_output=True, text=True)
        told = [s for s in json.loads(run.stdout)["statements"] if s["topic"] == "growth"]
        self.assertEqual([s["id"] for s in told], ["growth.loop"], told)
        self.assertIn("12 live tensors from #", told[0]["headline"])

    def test_layers_inside_a_loop(self):
        told = self.check_end("hidden", "growth.loop")
        self.assertIn("4 more each iteration", told["headline"])

    def test_a_cache_in_chunks(self):
        self.check_end("chunks", "growth.loop")

    def test_a_cache_that_is_made_anew(self):
        self.check_end("cache", "growth.cache")
        self.assertIn("preallocate", self.fixes)

    def test_a_token_at_a_time(self):
        """Tiles hide most steps: the end is about right only."""
        told = self.statements("growing_loops.py", "tokens", "160")
        self.assertEqual([s["id"] for s in told], ["growth.cache"], told)
        self.assertIn("memory ends after about ", told[0]["headline"])

    def test_requests_of_different_length(self):
        self.check_end("requests", "growth.loop", off=3)

    def test_every_third_result(self):
        told = self.check_end("every_third", "growth.loop", off=3)
        self.assertIn("one more every 3 iterations", told["headline"])

    def test_a_tile_in_every_step(self):
        told = self.statements("growing_loops.py", "loss", str(STEPS))
        self.assertEqual([(s["id"], s["severity"]) for s in told], [("growth.loop", "note")])

    def test_l1(self):
        steps = self.until_full("l1")
        told = self.statements("growing_loops.py", "l1", str(steps - 1))
        self.assertEqual(told[0]["numbers"]["iterations_until_full"], steps, told)
        self.assertIn("L1 ends after", told[0]["headline"])

    def test_few_iterations(self):
        told = self.statements("growing_loops.py", "history", "5")
        self.assertEqual([s["id"] for s in told], ["growth.suspected"], told)
        self.assertIn("record 3 more", told[0]["detail"])

    def test_fit_says_that_it_fits_for_so_long(self):
        run = subprocess.run([PROGRAM, "fit", "-q", "--json", "--board", BOARD, "--", sys.executable, os.path.join(PROGRAMS, "history_loop.py"), "20"],
                             cwd=self.here, capture_output=True, text=True, timeout=PATIENCE)
        board = json.loads(run.stdout)["boards"][0]
        self.assertTrue(board["fits"], board)
        self.assertIn("Growth: 20 live tensors from ", board["detail"])

    def test_until_the_end(self):
        told = self.statements("history_loop.py", status=1)
        self.assertEqual(told[0]["id"], "growth.loop")
        n = int(told[0]["numbers"]["iterations"])
        self.assertIn("%d live tensors from " % n, told[0]["headline"])
        self.assertIn("memory ended after %d iterations" % n, told[0]["headline"])
        self.assertEqual(self.fixes[0], "stop_leak")

    def test_nothing_that_only_looks_like_it(self):
        for kind in CLEAN:
            told = self.statements("clean_loops.py", kind)
            self.assertEqual([s["id"] for s in told], ["leak.none"], (kind, told))
        for program in ("transformer_block.py", "conv_net.py", "sharded_chain.py"):
            self.assertEqual([s["id"] for s in self.statements(program)], ["leak.none"], program)


if __name__ == "__main__":
    unittest.main()
