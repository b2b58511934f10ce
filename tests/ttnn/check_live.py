# SPDX-License-Identifier: Apache-2.0
"""ttmem live beside running ttnn programs: their numbers, two at once told apart, kill -9, a recording. Run by scripts/test-ttnn, on a
mock board whose chip has a number of its own, so that other programs on this machine do not write into the same file."""

import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import unittest

import ttmem

WAIT = 300  # only ever waited for in full when something is wrong
BOARD = os.environ["TTMEM_BOARD"]

# A program that does what it is told, a line at a time, and says what it holds then: what it asked for, and ttnn's own count.
PROGRAM = """
import json, sys, time
import ttnn
device, kept = None, {}
def view(kind):
    v = ttnn.get_memory_view(device, kind)
    return v.total_bytes_allocated_per_bank * v.num_banks
def new(tiles, memory):
    return ttnn.empty((1, 1, 32 * tiles, 32), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=memory)
for line in sys.stdin:
    what, *rest = line.split()
    if what == "open":
        device = ttnn.open_device(device_id=0, l1_small_size=16384, trace_region_size=1 << 20)
    elif what == "dram":
        kept[rest[0]] = new(int(rest[1]), ttnn.DRAM_MEMORY_CONFIG)
    elif what == "l1":
        kept[rest[0]] = new(int(rest[1]), ttnn.L1_MEMORY_CONFIG)
    elif what == "add":
        kept[rest[0]] = ttnn.add(kept[rest[1]], kept[rest[1]])
    elif what == "free":
        ttnn.deallocate(kept.pop(rest[0]))
    elif what == "close":
        kept.clear()
        ttnn.close_device(device)
        break
    print("held", json.dumps({"at": time.time(), "dram": view(ttnn.BufferType.DRAM), "l1": view(ttnn.BufferType.L1)}), flush=True)
print("held {}", flush=True)
"""

TILE = 2048  # bytes of bfloat16; numbers of tiles that go evenly into the banks of every board cost no padding
EVEN = 12 * 8 * 64 * 110


class Program:
    def __init__(self, case, env):
        self.process = subprocess.Popen([sys.executable, "-c", PROGRAM], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        case.addCleanup(self.end)
        self.pid = self.process.pid
        self.tell("open")

    def tell(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith("held "):
                return json.loads(line[5:])
        raise AssertionError("the program ended after %r" % (words,))

    def close(self):
        self.tell("close")
        return self.process.wait(WAIT)

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class LiveOnTtnn(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ttmem-live-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.asic = (os.getpid() << 24) + time.time_ns() % (1 << 24)
        text = (pathlib.Path(os.environ["TTMEM_SOURCE"]) / "boards" / (BOARD + ".yaml")).read_text()
        text = re.sub(r"^chip_unique_ids:.*\n", "", text, flags=re.M) + "chip_unique_ids: {0: %d}\n" % self.asic
        (self.folder / "board.yaml").write_text(text)
        self.env = {**os.environ, "TT_METAL_MOCK_CLUSTER_DESC_PATH": str(self.folder / "board.yaml")}
        self.file = pathlib.Path("/dev/shm/tt_device_%d_memory" % self.asic)
        self.addCleanup(lambda: self.file.unlink(missing_ok=True))

    def program(self):
        return Program(self, self.env)

    def look(self, json_text=None):
        """Our chip, as ttmem live sees it now; None before anybody used it."""
        if json_text is None:
            json_text = subprocess.run([ttmem.program(), "live", "--once", "--json"], capture_output=True, text=True, timeout=WAIT).stdout
        return next((d for d in json.loads(json_text)["devices"] if d["asic_id"] == self.asic), None)

    def wait_for(self, condition):
        end = time.monotonic() + WAIT
        while True:
            device = self.look()
            if device and condition(device):
                return device
            self.assertLess(time.monotonic(), end, device)

    def of(self, device, program):
        return next((p for p in device["processes"] if p["pid"] == program.pid), None)

    def test_its_numbers(self):
        program, late = self.program(), []
        base = program.tell("dram", "a", EVEN // 64)
        for step, (words, dram, l1) in enumerate(((("dram", "b", EVEN), EVEN + EVEN // 64, 0), (("l1", "c", 64 * 110), EVEN + EVEN // 64, 64 * 110),
                                                  (("free", "a"), EVEN, 64 * 110), (("free", "c"), EVEN, 0), (("dram", "d", 96), EVEN + 96, 0))):
            held = program.tell(*words)
            device = self.wait_for(lambda d: (d["dram_B"], d["l1_B"]) == (dram * TILE, l1 * TILE))
            late.append(time.time() - held["at"])
            # What the program asked for is what its own allocator holds: these sizes need no padding.
            self.assertEqual(device["dram_B"], held["dram"], words)
            self.assertEqual(device["l1_B"], held["l1"], words)
            own = self.of(device, program)
            self.assertEqual((own["alive"], own["dram_B"], own["l1_B"]), (True, device["dram_B"], device["l1_B"]))
        self.assertEqual(base["dram"], EVEN // 64 * TILE)
        program.tell("l1", "x", 64)
        program.tell("add", "y", "x")  # a program with circular buffers
        device = self.wait_for(lambda d: d["cb_B"] > 0)
        self.assertEqual(device["cb_B"] % TILE, 0)
        self.assertEqual(program.close(), 0)
        device = self.wait_for(lambda d: not d["processes"])
        self.assertEqual([device[k] for k in device if k.endswith("_B")], [0] * 5)
        print("  seen %.0f to %.0f ms after the program said so (ttmem live --once, started anew each time)"
              % (min(late) * 1000, max(late) * 1000))

    def test_how_soon(self):
        """The stream of --json at ten looks a second; its delay is printed, not judged."""
        live = subprocess.Popen([ttmem.program(), "live", "--json", "--interval", "0.1"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(lambda: (live.kill(), live.wait(), live.stdout.close()))
        program, late, tiles = self.program(), [], 0
        for step in range(1, 21):
            held = program.tell("dram", step, 96 * step)
            tiles += 96 * step
            for line in live.stdout:
                device = self.look(line)
                if device and device["dram_B"] == tiles * TILE:
                    break
            else:
                self.fail("ttmem live ended before it showed step %d" % step)
            late.append(time.time() - held["at"])
        print("  ttmem live shows an allocation after %.0f ms (median of 20), %.0f ms at most" % (statistics.median(late) * 1000, max(late) * 1000))

    def test_two_at_once_and_kill_9(self):
        one, two = self.program(), self.program()
        one.tell("dram", "a", EVEN)
        two.tell("dram", "a", EVEN // 2)
        two.tell("l1", "b", 64 * 110)
        device = self.wait_for(lambda d: d["dram_B"] == (EVEN + EVEN // 2) * TILE and d["l1_B"] == 64 * 110 * TILE)
        self.assertEqual(self.of(device, one)["dram_B"], EVEN * TILE)
        self.assertEqual((self.of(device, two)["dram_B"], self.of(device, two)["l1_B"]), (EVEN // 2 * TILE, 64 * 110 * TILE))
        self.assertEqual({p["alive"] for p in device["processes"]}, {True})
        text = subprocess.run([ttmem.program(), "live", "--once"], capture_output=True, text=True, timeout=WAIT, check=True).stdout
        self.assertRegex(text, r"Device 0, asic %d, %s \(mock board\)\nDRAM .*%% " % (self.asic, BOARD))
        one.process.send_signal(signal.SIGKILL)
        device = self.wait_for(lambda d: d["dram_B"] == EVEN // 2 * TILE)
        self.assertEqual((self.of(device, one)["alive"], self.of(device, one)["dram_B"]), (False, EVEN * TILE))
        self.assertTrue(self.of(device, two)["alive"])
        # The dead slot stays when the other one leaves in order, and when the next program comes.
        self.assertEqual(two.close(), 0)
        device = self.wait_for(lambda d: d["dram_B"] == 0)
        self.assertEqual([(p["pid"], p["alive"]) for p in device["processes"]], [(one.pid, False)])
        three = self.program()
        three.tell("dram", "a", 96)
        device = self.wait_for(lambda d: d["dram_B"] == 96 * TILE)
        self.assertEqual({p["pid"]: p["alive"] for p in device["processes"]}, {one.pid: False, three.pid: True})

    def test_a_recording(self):
        record = self.folder / "run.live"
        live = subprocess.Popen([ttmem.program(), "live", "--record", str(record)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(lambda: (live.kill(), live.wait(), live.stdout.close()))
        program = self.program()

        def seen(tiles):
            for line in live.stdout:
                if "asic=%d dram=%d " % (self.asic, tiles * TILE) in line:
                    return
            self.fail("ttmem live ended before it showed %d tiles" % tiles)

        program.tell("dram", "a", 96), seen(96)
        program.tell("dram", "b", EVEN), seen(EVEN + 96)
        program.tell("free", "b"), seen(96)
        program.close(), seen(0)
        live.send_signal(signal.SIGINT)
        self.assertEqual(live.wait(WAIT), 0)
        # Other programs on this machine may be in it too: only ours is looked at.
        lines = record.read_text().splitlines()
        number = next(line.split()[1] for line in lines if re.fullmatch(r"device \d+ 0 %d %s" % (self.asic, BOARD), line))
        samples = [int(line.split()[3]) for line in lines if line.startswith("s ") and line.split()[2] == number]
        self.assertEqual(max(samples), (EVEN + 96) * TILE)
        self.assertEqual(samples[-1], 0)
        ours = self.folder / "ours.live"
        ours.write_text("".join(re.sub(r"^(device|s \d+) %s " % number, r"\1 0 ", line) + "\n" for line in lines
                                if not re.match(r"device (?!%s )|s \d+ (?!%s )" % (number, number), line)))
        done = subprocess.run([ttmem.program(), "analyze", str(ours), "-d", str(self.folder / "report"), "--name", "r"], capture_output=True, text=True, timeout=WAIT)
        self.assertEqual(done.returncode, 0, done.stderr)
        findings = json.loads((self.folder / "report" / "r_findings.json").read_text())
        peak, banks = findings["peak"]["DRAM"], findings["memory"]["DRAM"]["banks"]
        self.assertAlmostEqual(peak["allocated_per_bank_MB"] * banks, (EVEN + 96) * TILE / 1048576, delta=0.001 * banks)
        self.assertRegex(peak["caused_by"]["mlir_op"], r"python.*\[%d\]" % program.pid)
        self.assertEqual(findings["leaks"], [])


if __name__ == "__main__":
    unittest.main()
