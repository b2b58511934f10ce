# SPDX-License-Identifier: Apache-2.0
"""A transformer block on one chip: attention with a key and value cache, then the feed-forward part, for a few tokens' worth of steps.
usage: transformer_block.py [BLOCKS [HIDDEN]]"""

import sys

import ttnn
from own_view import View

BLOCKS = int(sys.argv[1]) if len(sys.argv) > 1 else 2
HIDDEN = int(sys.argv[2]) if len(sys.argv) > 2 else 2048
HEADS, TOKENS, CACHE = 16, 512, 2048


def new(device, *shape, dtype=ttnn.bfloat16):
    return ttnn.empty(shape, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device)


class Block:
    def __init__(self, device):
        self.norms = [new(device, 1, 1, 1, HIDDEN) for _ in range(4)]
        self.qkv = new(device, 1, 1, HIDDEN, 3 * HIDDEN, dtype=ttnn.bfloat8_b)
        self.out = new(device, 1, 1, HIDDEN, HIDDEN, dtype=ttnn.bfloat8_b)
        self.up = new(device, 1, 1, HIDDEN, 4 * HIDDEN, dtype=ttnn.bfloat8_b)
        self.down = new(device, 1, 1, 4 * HIDDEN, HIDDEN, dtype=ttnn.bfloat8_b)
        self.cache = [new(device, 1, HEADS, CACHE, HIDDEN // HEADS) for _ in range(2)]

    def attention(self, x, view):
        y = ttnn.layer_norm(x, weight=self.norms[0], bias=self.norms[1])
        view.after("layer_norm")
        qkv = ttnn.linear(y, self.qkv)
        view.after("linear qkv")
        ttnn.deallocate(y)
        view.after("deallocate")
        q, k, v = ttnn.experimental.nlp_create_qkv_heads(qkv, num_heads=HEADS, num_kv_heads=HEADS, transpose_k_heads=False)
        view.after("nlp_create_qkv_heads")
        ttnn.deallocate(qkv)
        for cache, part in zip(self.cache, (k, v)):
            ttnn.fill_cache(cache, part, 0)
            view.after("fill_cache")
        heads = ttnn.transformer.scaled_dot_product_attention(q, k, v, is_causal=True)
        view.after("scaled_dot_product_attention")
        for part in (q, k, v):
            ttnn.deallocate(part)
        joined = ttnn.experimental.nlp_concat_heads(heads)
        view.after("nlp_concat_heads")
        ttnn.deallocate(heads)
        out = ttnn.linear(joined, self.out)
        view.after("linear out")
        ttnn.deallocate(joined)
        return out

    def feed_forward(self, x, view):
        y = ttnn.layer_norm(x, weight=self.norms[2], bias=self.norms[3])
        view.after("layer_norm")
        wide = ttnn.linear(y, self.up, memory_config=ttnn.L1_MEMORY_CONFIG)
        view.after("linear up")
        ttnn.deallocate(y)
        active = ttnn.gelu(wide, memory_config=ttnn.L1_MEMORY_CONFIG)
        view.after("gelu")
        ttnn.deallocate(wide)
        out = ttnn.linear(active, self.down)
        view.after("linear down")
        ttnn.deallocate(active)
        return out

    def forward(self, x, view):
        for part in (self.attention, self.feed_forward):
            change = part(x, view)
            total = ttnn.add(x, change)
            view.after("add")
            ttnn.deallocate(x)
            ttnn.deallocate(change)
            x = total
        view.after("deallocate")
        return x


def main():
    device = ttnn.open_device(device_id=0)
    view = View(device)
    blocks = [Block(device) for _ in range(BLOCKS)]
    view.after("weights")
    for _ in range(2):
        x = new(device, 1, 1, TOKENS, HIDDEN)
        view.after("input")
        for block in blocks:
            x = block.forward(x, view)
        ttnn.deallocate(x)
        view.after("deallocate")
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
