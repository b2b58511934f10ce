# SPDX-License-Identifier: Apache-2.0
"""Pairs of bf16 values, row-major: each row of 4 bytes is padded to the alignment of DRAM."""

import sys

import ttnn

FIXED = "--fixed" in sys.argv
SHAPE = [6144, 1024] if FIXED else [3145728, 2]
device = ttnn.open_device(device_id=0)
pairs = ttnn.empty(SHAPE, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT, device=device)
x = ttnn.empty([1, 1, 4096, 4096], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
y = ttnn.relu(x)
back = ttnn.from_device(pairs)
ttnn.close_device(device)
