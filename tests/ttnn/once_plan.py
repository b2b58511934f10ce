# SPDX-License-Identifier: Apache-2.0
"""`ttmem plan` against real ttnn: a program with the predicted number of blocks ends, with one more it is refused; on the recorded board and, as the program
lays its tensors out alike there, on others. Run by scripts/test-ttnn, once."""

import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.environ.get("TTMEM") or __import__("ttmem").program()
SOURCE = os.environ["TTMEM_SOURCE"]
PROGRAMS = os.path.join(SOURCE, "tests/ttnn/programs")
CACHES = os.path.join(PROGRAMS, "caches.py")
PATIENCE = 900  # only bounds a hang
MOCK = ("TT_METAL_MOCK_CLUSTER_DESC_PATH", "TT_METAL_CACHE")


class Plan(unittest.TestCase):
    def setUp(self):
        self.here = tempfile.mkdtemp(prefix="ttmem-once-plan-")
        self.addCleanup(shutil.rmtree, self.here, ignore_errors=True)

    def call(self, command, **environment):
        env = {k: v for k, v in os.environ.items() if k not in MOCK}
        env.update(TMPDIR=self.here, TTMEM_HOME=self.here, PYTHONDONTWRITEBYTECODE="1", **environment)
        return subprocess.run(command, cwd=self.here, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)

    def plan(self, boards, *arguments, program=CACHES):
        run = self.call([PROGRAM, "run", "--board", "n150", "--no-html", "-d", "logs", "--", sys.executable, program, *map(str, arguments)])
        self.assertEqual(run.returncode, 0, run.stderr)
        recording = max(glob.glob(self.here + "/logs/*/*_recording.json"))
        run = self.call([PROGRAM, "plan", "--json", "--board", ",".join(boards), recording])
        self.assertEqual(run.returncode, 0, run.stderr)
        shutil.rmtree(self.here + "/logs")
        return json.loads(run.stdout)

    def check(self, boards, layers, blocks, size, program=CACHES):
        plan = self.plan(boards, layers, blocks, size, program=program)
        for answer in plan["boards"]:
            for blocks, refused in ((answer["blocks"], False), (answer["blocks"] + 1, True)):
                with self.subTest(board=answer["board"], size=size, blocks=blocks):
                    run = self.call([sys.executable, program, str(layers), str(blocks), str(size)], TT_METAL_CACHE=os.environ["TT_METAL_CACHE"],
                                    TT_METAL_MOCK_CLUSTER_DESC_PATH=os.path.join(SOURCE, "boards", answer["board"] + ".yaml"))
                    self.assertEqual(run.returncode != 0, refused, run.stderr[-2000:])
                    self.assertEqual("Out of Memory" in run.stdout + run.stderr, refused)
        return plan

    def test_pages(self):
        plan = self.check(("n150", "p100", "p150"), 4, 1000, 32)
        self.assertEqual((plan["cache"]["paged"], plan["cache"]["tensors"], plan["cache"]["tokens_per_block"]), (True, 8, 32))
        self.assertEqual([b["basis"] for b in plan["boards"]], ["derived", "estimated", "estimated"])

    def test_blocks_of_64(self):
        self.check(("n150",), 3, 50, 64)

    def test_keys_and_values_that_differ(self):
        plan = self.check(("n150", "p100"), 4, 1000, 64, program=os.path.join(PROGRAMS, "latent_caches.py"))
        self.assertEqual((plan["cache"]["tensors"], plan["cache"]["shape"], plan["cache"]["tensors_of_other_shapes"]), (8, "1000x1x64x576", 0))

    def test_without_pages(self):
        plan = self.check(("n150", "p150"), 2, 100, 0)
        self.assertEqual((plan["cache"]["paged"], plan["cache"]["users"]), (False, 2))


if __name__ == "__main__":
    unittest.main()
