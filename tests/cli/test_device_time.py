#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory over device time: the profiler's CSV joined to a log by order, to a graph capture by GLOBAL CALL COUNT."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from perf_csv import PerfCsv  # noqa: E402
from small_logs import Log  # noqa: E402

TTMEM = os.environ["TTMEM"]
MS = 1000000


def small_log(path, layers=2):
    """Each layer: a product of 8 MB that stays to the end, a softmax of 24 MB that is freed at once."""
    log = Log()
    log.start()
    kept = []
    for i in range(layers):
        kept.append(log.make(8, "ttnn.matmul", "layers.%d.mlp|dot.1" % i, of=kept[-1:]))
        log.free(log.make(24, "ttnn.softmax", "layers.%d.attn|softmax.2" % i, of=kept[-1:]))
    for value in kept:
        log.free(value)
    log.finish()
    return log.write(path)


def small_csv(path):
    """Products take 1 ms, half of it the ideal; softmax takes 3 ms. A row between them is of no operation of the log."""
    csv = PerfCsv().signpost("start")
    for _ in range(2):
        csv.add("MatmulDeviceOperation", 1 * MS, devices=2, ideal=MS // 2, compute=MS // 2, bandwidth=100, fpu=50.0)
        csv.add("TilizeWithValPadding", MS // 2, devices=2)
        csv.add("SoftmaxDeviceOperation", 3 * MS, gap=MS, devices=2, ideal=int(2.9 * MS), compute=5, bandwidth=int(2.9 * MS))
    return csv.write(path)


def small_capture(path):
    """What ttnn 0.81.1 gives: the nodes of two calls, each with the program it ran. The second call ran first on the device's clock."""
    def node(counter, kind, params, connections=()):
        return {"counter": counter, "node_type": kind, "params": params, "connections": list(connections), "arguments": [], "input_tensors": [], "stacking_level": 1}
    nodes = [node(0, "capture_start", {})]
    for name, call in (("ttnn.matmul", 2048), ("ttnn.exp", 1024)):
        at = len(nodes)
        nodes += [node(at, "function_start", {"name": name, "inputs": "0"}),
                  node(at + 1, "buffer_allocate", {"address": str(1024 * at), "size": str(12 * 2048), "type": "DRAM", "layout": "INTERLEAVED", "page_size": "2048",
                                                   "num_cores": "0", "device_id": "0"}),
                  node(at + 2, "program_execution", {"command_queue_id": 0, "device_id": 1, "global_call_count": call, "physical_device_id": 0, "runtime_id": call // 1024}),
                  node(at + 3, "function_end", {"name": name})]
    nodes.append(node(len(nodes), "capture_end", {}))
    pathlib.Path(path).write_text(json.dumps(nodes))
    return str(path)


class DeviceTime(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_ttmem(self, *words, status=0):
        done = subprocess.run([TTMEM, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr if status else done.stdout

    def findings(self, path, csv):
        found = json.loads(self.run_ttmem("analyze", path, "--times", csv, "--json", "--no-html", "--output-dir", self.folder / "out"))
        return {s["id"]: s for s in found["statements"] if s["topic"] == "time"}, found["device_time"]

    def both(self):
        return small_log(self.folder / "run.log"), small_csv(self.folder / "ops_perf_results.csv")

    def test_joined_in_order(self):
        said, time = self.findings(*self.both())
        self.assertEqual((time["matched_by"], time["matched_operations"], time["rows"], time["devices"]), ("order", 4, 6, 2))
        self.assertEqual((time["ns"], time["matched_ns"]), (9 * MS, 8 * MS))
        self.assertIn("4 of 4 operations have a device time: 8.00 ms of the 9.00 ms that device 0 ran, matched by their order", said["time.join"]["headline"])
        self.assertEqual([op["ns"] for op in time["operations"]], [MS, 3 * MS, MS, 3 * MS])
        self.assertEqual([op["begin_ns"] for op in time["operations"]], [0, 2.5 * MS, 5.5 * MS, 8 * MS])

    def test_bytes_times_time(self):
        said, time = self.findings(*self.both())
        dram = time["DRAM"]
        # 8 MB for 1 ms, 32 for 3, 16 for 1, 40 for 3
        self.assertAlmostEqual(dram["per_bank_MB_ms"], 8 + 32 * 3 + 16 + 40 * 3, delta=0.2)
        self.assertAlmostEqual(dram["average_per_bank_MB"], 240 / 8, delta=0.05)
        self.assertEqual(dram["full_ns"], 3 * MS)
        tensors = {row["name"]: row for row in dram["tensors"]}
        self.assertAlmostEqual(tensors["layers.*.attn|softmax.2"]["per_bank_MB_ms"], 2 * 24 * 3, delta=0.2)
        self.assertAlmostEqual(tensors["layers.*.mlp|dot.1"]["per_bank_MB_ms"], 8 * (8 + 4), delta=0.2)
        self.assertEqual(tensors["layers.*.mlp|dot.1"]["tensors"], 2)
        layers = {row["name"]: row["per_bank_MB_ms"] for row in dram["layers"]}
        self.assertAlmostEqual(layers["layers.0"], 8 * 8 + 24 * 3, delta=0.2)
        self.assertAlmostEqual(layers["layers.1"], 8 * 4 + 24 * 3, delta=0.2)
        self.assertIn("30.00 MB per bank on average over 8.00 ms", said["time.dram"]["headline"])
        self.assertIn("layers.0 holds most", said["time.layers"]["headline"])

    def test_slow_at_the_peak_and_what_bounds_it(self):
        said, time = self.findings(*self.both())
        slow = time["slow_at_peak"]
        self.assertEqual([(row["mlir_op"], row["ns"], row["bound"]) for row in slow], [("ttnn.softmax", 3 * MS, "DRAM")])
        self.assertIn("takes 3.00 ms, 37.5 % of the device time, with 40.00 MB per bank held", said["time.slow-at-peak"]["headline"])
        self.assertEqual([(op["bound"], op["ideal_pct"]) for op in time["operations"][:2]], [("slow", 50.0), ("DRAM", 96.667)])
        self.assertEqual(said["time.bound"]["basis"], "estimated")
        self.assertEqual([(row["mlir_op"], row["ns"], row["times"]) for row in time["above_ideal"]], [("ttnn.matmul", MS, 2)])

    def test_shares_of_the_csv_come_first(self):
        log = small_log(self.folder / "run.log", 1)
        csv = PerfCsv().add("MatmulDeviceOperation", MS, fpu=70.0, dram=66.0).add("SoftmaxDeviceOperation", MS, fpu=1.0, dram=80.5)
        _, time = self.findings(log, csv.write(self.folder / "x.csv"))
        self.assertEqual([(op["bound"], op["dram_bw_pct"]) for op in time["operations"]], [("both", 66.0), ("DRAM", 80.5)])

    def test_what_tt_perf_report_writes(self):
        """tt-perf-report 1.4 --csv: microseconds, gaps instead of times, shares of bandwidth and FLOPs."""
        log, csv = small_log(self.folder / "run.log", 1), self.folder / "report.csv"
        csv.write_text("ID,Total %,Bound,OP Code,Device,Device Time,Op-to-Op Gap,Cores,DRAM,DRAM %,FLOPs,FLOPs %,Math Fidelity,Global Call Count\r\n"
                       "2,,,start (signpost),,,,,,,,,,nan\r\n"
                       "3,9.09,DRAM,MatmulDeviceOperation 32 x 32 x 32,0,1000.5,,64,288,85.5,1.1,12.5,HiFi4,1024.0\r\n"
                       "5,36.4,,SoftmaxDeviceOperation,0,3000.0,250.0,64,,,,,,2048.0\r\n")
        _, time = self.findings(log, csv)
        self.assertEqual([(op["ns"], op["begin_ns"], op["bound"], op["dram_bw_pct"]) for op in time["operations"]],
                         [(1000500, 0, "DRAM", 85.5), (3 * MS, 1250500, None, None)])

    def test_joined_by_call_count(self):
        capture = small_capture(self.folder / "capture.json")
        csv = PerfCsv().add("UnaryDeviceOperation", 2 * MS, call=1024).add("MatmulDeviceOperation", 5 * MS, call=2048)
        csv.add("UnaryDeviceOperation", 2 * MS, call=1024, trace=3)  # a replay repeats the count of the capture
        said, time = self.findings(capture, csv.write(self.folder / "x.csv"))
        self.assertEqual((time["matched_by"], time["replayed_rows"]), ("global_call_count", 1))
        self.assertEqual({op["mlir_op"]: op["ns"] for op in time["operations"]}, {"ttnn.matmul": 5 * MS, "ttnn.exp": 2 * MS})
        self.assertIn("matched by GLOBAL CALL COUNT", said["time.join"]["headline"])
        self.assertIn("Replays of traces are left out: 1 row.", said["time.join"]["detail"])

    def test_every_surface_says_it(self):
        log, csv = self.both()
        for words in (("ask", log, "--findings"), ("--llm", log), ("analyze", log, "--no-json")):
            text = " ".join(self.run_ttmem(*words, "--times", csv).split())
            self.assertIn("Slow with the DRAM peak held", text)
        page = self.folder / "page.html"
        self.run_ttmem("html", log, "--times", csv, "-o", page)
        self.assertGreater(page.stat().st_size, 100000)

    def test_operations_with_their_times(self):
        log, csv = self.both()
        table = self.run_ttmem("ask", log, "--range", "0-3", "--times", csv)
        self.assertIn("Device ms", table)
        self.assertEqual([line.split()[-2:] for line in table.splitlines() if "ttnn." in line], [["1.000", "slow"], ["3.000", "DRAM"]] * 2)
        self.assertNotIn("Device ms", self.run_ttmem("ask", log, "--range", "0-3"))
        one = " ".join(self.run_ttmem("ask", log, "--op", "1", "--times", csv).split())
        self.assertIn("3.00 ms on the device, 37.5 % of that of all, bound by DRAM bandwidth, at 96.7 % of the model's ideal", one)

    def test_another_run(self):
        log, csv = small_log(self.folder / "run.log"), PerfCsv().add("Conv2dDeviceOperation", MS).write(self.folder / "x.csv")
        said, time = self.findings(log, csv)
        self.assertEqual(set(said), {"time.unmatched"})
        self.assertEqual(time["matched_operations"], 0)
        csv = PerfCsv().add("Conv2dDeviceOperation", 9 * MS).add("MatmulDeviceOperation", MS).write(self.folder / "x.csv")
        said, _ = self.findings(log, csv)
        self.assertEqual(set(said), {"time.doubtful"})
        self.assertIn("seems to be of another run: 1 of 4 operations", said["time.doubtful"]["headline"])
        self.assertIn("go with one input", self.run_ttmem("analyze", log, log, "--times", csv, status=2))
        self.assertIn("is no operations CSV", self.run_ttmem("analyze", log, "--times", log, status=2))


if __name__ == "__main__":
    unittest.main()
