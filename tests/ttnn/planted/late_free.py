# SPDX-License-Identifier: Apache-2.0
"""A mask is used by the first step only, and stays allocated while the later steps fill memory."""

import sys

import ttnn

FIXED = "--fixed" in sys.argv
device = ttnn.open_device(device_id=0)
x = ttnn.empty([1, 1, 4096, 4096], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
mask = ttnn.repeat(x, [1, 8, 1, 1])
y = ttnn.add(mask, x)
if FIXED:
    ttnn.deallocate(mask)
z = ttnn.multiply(y, y)
wide = ttnn.concat([y, z], dim=1)
ttnn.deallocate(y)
ttnn.deallocate(z)
out = ttnn.relu(wide)
ttnn.close_device(device)
