# SPDX-License-Identifier: Apache-2.0
"""Real traces on a mock board, which can capture those without programs: where ttnn puts them. Arguments: trace_region_size, traces."""

import json
import sys

import ttnn

region, traces = int(sys.argv[1]), int(sys.argv[2])
device = ttnn.open_device(device_id=0, trace_region_size=region)


def allocated(kind):
    return ttnn.get_memory_view(device, kind).total_bytes_allocated_per_bank


def new(height):
    return ttnn.empty([1, 1, height, 256], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)


weight = new(1024)
before = allocated(ttnn.BufferType.DRAM)
captured = []
for i in range(traces):
    trace = ttnn.begin_trace_capture(device, cq_id=0)
    ttnn.end_trace_capture(device, trace, cq_id=0)
    captured.append(trace)
truth = {"dram": allocated(ttnn.BufferType.DRAM) - before, "trace": allocated(ttnn.BufferType.TRACE)}
result = new(512)
for trace in captured[1:]:
    ttnn.release_trace(device, trace)
with open("truth.json", "w") as file:
    json.dump(truth, file)
ttnn.close_device(device)
