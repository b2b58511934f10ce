# SPDX-License-Identifier: Apache-2.0
"""The second activation in L1 is more than the banks of L1 have left."""

import sys

import ttnn

FIXED = "--fixed" in sys.argv
MEMORY = ttnn.DRAM_MEMORY_CONFIG if FIXED else ttnn.L1_MEMORY_CONFIG
device = ttnn.open_device(device_id=0)
x = ttnn.empty([1, 1, 5120, 4096], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=ttnn.L1_MEMORY_CONFIG)
y = ttnn.empty([1, 1, 8192, 4096], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=MEMORY)
ttnn.close_device(device)
