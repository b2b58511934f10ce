# SPDX-License-Identifier: Apache-2.0
"""A small tensor that is done with lies between two free blocks, neither of which holds the last tensor."""

import sys

import ttnn

FIXED = "--fixed" in sys.argv
device = ttnn.open_device(device_id=0)


def bank_mb(n):
    return [1, 1, 512 * 12 * n, 1024]  # n MB in each of 12 banks


low = ttnn.empty(bank_mb(450), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
small = ttnn.slice(low, [0, 0, 0, 0], bank_mb(2))
high = ttnn.empty(bank_mb(450), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
largest = ttnn.max(small)
ttnn.deallocate(low)
ttnn.deallocate(high)
if FIXED:
    ttnn.deallocate(small)
wide = ttnn.empty(bank_mb(600), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
ttnn.close_device(device)
