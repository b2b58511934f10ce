# SPDX-License-Identifier: Apache-2.0
"""A report that ttnn writes for ttnn-visualizer says what a recording of the same program says, to the byte. Run by scripts/test-ttnn, on a mock
board. Environment: TTMEM, the program (default: that of the installed package)."""

import glob
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.environ.get("TTMEM") or __import__("ttmem").program()
BOARD = os.environ["TTMEM_BOARD"]
MOCK = ("TT_METAL_MOCK_CLUSTER_DESC_PATH", "TT_METAL_CACHE")
MODEL = """import sys, ttnn
report = sys.argv[1] if len(sys.argv) > 1 else None
device = ttnn.open_device(device_id=0, l1_small_size=16384)
L1 = ttnn.L1_MEMORY_CONFIG
def new(*shape, memory=ttnn.DRAM_MEMORY_CONFIG):
    return ttnn.zeros(shape, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=memory)
early = new(1024, 1024)
if report:
    if "detailed" in sys.argv:
        ttnn.graph.enable_detailed_buffer_tracing()
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
a, b = new(512, 1024, memory=L1), new(512, 1024, memory=L1)
grid = ttnn.create_sharded_memory_config((512, 1024), ttnn.CoreGrid(y=8, x=8), ttnn.ShardStrategy.BLOCK)
for i in range(3):
    c = ttnn.add(a, b, memory_config=L1)
    d = ttnn.multiply(c, b, memory_config=L1)
    ttnn.deallocate(c)
    e = ttnn.subtract(d, a)
    del d
f = ttnn.to_memory_config(ttnn.add(e, e), grid)
try:
    ttnn.empty((1 << 18, 1 << 18), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
except RuntimeError:
    pass
if report:
    ttnn.graph.end_graph_capture_to_file(report + "/graph_capture.json")
    from ttnn.graph_report import import_report
    import_report(report, report)
del a, b, e, f, early
ttnn.close_device(device)
"""


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="ttmem-check-visualizer-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        pathlib.Path(self.dir, "model.py").write_text(MODEL)
        self.env = dict(os.environ, TTMEM_HOME=self.dir + "/home", PYTHONDONTWRITEBYTECODE="1")

    def run_it(self, *command, **more):
        done = subprocess.run(command, cwd=self.dir, capture_output=True, text=True, **more)
        self.assertEqual(done.returncode, 0, done.stdout[-3000:] + done.stderr[-3000:])
        return done

    def findings(self, pattern):
        return json.loads(pathlib.Path(glob.glob(self.dir + pattern)[0]).read_text())

    def report(self, *more):
        os.mkdir(self.dir + "/report")
        self.run_it(sys.executable, "model.py", self.dir + "/report", *more, env=self.env)
        self.run_it(PROGRAM, "analyze", "--no-html", "--no-history", "-d", "from-report", "report", env=self.env)
        return self.findings("/from-report/*_findings.json")

    def test_without_all_buffers_it_is_a_lower_bound(self):
        self.assertTrue(self.report()["peak"]["L1"]["lower_bound"])

    def test_the_same_to_the_byte(self):
        report = self.report("detailed")
        self.assertFalse(report["peak"]["L1"].get("lower_bound", False))
        plain = {k: v for k, v in self.env.items() if k not in MOCK}
        self.run_it(PROGRAM, "run", "--no-html", "--no-history", "--board", BOARD, "-d", "from-run", "--", sys.executable, "model.py", env=plain)
        run = self.findings("/from-run/*/*_findings.json")
        for memory in ("DRAM", "L1", "L1_SMALL"):
            one, other = report["recording"]["memories"][memory], run["recording"]["memories"][memory]
            for key in ("peak_per_bank_B", "capacity_per_bank_B", "banks"):
                self.assertEqual(one[key], other[key], (memory, key))
        for key in ("limit_B", "fullest_B", "tensors_B", "circular_buffers_B", "nearest_clash_B", "programs"):
            self.assertEqual(report["recording"]["l1_per_core"][key], run["recording"]["l1_per_core"][key], key)
        self.assertGreater(report["recording"]["l1_per_core"]["circular_buffers_B"], 0)
        self.assertEqual([i["verdict"] for i in report["incidents"]], [i["verdict"] for i in run["incidents"]])
        self.assertEqual(len(report["incidents"]), 1)


if __name__ == "__main__":
    unittest.main()
