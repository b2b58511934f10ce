# SPDX-License-Identifier: Apache-2.0
"""A bf16 weight is cast to f32 before it is used."""

import sys

import ttnn

FIXED = "--fixed" in sys.argv
device = ttnn.open_device(device_id=0)
x = ttnn.empty([1, 1, 8192, 8192], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
weight = ttnn.empty([8192, 8192], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
if not FIXED:
    given = weight
    weight = ttnn.typecast(given, ttnn.float32)
    ttnn.deallocate(given)
y = ttnn.linear(x, weight)
out = ttnn.multiply(y, y)
ttnn.close_device(device)
