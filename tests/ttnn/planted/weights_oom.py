# SPDX-License-Identifier: Apache-2.0
"""Ninety-eight layers in bf16 are more than DRAM holds: memory ends while they are brought."""

import sys

import ttnn

FIXED = "--fixed" in sys.argv
DTYPE = ttnn.bfloat8_b if FIXED else ttnn.bfloat16
device = ttnn.open_device(device_id=0)
x = ttnn.empty([1, 1, 1024, 8192], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
for _ in range(98):
    weight = ttnn.empty([8192, 8192], dtype=DTYPE, layout=ttnn.TILE_LAYOUT, device=device)
    y = ttnn.linear(x, weight)
    ttnn.deallocate(y)
    globals().setdefault("layers", []).append(weight)
ttnn.close_device(device)
