#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory of the host in recordings of `ttmem run`: where it grew, and how programs that die of it are explained. The programs run on a stand-in of ttnn;
their memory and their deaths are real. TTMEM names the program."""

import glob
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

TTMEM = os.path.abspath(os.environ.get("TTMEM", "build/bin/ttmem"))
FAKE = pathlib.Path(__file__).resolve().parent / "fake_ttnn" / "site-packages"
PATIENCE = 300  # only bounds a hang
MB = 1 << 20
HEAD = """import os, resource, signal, subprocess, sys, time
import ttnn
device = ttnn.open_device(device_id=0)
x = ttnn.empty(2048, device)
def grow(n):
    return [(b"x" * (1 << 20), time.sleep(0.002))[0] for _ in range(n)]  # grow: slowly, so that a busy machine sees it here
"""
GROW_LINE = next(n for n, line in enumerate(HEAD.splitlines(), 1) if "# grow" in line)
END = "ttnn.close_device(device)\n"


def control_group():
    """A folder for a control group inside our own, and the file of its limit; None where that is not allowed."""
    with open("/proc/self/cgroup") as f:
        groups = [line.strip().split(":", 2) for line in f]
    for _, controllers, path in groups:
        if controllers == "memory":
            return "/sys/fs/cgroup/memory%s/ttmem-test-%d" % (path, os.getpid()), "memory.limit_in_bytes"
    return "/sys/fs/cgroup%s/ttmem-test-%d" % (groups[-1][2], os.getpid()), "memory.max"


class Host(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="ttmem-host-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("TT_", "TTNN_", "PYTHON")) and k != "VIRTUAL_ENV"}
        self.env.update(PYTHONPATH=str(FAKE), PYTHONDONTWRITEBYTECODE="1", LC_ALL="C.UTF-8", TMPDIR=self.dir)

    def run_it(self, tail, status=0, head=HEAD):
        with open(os.path.join(self.dir, "model.py"), "w") as f:
            f.write(head + tail)
        command = [TTMEM, "run", "--no-html", "--", sys.executable, "model.py"]
        run = subprocess.run(command, cwd=self.dir, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
        self.err = run.stderr
        self.assertEqual(run.returncode, status, run.stdout[-2000:] + run.stderr[-2000:])
        found = glob.glob(self.dir + "/logs/*/*_findings.json")
        if not found:
            return None
        with open(found[0]) as f:
            findings = json.load(f)
        self.told = [s for s in findings["statements"] if s["topic"] == "host"]
        return findings["recording"]["host"]

    def grew(self, host):
        """What the lines of the program added. A busy machine sees growth late and gives it to the line that runs then, so only the sum is certain."""
        own = {row["line"]: row["grew_B"] for row in host["lines"] if row["line"].startswith("model.py:")}
        self.assertIn("model.py:%d" % GROW_LINE, own)
        return sum(own.values())

    def test_growth_by_line(self):
        host = self.run_it("kept = [grow(120)]\ny = ttnn.relu(x)\nkept.append(grow(80))\ntime.sleep(0.3)\nkept.clear()\ntime.sleep(0.3)\n" + END)
        self.assertEqual([s["id"] for s in self.told], ["host.peak"])
        self.assertGreater(self.grew(host), 120 * MB)
        self.assertGreater(host["peak_B"], 200 * MB)
        self.assertLess(host["last_B"], host["peak_B"] - 150 * MB)
        self.assertGreater(max(size for _, size in host["timeline"]), host["peak_B"] - 60 * MB)
        self.assertEqual((host["signal"], host["oom_kills"]), (0, 0))
        self.assertIn("not of the board", self.told[0]["headline"])
        self.assertIn("HOST ", self.err)

    def test_processes_add_up(self):
        child = "import time; a = b'x' * (150 << 20); time.sleep(2.5)"
        host = self.run_it("subprocess.run([sys.executable, '-c', %r])\n" % child + END)
        self.assertGreater(host["peak_B"], 150 * MB)

    def test_a_program_sees_nothing_of_it(self):
        host = self.run_it("import threading\nassert threading.active_count() == 1 and len(threading.enumerate()) == 1\n" + END)
        self.assertTrue(host)

    def test_killed_for_another_reason(self):
        host = self.run_it("a = grow(60)\ntime.sleep(2.5)\nos.kill(os.getpid(), signal.SIGKILL)\n", status=128 + signal.SIGKILL)
        self.assertEqual(host["signal"], signal.SIGKILL)
        self.assertEqual([(s["id"], s["severity"]) for s in self.told], [("host.killed-otherwise", "warning")])
        self.assertIn("model.py:%d" % (len(HEAD.splitlines()) + 2), self.told[0]["headline"])

    def test_no_more_address_space(self):
        tail = "resource.setrlimit(resource.RLIMIT_AS, (600 << 20, 600 << 20))\nkept = []\nfor _ in range(40):\n    kept.append(grow(40))\n    time.sleep(0.06)\n"
        host = self.run_it(tail, status=1)
        self.assertEqual([(s["id"], s["severity"]) for s in self.told], [("host.refused", "failure")], self.told)
        self.assertIn("MemoryError", self.told[0]["headline"])
        self.assertGreater(self.grew(host), 100 * MB)

    def in_group(self, limit):
        """Lines that put the program into a control group of its own."""
        folder, name = control_group()
        try:
            os.mkdir(folder)
            self.addCleanup(os.rmdir, folder)
            with open(os.path.join(folder, name), "w") as f:
                f.write(str(limit))
            with open(os.path.join(folder, "cgroup.procs")) as f:
                f.read()
        except OSError as error:
            self.skipTest("no control group can be made here: %s" % error)
        return "open(%r, 'w').write(str(os.getpid()))\ntime.sleep(1.3)\n" % (folder + "/cgroup.procs")

    def test_the_kernel_kills_it(self):
        tail = self.in_group(400 * MB) + "kept = []\nfor _ in range(40):\n    kept.append(grow(40))\n    time.sleep(0.06)\n"
        host = self.run_it(tail, status=128 + signal.SIGKILL)
        self.assertEqual([(s["id"], s["severity"]) for s in self.told], [("host.killed", "failure")], self.told)
        self.assertGreaterEqual(host["oom_kills"], 1)
        self.assertEqual(host["cgroup_limit_B"], 400 * MB)
        self.assertGreater(self.grew(host), 200 * MB)
        self.assertIn("its control group allows 400.0 MB", self.told[0]["headline"])

    def test_killed_before_there_is_a_device(self):
        head = "import os, time\n" + self.in_group(200 * MB) + "kept = []\nfor _ in range(40):\n    kept.append(b'x' * (40 << 20))\n    time.sleep(0.06)\n"
        self.run_it("", status=128 + signal.SIGKILL, head=head)
        self.assertIn("the host ran out of memory, not the device", self.err)


if __name__ == "__main__":
    unittest.main()
