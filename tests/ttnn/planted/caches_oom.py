# SPDX-License-Identifier: Apache-2.0
"""Sixty-one layers with a KV cache of 2048 tokens for 32 users are more than DRAM holds: memory ends while they are made."""

import sys

import ttnn

FIXED = "--fixed" in sys.argv
TOKENS = 2048 // int(sys.argv[-1]) if FIXED else 2048
LAYERS = 61
device = ttnn.open_device(device_id=0)


def new(*shape):
    return ttnn.empty(shape, dtype=ttnn.bfloat8_b, layout=ttnn.TILE_LAYOUT, device=device)


class Attention:
    def __init__(self):
        self.wqkv = new(8192, 8192)
        self.layer_past = [new(32, 8, TOKENS, 128) for _ in range(2)]


layers = [Attention() for _ in range(LAYERS)]
ttnn.close_device(device)
