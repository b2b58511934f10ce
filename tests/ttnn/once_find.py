# SPDX-License-Identifier: Apache-2.0
"""`ttmem fit --find` against really running the program without ttmem: with the largest value it ends, with the next one ttnn refuses the memory that
the answer names. Run by scripts/test-ttnn, once."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.environ.get("TTMEM") or __import__("ttmem").program()
SOURCE = os.environ["TTMEM_SOURCE"]
CACHES = os.path.join(SOURCE, "tests/ttnn/programs/caches.py")
PATIENCE = 900  # only bounds a hang
MOCK = ("TT_METAL_MOCK_CLUSTER_DESC_PATH", "TT_METAL_CACHE")


class Find(unittest.TestCase):
    def setUp(self):
        self.here = tempfile.mkdtemp(prefix="ttmem-once-find-")
        self.addCleanup(shutil.rmtree, self.here, ignore_errors=True)

    def call(self, command, **environment):
        env = {k: v for k, v in os.environ.items() if k not in MOCK}
        env.update(TTMEM_STAND_IN="1", TMPDIR=self.here, TTMEM_HOME=self.here, PYTHONDONTWRITEBYTECODE="1", **environment)
        return subprocess.run(command, cwd=self.here, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)

    def really(self, board, *arguments):
        return self.call([sys.executable, CACHES, *map(str, arguments)], TT_METAL_MOCK_CLUSTER_DESC_PATH=os.path.join(SOURCE, "boards", board + ".yaml"),
                         TT_METAL_CACHE=os.environ["TT_METAL_CACHE"])

    def test_the_boundary_is_that_of_ttnn(self):
        run = self.call([PROGRAM, "fit", "--json", "--board", "n150,p150", "--find", "BLOCKS=1..1000000", "--find", "SIZE=32,128", "--",
                         sys.executable, CACHES, "4", "{BLOCKS}", "{SIZE}"])
        self.assertEqual(run.returncode, 0, run.stderr)
        results = json.loads(run.stdout)["results"]
        self.assertEqual([(r["board"], r["with"]["SIZE"]) for r in results], [("n150", 32), ("n150", 128), ("p150", 32), ("p150", 128)])
        for r in results:
            with self.subTest(board=r["board"], size=r["with"]["SIZE"]):
                self.assertEqual((r["statement"], r["refused"]), ("find.largest", r["largest"] + 1))
                self.assertEqual(self.really(r["board"], 4, r["largest"], r["with"]["SIZE"]).returncode, 0)
                refused = self.really(r["board"], 4, r["refused"], r["with"]["SIZE"])
                self.assertNotEqual(refused.returncode, 0)
                self.assertIn(r["message"], refused.stdout + refused.stderr)
                line = re.findall(r'File "[^"]*caches.py", line (\d+)', refused.stderr)[-1]
                self.assertEqual((r["memory"], r["operation"], r["at"].rsplit(":", 1)[1]), ("DRAM", "ttnn.empty", line))
                banks = {"n150": 12, "p150": 8}[r["board"]]
                each = 8 * r["with"]["SIZE"] // 32 * 4 * 1088 * 8 / banks  # tiles of a block, 4 layers of two caches
                self.assertLess(abs(r["step_dram_per_bank_B"] - each), each / 50)


if __name__ == "__main__":
    unittest.main()
