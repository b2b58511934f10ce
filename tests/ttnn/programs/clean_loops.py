# SPDX-License-Identifier: Apache-2.0
"""Loops in which memory rises and falls, or rises for good reasons: none of them leaks.
usage: clean_loops.py KIND [STEPS]"""

import collections
import sys

import ttnn

LAYERS = 12


class Loops:
    def __init__(self, device, steps):
        self.device, self.steps = device, steps

    def tensor(self, *shape):
        shape = (1,) * (4 - len(shape)) + shape
        return ttnn.empty(shape, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=self.device)

    def load(self):
        return [self.tensor(2048, 2048) for _ in range(LAYERS)]

    def rebind(self):
        x = self.tensor(4096, 2048)
        for _ in range(self.steps):
            x = ttnn.add(x, 1.0)

    def window(self):
        """Keeps the last ten results only."""
        last, x = collections.deque(maxlen=10), self.tensor(4096, 2048)
        for _ in range(self.steps):
            x = ttnn.add(x, 1.0)
            last.append(x)

    def hidden(self):
        """One pass that gives the result of every layer."""
        weights, x, states = self.load(), self.tensor(4096, 2048), []
        for weight in weights:
            x = ttnn.relu(ttnn.matmul(x, weight))
            states.append(x)
        return states

    def lazy(self):
        """Weights that are put on the device when their layer first runs."""
        weights, x = [], self.tensor(4096, 2048)
        for _ in range(LAYERS):
            weights.append(self.tensor(2048, 2048))
            x = ttnn.matmul(x, weights[-1])
        return weights, x

    def lazy_hidden(self):
        weights, x, states = [], self.tensor(4096, 2048), []
        for _ in range(LAYERS):
            weights.append(self.tensor(2048, 2048))
            x = ttnn.matmul(x, weights[-1])
            states.append(x)
        return weights, states

    def training(self):
        """Activations are kept for the way back, step after step."""
        weights = self.load()
        moments = [self.tensor(2048, 2048) for _ in weights]
        for _ in range(self.steps):
            x, kept = self.tensor(4096, 2048), []
            for weight in weights:
                kept.append(x)
                x = ttnn.matmul(x, weight)
            for i in reversed(range(LAYERS)):
                gradient = ttnn.matmul(ttnn.transpose(kept.pop(), -2, -1), x)
                x = ttnn.matmul(x, weights[i])
                moments[i] = ttnn.add(moments[i], gradient)
                weights[i] = ttnn.add(weights[i], moments[i])

    def shared(self):
        """Layers that share a weight, and a way back that reads what they kept."""
        weight, x, kept = self.tensor(2048, 2048), self.tensor(4096, 2048), []
        for _ in range(LAYERS):
            x = ttnn.matmul(x, weight)
            kept.append(x)
        for state in reversed(kept):
            x = ttnn.add(x, state)

    def first_step(self):
        """One step of an optimizer, which makes its moments then."""
        weights, x = self.load(), self.tensor(2048, 2048)
        return [ttnn.multiply(weight, 0.1) for weight in weights], x

    def heads(self):
        x, weights = self.tensor(2048, 2048), [self.tensor(2048, 64) for _ in range(32)]
        return ttnn.concat([ttnn.matmul(x, weight) for weight in weights], dim=3)

    def prefix(self):
        """Keeps a few results at the start, and then runs on without keeping more."""
        x = self.tensor(4096, 2048)
        kept = [ttnn.add(x, float(i)) for i in range(8)]
        for _ in range(4 * self.steps):
            x = ttnn.relu(x)
        return kept

    def fixed_cache(self):
        """A cache of a fixed size, written in place."""
        cache = self.tensor(1, 8, 1024, 128)
        for step in range(self.steps):
            ttnn.update_cache(cache, ttnn.add(self.tensor(1, 8, 32, 128), 1.0), step % 32)

    def pyramid(self):
        """Tensors that double: not a cache."""
        x = self.tensor(64, 2048)
        for _ in range(7):
            x = ttnn.concat([x, x], dim=2)
        return x

    def uploads(self):
        for _ in range(self.steps):
            ttnn.relu(self.tensor(2048, 2048))


def main():
    device = ttnn.open_device(device_id=0)
    result = getattr(Loops(device, int(sys.argv[2]) if len(sys.argv) > 2 else 30), sys.argv[1])()
    ttnn.close_device(device)
    return result


if __name__ == "__main__":
    main()
