# SPDX-License-Identifier: Apache-2.0
"""One scale per token, as a tensor whose last two dimensions are 1: each of them fills a tile."""

import sys

import ttnn

FIXED = "--fixed" in sys.argv
TOKENS = 98304
SHAPE = [TOKENS, 1] if FIXED else [TOKENS, 1, 1, 1]
device = ttnn.open_device(device_id=0)
scale = ttnn.empty(SHAPE, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
root = ttnn.sqrt(scale)
ttnn.deallocate(root)
x = ttnn.empty([1, 8, 8192, 4096], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
y = ttnn.relu(x)
ttnn.close_device(device)
