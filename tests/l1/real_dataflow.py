#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where the dataflow buffers of real ttnn end: their sizes from a capture without dispatch, the end from the clash message of a real run.

usage: on-board n150 tests/l1/real_dataflow.py OUT        one line of JSON per operation: {"buffers": [[bytes, cores], ...], "end": N}
"""
import json
import re
import sys

import ttnn

device = ttnn.open_device(device_id=0)
view = ttnn.get_memory_view(device, ttnn.BufferType.L1)


def new(*shape, memory=ttnn.DRAM_MEMORY_CONFIG):
    return ttnn.empty(shape, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=memory)


def buffers_of(x):
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NO_DISPATCH)
    ttnn.softmax(x, dim=-1)
    found = []
    for node in ttnn.graph.end_graph_capture():
        p = node["params"]
        if node["node_type"] == "dataflow_buffer_allocate" and p["borrows_memory"] != "1":
            found.append([p["size"], p["core_range_set"]])
    return found


with open(sys.argv[1], "w") as out:
    for shape in ((1, 1, 512, 4096), (1, 1, 1024, 8192), (1, 1, 256, 1024)):
        device.disable_and_clear_program_cache()
        x = new(*shape)
        sizes = buffers_of(x)
        device.disable_and_clear_program_cache()
        full = new(1, 1, view.total_bytes_per_bank // 2048 * 32, 32 * view.num_banks, memory=ttnn.L1_MEMORY_CONFIG)
        try:
            ttnn.softmax(x, dim=-1)
            raise SystemExit("no clash with a full L1")
        except RuntimeError as e:
            end = int(re.search(r"region ends at (\d+)", str(e)).group(1))
        full = None
        print(json.dumps({"buffers": sizes, "end": end}), file=out)
ttnn.close_device(device)
