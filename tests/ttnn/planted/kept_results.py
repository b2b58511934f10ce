# SPDX-License-Identifier: Apache-2.0
"""A loop that keeps the result of every step, of which only the last is used."""

import sys

import ttnn

FIXED = "--fixed" in sys.argv
device = ttnn.open_device(device_id=0)
x = ttnn.empty([1, 1, 4096, 4096], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
weight = ttnn.empty([1, 1, 4096, 4096], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
history = [x]
for step in range(24):
    history.append(ttnn.add(history[-1], weight))
    if FIXED and step:
        ttnn.deallocate(history[-2])
ttnn.close_device(device)
