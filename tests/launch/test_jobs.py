#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`ttmem fit` runs boards side by side: what it says and keeps is what it says and keeps with one board after the other. ttnn is a fake here."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TESTS = pathlib.Path(__file__).resolve().parent.parent
TTMEM = os.path.abspath(os.environ.get("TTMEM", "build/bin/ttmem"))
FAKE = TESTS / "launch/fake_ttnn/site-packages"
PATIENCE = 120  # only bounds a hang
ONE_CHIP = "device = ttnn.open_device(device_id=0)\n"
MESH = "device = ttnn.open_mesh_device(2)\n"
BEGIN = "import os, signal, sys, time\nbegan = time.monotonic()\n"
NAP = "time.sleep(0.1)\n"
ALLOCATE = "kept = [ttnn.empty(65536, device) for i in range(int(sys.argv[1]))]\n"
END = "with open('times', 'a') as f:\n    f.write('%r %r\\n' % (began, time.monotonic()))\n"
PLAIN = BEGIN + "import ttnn\n" + NAP


class Jobs(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="ttmem-jobs-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("TT_", "TTNN_", "PYTHON", "XDG_")) and k != "VIRTUAL_ENV"}
        self.env.update(PYTHONPATH=str(FAKE), PYTHONDONTWRITEBYTECODE="1", LC_ALL="C.UTF-8", TTMEM_HOME=self.dir + "/home")

    def fit(self, jobs, *words, program=PLAIN + ONE_CHIP + ALLOCATE + END):
        with open(self.dir + "/model.py", "w") as f:
            f.write(program)
        self.env["TTMEM_HOME"] = self.dir + "/home%d" % jobs
        run = subprocess.run([TTMEM, "fit", "--jobs", str(jobs), "--no-history", *words], cwd=self.dir, env=self.env, stdin=subprocess.DEVNULL,
                             capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(os.listdir(self.env["TTMEM_HOME"] + "/cache/tmp"), [])
        return run

    def both(self, *words, **more):
        """One board after the other, and four at once: the same."""
        one, four = (self.fit(jobs, *words, **more) for jobs in (1, 4))
        self.assertEqual((four.returncode, four.stdout), (one.returncode, one.stdout), four.stderr)
        return json.loads(one.stdout)

    def times(self):
        with open(self.dir + "/times") as f:
            rows = sorted(tuple(map(float, line.split())) for line in f)
        os.unlink(self.dir + "/times")
        return rows

    def test_the_answers_are_the_same(self):
        command = ["--json", "--", sys.executable, "model.py"]
        boards = self.both(*command, "3")["boards"]
        self.assertEqual([b["fits"] for b in boards], [True] * 7)
        self.assertEqual([b["fits"] for b in self.both(*command, "17")["boards"]], [False] * 7)
        self.both(*command, "3", program=PLAIN + MESH + ALLOCATE)  # every board runs
        self.both(*command, "3", program=PLAIN + ALLOCATE)         # fails on every board

    def test_what_ends_before_ttnn_ends_the_series(self):
        first = self.both("--json", "--", sys.executable, "model.py", "3", program=BEGIN + NAP + "import nothing_there\n")["boards"]
        self.assertEqual([b["fits"] for b in first], [None] * 7)
        self.assertIn("not run", first[1]["why_unknown"])

    def test_boards_overlap_in_time(self):
        command = ["--board", "n150,p100,p150", "--", sys.executable, "model.py", "1"]
        program = PLAIN + ONE_CHIP + "time.sleep(2)\n" + ALLOCATE + END
        self.fit(1, *command, program=program)
        rows = self.times()
        self.assertEqual(len(rows), 3)
        self.assertTrue(all(a[1] <= b[0] for a, b in zip(rows, rows[1:])), rows)
        self.fit(3, *command, program=program)
        rows = self.times()
        self.assertTrue(any(a[1] > b[0] for a, b in zip(rows, rows[1:])), rows)

    def test_each_chip_runs_once(self):
        run = self.fit(7, "--", sys.executable, "model.py", "1")
        self.assertEqual(len(self.times()), 4)
        running = [line for line in run.stderr.splitlines() if "running" in line]
        self.assertEqual([line.split(",")[0] for line in running], ["ttmem: " + b for b in ("n150", "galaxy", "p100", "p150")])

    def test_a_board_that_fails_hides_no_other(self):
        program = PLAIN + ONE_CHIP + "if not os.path.exists('first'):\n    open('first', 'w').close()\n    os.kill(os.getpid(), signal.SIGKILL)\n" + "time.sleep(1)\n" + ALLOCATE
        said = json.loads(self.fit(1, "--json", "--board", "n150,p150", "--", sys.executable, "model.py", "1", program=program).stdout)
        self.assertEqual([b["fits"] for b in said["boards"]], [None, True])
        os.unlink(self.dir + "/first")
        said = json.loads(self.fit(2, "--json", "--board", "n150,p150", "--", sys.executable, "model.py", "1", program=program).stdout)
        self.assertEqual(sorted(str(b["fits"]) for b in said["boards"]), ["None", "True"])

    def test_find(self):
        words = ["--json", "--board", "n150,p150", "--find", "N=8..24", "--find", "M=1,2", "--", sys.executable, "model.py", "{N}", "{M}"]
        said = self.both(*words, program=PLAIN + ONE_CHIP + ALLOCATE)
        self.assertEqual([(r["board"], r["largest"]) for r in said["results"]], [(b, 16) for b in ("n150", "p150") for _ in range(2)])
        kept = [sorted(os.listdir(self.dir + "/home%d/cache/fit" % jobs)) for jobs in (1, 4)]
        self.assertEqual(kept[0], kept[1])
        for name in kept[0]:
            texts = [pathlib.Path(self.dir, "home%d/cache/fit" % jobs, name).read_text() for jobs in (1, 4)]
            self.assertEqual(*texts)
        again = self.both(*words, program=PLAIN + ONE_CHIP + ALLOCATE)
        self.assertEqual(again["results"], said["results"])
        self.assertEqual(again["confidence"]["answers_of_earlier_runs"], len(kept[0]))

    def test_find_with_values_the_program_does_not_take(self):
        refuses = BEGIN + "if sys.argv[1] in ('1', '30'): sys.exit('no such value')\nimport ttnn\n" + NAP + ONE_CHIP + ALLOCATE
        self.both("--json", "--board", "n150,p150,n300", "--find", "N=1..30", "--", sys.executable, "model.py", "{N}", program=refuses)
        refuses = refuses.replace("('1', '30')", "('1',)")
        self.both("--json", "--board", "n150,p150,n300", "--find", "N=1..30", "--", sys.executable, "model.py", "{N}", program=refuses)

    def test_standard_input_is_read_once(self):
        program = PLAIN + "n = sys.stdin.read()\n" + ONE_CHIP + "kept = [ttnn.empty(65536, device) for i in range(int(n or 2))]\n"
        with open(self.dir + "/model.py", "w") as f:
            f.write(program)
        said = [subprocess.run([TTMEM, "fit", "-q", "--json", "--no-history", "--jobs", jobs, "--board", "n150,p100,p150", "--", sys.executable, "model.py"], cwd=self.dir,
                               env=self.env, input="5", capture_output=True, text=True, timeout=PATIENCE).stdout for jobs in "13"]
        self.assertEqual(*said)
        self.assertEqual([b["peak_dram_per_bank_B"] // 65536 for b in json.loads(said[0])["boards"]], [5, 2, 2])

    def test_a_request_to_end_ends_all(self):
        slow = PLAIN + "with open('pids', 'a') as f: f.write('%d\\n' % os.getpid())\n" + ONE_CHIP + "time.sleep(1000)\n"
        with open(self.dir + "/model.py", "w") as f:
            f.write(slow)
        for number, words in ((signal.SIGINT, []), (signal.SIGTERM, []), (signal.SIGINT, ["--find", "N=1..9"])):
            with self.subTest(number, words=words):
                run = subprocess.Popen([TTMEM, "fit", "--jobs", "3", "--board", "n150,p100,p150", *words, "--", sys.executable, "model.py", "{N}"], cwd=self.dir,
                                       env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
                pids, end = [], time.monotonic() + PATIENCE
                try:
                    while len(pids) < 3 and time.monotonic() < end and run.poll() is None:
                        time.sleep(0.05)
                        pids = pathlib.Path(self.dir, "pids").read_text().split() if os.path.exists(self.dir + "/pids") else []
                    self.assertEqual(len(pids), 3)
                    run.send_signal(number)
                    err = run.communicate(timeout=PATIENCE)[1]
                    self.assertEqual(run.returncode, 128 + number, err)
                    self.assertIn("stopped", err)
                    self.assertEqual([p for p in pids if os.path.exists("/proc/" + p)], [])
                    self.assertEqual(os.listdir(self.env["TTMEM_HOME"] + "/cache/tmp"), [])
                finally:
                    if run.poll() is None:
                        os.killpg(run.pid, signal.SIGKILL)
                        run.wait()
                os.unlink(self.dir + "/pids")


if __name__ == "__main__":
    unittest.main()
