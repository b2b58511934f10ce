# SPDX-License-Identifier: Apache-2.0
"""The tracker on real ttnn: a small training-like loop in both modes, phase by phase, against ttnn's own extractors and allocator.
Run by scripts/test-ttnn, on a mock board."""

import json
import subprocess
import unittest

import ttmem
import ttnn
from loguru import logger

logger.remove()  # ttnn's advice on every capture

MODES = (ttnn.graph.RunMode.NORMAL, ttnn.graph.RunMode.NO_DISPATCH)


class Recorder:
    """Keeps every capture that the tracker takes from ttnn."""

    def __enter__(self):
        self.graphs, self.real = [], ttnn.graph.end_graph_capture

        def end():
            self.graphs.append(self.real())
            return self.graphs[-1]

        ttnn.graph.end_graph_capture = end
        return self.graphs

    def __exit__(self, *exception):
        ttnn.graph.end_graph_capture = self.real


def dram_usage(graph):
    """extract_dram_usage of tt-metal, which has no Python name."""
    current = peak = allocated = freed = 0
    for node in graph:
        if node["node_type"] == "buffer_allocate" and node["params"]["type"] == "DRAM":
            current += int(node["params"]["size"])
            allocated += int(node["params"]["size"])
            peak = max(peak, current)
        elif node["node_type"] == "buffer_deallocate":
            buffer = graph[node["connections"][0]]["params"]
            if buffer["type"] == "DRAM":
                current -= int(buffer["size"])
                freed += int(buffer["size"])
    return peak, allocated, freed


class Loop:
    """A layer with its optimizer: names and phases of tt-train's loop, no mathematics of it."""

    L1 = ttnn.L1_MEMORY_CONFIG

    def __init__(self, device):
        self.device = device

    def new(self, *shape, memory=ttnn.DRAM_MEMORY_CONFIG):
        return ttnn.empty(shape, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=self.device, memory_config=memory)

    def model(self):
        self.weights = [self.new(1, 1, 512, 1024), self.new(1, 1, 1024, 512)]

    def optimizer(self):
        self.moments = [self.new(*w.shape) for w in self.weights for _ in range(2)]

    def forward(self):
        x = self.new(1, 1, 256, 512)
        hidden = ttnn.matmul(x, self.weights[0])
        active = ttnn.gelu(hidden)
        out = ttnn.matmul(active, self.weights[1])
        kept = ttnn.add(out, x, memory_config=self.L1)
        ttnn.deallocate(out)
        self.activations = [x, hidden, active, kept]

    def backward(self):
        gradient = ttnn.multiply(self.activations[3], self.activations[3], memory_config=self.L1)
        through = ttnn.matmul(gradient, ttnn.transpose(self.weights[1], -2, -1))
        self.gradients = [ttnn.matmul(ttnn.transpose(a, -2, -1), b) for a, b in ((self.activations[0], through), (self.activations[2], gradient))]
        for tensor in [gradient, through, *self.activations]:
            ttnn.deallocate(tensor)
        self.activations = []

    def step(self):
        for weight, gradient, moment in zip(self.weights, self.gradients, self.moments[::2]):
            ttnn.add(weight, ttnn.add(gradient, moment))
            ttnn.deallocate(gradient)


PHASES = (("MODEL_CREATION", "model"), ("OPTIMIZER_CREATION", "optimizer"), ("FORWARD_PASS", "forward"), ("BACKWARD_PASS", "backward"))


class TrackerOnTtnn(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.device = ttnn.open_device(device_id=0)

    @classmethod
    def tearDownClass(cls):
        ttnn.close_device(cls.device)

    def run_loop(self, mode):
        """(tracker, captures, DRAM in use by the allocator after each phase)."""
        self.device.disable_and_clear_program_cache()
        tracker, loop, in_use = ttmem.Tracker(), Loop(self.device), []
        used = lambda: ttnn.get_memory_view(self.device, ttnn.BufferType.DRAM)
        with Recorder() as graphs:
            guard = tracker.begin_capture(mode)
            for name, phase in PHASES:
                getattr(loop, phase)()
                in_use.append(used().total_bytes_allocated_per_bank * used().num_banks)
                tracker.snapshot(name)
            loop.step()
            tracker.end_capture("FIRST_ITERATION_COMPLETE")
            guard.release()
        return tracker, graphs, in_use

    def test_every_phase_against_the_extractors(self):
        for mode in MODES:
            with self.subTest(mode=mode.name):
                tracker, graphs, _ = self.run_loop(mode)
                phases = tracker.phases()
                self.assertEqual([p.name for p in phases], [name for name, _ in PHASES] + ["FIRST_ITERATION_COMPLETE"])
                self.assertEqual(len(graphs), len(phases))
                self.assertFalse(ttnn.graph.is_graph_capture_active())
                for phase, graph in zip(phases, graphs):
                    self.assertEqual(phase.mode.name, mode.name)
                    self.assertEqual(tuple(phase.dram), dram_usage(graph), phase.name)
                    truth = ttnn.graph.extract_resource_usage_per_core(graph)
                    self.assertEqual(phase.l1.peak_cb, truth.peak_cb, phase.name)
                    # An L1 tensor freed in a later phase than it was made in makes ttnn's unsigned sum wrap around.
                    if truth.peak_l1 < 1 << 60:
                        self.assertEqual(phase.l1.peak_l1, truth.peak_l1, phase.name)
                        self.assertEqual(phase.l1.peak_total, truth.peak_total, phase.name)
                    self.assertEqual(phase.l1.peak_dataflow_buffer, truth.peak_dataflow_buffer, phase.name)
                    self.assertEqual(phase.l1.peak_scratchpad, truth.peak_scratchpad, phase.name)
                self.assertGreater(tracker.get_dram_usage("FORWARD_PASS").peak, 0)
                self.assertGreater(tracker.get_l1_usage("FORWARD_PASS").peak_l1, 0)

    def test_relations(self):
        for mode in MODES:
            tracker, _, _ = self.run_loop(mode)
            peak = current = 0
            for phase in tracker.phases():
                peak = max(peak, current + phase.dram.peak)
                current += phase.dram.total_allocations - phase.dram.total_deallocations
                self.assertEqual((phase.cumulative_peak, phase.cumulative_current), (peak, current), phase.name)
                self.assertLessEqual(phase.l1.peak_total, phase.l1.peak_cb + phase.l1.peak_l1 + phase.l1.peak_dataflow_buffer + phase.l1.peak_scratchpad)

    def test_dram_is_what_the_allocator_holds(self):
        """Model and optimizer only: in the later phases ttnn's kernel binaries and padding to banks come on top."""
        before = ttnn.get_memory_view(self.device, ttnn.BufferType.DRAM)
        base = before.total_bytes_allocated_per_bank * before.num_banks
        tracker, _, in_use = self.run_loop(MODES[0])
        page, banks = 2048, before.num_banks
        pad = lambda tensors, pages: tensors * (-pages % banks) * page  # a tensor takes as many pages in every bank
        pages = 512 * 1024 // 1024
        names = dict(tracker.get_dram_usage_all())
        self.assertEqual(names["MODEL_CREATION"].peak + pad(2, pages), in_use[0] - base)
        self.assertEqual(tracker.phase("OPTIMIZER_CREATION").cumulative_current + pad(6, pages), in_use[1] - base)

    def test_no_dispatch_takes_nothing(self):
        before = ttnn.get_memory_view(self.device, ttnn.BufferType.DRAM).total_bytes_allocated_per_bank
        with ttmem.Tracker(mode=MODES[1]) as tracker:
            size = 1 << 15
            huge = Loop(self.device).new(1, 64, size, size)  # 128 GB: on no board
            del huge
        self.assertEqual(tracker.get_dram_usage("END_TRACE").peak, 64 * size * size * 2)
        self.assertEqual(ttnn.get_memory_view(self.device, ttnn.BufferType.DRAM).total_bytes_allocated_per_bank, before)

    def test_the_words_of_tt_train(self):
        tracker = ttmem.MemoryUsageTracker
        guard = tracker.begin_capture(ttnn.graph.RunMode.NO_DISPATCH)
        keep = Loop(self.device).new(1, 1, 512, 1024)
        tracker.snapshot("MODEL_CREATION")
        with self.assertRaisesRegex(ttmem.TtmemError, "already active"):
            tracker.begin_capture()
        tracker.end_capture("ITERATION_COMPLETE")
        text = tracker.instance().text()
        self.assertIn("--- MODEL_CREATION ---\n  DRAM: Segment Peak 1.00 MB, Allocations 1.00 MB", text)
        shown = subprocess.run([ttmem.program(), "train", "--logs", "-", "--json"], input=text, capture_output=True, text=True, check=True)
        self.assertEqual(json.loads(shown.stdout)["summaries"][0]["phases"][0]["cumulative_current_mb"], 1.0)
        del guard, keep
        self.assertEqual(tracker.get_trace_names(), [])

    def test_a_guard_closes_the_capture_of_ttnn(self):
        with self.assertRaises(ZeroDivisionError), ttmem.Tracker().begin_capture():
            self.assertTrue(ttnn.graph.is_graph_capture_active())
            1 / 0
        self.assertFalse(ttnn.graph.is_graph_capture_active())


if __name__ == "__main__":
    unittest.main()
