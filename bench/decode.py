# SPDX-License-Identifier: Apache-2.0
"""A small decoder, for the rows of make bench about the recorder: builds sixteen layers, runs a prefill and decode steps, and prints the processor time
of the best step and of the whole program. With --count: as many operations, and the most memory that the program took."""
import os
import resource
import sys
import time

import ttnn

LAYERS, STEPS, WIDTH = 16, 40, 512


class Layer:
    def __init__(self, device):
        def new(*shape):
            return ttnn.empty(shape, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=ttnn.DRAM_MEMORY_CONFIG)

        self.norm = new(1, 1, 32, WIDTH)
        self.qkv, self.out, self.up, self.down = new(WIDTH, WIDTH), new(WIDTH, WIDTH), new(WIDTH, 2 * WIDTH), new(2 * WIDTH, WIDTH)

    def forward(self, x):
        h = ttnn.linear(ttnn.rms_norm(x, epsilon=1e-5), self.qkv)
        h = ttnn.softmax(ttnn.reshape(h, (1, 8, -1, WIDTH // 8)), dim=-1)
        h = ttnn.linear(ttnn.reshape(h, (1, 1, -1, WIDTH)), self.out)
        x = ttnn.add(x, h)
        ttnn.deallocate(h)
        up = ttnn.linear(ttnn.rms_norm(x, epsilon=1e-5), self.up, activation="silu")
        return ttnn.add(x, ttnn.linear(up, self.down))


def decode():
    device = ttnn.open_device(device_id=0)
    layers, best = [Layer(device) for _ in range(LAYERS)], float("inf")
    for step in range(STEPS):
        x = ttnn.empty((1, 1, 32 if step else 128, WIDTH), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
        began = time.process_time()
        for layer in layers:
            x = layer.forward(x)
        best = min(best, time.process_time() - began)
    ttnn.close_device(device)
    print("STEP %f WHOLE %f" % (best, sum(os.times()[:4])))


def count(operations):
    device = ttnn.open_device(device_id=0)
    x = ttnn.empty(4096, device)
    for _ in range(operations // 3):
        y = ttnn.relu(x)
        x = ttnn.softmax(y)
        ttnn.deallocate(y)
    ttnn.close_device(device)
    print("RSS %d" % (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024))


if __name__ == "__main__":
    count(int(sys.argv[2])) if sys.argv[1:2] == ["--count"] else decode()
