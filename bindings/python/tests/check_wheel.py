# SPDX-License-Identifier: Apache-2.0
"""Tests of the installed package. Run with the Python of an environment that has the wheel: tests/python/test_wheel.py makes one.
Environment: TTMEM_SOURCE, the project."""

import gc
import json
import os
import pathlib
import subprocess
import sys
import threading
import unittest

import ttmem

SOURCE = pathlib.Path(os.environ["TTMEM_SOURCE"])
MB = 1 << 20


def new_tracker(**kwargs):
    return ttmem.Tracker(ttnn=False, **kwargs)


class TrackerTest(unittest.TestCase):
    def test_words_of_the_documentation(self):
        tracker = ttmem.MemoryUsageTracker
        tracker._tracker = new_tracker()
        guard = tracker.begin_capture(ttmem.RunMode.NO_DISPATCH)
        tracker.instance().allocated(ttmem.Memory.DRAM, 3 * MB)
        tracker.snapshot("MODEL_CREATION")
        tracker.instance().deallocated(ttmem.Memory.DRAM, MB)
        tracker.end_capture("ITERATION_COMPLETE")
        self.assertEqual(tracker.get_trace_names(), ["MODEL_CREATION", "ITERATION_COMPLETE"])
        self.assertEqual(tracker.get_dram_usage("MODEL_CREATION"), (3 * MB, 3 * MB, 0))
        self.assertEqual(tracker.get_dram_usage_all()[1][1].total_deallocations, MB)
        self.assertEqual([name for name, _ in tracker.get_l1_usage_all()], tracker.get_trace_names())
        self.assertEqual(tracker.instance().phase("MODEL_CREATION").mode, ttmem.RunMode.NO_DISPATCH)
        tracker.clear()
        guard.release()
        self.assertEqual(tracker.get_trace_names(), [])

    def test_names_of_tt_train(self):
        from ttmem.compat import ttml

        MemoryUsageTracker = ttml.core.utils.MemoryUsageTracker
        MemoryUsageTracker._tracker = new_tracker()
        guard = MemoryUsageTracker.begin_capture()
        MemoryUsageTracker.snapshot("MODEL_CREATION")
        MemoryUsageTracker.end_capture("ITERATION_COMPLETE")
        self.assertEqual(MemoryUsageTracker.get_trace_names(), ["MODEL_CREATION", "ITERATION_COMPLETE"])
        MemoryUsageTracker.clear()
        guard.release()

    def test_text_is_tt_trains(self):
        with new_tracker() as tracker:
            tracker.allocated(ttmem.Memory.DRAM, 3 * MB)
            tracker.deallocated(ttmem.Memory.DRAM, MB)
            tracker.program_buffer(MB // 2, [(0, 0, 7, 7)])
        self.assertEqual(
            tracker.text(),
            "=== Memory Usage Summary ===\n\n--- END_TRACE ---\n"
            "  DRAM: Segment Peak 3.00 MB, Allocations 3.00 MB, Deallocations 1.00 MB, Segment Change +2.00 MB\n"
            "  DRAM: Cumulative Peak 3.00 MB, Cumulative Current 2.00 MB\n"
            "  L1: Peak CB 0.50 MB, Peak Buffer 0.00 MB, Peak Total 0.50 MB\n"
            "\n=== Final Totals ===\nOverall DRAM Peak: 3.00 MB, Final DRAM Usage: 2.00 MB\n\n",
        )
        out = subprocess.run([sys.executable, "-c", "import ttmem; ttmem.Tracker(ttnn=False).print_memory_usage()"], capture_output=True, text=True)
        self.assertEqual((out.returncode, out.stdout), (0, "WARNING: No traces captured\n"))

    def test_errors(self):
        tracker = new_tracker()
        with self.assertRaisesRegex(ttmem.TtmemError, "capture is not active"):
            tracker.snapshot("A")
        tracker.end_capture()  # nothing to end
        guard = tracker.begin_capture()
        with self.assertRaisesRegex(ttmem.TtmemError, "Capture already active"):
            tracker.begin_capture()
        tracker.snapshot("A")
        tracker.snapshot("A")
        with self.assertRaisesRegex(ttmem.TtmemError, "Trace 'B' not found"):
            tracker.get_dram_usage("B")
        with self.assertRaisesRegex(ttmem.TtmemError, "ambiguous"):
            tracker.get_l1_usage("A")
        with self.assertRaisesRegex(ttmem.TtmemError, "no range of cores"):
            tracker.program_buffer(1, [(0, 0, 99, 0)])
        with self.assertRaises(ValueError):
            tracker.begin_capture("SOMETIMES")
        with self.assertRaises(ValueError):
            tracker.snapshot("zero\0byte")
        guard.release()

    def test_guard_ends_and_clears(self):
        tracker = new_tracker()
        guard = tracker.begin_capture()
        tracker.snapshot("A")
        del guard
        gc.collect()
        self.assertFalse(tracker.active)
        self.assertEqual(tracker.phases(), [])
        with self.assertRaises(ZeroDivisionError), tracker.begin_capture():
            1 / 0
        self.assertFalse(tracker.active)

    def test_threads(self):
        tracker = new_tracker()
        tracker.begin_capture().release()
        work = lambda base: [tracker.buffer_allocated(base + i, ttmem.Memory.DRAM, 10) for i in range(2000)]
        threads = [threading.Thread(target=work, args=(n << 32,)) for n in range(4)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        tracker.end_capture("ALL")
        self.assertEqual(tracker.get_dram_usage("ALL").total_allocations, 4 * 2000 * 10)


class CaptureTest(unittest.TestCase):
    def test_graph(self):
        def node(kind, params=None, connections=()):
            return {"node_type": kind, "params": params, "connections": list(connections)}

        buffer = {"type": "DRAM", "size": "4096"}
        small = {"type": "L1", "size": 8192, "max_size_per_bank": 128}
        graph = [
            node("capture_start"),
            node("buffer", buffer),
            node("buffer_allocate", buffer, [1]),
            node("circular_buffer_allocate", {"size": "100", "core_range_set": "{[0-0 - 1-1]}", "globally_allocated": "0"}),
            node("circular_buffer_allocate", {"size": 700, "core_range_set": "{[0-0 - 1-1]}", "globally_allocated": "1"}),
            node("circular_buffer_allocate", {"size": 50, "core_range_set": "{[4-4 - 5-5]}"}),
            node("dataflow_buffer_allocate", {"size": 30, "core_range_set": "{[0-0 - 1-1]}", "borrows_memory": "0"}),
            node("scratchpad_allocate", {"size": 7, "core_range_set": "{[0-0 - 1-1]}"}),
            node("buffer_allocate", small, [1]),
            node("circular_buffer_deallocate_all", {"device_id": 0}),
            node("buffer_deallocate", {"type": "DRAM", "size": 0}, [1]),
            node("some_new_node", {}),
            node("capture_end"),
        ]
        graph = [{**n, "counter": i} for i, n in enumerate(graph)]
        for form in (graph, json.dumps(graph), json.dumps({"version": 1, "graph": graph}).encode()):
            self.check_usage(form)
        with new_tracker() as tracker, self.assertRaisesRegex(ttmem.TtmemError, "graph capture is broken"):
            tracker.graph('[{"counter": 0')

    def check_usage(self, graph):
        with new_tracker() as tracker:
            tracker.graph(graph)
        phase = tracker.phase("END_TRACE")
        self.assertEqual(phase.dram, (4096, 4096, 4096))
        self.assertEqual(phase.l1._asdict(), dict(peak_cb=150, peak_l1=128, peak_total=315, peak_dataflow_buffer=30, peak_scratchpad=7, peak_core=265))


class AnalyzeTest(unittest.TestCase):
    log = SOURCE / "tests" / "data" / "small.log"

    def test_findings(self):
        findings = ttmem.analyze(self.log)
        self.assertIn("DRAM", findings["peak"])
        self.assertEqual(ttmem.analyze(str(self.log)), findings)

    def test_tables(self):
        """Plain Python; tests/python/test_tables.py has the libraries that read Arrow."""
        profile = ttmem.read(self.log)
        self.assertEqual(len(list(profile.operations)), len(profile.operations))
        alive = [t for t in profile.tensors if t.alive_at_peak]
        self.assertEqual([t.name for t in alive][0], "layer.0.weight")
        self.assertIn("arrow_array_stream", repr(profile.states.__arrow_c_stream__()))
        self.assertEqual(profile.findings.json, ttmem.analyze(self.log))
        self.assertEqual([s.headline for s in profile.findings], [s["headline"] for s in profile.findings.json["statements"]])
        self.assertRegex(ttmem.__version__, r"^\d+\.\d+\.\d+$")

    def test_errors(self):
        with self.assertRaisesRegex(ttmem.TtmemError, "missing.log"):
            ttmem.analyze("missing.log")
        with self.assertRaises(ttmem.TtmemError) as caught:
            ttmem.analyze(os.devnull)
        self.assertEqual(caught.exception.code, -5)

    def test_the_program_is_in_the_wheel(self):
        version = subprocess.run([ttmem.program(), "--version"], capture_output=True, text=True, check=True).stdout
        self.assertRegex(version, r"^ttmem \d+\.\d+\.\d+\n")
        self.assertEqual(subprocess.run([sys.executable, "-m", "ttmem", "--version"], capture_output=True, text=True).stdout, version)
        on_path = pathlib.Path(sys.executable).with_name("ttmem")
        self.assertEqual(subprocess.run([on_path, "--version"], capture_output=True, text=True).stdout, version)

    def test_scripts_of_old_are_on_the_path(self):
        ask = lambda *command: subprocess.run([str(c) for c in command], capture_output=True, text=True, check=True).stdout
        on_path = pathlib.Path(sys.executable).with_name("memory_analysis_tool.py")
        self.assertEqual(ask(on_path, 16, 16), ask(ttmem.program(), "cb", "simulate", 16, 16))


if __name__ == "__main__":
    unittest.main()
