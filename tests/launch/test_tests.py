#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of a recorded program are sections with name, peak and verdict. pytest itself is not needed: what runs its tests is a function
that a stand-in has too."""
import json
import subprocess
import sys
import unittest

from test_record import TTMEM, Case

CASES = """import unittest
import ttnn

class Model(unittest.TestCase):
    def setUp(self):
        self.device = ttnn.open_device(device_id=0)
        self.addCleanup(ttnn.close_device, self.device)

    def test_1_fits(self):
        x = ttnn.empty(4096, self.device)
        y = ttnn.relu(x)

    def test_2_too_large(self):
        held = [ttnn.empty(1 << 18, self.device) for _ in range(9)]

    def test_3_compares(self):
        x = ttnn.empty(2048, self.device)
        self.assertGreater(0.5, 0.99)

    def test_4_breaks(self):
        x = ttnn.empty(1024, self.device)
        raise ValueError("of its own")

    def test_5_catches(self):
        with self.assertRaises(RuntimeError):
            ttnn.empty(1 << 21, self.device)

    @unittest.skip("not here")
    def test_6_skipped(self):
        pass
"""
RUNNER = """
class Report:
    def __init__(self, outcome, why=None):
        self.outcome, self.longrepr = outcome, why

def runtestprotocol(item, log=True, nextitem=None):
    try:
        item.function()
    except Exception as error:
        return [Report("passed"), Report("failed", "%s: %s" % (type(error).__name__, error))]
    return [Report("passed"), Report("passed")]
"""
PYTEST = """import types
import _pytest.runner
import ttnn

def small():
    device = ttnn.open_device(device_id=0)
    x = ttnn.empty(4096, device)
    ttnn.close_device(device)

def large():
    device = ttnn.open_device(device_id=0)
    held = [ttnn.empty(1 << 18, device) for _ in range(9)]

for function in (small, large):
    _pytest.runner.runtestprotocol(types.SimpleNamespace(nodeid="test_it.py::" + function.__name__, function=function), nextitem=None)
raise SystemExit(1)
"""


class Sections(Case):
    def by_name(self):
        return {test["name"].split(".")[-1]: test for test in self.findings()["recording"]["tests"]}

    def test_of_unittest(self):
        self.model(text=CASES + "\nunittest.main()\n")
        code, _, err = self.run_it()
        self.assertEqual(code, 1, err)
        tests = self.by_name()
        self.assertEqual([(test["outcome"], test["fits"]) for test in tests.values()],
                         [("passed", True), ("failed", False), ("failed", True), ("failed", None), ("passed", True), ("skipped", None)])
        self.assertEqual(tests["test_1_fits"]["peak_dram_per_bank_B"], 2 * 4096)
        self.assertEqual(tests["test_2_too_large"]["peak_dram_per_bank_B"], 4 << 18)  # the fake's bank holds no fifth
        self.assertIn("Out of memory in DRAM", tests["test_2_too_large"]["verdict"])
        self.assertEqual(tests["test_4_breaks"]["verdict"], "unknown, failed: ValueError: of its own")
        self.assertEqual(tests["test_1_fits"]["operations"], 2)
        said = next(s for s in self.findings()["statements"] if s["id"] == "tests")
        self.assertIn("6 tests: 3 fit, 1 does not fit, 1 unknown, 1 skipped", said["headline"])
        self.assertIn("Model.test_2_too_large: does not fit", err)

    def test_of_pytest(self):
        self.write("_pytest/__init__.py", "")
        self.write("_pytest/runner.py", RUNNER)
        self.model(text=PYTEST)
        self.assertEqual(self.run_it()[0], 1)
        tests = self.findings()["recording"]["tests"]
        self.assertEqual([(test["name"], test["fits"]) for test in tests], [("test_it.py::small", True), ("test_it.py::large", False)])

    def test_many_tests_stay_on_one_screen(self):
        """What does not fit comes first, the rest is counted."""
        self.write("_pytest/__init__.py", "")
        self.write("_pytest/runner.py", RUNNER)
        self.model(text=PYTEST.replace("(small, large)", "[small] * 40 + [large]").replace('function.__name__', 'function.__name__ + "[%s]" % id(object())'))
        code, out, err = self.run_it()
        rows = [line for line in (out + err).splitlines() if "test_it.py::" in line]
        self.assertEqual(len([row for row in rows if "test_it.py::small" in row]), 7, out + err)
        self.assertIn("test_it.py::large", rows[1], rows)
        self.assertIn("and 33 more", out + err)
        self.assertEqual(len(self.findings()["recording"]["tests"]), 41)

    def test_fit_has_a_table_of_tests(self):
        self.model(text=CASES + "\nunittest.main()\n")
        run = subprocess.run([TTMEM, "fit", "--board", "n150,p150", "--json", "--", sys.executable, "model.py"], cwd=self.dir, env=self.env,
                             capture_output=True, text=True, timeout=120)
        boards = json.loads(run.stdout)["boards"]
        self.assertEqual([board["fits"] for board in boards], [False, False], run.stderr)
        self.assertEqual([board["incident"]["needed_per_bank_B"] for board in boards], [1 << 18] * 2)  # not what test_5 caught
        for board in boards:
            self.assertEqual([test["fits"] for test in board["tests"]], [True, False, True, None, True, None])
        run = subprocess.run([TTMEM, "fit", "--board", "n150,p150", "--", sys.executable, "model.py"], cwd=self.dir, env=self.env,
                             capture_output=True, text=True, timeout=120)
        self.assertRegex(run.stdout, r"test_2_too_large +no, 1\.00 +no, 1\.00")

    def test_fit_says_how_long_it_takes(self):
        self.model(text="import os, time, ttnn\nif not os.path.exists('slept'):\n    open('slept', 'w').close()\n    time.sleep(6)\n"
                        "device = ttnn.open_mesh_device(2)\nx = ttnn.empty(4096, device)\n")
        run = subprocess.run([TTMEM, "fit", "--jobs", "1", "--board", "n150,p150,p100", "--", sys.executable, "model.py"], cwd=self.dir, env=self.env,
                             capture_output=True, text=True, timeout=120)
        lines = [line for line in run.stderr.splitlines() if "running" in line]
        self.assertEqual(lines[0], "ttmem: n150, 1 of 3: running")
        self.assertRegex(lines[1], r"^ttmem: p150, 2 of 3: running, at most \d+ s left$")


class Devices(Case):
    """Of how many chips a figure is, and what differs between them."""

    def said(self):
        return next((s for s in self.findings()["statements"] if s["id"] == "peak.devices"), None)

    def test_one_chip_says_nothing(self):
        self.model()
        self.run_it()
        self.assertIsNone(self.said())

    def test_a_mesh(self):
        self.model(text="import ttnn\nmesh = ttnn.open_mesh_device(8)\nx = ttnn.empty(4096, mesh)\n")
        _, _, err = self.run_it()
        self.assertEqual(self.said()["headline"], "A mesh of 8 chips that hold the same: figures are of one chip")
        self.assertIn("A mesh of 8 chips", err)
        self.assertEqual(self.findings()["recording"]["devices"][0]["chips"], list(range(8)))

    def test_submeshes_that_differ_are_shown_apart(self):
        self.model(text="import ttnn\nmesh = ttnn.open_mesh_device(8)\nparts = mesh.create_submeshes(2)\n"
                        "held = [ttnn.empty(size, part) for size, part in zip((4096, 8192, 4096, 4096), parts)]\n")
        self.run_it()
        rows = [point["text"] for point in self.said()["points"]]
        self.assertEqual(len(rows), 2, rows)
        self.assertIn("and 2 alike, 2 chips that hold the same: DRAM peak 4.0 KB", rows[0])
        self.assertIn("8.0 KB", rows[1])

    def test_every_opening_is_a_run(self):
        self.model(text="import ttnn\nfor n in (1, 3, 2):\n    device = ttnn.open_device(0)\n    x = [ttnn.empty(4096, device) for _ in range(n)]\n"
                        "    del x\n    ttnn.close_device(device)\n")
        self.run_it()
        self.assertEqual([device["peak_dram_per_bank_B"] for device in self.findings()["recording"]["devices"]], [4096, 3 * 4096, 2 * 4096])
        self.assertIn("1 device opened 3 times", self.said()["headline"])

    def test_all_processes_are_in_the_report(self):
        self.model(text="import multiprocessing, sys\ndef work(n):\n    import ttnn\n    device = ttnn.open_device(0)\n"
                        "    x = [ttnn.empty(4096, device) for _ in range(n)]\n    del x\n    ttnn.close_device(device)\n"
                        "if __name__ == '__main__':\n    context = multiprocessing.get_context('spawn')\n"
                        "    for n in (1, 3):\n        p = context.Process(target=work, args=(n,))\n        p.start()\n        p.join()\n")
        _, _, err = self.run_it()
        self.assertIn("by 2 processes", self.said()["headline"], err)
        self.assertEqual([(device["process"], device["peak_dram_per_bank_B"]) for device in self.findings()["recording"]["devices"]],
                         [(0, 4096), (1, 3 * 4096)])


if __name__ == "__main__":
    unittest.main()
