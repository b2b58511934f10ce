# SPDX-License-Identifier: Apache-2.0
"""Runs inside the lab: plays lists of allocations and frees on ttnn's real allocator. usage: on-board BOARD fit_program.py PROGRAMS.json OUT.json
A program is a list of ["alloc", name, [dims], dtype] and ["free", name]. Out: per program the states before each event, and the event refused."""
import json
import sys

import ttnn

DTYPES = {"bf16": ttnn.bfloat16, "f32": ttnn.float32, "bfp_bf8": ttnn.bfloat8_b}
device = ttnn.open_device(device_id=0)


def state():
    v = ttnn.get_memory_view(device, ttnn.BufferType.DRAM)
    return [v.num_banks, v.total_bytes_per_bank, v.total_bytes_allocated_per_bank, v.total_bytes_free_per_bank,
            v.largest_contiguous_bytes_free_per_bank]


def play(events):
    live, states = {}, []
    refused = None
    for number, event in enumerate(events):
        states.append(state())
        if event[0] == "free":
            ttnn.deallocate(live.pop(event[1]))
            continue
        try:
            live[event[1]] = ttnn.empty(event[2], dtype=DTYPES[event[3]], layout=ttnn.TILE_LAYOUT, device=device,
                                        memory_config=ttnn.DRAM_MEMORY_CONFIG)
        except RuntimeError as error:
            refused = [number, next((s for s in str(error).splitlines() if "Out of Memory" in s), str(error))]
            break
    states.append(state())
    for tensor in live.values():
        ttnn.deallocate(tensor)
    return {"states": states, "refused": refused}


with open(sys.argv[1]) as source, open(sys.argv[2], "w") as out:
    json.dump([play(program) for program in json.load(source)], out)
ttnn.close_device(device)
