# SPDX-License-Identifier: Apache-2.0
"""The HYBRID allocator (TT_METAL_ALLOCATOR_MODE_HYBRID) through `ttmem run --board`: tensors with an address on each core are placed where ttnn places
them, the fullest bank holds what it holds, and nothing of ttmem's disturbs ttnn. Run by scripts/test-ttnn, on a mock board."""

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
HYBRID = os.path.join(os.environ["TTMEM_SOURCE"], "tests/ttnn/programs/hybrid.py")
PATIENCE = 900  # only bounds a hang
STEPS = 300


class Hybrid(unittest.TestCase):
    def record(self, seed, **more):
        here = tempfile.mkdtemp(prefix="ttmem-check-hybrid-")
        self.addCleanup(shutil.rmtree, here, ignore_errors=True)
        env = {k: v for k, v in os.environ.items() if k not in ("TT_METAL_MOCK_CLUSTER_DESC_PATH", "TT_METAL_CACHE")}
        env.update(TTMEM_STAND_IN="1", TMPDIR=here, PYTHONDONTWRITEBYTECODE="1", TT_METAL_ALLOCATOR_MODE_HYBRID="1", **more)
        command = [PROGRAM, "run", "-q", "--no-html", "--board", BOARD, "--", sys.executable, HYBRID, str(seed), str(STEPS)]
        run = subprocess.run(command, cwd=here, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(run.returncode, 0, run.stdout[-3000:] + run.stderr[-3000:])
        complaints = [line for line in run.stdout.splitlines() if "| critical |" in line and "considering dependencies" not in line]
        self.assertEqual(complaints, [])
        with open(here + "/truth.json") as f:
            truth = json.load(f)
        self.assertEqual(truth["differences"], [], "ttnn places otherwise")
        self.assertEqual(truth["refused"], 1)
        found = subprocess.run([PROGRAM, "analyze", glob.glob(here + "/logs/*/*_recording.json")[0], "--json"], cwd=here, capture_output=True, text=True, timeout=PATIENCE)
        return truth, json.loads(found.stdout)

    def test_every_address_and_the_fullest_bank(self):
        for seed in (1, 2, 3):
            with self.subTest(seed):
                truth, found = self.record(seed, TTMEM_VIEWS="all")
                recording = found["recording"]
                self.assertGreater(recording["memory_views"], STEPS / 2)
                self.assertEqual((recording["corrections"], recording["hole_corrections"], recording["unseen_frees"]), (0, 0, 0))
                self.assertEqual(len(recording["devices"]), 1)
                self.assertEqual(recording["memories"]["L1"]["peak_per_bank_B"], truth["peak"])
                alive = found["live_at_peak"]["L1"]
                self.assertEqual((alive["explained_pct"], alive["counted_twice_MB"]), (100.0, 0.0))

    def test_what_blocks_a_tensor(self):
        _, found = self.record(4)
        self.assertIn("after considering dependencies", found["incidents"][0]["text"])
        self.assertIsNotNone(found["incidents"][0]["placeable_per_bank_B"])


if __name__ == "__main__":
    unittest.main()
