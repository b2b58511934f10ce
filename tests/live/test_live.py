#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ttmem live on files that the test writes: what is printed, recorded, raised as an alarm and shown on the screen."""
import glob
import json
import os
import pty
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

from segments import Segment

sys.path.insert(0, os.path.join(os.environ["TTMEM_SOURCE"], "tests"))
import terminal  # noqa: E402

TTMEM = os.environ["TTMEM"]
SOURCE = os.environ["TTMEM_SOURCE"]
WAIT = 120  # only ever waited for in full when something is wrong
DEVICE_KEYS = ["device_id", "asic_id", "dram_B", "l1_B", "l1_small_B", "trace_B", "cb_B", "board", "mock", "idle", "chips", "processes"]
N150_DRAM = (1073741824 - 1048640) * 12


def until(condition, what):
    end = time.monotonic() + WAIT
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("waited in vain for " + what)
        time.sleep(0.02)


class Case(unittest.TestCase):
    def setUp(self):
        self.work = tempfile.mkdtemp(prefix="ttmem-live-")
        self.addCleanup(shutil.rmtree, self.work)
        self.shm = os.path.join(self.work, "shm")
        os.mkdir(self.shm)
        self.env = {**os.environ, "TTMEM_SHM_DIR": self.shm, "TTMEM_HOME": os.path.join(self.work, "home"), "LC_ALL": "C.UTF-8"}
        self.env.pop("TT_METAL_MOCK_CLUSTER_DESC_PATH", None)

    def child(self, **env):
        """A process that lives until the test ends."""
        process = subprocess.Popen(["sleep", "1000"], env={**self.env, **env})
        self.addCleanup(lambda: (process.kill(), process.wait()))
        return process

    def run_live(self, *args, status=0):
        done = subprocess.run([TTMEM, "live", *args], env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=WAIT)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def start_live(self, *args):
        process = subprocess.Popen([TTMEM, "live", *args], env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (process.kill(), process.wait(), process.stdout.close(), process.stderr.close()))
        return process

    def devices(self, *args):
        return json.loads(self.run_live("--once", "--json", *args).stdout)["devices"]


class Live(Case):
    # ---- One look

    def test_json(self):
        a, b = self.child(), self.child()
        chip = Segment(self.shm, 17716556166399396846, 3)
        chip.hold(0, a.pid, dram=8388608, l1=2097152, cb=786432, trace=5, l1_small=7)
        chip.hold(2, b.pid, b'na"me\n\xff', dram=1000)
        Segment(self.shm, 7, 0)
        devices = self.devices()
        self.assertEqual([list(d) for d in devices], [DEVICE_KEYS] * 2)
        self.assertEqual([d["device_id"] for d in devices], [0, 3])
        idle, used = devices
        self.assertEqual(idle["processes"], [])
        self.assertEqual({k: v for k, v in used.items() if k != "processes"}, {"device_id": 3, "asic_id": 17716556166399396846,
                         "dram_B": 8389608, "l1_B": 2097152, "l1_small_B": 7, "trace_B": 5, "cb_B": 786432, "board": None, "mock": False, "idle": False, "chips": []})
        self.assertTrue(idle["idle"])
        self.assertEqual(used["processes"][0], {"pid": a.pid, "name": "python", "alive": True, "dram_B": 8388608, "l1_B": 2097152,
                                                "l1_small_B": 7, "trace_B": 5, "cb_B": 786432})
        self.assertEqual((used["processes"][1]["pid"], used["processes"][1]["name"]), (b.pid, 'na"me\n\ufffd'))

    def test_the_dead_are_marked_and_not_counted(self):
        a, b = self.child(), self.child()
        chip = Segment(self.shm)
        chip.hold(0, a.pid, dram=100)
        chip.hold(1, b.pid, dram=10)
        chip.hold(2, self.child().pid, dram=7, updated=10**18)  # the number of a process that began later: not the writer
        self.assertEqual(self.devices()[0]["dram_B"], 110)
        a.kill()  # and not waited for: a zombie
        until(lambda: self.devices()[0]["dram_B"] == 10, "the death")
        processes = self.devices()[0]["processes"]
        self.assertEqual([p["alive"] for p in processes], [False, True, False])
        self.assertEqual(processes[0]["dram_B"], 100)
        a.wait()
        self.assertEqual([p["alive"] for p in self.devices()[0]["processes"]], [False, True, False])
        text = self.run_live("--once", "--board", "n150").stdout
        self.assertRegex(text, r"%d +python \(dead, not counted\) +100 B" % a.pid)

    def test_text(self):
        Segment(self.shm, 5, 1).hold(0, self.child().pid, b"\x1b[31mred", dram=N150_DRAM // 2, l1=1 << 20)
        Segment(self.shm, 6, 2)
        text = self.run_live("--once", "--board", "n150").stdout
        self.assertRegex(text, r"Device 1, asic 5, n150\nDRAM +█{10}░{10}  50\.0 %  5\.99 GB of 11\.99 GB\n")
        self.assertIn("capacity set by the program", text)
        self.assertNotIn("Device 2", text)
        self.assertIn("Hidden    1 idle device not shown; --all shows them\n", text)
        self.assertIn("Device 2, asic 6, idle\n", self.run_live("--once", "--board", "n150", "--all").stdout)
        self.assertNotIn("\x1b", text)
        self.assertNotIn("peak", text)
        self.assertIn("capacity unknown", self.run_live("--once").stdout)
        self.assertIn("\x1b[32m", self.run_live("--once", "--board", "n150", "--color", "always").stdout)

    def test_mock_boards_beside_a_real_one(self):
        mock = {"TT_METAL_MOCK_CLUSTER_DESC_PATH": os.path.join(SOURCE, "boards/n150.yaml")}
        Segment(self.shm, 5, 1).hold(0, self.child(**mock).pid, dram=4096)
        self.assertIn("Device 1, asic 5, n150 (mock board)", self.run_live("--once").stdout)  # all there is
        Segment(self.shm, 6, 2).hold(0, self.child().pid, dram=8192)
        text = self.run_live("--once").stdout
        self.assertNotIn("Device 1", text)
        self.assertIn("Device 2", text)
        self.assertIn("1 mock device not shown", text)
        self.assertIn("Device 1", self.run_live("--once", "--all").stdout)
        self.assertEqual([(d["mock"], d["board"]) for d in self.devices()], [(True, "n150"), (False, None)])

    def test_remote_chips_behind_a_gateway(self):
        process, dead = self.child(), self.child()
        gateway = Segment(self.shm, 5, 0)
        gateway.hold(0, process.pid, dram=3000, l1=50, cb=7)
        gateway.count(0, False, dram=1000, l1=50, cb=7)
        gateway.count(1, True, dram=2000)
        text = self.run_live("--once").stdout
        self.assertRegex(text, r"Chip 0 +DRAM 1000 B, L1 50 B, L1_SMALL 0 B, TRACE 0 B, CB 7 B\nChip 1 +remote: DRAM 2\.0 KB, L1 0 B")
        self.assertEqual([(c["chip_id"], c["remote"], c["dram_B"]) for c in self.devices()[0]["chips"]], [(0, False, 1000), (1, True, 2000)])
        self.assertIn(' ttmem_chip_memory_bytes{device_id="0",asic_id="5",chip="1",'.strip(), self.metrics())
        gateway.hold(1, dead.pid, dram=500)
        gateway.chips[1] = (1, 1, [2500, 0, 0, 0, 0])
        gateway.write()
        self.assertEqual(len(self.devices()[0]["chips"]), 2)
        dead.kill()
        until(lambda: self.devices()[0]["dram_B"] == 3000, "the death")
        self.assertEqual(self.devices()[0]["chips"], [])  # they still count the dead

    def test_nothing_there(self):
        for args in ((), ("--json",)):
            done = self.run_live("--once", *args, status=2)
            self.assertIn("TT_METAL_SHM_TRACKING_DISABLED", done.stderr)
            self.assertEqual(done.stdout, '{"schema_version": 1, "devices": []}\n' if args else "")
        self.env["TTMEM_SHM_DIR"] = "/nowhere"
        self.assertIn("cannot read the folder '/nowhere'", self.run_live("--once", status=2).stderr)

    def test_files_not_to_trust(self):
        good = Segment(self.shm, 1)
        good.hold(0, self.child().pid, dram=5)
        Segment(self.shm, 2).write(good.bytes()[:100])
        other = bytearray(good.bytes())
        other[0] = 9
        Segment(self.shm, 3).write(other)
        Segment(self.shm, 4).write(good.bytes())  # says it is chip 1
        Segment(self.shm, 5).write(os.urandom(8576))
        Segment(self.shm, 6).write(b"\0" * 8576)
        os.symlink("/etc/passwd", os.path.join(self.shm, "tt_device_8_memory"))
        os.mkdir(os.path.join(self.shm, "tt_device_9_memory"))
        done = self.run_live("--once", "--json")
        self.assertEqual([(d["asic_id"], d["dram_B"]) for d in json.loads(done.stdout)["devices"]], [(1, 5)])
        for number, why in ((2, "has 100 of 8576 bytes"), (3, "layout version 9"), (4, "belongs to chip 1"), (5, "layout version|impossible"),
                            (6, "not initialized yet"), (8, "not a regular file"), (9, "not a regular file")):
            self.assertRegex(done.stderr, "tt_device_%d_memory .*(%s)" % (number, why))
        if os.geteuid() == 0:  # root reads everything: see it as somebody else
            os.chmod(self.work, 0o755)
            os.chmod(good.path, 0o600)
            program = shutil.copy(TTMEM, os.path.join(self.work, "ttmem"))  # the project may lie where only root looks
            env = {k: v for k, v in self.env.items() if k != "LSAN_OPTIONS"}  # names a file of the project
            try:
                done = subprocess.run([program, "live", "--once"], env=env, capture_output=True, text=True, user=65534, cwd="/")
            except PermissionError:
                self.skipTest("nobody can run no program here")
            self.assertIn("tt_device_1_memory belongs to user root: only that user and root may read it", done.stderr)
            self.assertEqual(done.returncode, 2)

    def test_wrong_usage(self):
        for args, why in ((["--interval", "0.01"], "from 0.1 to 3600"), (["--interval", "x"], "from 0.1"), (["--interval", "1.2.3s"], "from 0.1"), (["--interval", "0x1"], "from 0.1"),
                          (["--alarm", "90"], "90%"), (["--exec", "true"], "--alarm"), (["--board", "n151"], "no board 'n151'"),
                          (["--once", "--record", "x"], "--once"), (["file"], "unexpected argument")):
            self.assertIn(why, self.run_live(*args, status=2).stderr)

    # ---- Watching

    def test_lines(self):
        chip = Segment(self.shm, 9, 1)
        live = self.start_live("--interval", "100ms")  # seconds since the start, whatever the clock of the machine says
        self.assertRegex(live.stdout.readline(), r"^t=\d{1,5}\.\d{3} device=1 asic=9 dram=0 l1=0 l1_small=0 trace=0 cb=0 processes=0 dead=0$")
        process = self.child()
        chip.hold(0, process.pid, dram=4096, cb=7)
        self.assertRegex(live.stdout.readline(), r"device=1 asic=9 dram=4096 l1=0 l1_small=0 trace=0 cb=7 processes=1 dead=0$")
        chip.write(chip.bytes()[:77])  # torn: the last reading stays, and it is said once
        self.assertRegex(live.stderr.readline(), "tt_device_9_memory has 77 of")
        chip.write()
        process.kill()
        self.assertRegex(live.stdout.readline(), r"dram=0 .* processes=0 dead=1$")
        live.send_signal(signal.SIGINT)
        self.assertEqual(live.wait(WAIT), 0)
        self.assertEqual(live.stdout.read() + live.stderr.read(), "")

    def test_it_waits_for_a_device(self):
        live = self.start_live("--interval", "0.1", "--json")
        self.assertIn("no ttnn program has opened a device", live.stderr.readline())
        Segment(self.shm, 9).hold(0, self.child().pid, dram=4096)
        until_line = live.stdout.readline()
        self.assertEqual(list(json.loads(until_line)), ["schema_version", "seconds", "devices"])
        while json.loads(until_line)["devices"][0]["dram_B"] != 4096:  # the file may have been seen before its first slot
            until_line = live.stdout.readline()
        live.stdout.close()  # a reader that goes away is no error, and its end
        Segment(self.shm, 10)
        self.assertEqual(live.wait(WAIT), 0)

    def test_a_broken_file_is_told_once(self):
        broken = os.path.join(self.shm, "tt_device_5_memory")
        with open(broken, "w") as file:
            file.write("x")
        live = self.start_live()
        said = live.stderr.readline()
        while "Ctrl-C stops" not in said.splitlines()[-1]:
            said += live.stderr.readline()
        self.assertEqual(said.count("tt_device_5_memory"), 1, said)
        os.truncate(broken, 2)  # another problem is told again
        self.assertIn("has 2 of", live.stderr.readline())

    def test_recording(self):
        record = os.path.join(self.work, "run.live")
        chip, others = Segment(self.shm, 9, 0), []
        for how in (signal.SIGTERM, signal.SIGKILL):
            live = self.start_live("--record", record, "--board", "n150")
            live.stdout.readline()
            a, b = self.child(), self.child()
            others.append(b.pid)
            for step in range(6):
                chip.hold(0, a.pid, dram=(step + 1) * 120 << 20)
                live.stdout.readline()
            chip.hold(1, b.pid, b"other|<b>", dram=4800 << 20, l1=64 << 20)
            live.stdout.readline()
            chip.release(1)
            live.stdout.readline()
            live.send_signal(how)
            live.wait(WAIT)
            chip.release(0)
        with open(record, "a") as file:
            file.write("s 99999 0 12 13")  # as a crash leaves it
        done = subprocess.run([TTMEM, "analyze", record, "--name", "r"], env=self.env, capture_output=True, text=True, timeout=WAIT)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("samples of what processes hold, recorded by ttmem live", done.stdout)
        self.assertRegex(done.stdout, r"\nDRAM +█+.░+  45\.0 % 460\.0 of 1,023\.0 MB per bank, +5\.4 of 12\.0 GB per chip\n")
        self.assertRegex(done.stdout, r"\nPeak +DRAM peak 460\.0 of 1,023\.0 MB per bank \(45\.0 %%\), raised by #\d+\n +other\|<b>\[%d\] t = \d+\.\d{3} s \(log line \d+\)"
                         % others[0])
        folder = os.path.join(self.work, "home/reports/r")
        with open(os.path.join(folder, "r_findings.json")) as file:
            findings = json.load(file)
        self.assertEqual(findings["input"]["kind"], "live")
        self.assertTrue(findings["input"]["truncated"])
        self.assertEqual(findings["leaks"], [])
        for key in ("late_frees", "fragmentation", "waste_at_peak", "advice"):  # not known, which is not the same as none
            self.assertIsNone(findings[key], key)
        self.assertEqual(findings["peak"]["DRAM"]["allocated_per_bank_MB"], 460.0)
        self.assertRegex(findings["peak"]["DRAM"]["caused_by"]["loc"], r"^t = \d+\.\d{3} s$")
        page = os.path.join(folder, "r_report.html")
        self.assertGreater(os.path.getsize(page), 50000)
        again = subprocess.run([TTMEM, "html", record, "-o", os.path.join(self.work, "x.html")], env=self.env, capture_output=True, text=True, timeout=WAIT)
        self.assertEqual(again.returncode, 0, again.stderr)
        notes = os.path.join(self.work, "notes.txt")
        with open(notes, "w") as file:
            file.write("precious\n")
        self.assertIn("not written by ttmem live", self.run_live("--record", notes, status=2).stderr)

    def test_a_name_cannot_write_lines_of_its_own(self):
        record = os.path.join(self.work, "run.live")
        Segment(self.shm, 9, 0).hold(0, self.child().pid, b"x\nfull 1\r\x7f", dram=4096)
        live = self.start_live("--record", record)
        live.stdout.readline()
        live.send_signal(signal.SIGTERM)
        self.assertEqual(live.wait(WAIT), 0)
        with open(record) as file:
            self.assertRegex(file.read(), r"^ttmem-live 1\nstart .*\ndevice .*\nprocess 0 \d+ x\?full 1\?\?\ns .*\nend \d+\n$")

    def test_a_full_disk_ends_the_recording(self):
        record = os.path.join(self.work, "run.live")
        chip, process = Segment(self.shm, 9, 0), self.child()
        live = subprocess.Popen(["bash", "-c", "ulimit -f 1; exec '%s' live --interval 0.1 --record '%s'" % (TTMEM, record)], env=self.env,
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (live.kill(), live.wait(), live.stderr.close()))
        steps = iter(range(1, 1 << 30))
        until(lambda: chip.hold(0, process.pid, dram=next(steps) << 20) or live.poll() is not None, "the end at 1 KB")
        self.assertEqual(live.returncode, 2)
        self.assertRegex(live.stderr.read(), r"cannot write '.*run\.live': File too large")
        done = subprocess.run([TTMEM, "--llm", "--logfile", record], env=self.env, capture_output=True, text=True, timeout=WAIT)
        self.assertEqual(done.returncode, 0, done.stderr)  # what was written counts

    # ---- Alarms

    def test_alarm_ends_with_1(self):
        chip = Segment(self.shm, 9, 4)
        chip.hold(0, self.child().pid, dram=N150_DRAM // 2)
        self.run_live("--once", "--alarm", "dram:51%", "--board", "n150")
        done = self.run_live("--once", "--alarm", "50%", "--board", "n150", status=1)
        self.assertRegex(done.stdout, r"alarm: device 4: DRAM at 50\.0 % \(5\.99 GB of 11\.99 GB\), above 50 %; largest process: python\[\d+\]\n")
        live = self.start_live("--alarm", "dram:60%", "--board", "n150")
        live.stdout.readline()
        chip.hold(0, self.child().pid, dram=N150_DRAM * 3 // 4)
        self.assertEqual(live.wait(WAIT), 1)
        self.assertIn("alarm: device 4: DRAM at 75.0 %", live.stdout.read())
        done = self.run_live("--once", "--alarm", "1%")
        self.assertIn("does not cover 1 device: the board is unknown", done.stderr)

    def test_alarm_runs_a_command_at_each_crossing(self):
        out, pwned = os.path.join(self.work, "out"), os.path.join(self.work, "pwned")
        hostile = b"$(touch %s);`touch %s`'\"" % (b"pwned", b"pwned")
        process, chip = self.child(), Segment(self.shm, 9, 4)
        self.env["TTMEM_ALARM_PID"] = "forged"
        live = self.start_live("--alarm", "dram:90%", "--board", "n150", "--exec",
                               "cd '%s' && echo \"$TTMEM_ALARM_MEMORY $TTMEM_ALARM_DEVICE_ID $TTMEM_ALARM_PERCENT $TTMEM_ALARM_MARK $TTMEM_ALARM_PID $TTMEM_ALARM_PROCESS\" >>out" % self.work)

        def lines():
            if not os.path.exists(out):
                return []
            with open(out) as file:
                return file.read().splitlines()

        live.stdout.readline()
        for crossing, percents in enumerate(((95, 91, 97), (80, 92)), 1):
            for percent in percents:
                chip.hold(0, process.pid, hostile, dram=N150_DRAM * percent // 100)
                while "dram=%d " % (N150_DRAM * percent // 100) not in live.stdout.readline():
                    pass
            until(lambda: len(lines()) == crossing, "crossing %d" % crossing)
        self.assertEqual(lines(), ["DRAM 4 %s 90 %d %s" % (percent, process.pid, hostile.decode()) for percent in ("95.0", "92.0")])
        self.assertIsNone(live.poll())
        live.send_signal(signal.SIGINT)
        self.assertEqual(live.wait(WAIT), 0)
        self.assertFalse(os.path.exists(pwned))

    # ---- Files of other users

    def as_nobody(self, script):
        """A process of another user that lives until the test ends, in a folder where anybody may write. It says when it is ready."""
        if os.getuid():
            self.skipTest("needs root, to be somebody else")
        os.chmod(self.work, 0o755)
        os.chmod(self.shm, 0o1777)
        code = "import os, sys, time\nsys.path.insert(0, %r)\nfrom segments import Segment\nos.umask(0o022)\n%s\nprint('ready', flush=True)\ntime.sleep(1000)" % (os.path.dirname(os.path.abspath(__file__)), script)
        process = subprocess.Popen(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "/usr/bin/env", "python3", "-c", code], stdout=subprocess.PIPE, text=True, env={**self.env, "PYTHONDONTWRITEBYTECODE": "1"})
        self.addCleanup(lambda: (process.kill(), process.wait(), process.stdout.close()))
        if process.stdout.readline() != "ready\n":
            self.skipTest("nobody cannot run Python here")
        return process

    def test_a_file_that_names_anothers_process_is_not_believed(self):
        mine = self.child()
        other = self.as_nobody("Segment(%r, 1, 0).hold(0, %d, dram=%d)\nSegment(%r, 2, 1).hold(0, os.getpid(), dram=77)" % (self.shm, mine.pid, N150_DRAM, self.shm))
        done = self.run_live("--once", "--json")
        self.assertEqual([(d["asic_id"], d["dram_B"]) for d in json.loads(done.stdout)["devices"]], [(2, 77)])
        self.assertIn("tt_device_1_memory names process %d, which another user runs: not believed" % mine.pid, done.stderr)
        Segment(self.shm, 3, 2).hold(0, other.pid, dram=5)  # root may say what others hold
        self.assertEqual([d["asic_id"] for d in self.devices()], [2, 3])

    def test_a_file_that_others_can_write_is_not_believed(self):
        chip = Segment(self.shm, 4)
        chip.hold(0, self.child().pid, dram=5)
        os.chmod(chip.path, 0o666)
        done = self.run_live("--once", "--json", status=2)
        self.assertEqual(json.loads(done.stdout)["devices"], [])
        self.assertIn("may be written by other users", done.stderr)

    def test_the_claim_of_another_user_runs_no_command(self):
        ran = os.path.join(self.work, "ran")
        self.as_nobody("Segment(%r, 1, 0).hold(0, os.getpid(), dram=%d)" % (self.shm, N150_DRAM))
        live = self.start_live("--alarm", "dram:90%", "--board", "n150", "--exec", "echo $TTMEM_ALARM_ASIC_ID >>'%s'" % ran)
        while "alarm: device 0: DRAM at 100.0 %" not in live.stdout.readline():
            pass
        Segment(self.shm, 2, 1).hold(0, self.child().pid, dram=N150_DRAM)
        until(lambda: os.path.exists(ran), "the command for one's own")
        live.send_signal(signal.SIGINT)
        self.assertIn("the command of --exec is not run: the numbers are those of user 65534", live.communicate(timeout=WAIT)[1])
        with open(ran) as file:
            self.assertEqual(file.read(), "2\n")

    def test_thousands_of_files_hide_nothing_and_cost_little(self):
        process = self.as_nobody("s = Segment(%r, 1, 0)\ndata = s.bytes()\nfor i in range(2, 20000):\n    with open('%s/tt_device_%%d_memory' %% i, 'wb') as f:\n        s.asic_id = i\n        f.write(s.bytes() if i %% 100 == 0 else data)" % (self.shm, self.shm))
        Segment(self.shm, 20001, 7).hold(0, self.child().pid, dram=5)
        before = os.times()
        done = self.run_live("--once", "--json")
        after = os.times()
        devices = {d["asic_id"]: d["dram_B"] for d in json.loads(done.stdout)["devices"]}
        self.assertEqual(devices[20001], 5)
        self.assertLessEqual(len(devices), 256)
        self.assertRegex(done.stderr, r"has 19\d\d\d more files like those of chips: not read")
        self.assertLess(len(done.stderr.splitlines()), 300)
        self.assertIsNone(process.poll())
        self.assertLess(after.children_user + after.children_system - before.children_user - before.children_system, 2)  # a bound, no measure

    # ---- Prometheus

    def serve(self, *args):
        """The address of a server that runs until the test ends."""
        process = subprocess.Popen([TTMEM, "serve", "--port", "0", *args], env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (process.send_signal(signal.SIGINT), process.communicate(timeout=WAIT), self.assertEqual(process.returncode, 0)))
        return process.stdout.readline().strip()

    def metrics(self):
        url = self.serve("--metrics")
        with urllib.request.urlopen(url + "metrics", timeout=WAIT) as answer:
            self.assertEqual(answer.headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
            text = answer.read().decode()
        with urllib.request.urlopen(url, timeout=WAIT) as answer:
            self.assertIn("Memory reports", answer.read().decode())
        return text

    def judged(self, judge, text):
        """What a program with prometheus_client prints of the text."""
        python = os.path.join(SOURCE, "build/pytools/bin/python")
        if not os.path.exists(python):
            self.skipTest("no prometheus_client in build/pytools (scripts/setup test brings it): its parser did not judge /metrics")
        read = subprocess.run([python, "-c", judge], input=text, capture_output=True, text=True, timeout=WAIT)
        self.assertEqual(read.returncode, 0, read.stderr)
        return read.stdout

    def test_metrics(self):
        a, dead = self.child(), self.child()
        chip = Segment(self.shm, 17716556166399396846, 3)
        chip.hold(0, a.pid, b'a\\b"c\nd\te\x01\xff\xc3\xa9{}', dram=8388608, cb=786432)
        chip.hold(1, dead.pid, b"killed", dram=55)
        dead.kill()
        dead.wait()
        Segment(self.shm, 4).write(b"x")
        text = self.metrics()
        device = {"device_id": "3", "asic_id": "17716556166399396846", "chip": "3", "hostname": socket.gethostname()}
        labels = ",".join('%s="%s"' % pair for pair in device.items())
        self.assertIn('ttmem_device_memory_bytes{%s,memory="dram"} 8388608\n' % labels, text)
        judge = ("import json, sys\nfrom prometheus_client.parser import text_string_to_metric_families as read\n"
                 "print(json.dumps([[f.name, f.type, f.documentation, [[s.name, s.labels, s.value] for s in f.samples]] for f in read(sys.stdin.read())]))")
        families = {name: samples for name, kind, words, samples in json.loads(self.judged(judge, text)) if kind == "gauge" and words}
        self.assertEqual(set(families), {"ttmem_device_memory_bytes", "ttmem_device_memory_capacity_bytes", "ttmem_process_memory_bytes",
                                         "ttmem_process_alive", "ttmem_chip_memory_bytes", "ttmem_device_info", "ttmem_unreadable_files"})
        used = {s[1]["memory"]: s[2] for s in families["ttmem_device_memory_bytes"]}
        self.assertEqual(used, {"dram": 8388608, "l1": 0, "l1_small": 0, "trace": 0, "cb": 786432})
        name = 'a\\b"c d e\\x01\ufffd\u00e9{}'
        self.assertIn(["ttmem_process_memory_bytes", {**device, "pid": str(a.pid), "name": name, "memory": "cb"}, 786432.0],
                      families["ttmem_process_memory_bytes"])
        self.assertEqual({s[1]["name"]: s[2] for s in families["ttmem_process_alive"]}, {name: 1, "killed": 0})
        self.assertEqual(families["ttmem_unreadable_files"][0][2], 1)
        self.assertEqual(families["ttmem_device_memory_capacity_bytes"], [])

    def open_metrics(self, accept):
        request = urllib.request.Request(self.serve("--metrics") + "metrics", headers={"Accept": accept} if accept else {})
        with urllib.request.urlopen(request, timeout=WAIT) as answer:
            self.assertEqual(answer.headers["Vary"], "Accept")
            return answer.headers["Content-Type"], answer.read().decode()

    def test_open_metrics(self):
        chip = Segment(self.shm, 5, 0)
        chip.hold(0, self.child().pid, b'a\\b"c', dram=3000)
        chip.count(0, False, dram=1000)
        chip.count(1, True, dram=2000)
        usual = "application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
        kind, text = self.open_metrics(usual)  # as Prometheus asks
        self.assertEqual(kind, "application/openmetrics-text; version=1.0.0; charset=utf-8")
        self.assertTrue(text.endswith("\n# EOF\n"))
        self.assertEqual(set(re.findall(r"^# UNIT (\w+) bytes$", text, re.M)), {n for n in re.findall(r"^# TYPE (\w+) gauge$", text, re.M) if n.endswith("_bytes")})
        for accept in (None, "*/*", "text/plain", "text/plain;q=0.9,application/openmetrics-text;q=0.2", "application/openmetrics-text;q=0"):
            kind, plain = self.open_metrics(accept)
            self.assertEqual(kind, "text/plain; version=0.0.4; charset=utf-8", accept)
            self.assertEqual(plain, re.sub(r"# (UNIT .*|EOF)\n", "", text), accept)
        judge = ("import sys\nfrom prometheus_client.openmetrics.parser import text_string_to_metric_families as read\n"
                 "print(sum(s.value for f in read(sys.stdin.read()) for s in f.samples if s.name == 'ttmem_chip_memory_bytes'))")
        self.assertEqual(float(self.judged(judge, text)), 3000)

    def test_promtool(self):
        promtool = os.environ.get("TTMEM_PROMTOOL") or shutil.which("promtool")
        if not promtool:
            self.skipTest("no promtool (Debian package prometheus; make test-clients brings it): it did not judge /metrics")
        chip = Segment(self.shm, 5, 0)
        chip.hold(0, self.child(TT_METAL_MOCK_CLUSTER_DESC_PATH=os.path.join(SOURCE, "boards/n150.yaml")).pid, b'a\\b"c', dram=3000)
        chip.count(0, False, dram=1000)
        chip.count(1, True, dram=2000)
        judged = subprocess.run([promtool, "check", "metrics"], input=self.metrics(), capture_output=True, text=True, timeout=WAIT)
        self.assertEqual((judged.returncode, judged.stdout + judged.stderr), (0, ""))

    def test_grafana(self):
        """The dashboards of examples/grafana ask for nothing that /metrics does not have: names, labels and values of labels."""
        chip = Segment(self.shm, 7, 3)
        chip.hold(0, self.child(TT_METAL_MOCK_CLUSTER_DESC_PATH=os.path.join(SOURCE, "boards/n150.yaml")).pid, b"python", dram=8388608, l1=4096, trace=1, cb=786432)
        chip.count(3, False, dram=8388608, l1=4096, trace=1)
        chip.count(4, True)
        text = self.metrics()
        exported = {}  # name -> label -> values
        for name, labels in re.findall(r"^(\w+)(?:\{(.*)\})? \d", text, re.M):
            for label, value in re.findall(r'(\w+)="([^"]*)"', labels):
                exported.setdefault(name, {}).setdefault(label, set()).add(value)
            exported.setdefault(name, {})["instance"] = set()  # Prometheus's own
        self.assertEqual(set(exported), set(re.findall(r"^# TYPE (\w+) ", text, re.M)))
        asked, files = set(), glob.glob(os.path.join(SOURCE, "examples/grafana/*.json"))
        self.assertGreaterEqual(len(files), 2)
        for path in files:
            with open(path) as f:
                board = json.load(f)
            self.assertTrue(board["uid"] and board["title"] and board["panels"])
            variables = {v["name"] for v in board["templating"]["list"]}
            targets = [(t["expr"], t["legendFormat"]) for p in board["panels"] for t in p["targets"]]
            self.assertGreaterEqual(len(targets), len(board["panels"]))
            queries = [(v["definition"], "") for v in board["templating"]["list"] if v["type"] == "query"]
            for expr, legend in targets + queries:
                names = set(re.findall(r"\bttmem_\w+", expr))
                self.assertTrue(names and names <= set(exported), expr)
                asked |= names
                for name, selector in re.findall(r"(ttmem_\w+)\{([^}]*)\}", expr):
                    for label, value in re.findall(r'(\w+)(?:=|!=|=~)"([^"]*)"', selector):
                        self.assertIn(label, exported[name], expr)
                        for one in value.split("|"):
                            self.assertTrue(one[:1] == "$" and one[1:] in variables or one in exported[name][label], (expr, one))
                for label in re.findall(r"\{\{(\w+)\}\}", legend) + re.findall(r"label_values\(.*, (\w+)\)", expr):
                    self.assertTrue(all(label in exported[name] for name in names), (expr, label))
                self.assertEqual([expr.count(c) for c in "({["], [expr.count(c) for c in ")}]"], expr)
        self.assertEqual(asked, set(exported))  # and every metric is on one of them

    def test_live_page(self):
        chip = Segment(self.shm, 7, 3)
        chip.hold(0, self.child(TT_METAL_MOCK_CLUSTER_DESC_PATH=os.path.join(SOURCE, "boards/n150.yaml")).pid, b"<b>py", dram=N150_DRAM // 2)
        Segment(self.shm, 8, 4).hold(0, 2**22 + 5, b"killed", dram=5)
        with urllib.request.urlopen(self.serve("--metrics") + "live", timeout=WAIT) as answer:
            page = answer.read().decode()
        self.assertIn("Device 3", page)
        self.assertIn("n150 (mock board)", page)
        self.assertIn("(50.0%)", page)
        self.assertIn("&lt;b&gt;py[", page)
        self.assertNotIn("Device 4", page)
        self.assertIn('http-equiv="refresh"', page)

    def test_no_metrics_without_the_option(self):
        os.makedirs(os.path.join(self.env["TTMEM_HOME"], "reports"))
        url = self.serve()
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(url + "metrics", timeout=WAIT)
        self.assertEqual(refused.exception.code, 404)
        refused.exception.close()


@unittest.skipUnless(terminal.is_here(), "tmux is not installed (scripts/setup test brings it)")
class Screen(Case):
    """The screen, as a person sees it."""

    def setUp(self):
        super().setUp()
        self.tmux = terminal.Tmux(self.work)
        self.addCleanup(self.tmux.close)

    def show(self, *args, columns=100, rows=30, locale="C.UTF-8"):
        self.pane = self.tmux.start("unset NO_COLOR; export TTMEM_SHM_DIR='%s' LC_ALL=%s TERM=screen-256color; '%s' live %s"
                                    % (self.shm, locale, TTMEM, " ".join(args)), columns, rows)
        self.keys = self.pane.keys
        self.see("Live")

    def see(self, *wanted, without=()):
        return self.pane.see(*map(re.compile, wanted), without=[re.compile(w) for w in without])

    def test_screen(self):
        a, b = self.child(), self.child()
        self.show("--board", "n150")
        self.see("Waiting: no ttnn program has opened a device")
        chip = Segment(self.shm, 9, 0)
        chip.hold(0, a.pid, b"first", dram=N150_DRAM // 2, l1=1 << 20, cb=4096)
        chip.hold(1, b.pid, b"second", dram=N150_DRAM // 4)
        Segment(self.shm, 11, 1)
        Segment(self.shm, 12, 2).write(b"short")
        screen = self.see(r"Device 0, asic 9, n150", r"DRAM +█+░+  75\.0 %  8\.99 GB of 11\.99 GB, peak 8\.99 GB", r"%d +first +5\.99 GB +1\.00 MB +- +- +4\.0 KB" % a.pid,
                          r"%d +second +3\.00 GB" % b.pid, r"Last min .*█ +DRAM up to 8\.99 GB", r"idle hidden", r"tt_device_12_memory has 5 of",
                          r"2 devices, 2 processes", r"s sort +/ filter")
        self.assertLess(screen.index("first"), screen.index("second"))
        self.keys("i")
        self.see(r"Device 1, asic 11, idle", without=("idle hidden",))
        chip.hold(1, b.pid, b"second", dram=N150_DRAM // 4, trace=1 << 20)
        self.keys("s", "s", "s")
        self.see("sorted by L1_SMALL")
        self.keys("s")
        until(lambda: (lambda s: "sorted by TRACE" in s and s.index("second") < s.index("first"))(self.see("first", "second")), "the order by TRACE")
        self.keys("m")
        self.see(r"Last min .* L1 up to 1\.00 MB")
        self.keys("/", "seco")
        self.see("filter: seco", "second", without=("first",))
        self.keys("q")  # a letter, while typing
        self.see("filter: secoq", "Nothing matches the filter")
        self.keys("BSpace", "Enter", "i")
        self.see("second", "idle hidden", without=("asic 11",))
        self.keys("Escape")
        self.see("first", without=("filter:",))
        self.keys("?")
        self.see("Keys", "hide idle")
        a.kill()
        a.wait()
        self.keys("q")
        self.see(r"first \(dead, not counted\) +5\.99 GB", r"25\.0 %  3\.00 GB", r"peak 8\.99 GB", r"1 process, 1 dead slot")
        self.pane.resize(60, 14)
        self.see("lines 1 to")
        self.keys("G")
        self.see("tt_device_12_memory")
        self.keys("q")
        self.see("ended with 0")

    def test_ascii_and_hostile_names(self):
        Segment(self.shm, 9).hold(0, self.child().pid, b"\x1b]0;x\x07\x9b31m<evil>\n", dram=N150_DRAM)
        self.show("--board", "n150", locale="C")
        screen = self.see(r"DRAM +#{20} 100\.0 %", "<evil>")
        self.assertTrue(screen.isascii())
        self.keys("C-c")
        self.see("ended with 0")

    def test_the_terminal_goes_away(self):
        pid, terminal = pty.fork()
        if not pid:
            signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does: nothing tells the program but the terminal itself
            os.execve(TTMEM, [TTMEM, "live"], {**self.env, "TERM": "vt100"})
        status = []
        self.addCleanup(lambda: status or (os.kill(pid, signal.SIGKILL), os.waitpid(pid, 0)))
        seen = b""
        while b"Live" not in seen:
            seen += os.read(terminal, 4096)
        os.close(terminal)
        until(lambda: status or status.extend(s for p, s in [os.waitpid(pid, os.WNOHANG)] if p) or status, "the end of the program")
        self.assertEqual(os.waitstatus_to_exitcode(status[0]), 0)

    def test_alarm_on_the_screen(self):
        chip, process = Segment(self.shm, 9), self.child()
        self.show("--board", "n150", "--alarm", "90%", "--record", "'%s'" % os.path.join(self.work, "r.live"))
        self.see("recording")
        chip.hold(0, process.pid, dram=N150_DRAM)
        self.see(r"alarm: device 0: DRAM at 100\.0 %", "ended with 1")
        with open(os.path.join(self.work, "r.live")) as file:
            self.assertRegex(file.read(), r"^ttmem-live 1\nstart \d+ 100\ndevice 0 0 9 n150\n(.*\n)*s \d+ 0 %d 0 0 0 0 0:.*\nend \d+\n$" % N150_DRAM)


if __name__ == "__main__":
    unittest.main()
