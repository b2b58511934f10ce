# SPDX-License-Identifier: Apache-2.0
"""A weight stays on the device as it came, row-major, beside the tiles that were made of it."""

import sys

import ttnn

FIXED = "--fixed" in sys.argv
device = ttnn.open_device(device_id=0)
x = ttnn.empty([1, 1, 4096, 8192], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
given = ttnn.empty([8192, 8192], dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT, device=device)
weight = ttnn.to_layout(given, ttnn.TILE_LAYOUT)
if FIXED:
    ttnn.deallocate(given)
for _ in range(3):
    y = ttnn.linear(x, weight)
    z = ttnn.multiply(y, y)
    ttnn.deallocate(x)
    ttnn.deallocate(y)
    x = z
ttnn.close_device(device)
