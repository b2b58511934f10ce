# SPDX-License-Identifier: Apache-2.0
"""Fresh captures of small networks: what `ttmem graph` says tt-metal's extractors give is what they give. Run by scripts/test-ttnn,
on a mock board. Environment: TTMEM, the program (default: that of the installed package)."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import ttmem
import ttnn
from loguru import logger

logger.remove()  # ttnn's advice on every capture
PROGRAM = os.environ.get("TTMEM") or ttmem.program()
DRAM, L1 = ttnn.DRAM_MEMORY_CONFIG, ttnn.L1_MEMORY_CONFIG
FIELDS = ("peak_cb", "peak_l1", "peak_dataflow_buffer", "peak_scratchpad", "peak_total")


class Nets:
    """Each method is a network; the device is opened once."""

    def __init__(self, device):
        self.device = device

    def new(self, *shape, memory=DRAM, dtype=ttnn.bfloat16):
        return ttnn.empty(shape, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=self.device, memory_config=memory)

    def elementwise_in_l1(self):
        a, b = (self.new(1, 1, 256, 512, memory=L1) for _ in range(2))
        c = ttnn.subtract(a, b, memory_config=L1)
        ttnn.deallocate(a)
        return ttnn.relu(ttnn.multiply(c, b, memory_config=L1), memory_config=L1)

    def scores(self):
        q, k = self.new(1, 4, 128, 64), self.new(1, 4, 64, 128)
        return ttnn.softmax(ttnn.matmul(q, k), dim=-1)

    def projection(self):
        x, w = self.new(1, 1, 128, 512), self.new(1, 1, 512, 1024, dtype=ttnn.bfloat8_b)
        return ttnn.linear(ttnn.rms_norm(x), w, memory_config=L1)


class GraphOnTtnn(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.device = ttnn.open_device(device_id=0)
        cls.folder = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()
        ttnn.close_device(cls.device)

    def capture(self, net, mode):
        """(nodes, what ttmem says of the report file)."""
        path = pathlib.Path(self.folder.name) / "capture.json"
        ttnn.graph.begin_graph_capture(mode)
        try:
            kept = getattr(Nets(self.device), net)()
        finally:
            ttnn.graph.end_graph_capture_to_file(str(path))
        del kept
        nodes = json.loads(path.read_text())["graph"]
        shown = subprocess.run([PROGRAM, "graph", "--json", str(path)], capture_output=True, text=True)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        return nodes, json.loads(shown.stdout)["captures"][0]

    def check(self, nodes, ours):
        truth = ttnn.graph.extract_resource_usage_per_core(nodes)
        self.assertIsNone(ours["tt_metal"]["resource_usage_per_core"]["throws"])
        for field in FIELDS:
            self.assertEqual(ours["tt_metal"]["resource_usage_per_core"][field], getattr(truth, field), field)
        self.assertEqual(ours["tt_metal"]["peak_L1_memory_usage"], ttnn.graph.extract_peak_L1_memory_usage(nodes))

    def test_every_network_in_both_modes(self):
        for net in ("elementwise_in_l1", "scores", "projection"):
            for mode in (ttnn.graph.RunMode.NORMAL, ttnn.graph.RunMode.NO_DISPATCH):
                with self.subTest(net=net, mode=mode.name):
                    self.device.disable_and_clear_program_cache()
                    nodes, ours = self.capture(net, mode)
                    self.assertEqual(ours["run_mode"], mode.name)
                    self.check(nodes, ours)

    def test_programs_from_the_cache(self):
        """Their circular buffers are missing from the capture, and ttmem says so."""
        self.device.enable_program_cache()
        self.capture("elementwise_in_l1", ttnn.graph.RunMode.NORMAL)
        nodes, ours = self.capture("elementwise_in_l1", ttnn.graph.RunMode.NORMAL)
        self.device.disable_and_clear_program_cache()
        self.check(nodes, ours)
        self.assertEqual(ours["tt_metal"]["resource_usage_per_core"]["peak_cb"], 0)
        self.assertTrue(any("cache" in pitfall["name"] for pitfall in ours["pitfalls"]), ours["pitfalls"])


    def test_a_capture_is_a_window(self):
        """What was there before and is not used counts nowhere: the figure is a lower bound, and the allocator's own is not below it."""
        for mode in (ttnn.graph.RunMode.NORMAL, ttnn.graph.RunMode.NO_DISPATCH):
            with self.subTest(mode=mode.name):
                before = Nets(self.device).new(1, 1, 1024, 1024, memory=L1)
                nodes, ours = self.capture("elementwise_in_l1", mode)
                held = ttnn.get_memory_view(self.device, ttnn.BufferType.L1).total_bytes_allocated_per_bank
                ttnn.deallocate(before)
                self.check(nodes, ours)
                self.assertGreater(held, 0)
                self.assertEqual(ours["true"]["before_capture"]["buffers"], 0)
                self.assertTrue(ours["true"]["lower_bound"])
                self.assertIn("window", [pitfall["name"] for pitfall in ours["pitfalls"]])

    def test_a_clash_that_no_message_tells(self):
        """NO_DISPATCH goes on where a run fails: the capture names the operation and the tensors, and the run fails where it says."""
        view = ttnn.get_memory_view(self.device, ttnn.BufferType.L1)
        path = pathlib.Path(self.folder.name) / "clash.json"

        def net():
            low = ttnn.empty([1, 1, (view.total_bytes_per_bank - 60000) // 2048 * 32, 32 * view.num_banks], dtype=ttnn.bfloat16,
                             layout=ttnn.TILE_LAYOUT, device=self.device, memory_config=L1)
            return low, ttnn.softmax(Nets(self.device).new(1, 1, 1024, 8192), dim=-1)

        ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NO_DISPATCH)
        net()
        ttnn.graph.end_graph_capture_to_file(str(path))
        with self.assertRaises(RuntimeError) as failed:
            net()
        at, end = (int(n) for n in re.search(r"allocated at (\d+) and static \w+ buffer region ends at (\d+)", str(failed.exception)).groups())
        subprocess.run([PROGRAM, "analyze", str(path), "-d", self.folder.name + "/report", "--no-html", "-q"], check=True)
        (findings,) = pathlib.Path(self.folder.name, "report").glob("**/*findings.json")
        first = json.loads(findings.read_text())["statements"][0]
        numbers = {q["name"]: q["value"] for q in first["quantities"]}
        self.assertEqual((first["id"], first["severity"], numbers["lowest_tensor"], numbers["buffers_end"]), ("l1.overlap", "failure", at, end))
        self.assertIn("In the way: the result of #0 ttnn.empty", first["detail"])
        self.assertIsNone(json.loads(subprocess.run([PROGRAM, "graph", "--json", str(path)], capture_output=True, text=True).stdout)["captures"][0]["true"]["nearest_to_clash"])


if __name__ == "__main__":
    unittest.main()
