# SPDX-License-Identifier: Apache-2.0
"""Keys of 576 values in bf16 and values of 512 in bfp8, a page table for four users, weights between the caches that were converted on the device, and
activations that need a hole of their size.
usage: latent_caches.py LAYERS BLOCKS"""

import sys

import ttnn

LAYERS, BLOCKS = int(sys.argv[1]), int(sys.argv[2])
HIDDEN, WIDE = 4096, 12288
device = ttnn.open_device(device_id=0)


def new(*shape, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT):
    return ttnn.empty(shape, dtype=dtype, layout=layout, device=device)


class Layer:
    def __init__(self):
        loaded = new(1, 1, HIDDEN, WIDE)
        self.up = ttnn.typecast(loaded, ttnn.bfloat8_b)
        ttnn.deallocate(loaded)
        self.keys = new(BLOCKS, 1, 64, 576)
        self.down = new(1, 1, WIDE, HIDDEN, dtype=ttnn.bfloat8_b)
        self.values = new(BLOCKS, 1, 64, 512, dtype=ttnn.bfloat8_b)

    def __call__(self, x):
        for cache, width, dtype in ((self.keys, 576, ttnn.bfloat16), (self.values, 512, ttnn.bfloat8_b)):
            ttnn.experimental.paged_fill_cache(cache, new(1, 1, 64, width, dtype=dtype), pages, batch_idx=0)
        wide = ttnn.matmul(x, self.up)
        y = ttnn.matmul(wide, self.down)
        ttnn.deallocate(wide)
        return ttnn.add(x, y)


table = new(1, 1, 102400, HIDDEN, layout=ttnn.ROW_MAJOR_LAYOUT)
layers = [Layer() for _ in range(LAYERS)]
pages = new(4, -(-BLOCKS // 4), dtype=ttnn.int32, layout=ttnn.ROW_MAJOR_LAYOUT)
x = new(1, 1, 2048, HIDDEN)
for layer in layers:
    x = layer(x)
ttnn.close_device(device)
