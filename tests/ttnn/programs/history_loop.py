# SPDX-License-Identifier: Apache-2.0
"""A loop that keeps the result of every step, and so runs out of memory: after some steps on any board.
usage: history_loop.py [STEPS]     without it: until memory ends"""

import itertools
import sys

import ttnn
from own_view import View

SIZE = 8192  # of a square matrix: 128 MiB


def step(x, weight, view):
    y = ttnn.add(x, weight)
    view.after("add")
    return y


def main():
    device = ttnn.open_device(device_id=0)
    view = View(device)
    weight = ttnn.empty((1, 1, SIZE, SIZE), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    view.after("weight")
    history = [weight]
    for _ in range(int(sys.argv[1])) if len(sys.argv) > 1 else itertools.count():
        history.append(step(history[-1], weight, view))
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
