# SPDX-License-Identifier: Apache-2.0
"""Eighty-two layers whose weights fill most of DRAM in bf16."""

import sys

import ttnn

FIXED = "--fixed" in sys.argv
DTYPE = ttnn.bfloat8_b if FIXED else ttnn.bfloat16
device = ttnn.open_device(device_id=0)
x = ttnn.empty([1, 1, 1024, 8192], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
layers = [ttnn.empty([8192, 8192], dtype=DTYPE, layout=ttnn.TILE_LAYOUT, device=device) for _ in range(82)]
norm = ttnn.empty([1, 8192], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
for weight in layers:
    y = ttnn.linear(x, weight)
    ttnn.deallocate(x)
    x = ttnn.rms_norm(y, weight=norm)
    ttnn.deallocate(y)
ttnn.close_device(device)
