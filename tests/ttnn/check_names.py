# SPDX-License-Identifier: Apache-2.0
"""Names and classes of a recording, with real ttnn: assignments of the program, caches that operations write into, several results by their
addresses. Run by scripts/test-ttnn, on a mock board. Environment: TTMEM, the program (default: that of the installed package)."""

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
MODEL = """import ttnn

def load(*shape):
    return ttnn.zeros(shape, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)

class Attention:
    def __init__(self):
        self.wqkv = load(1, 1, 256, 768)
        self.history = [load(1, 2, 256, 64) for _ in range(2)]

    def forward(self, x):
        qkv = ttnn.matmul(x, self.wqkv)
        values, places = ttnn.topk(qkv, 32)
        for cache in self.history:
            ttnn.fill_cache(cache, new, 0)
        self.top = ttnn.zeros((1, 1, 4096, 4096), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
        return qkv

device = ttnn.open_device(device_id=0)
new = load(1, 2, 32, 64)
layers = [Attention() for _ in range(3)]
for layer in layers:
    result = layer.forward(load(1, 1, 32, 256))
ttnn.close_device(device)
"""


class Names(unittest.TestCase):
    def test_of_a_model(self):
        folder = tempfile.mkdtemp(prefix="ttmem-check-names-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        with open(os.path.join(folder, "model.py"), "w") as f:
            f.write(MODEL)
        run = subprocess.run([PROGRAM, "run", "--no-html", "--board", BOARD, "--", sys.executable, "model.py"], cwd=folder, capture_output=True,
                             text=True, timeout=600, env={**os.environ, "TTMEM_NO_HISTORY": "1"})
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        with open(glob.glob(folder + "/logs/*/model_findings.json")[0]) as f:
            live = json.load(f)["live_at_peak"]["DRAM"]
        rows = {row["name"]: (row["class"], row["tensors"]) for row in live["groups"]}
        self.assertEqual(rows["Attention.wqkv"], ("weights", 3), rows)
        self.assertEqual(rows["Attention.history"], ("kv_cache", 6), rows)  # not by its name
        self.assertEqual(rows["result"][0], "activations", rows)
        forward = "Attention.forward" if sys.version_info >= (3, 11) else "forward"  # before, code objects do not know their class
        self.assertEqual(rows[forward + ".values"][1], 1, rows)
        self.assertEqual(rows[forward + ".places"][1], 1, rows)
        self.assertEqual(sum(row["per_bank_MB"] for row in live["groups"]), sum(live["classes"].values()))


if __name__ == "__main__":
    unittest.main()
