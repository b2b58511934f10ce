#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/test-ttnn leaves alone what is not its own: folders it did not make, shared memory that somebody uses. ttnn itself is not needed."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["TTMEM_SOURCE"])
SHM = pathlib.Path("/dev/shm")
PATIENCE = 300  # only bounds a hang
CHECK = """import mmap, os, pathlib, sys, time
left, used, holder = map(pathlib.Path, {paths!r})
for path in (left, used):
    path.write_bytes(b"x" * mmap.PAGESIZE)
with open(used, "r+b") as file:
    held = mmap.mmap(file.fileno(), 0)
pid = os.fork()  # somebody else's program, which goes on
if pid == 0:
    os.closerange(0, 3)
    time.sleep(1000)
holder.write_text(str(pid))
print("the check ran")
"""


class TestTtnn(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ttmem-scripts-")
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def run_it(self, *checks):
        env = {**os.environ, "TTMEM_TTNN_DIR": str(self.dir / "venv")}
        return subprocess.run([SOURCE / "scripts/test-ttnn", *checks], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)

    def test_a_folder_of_the_users_stays(self):
        (self.dir / "venv").mkdir()
        (self.dir / "venv/precious").write_text("mine")
        done = self.run_it()
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("was not made by scripts/test-ttnn", done.stderr)
        self.assertEqual((self.dir / "venv/precious").read_text(), "mine")

    def make_venv(self, mark):
        """As if ttnn had been brought there."""
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", self.dir / "venv"], check=True, timeout=PATIENCE)
        version = next(line for line in (SOURCE / "tests/ttnn.in").read_text().splitlines() if line.startswith("ttnn=="))
        (self.dir / "venv" / mark).write_text(version.partition("==")[2] + "\n")
        pip = self.dir / "venv/bin/pip"
        pip.write_text("#!/bin/sh\nexit 0\n")
        pip.chmod(0o755)

    def test_a_folder_of_the_script_of_before_is_its_own(self):
        self.make_venv(".ready")
        check = self.dir / "once_check.py"
        check.write_text("print('the check ran')\n")
        done = self.run_it(check)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("the check ran", done.stdout)
        self.assertTrue((self.dir / "venv/.made-by-ttmem").exists())

    @unittest.skipUnless(SHM.is_dir(), "no /dev/shm")
    def test_only_unused_segments_of_its_own_time_go(self):
        self.make_venv(".made-by-ttmem")
        older, left, used = (SHM / ("sm_segment.ttmem-test.%d.%s" % (os.getpid(), name)) for name in ("older", "left", "used"))
        for path in (older, left, used):
            self.addCleanup(path.unlink, missing_ok=True)
        older.write_bytes(b"x")
        holder = self.dir / "holder"
        self.addCleanup(lambda: holder.exists() and os.kill(int(holder.read_text()), signal.SIGKILL))
        check = self.dir / "once_check.py"
        check.write_text(CHECK.format(paths=[str(left), str(used), str(holder)]))
        done = self.run_it(check)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("the check ran", done.stdout)
        self.assertEqual([path.exists() for path in (older, left, used)], [True, False, True])


if __name__ == "__main__":
    unittest.main()
