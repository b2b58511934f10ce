# SPDX-License-Identifier: Apache-2.0
"""A tensor that is kept in L1 for later leaves too little for the circular buffers of softmax."""

import sys

import ttnn

FIXED = "--fixed" in sys.argv
KEPT = ttnn.DRAM_MEMORY_CONFIG if FIXED else ttnn.L1_MEMORY_CONFIG
device = ttnn.open_device(device_id=0)
kept = ttnn.empty([1, 1, 10752, 4096], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=KEPT)
x = ttnn.empty([1, 1, 512, 256], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
y = ttnn.softmax(x, dim=-1)
ttnn.close_device(device)
