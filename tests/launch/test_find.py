#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`ttmem fit --find` around a Python program that uses ttnn, here a fake one: the boundary is exact, and answers of earlier runs are used as long as
nothing that the program read has changed. Real ttnn: tests/ttnn/once_find.py."""
import glob
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TESTS = pathlib.Path(__file__).resolve().parent.parent
TTMEM = os.path.abspath(os.environ.get("TTMEM", "build/bin/ttmem"))
FAKE = TESTS / "launch/fake_ttnn/site-packages"
PATIENCE = 120  # only bounds a hang
MODEL = """import json, os, sys, ttnn
import config

with open("settings.json") as f:
    layers = json.load(f)["layers"]
device = ttnn.open_device(device_id=0)
kept = [ttnn.empty(config.SIZE, device) for i in range(int(sys.argv[1]) * layers * int(os.environ.get("TIMES", "1")))]
with open("own.log", "a") as f:
    f.write("ran\\n")
ttnn.close_device(device)
"""
BANK = 1 << 20  # of the fake


class Find(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="ttmem-find-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("TT_", "TTNN_", "PYTHON", "XDG_")) and k != "VIRTUAL_ENV"}
        os.makedirs(self.dir + "/site-packages")
        shutil.copytree(FAKE / "ttnn", self.dir + "/site-packages/ttnn")
        shutil.copytree(FAKE / "ttnn-0.81.1.dist-info", self.dir + "/site-packages/ttnn-0.81.1.dist-info")
        self.env.update(PYTHONPATH=self.dir + "/site-packages", PYTHONDONTWRITEBYTECODE="1", LC_ALL="C.UTF-8", TMPDIR=self.dir + "/tmp", TTMEM_HOME=self.dir + "/home")
        os.mkdir(self.dir + "/tmp")
        self.write("model.py", MODEL)
        self.write("config.py", "SIZE = 65536\n")
        self.write("settings.json", '{"layers": 1}')

    def write(self, name, text):
        with open(os.path.join(self.dir, name), "w") as f:
            f.write(text)

    def find(self, *options, board="n150", values="N=1..100"):
        """(the only result, how many runs there were)"""
        before = self.runs()
        command = [TTMEM, "fit", "--json", "--board", board, "--find", values, *options, "--", sys.executable, "model.py", "{N}"]
        run = subprocess.run(command, cwd=self.dir, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        said = json.loads(run.stdout)
        ran = run.stderr.count(": run ")
        result, = said["results"]
        self.assertEqual(said["confidence"]["answers_of_earlier_runs"] + ran, len(result["runs"]))
        self.assertLessEqual(self.runs() - before, ran)  # those that were refused memory write nothing
        return result, ran

    def runs(self):
        try:
            with open(self.dir + "/own.log") as f:
                return len(f.readlines())
        except FileNotFoundError:
            return 0

    def entries(self):
        return glob.glob(self.dir + "/home/cache/fit/*.json")

    def test_the_boundary(self):
        result, ran = self.find()
        self.assertEqual((result["largest"], result["refused"]), (BANK // 65536, BANK // 65536 + 1))
        self.assertEqual((result["memory"], result["operation"], result["at"]), ("DRAM", "ttnn.empty", "model.py:7"))
        self.assertEqual(result["step_dram_per_bank_B"], 65536)
        self.assertEqual(ran, 5)
        self.assertEqual([r["value"] for r in result["runs"]], [1, 100, 2, 16, 17])

    def test_answers_are_kept(self):
        first, ran = self.find()
        self.assertEqual(len(self.entries()), ran)
        again, ran = self.find()
        self.assertEqual(ran, 0)
        self.assertEqual(again, first)
        self.assertEqual(self.find("--no-cache")[1], 5)
        self.assertEqual(self.find(board="p150")[1], 5)
        wider, ran = self.find(values="N=1..200")
        self.assertEqual((wider["largest"], ran), (16, 1))  # 200 is new
        self.assertEqual(os.listdir(self.dir + "/home/cache/tmp"), [])

    def test_no_answer_outlives_a_change(self):
        self.find()
        for name, text, largest in (
            ("config.py", "SIZE = 131072\n", 8),  # a module
            ("settings.json", '{"layers": 2}', 4),  # a file that it opened
            ("model.py", MODEL.replace("int(sys.argv[1])", "2 * int(sys.argv[1])"), 2),
        ):
            with self.subTest(name):
                self.write(name, text)
                result, ran = self.find()
                self.assertEqual((result["largest"], ran > 0), (largest, True))
                self.assertEqual(self.find()[1], 0)
        self.env["TIMES"] = "2"
        self.assertEqual(self.find()[0]["largest"], 1)
        package = self.dir + "/site-packages/ttnn/__init__.py"
        with open(package, "a") as f:
            f.write("# another version\n")
        self.assertGreater(self.find()[1], 0)

    def test_a_damaged_entry_is_ignored(self):
        first, ran = self.find()
        for damage in (
            lambda text: text[: len(text) // 2],
            lambda text: "",
            lambda text: text.replace('"fits":2', '"fits":1').replace('"dram_peak":', '"dram_peak":9'),
            lambda text: "\0" * len(text),
            lambda text: text + "{}",
            lambda text: text.replace("model.py", "other.py"),
        ):
            for path in self.entries():
                with open(path) as f:
                    text = f.read()
                with open(path, "w") as f:
                    f.write(damage(text))
            self.assertEqual(self.find(), (first, ran))
        for path in self.entries():
            os.unlink(path)
            os.mkdir(path)
        self.assertEqual(self.find(), (first, ran))

    def test_a_cache_that_cannot_be_written_is_no_failure(self):
        self.write("home", "no folder")
        self.assertEqual([self.find()[1], self.find()[1]], [5, 0])  # there is TMPDIR

    def test_what_is_unknown_is_not_kept(self):
        self.write("model.py", MODEL + "sys.exit(3)\n")
        command = [TTMEM, "fit", "-q", "--json", "--board", "n150", "--find", "N=1..3", "--", sys.executable, "model.py", "{N}"]
        for _ in range(2):
            run = subprocess.run(command, cwd=self.dir, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(run.returncode, 2, run.stderr)
            said = json.loads(run.stdout)
            self.assertEqual((said["results"][0]["statement"], said["confidence"]["answers_of_earlier_runs"]), ("find.unknown", 0))
        self.assertEqual(self.entries(), [])


if __name__ == "__main__":
    unittest.main()
