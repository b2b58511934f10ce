# SPDX-License-Identifier: Apache-2.0
"""A chain of operations whose tensors stay in L1, cut in blocks and in rows over the cores.
usage: sharded_chain.py [ROWS]     rows of each core's share; too many of them end in a clash of L1 tensors and circular buffers"""

import sys

import ttnn
from own_view import View

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 64
COLUMNS = 512


def main():
    device = ttnn.open_device(device_id=0)
    view = View(device)
    grid = ttnn.CoreGrid(x=8, y=8)
    tall = ttnn.create_sharded_memory_config((1, 1, 64 * ROWS, COLUMNS), core_grid=grid, strategy=ttnn.ShardStrategy.HEIGHT)
    square = ttnn.create_sharded_memory_config((1, 1, 64 * ROWS, COLUMNS), core_grid=grid, strategy=ttnn.ShardStrategy.BLOCK)
    weight = ttnn.empty((1, 1, COLUMNS, COLUMNS), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    bias = ttnn.empty((1, 1, COLUMNS, COLUMNS // 2), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    view.after("weights")
    x = ttnn.empty((1, 1, 64 * ROWS, COLUMNS), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    view.after("input")
    for _ in range(4):
        rows = ttnn.to_memory_config(x, tall)
        view.after("to_memory_config rows")
        active = ttnn.gelu(rows, memory_config=tall)
        view.after("gelu")
        doubled = ttnn.multiply(active, rows, memory_config=tall)
        view.after("multiply")
        scale = ttnn.softmax(bias, dim=-1)  # in DRAM, but its kernels want L1 beside the three tensors there
        view.after("softmax")
        for tensor in (rows, active, scale):
            ttnn.deallocate(tensor)
        view.after("deallocate")
        blocks = ttnn.to_memory_config(doubled, square)
        view.after("to_memory_config blocks")
        ttnn.deallocate(doubled)
        product = ttnn.matmul(blocks, weight, memory_config=square)
        view.after("matmul")
        ttnn.deallocate(blocks)
        ttnn.deallocate(x)
        x = ttnn.to_memory_config(product, ttnn.DRAM_MEMORY_CONFIG)
        view.after("to_memory_config DRAM")
        ttnn.deallocate(product)
        view.after("deallocate")
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
