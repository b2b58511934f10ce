#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Logs that are not of one piece: devices opened anew with other banks, processes cut off and others behind them, log levels that change, lines
that are lost. Every figure is of its own device and its own moment, and what the log cannot tell is unknown."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from small_logs import Device, Log, join, l1  # noqa: E402

TTMEM, GEN_LOG = os.environ["TTMEM"], os.environ["GEN_LOG"]
SAMPLES = pathlib.Path(os.environ.get("TTMEM_SHARED", "../shared")) / "samples" / "answers"
WORMHOLE, BLACKHOLE = Device(), Device(banks=8, total=4075.422, l1_total=1.331)
os.environ.setdefault("TTMEM_HOME", tempfile.mkdtemp())


def run(*args, status=0):
    done = subprocess.run([TTMEM, *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if status is not None and done.returncode != status:
        raise AssertionError("ttmem %s: exit %d\n%s" % (" ".join(args), done.returncode, done.stdout))
    return " ".join(done.stdout.split())


def findings(log):
    done = subprocess.run([TTMEM, "analyze", log, "--no-html", "--no-json", "--json"], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def sample(*parts):
    path = SAMPLES.joinpath(*parts)
    if not path.exists():
        raise unittest.SkipTest("%s is absent" % path)
    return str(path)


def program(log, *sizes, free=True):
    """A chain of results, each made of the one before it, which is freed then."""
    log.start()
    last = log.make(sizes[0], loc="a")
    for i, mb in enumerate(sizes[1:]):
        value = log.make(mb, loc="bcdefgh"[i], of=(last,))
        log.free(last)
        last = value
    if free:
        log.free(last)
    log.finish()


class Mixed(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "x_profile.log"

    def alive(self, log):
        return [row["per_bank_MB"] for row in findings(log)["live_at_peak"]["DRAM"]["rows"]]

    # ---- Devices that are opened anew -------------------------------------------------------------------------------------

    def reopened(self, *devices):
        """Each device runs 40, then 25 of it; the largest peak is the last one's."""
        log = Log(devices[0])
        for i, device in enumerate(devices):
            log.open(device)
            program(log, 40.0 + i, 25.0)
        return log.write(self.path)

    def test_the_live_set_uses_the_banks_of_its_moment(self):
        for devices in ((WORMHOLE, BLACKHOLE), (BLACKHOLE, WORMHOLE), (WORMHOLE, BLACKHOLE, Device(banks=7, total=4075.0))):
            log = self.reopened(*devices)
            rows = findings(log)["live_at_peak"]["DRAM"]
            self.assertEqual(rows["explained_pct"], 100)
            self.assertEqual(sorted(round(r["per_bank_MB"], 1) for r in rows["rows"]), [25.0, 39.0 + len(devices)])
            self.assertIn("100.0 % attributed", run("ask", log, "--at-peak"))

    def test_operations_are_sized_for_their_own_device(self):
        log = self.reopened(WORMHOLE, BLACKHOLE)
        self.assertIn("40.00 MB per bank (derived)", run("ask", log, "--op", "0"))
        self.assertIn("41.00 MB per bank (derived)", run("ask", log, "--op", "2"))

    def test_the_sample_with_banks_that_change(self):
        said = run("ask", sample("B1", "b1.log"), "--at-peak")
        self.assertIn("112.5 activations a3", said)
        self.assertNotIn("operations 41.67", said)

    def test_each_device_is_judged_by_its_own_banks(self):
        log = Log(Device(total=1000.0))
        program(log, 600.0)
        log.open(Device(total=700.0))
        program(log, 500.0, 90.0)
        log.open(Device(total=2000.0))
        program(log, 550.0)
        path = log.write(self.path)
        peak = findings(path)["peak"]["DRAM"]
        self.assertEqual([round(d["utilization_pct"], 1) for d in peak["devices"]], [60.0, 84.3, 27.5])
        self.assertEqual(peak["allocated_per_bank_MB"], 600.0)
        self.assertIn("DRAM peak 590.0 of 700.0 MB per bank (84.3 %) on the device opened in log line", run("analyze", path, "--no-json"))
        self.assertIn("DRAM peak 590.0 of 700.0 MB per bank (84.3 %)", run("analyze", path, "--no-json", "--quiet", "--budget", "dram:80%", status=1))
        run("analyze", path, "--no-json", "--quiet", "--budget", "dram:85%")
        self.assertIn("590.0 of", run("analyze", path, "--no-json", "--quiet", "--budget", "dram:580MB", status=1))

    def test_a_log_of_one_device_lists_none(self):
        log = Log()
        program(log, 10.0)
        program(log, 20.0)
        self.assertEqual(findings(log.write(self.path))["peak"]["DRAM"]["devices"], [])

    def test_the_sample_with_a_smaller_device(self):
        self.assertIn("686.7 of 700.0 MB per bank (98.1 %)", run("analyze", sample("B2", "b2.log"), "--no-json", "--budget", "dram:90%", status=1))

    # ---- Log levels that change -------------------------------------------------------------------------------------------

    def submitted(self, log, mb):
        log.start()
        first = log.make(mb, loc="in")
        other = log.make(2 * mb, "ttnn.matmul", "mm", (first, first))
        log.free(first)
        last = log.make(mb, loc="out", of=(other,))
        log.free(other)
        log.finish()
        return last

    def test_operations_without_states_raise_the_peak(self):
        for first in (True, False):  # a run with states before the others, or none at all
            log = Log()
            log.submits, log.states = True, first
            for mb in (10.0, 10.0, 40.0, 5.0):
                self.submitted(log, mb)
                log.states = False
            path = log.write(self.path)
            peak = findings(path)["peak"]["DRAM"]
            self.assertEqual((peak["allocated_per_bank_MB"], peak["measured_per_bank_MB"]), (140.0, 65.0))  # 20 were left by the runs before
            self.assertTrue(peak["measured_is_lower_bound"])
            self.assertEqual((peak["basis"], peak["caused_by"]["loc"]), ("derived", "mm"))
            said = run("analyze", path, "--no-json")
            self.assertIn("DRAM peak 140.0 of", said)
            self.assertIn("≥ 65.00 MB", said)
            self.assertIn("100.0 % attributed", run("ask", path, "--at-peak"))
            self.assertEqual(self.fit(path)["peak_dram_per_bank_B"], 140 * 2**20)
            self.assertRegex(run("analyze", path, "--no-json", "--quiet", "--budget", "dram:10%", status=1), r"DRAM peak 140.0 of .* \(derived\)")

    def test_states_that_show_the_peak_are_not_doubted(self):
        log = Log()
        log.submits = True
        for mb in (40.0, 10.0, 10.0):
            self.submitted(log, mb)
            log.states = False
        peak = findings(log.write(self.path))["peak"]["DRAM"]
        self.assertEqual((peak["allocated_per_bank_MB"], peak["measured_is_lower_bound"]), (120.0, False))

    def test_derived_peaks_are_those_of_the_same_log_with_states(self):
        for options in ([], ["--no-const-eval"], ["--leak", "--runs", "6"], ["--binaries"], ["--originals"], ["--ranks", "2"], ["--board", "p150"]):
            truths = []
            for level in ([], ["--kind", "ops", "--program-level"]):
                log, truth = self.path.with_name("g.log"), self.path.with_name("g.json")
                subprocess.run([GEN_LOG, "--hidden", "256", "--seq", "512", "--layers", "4", "--runs", "3", "--seed", "3", *options, *level,
                                "--out", log, "--truth", truth], check=True)
                truths.append(json.loads(truth.read_text())["peak"]["DRAM"]["allocated"] / 1000)
            peak = findings(str(log))["peak"]["DRAM"]
            self.assertEqual(peak["measured_per_bank_MB"], truths[1])
            self.assertTrue(truths[0] * 0.99 <= peak["allocated_per_bank_MB"] <= truths[0] + 0.002, (options, peak, truths))

    def test_the_sample_of_mixed_levels(self):
        for name in ("b7.log", "b7p.log"):
            log = sample("B4", name)
            self.assertIn("DRAM peak 130.0 of", run("analyze", log, "--no-json"))
            self.assertEqual(self.fit(log)["peak_dram_per_bank_B"], 130 * 2**20)

    # ---- Processes that are cut off ---------------------------------------------------------------------------------------

    def cut(self, second, keep=None):
        """A process that dies in its third operation, and `second` behind it in the same file."""
        log = Log()
        log.start()
        first = log.make(50.0, loc="in")
        other = log.make(100.0, "ttnn.matmul", "mm", (first, first))
        log.make(50.0, loc="relu", of=(other,))
        if keep is not None:
            log.lines = log.lines[:keep]
        return join(self.path, log, second)

    def test_effects_across_a_cut_are_unknown(self):
        second = Log()
        program(second, 150.0, 300.0)
        for keep in (None, -1, -3, -5):  # also inside the block of the last operation, and without it
            log = self.cut(second, keep)
            self.assertIn("delta unknown: its program was cut off" if keep != -5 else "delta", run("ask", log, "--op", "2" if keep != -5 else "0"))
            self.assertNotIn("-150", run("ask", log, "--range", "0-4"))

    def test_what_a_cut_process_held_is_gone(self):
        second = Log()
        program(second, 250.0, 300.0)
        self.assertEqual(sorted(self.alive(self.cut(second))), [250.0, 300.0])

    def test_the_sample_with_appended_processes(self):
        for name in ("b4.log", "b5.log"):
            self.assertIn("delta unknown", run("ask", sample("B3", name), "--op", "2"))

    def test_the_host_is_not_taken_for_the_last_operation(self):
        log = Log()
        log.start()
        log.make(50.0)
        log.debug("Finished execution of program: main")
        log.open(WORMHOLE)  # the host let all go
        program(log, 20.0)
        self.assertIn("delta unknown: the host changed memory after it", run("ask", log.write(self.path), "--op", "0"))


    # ---- Does it fit? -------------------------------------------------------------------------------------------------------

    def lines(self):
        log = Log()
        program(log, 50.0, 100.0, 30.0)
        program(log, 50.0, 100.0, 30.0)
        return log.lines

    def judge(self, lines, status, board="n150"):
        self.path.write_text("\n".join(lines) + "\n")
        return self.fit(str(self.path), board=board, status=status)

    def test_a_log_that_is_not_whole_has_no_yes(self):
        lines = self.lines()
        middle = len(lines) // 4
        error = ("%23s | %8s | Out of Memory: Not enough space to allocate 3221225472 B DRAM buffer across 12 banks, where each bank needs to store 268435456 B, "
                 "but bank size is 1070773248 B (allocated: 900000000 B, free: 170773248 B, largest free block: 170773248 B)" % ("Always", "ERROR"))
        for what, broken in (
            ("has no end", lines[:middle]),
            ("has no end", lines[:-3]),  # the Finished line
            ("failed in log line", lines[:middle] + [error]),
            ("could not be read", lines[:6] + [lines[6][:90]] + lines[7:]),
            ("could not be read", [line for line in lines if "ttnn.relu" not in line or "loc(\"b\")" not in line]),
            ("without a memory state", [line for line in lines if "Always" not in line]),
        ):
            if broken == lines[:-3]:
                broken = [line for line in lines if "Finished" not in line][: len(lines) // 2]
            board = self.judge(broken, 2, "p150")
            self.assertIsNone(board["fits"], what)
            self.assertIs(board["peak_dram_is_lower_bound"], True)
            self.assertIsNone(board["headroom_dram_per_bank_B"])
            self.assertEqual(board["statement"], "fit.lower-bound")
            self.assertIn(what, board["why_unknown"])
            self.assertIn("≥", board["headline"])
            self.assertRegex(run("fit", str(self.path)), r"p150 \? (≥|>=) ")  # without --board a table is an answer

    def test_a_cut_run_that_another_one_stands_for_is_no_gap(self):
        lines = self.lines()
        self.assertIs(self.judge(lines, 0)["fits"], True)
        self.assertIs(self.judge(lines[: len(lines) * 3 // 4], 2)["fits"], True)  # an answer, but no verdict on a run without its end
        self.assertIs(self.fit(str(self.path), "--allow-partial", status=0)["fits"], True)

    def test_what_does_not_fit_so_far_does_not_fit(self):
        log = Log(BLACKHOLE)
        log.start()
        log.make(1700.0)
        log.make(1.0)
        self.assertIs(self.judge(log.lines, 1)["fits"], False)

    # ---- Batches ------------------------------------------------------------------------------------------------------------

    def fit(self, log, *options, board="n150", status=None):
        done = subprocess.run([TTMEM, "fit", log, "--board", board, "--json", *options], stdout=subprocess.PIPE, text=True)
        if status is not None:
            self.assertEqual(done.returncode, status, done.stdout)
        return json.loads(done.stdout)["boards"][0]

    def test_l1_grows_with_the_batch(self):
        # 512x1024 bf16: 2x4 tiles on each of 64 cores, or 512 tiles over 64 banks; ttnn has 1,393,312 bytes of L1 for tensors on n150.
        for kind, per_core in ((l1(512, (2, 4)), 16384), (l1(512), 16384), (l1(32), 2048)):
            log = Log()
            log.states = False
            log.start()
            log.make_typed(kind)
            log.finish()
            path = log.write(self.path)
            self.assertEqual(self.fit(path, "--scale-batch", "10")["peak_l1_per_core_B"], 5 * 2048 if per_core == 2048 else 10 * per_core)
            self.assertEqual(self.fit(path)["largest_batch"], min(1024, 1393312 // per_core if per_core > 2048 else 1024))

    def test_the_sample_with_tensors_in_l1(self):
        log = sample("B6", "rb1.log")
        self.assertEqual(self.fit(log)["largest_batch"], 85)
        self.assertIs(self.fit(log, "--scale-batch", "100", status=1)["fits"], False)
        self.assertEqual(self.fit(log, "--scale-batch", "85", status=0)["peak_l1_per_core_B"], 85 * 16384)


if __name__ == "__main__":
    unittest.main()
