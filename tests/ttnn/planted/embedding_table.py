# SPDX-License-Identifier: Apache-2.0
"""An embedding table in tiles: ttnn.embedding makes rows of all of it, every time."""

import sys

import ttnn

FIXED = "--fixed" in sys.argv
LAYOUT = ttnn.ROW_MAJOR_LAYOUT if FIXED else ttnn.TILE_LAYOUT
device = ttnn.open_device(device_id=0)
table = ttnn.empty([128256, 4096], dtype=ttnn.bfloat16, layout=LAYOUT, device=device)
tokens = ttnn.empty([1, 512], dtype=ttnn.uint32, layout=ttnn.ROW_MAJOR_LAYOUT, device=device)
weight = ttnn.empty([4096, 4096], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
for _ in range(2):
    x = ttnn.embedding(tokens, table, layout=ttnn.TILE_LAYOUT)
    y = ttnn.linear(x, weight)
    ttnn.deallocate(x)
    ttnn.deallocate(y)
ttnn.close_device(device)
