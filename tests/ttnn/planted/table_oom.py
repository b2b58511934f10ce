# SPDX-License-Identifier: Apache-2.0
"""DRAM holds an embedding table in tiles, but not the rows that ttnn.embedding makes of it beside it."""

import sys

import ttnn

FIXED = "--fixed" in sys.argv
LAYOUT = ttnn.ROW_MAJOR_LAYOUT if FIXED else ttnn.TILE_LAYOUT
device = ttnn.open_device(device_id=0)
table = ttnn.empty([128256, 4096], dtype=ttnn.bfloat16, layout=LAYOUT, device=device)
weights = ttnn.empty([1, 1, 512 * 12 * 870, 1024], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
tokens = ttnn.empty([1, 512], dtype=ttnn.uint32, layout=ttnn.ROW_MAJOR_LAYOUT, device=device)
x = ttnn.embedding(tokens, table, layout=ttnn.TILE_LAYOUT)
y = ttnn.relu(x)
ttnn.close_device(device)
