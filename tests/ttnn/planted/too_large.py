# SPDX-License-Identifier: Apache-2.0
"""A batch of scores is larger than what is left of DRAM, a part of it is not."""

import sys

import ttnn

PARTS = int(sys.argv[2]) if "--fixed" in sys.argv else 1
device = ttnn.open_device(device_id=0)
weights = ttnn.empty([1, 1, 512 * 12 * 600, 1024], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
q = ttnn.empty([1, 96, 8192, 64], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
k = ttnn.empty([1, 96, 64, 8192], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
for part in range(PARTS):
    heads = 96 // PARTS
    some = ttnn.empty([1, heads, 8192, 64], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device) if PARTS > 1 else q
    scores = ttnn.matmul(some, k) if PARTS == 1 else ttnn.matmul(some, ttnn.slice(k, [0, 0, 0, 0], [1, heads, 64, 8192]))
    ttnn.deallocate(scores)
ttnn.close_device(device)
