# SPDX-License-Identifier: Apache-2.0
"""Weights, then a key and a value cache of BLOCKS blocks for each layer, into which a prompt is written. BLOCK_SIZE 0: no pages, BLOCKS tiles of 32 tokens
for each of two users.
usage: caches.py LAYERS BLOCKS [BLOCK_SIZE]"""

import sys

import ttnn

LAYERS, BLOCKS = int(sys.argv[1]), int(sys.argv[2])
BLOCK_SIZE = int(sys.argv[3]) if len(sys.argv) > 3 else 64
HEADS, HEAD_DIM, HIDDEN = 8, 128, 4096


def new(*shape, dtype=ttnn.bfloat8_b, layout=ttnn.TILE_LAYOUT):
    return ttnn.empty(shape, dtype=dtype, layout=layout, device=device)


device = ttnn.open_device(device_id=0)
weights = [new(1, 1, HIDDEN, 6 * HIDDEN) for _ in range(LAYERS)]
shape = (BLOCKS, HEADS, BLOCK_SIZE, HEAD_DIM) if BLOCK_SIZE else (2, HEADS, 32 * BLOCKS, HEAD_DIM)
caches = [(new(*shape), new(*shape)) for _ in range(LAYERS)]
pages = BLOCK_SIZE and new(1, BLOCKS, dtype=ttnn.int32, layout=ttnn.ROW_MAJOR_LAYOUT)
for keys, values in caches:
    for cache in (keys, values):
        part = new(1, HEADS, 32, HEAD_DIM)
        if BLOCK_SIZE:
            ttnn.experimental.paged_fill_cache(cache, part, pages, batch_idx=0)
        else:
            ttnn.fill_cache(cache, part, 0)
        ttnn.deallocate(part)
ttnn.close_device(device)
