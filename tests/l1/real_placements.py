#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Circular buffers of random programs, placed by real ttnn on a mock board; the judge of src/l1/placement.c.

usage: on-board BOARD tests/l1/real_placements.py OUT SEED COUNT
A line is one buffer: bytes, the cores asked for, the address it got. "tensor N": an L1 tensor of N bytes per core was made before.
"runs" or "error: ..." ends a program.
"""
import random
import sys

import ttnn

seed, count = int(sys.argv[2]), int(sys.argv[3])
out = open(sys.argv[1], "w")
random.seed(seed)
device = ttnn.open_device(device_id=0)
grid = device.compute_with_storage_grid_size()


def core_set(ranges):
    return ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(r[0], r[1]), ttnn.CoreCoord(r[2], r[3])) for r in ranges])


def new(pages_per_core, memory):
    shape = (1, 1, 32 * pages_per_core, 32 * grid.x * grid.y)
    return ttnn.empty(shape, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=memory)


def rectangle():
    x0, y0 = random.randrange(grid.x), random.randrange(grid.y)
    return (x0, y0, random.randrange(x0, grid.x), random.randrange(y0, grid.y))


def apart(n):
    ranges = []
    for _ in range(20):
        r = rectangle()
        if all(r[0] > q[2] or q[0] > r[2] or r[1] > q[3] or q[1] > r[3] for q in ranges):
            ranges.append(r)
        if len(ranges) == n:
            break
    return ranges


def program(scale):
    """A few sets of cores, and buffers on any of them."""
    sets = [apart(random.choice([1, 1, 1, 2, 3])) for _ in range(random.randint(1, 4))]
    return [(random.choice([16, 32, 48, 64, 576, 1088, 2048, 4096]), random.randint(1, 8 * scale), random.choice(sets))
            for _ in range(random.randint(1, 10))]


def run(buffers, tensors):
    everywhere = core_set([(0, 0, grid.x - 1, grid.y - 1)])
    kernel = ttnn.KernelDescriptor(kernel_source="void kernel_main() {}",
                                   source_type=ttnn.KernelDescriptor.SourceType.SOURCE_CODE,
                                   core_ranges=everywhere, config=ttnn.ReaderConfigDescriptor())
    cbs = []
    for index, (page, pages, ranges) in enumerate(buffers):
        form = ttnn.CBFormatDescriptor(buffer_index=index, data_format=ttnn.bfloat16, page_size=page)
        cbs.append(ttnn.CBDescriptor(total_size=page * pages, core_ranges=core_set(ranges), format_descriptors=[form]))
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
    error = None
    try:
        ttnn.generic_op(tensors, ttnn.ProgramDescriptor(kernels=[kernel], semaphores=[], cbs=cbs))
    except RuntimeError as e:
        error = str(e).split("info:\n")[-1].split("\nbacktrace")[0]
    graph = ttnn.graph.end_graph_capture()
    return [n["params"]["address"] for n in graph if n["node_type"] == "circular_buffer_allocate"], error


view = ttnn.get_memory_view(device, ttnn.BufferType.L1)
l1_bytes = {8: 1499136, 11: 1572864}[grid.x]
print("# Circular buffers of random programs as real ttnn placed them on a mock board: tests/l1/real_placements.py", file=out)
print("base", l1_bytes - view.total_bytes_per_bank, "align", {8: 32, 11: 64}[grid.x], "l1", l1_bytes, file=out)
dram = [new(1, ttnn.DRAM_MEMORY_CONFIG), new(1, ttnn.DRAM_MEMORY_CONFIG)]
for number in range(count):
    pages = random.choice([0, 0, 0, 8, 300])
    held = new(pages, ttnn.L1_MEMORY_CONFIG) if pages else None
    buffers = program(random.choice([1, 1, 8, 64]))
    addresses, error = run(buffers, dram)
    assert len(addresses) == len(buffers), error
    if pages:
        print("tensor", pages * 2048, file=out)
    for (page, many, ranges), address in zip(buffers, addresses):
        print(page * many, "+".join("%d-%d:%d-%d" % r for r in ranges), address, file=out)
    print("error: " + error if error else "runs", file=out)
    held = None
ttnn.close_device(device)
