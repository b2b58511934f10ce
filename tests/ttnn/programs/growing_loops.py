# SPDX-License-Identifier: Apache-2.0
"""Loops in which memory grows: each KIND keeps something more in every iteration.
usage: growing_loops.py KIND [STEPS]     without STEPS: until memory ends; says after how many iterations"""

import sys
import threading

import ttnn

DRAM, L1 = ttnn.DRAM_MEMORY_CONFIG, ttnn.L1_MEMORY_CONFIG


class Steps:
    def __init__(self, most):
        self.begun, self.most = 0, most

    def __iter__(self):
        while self.begun != self.most:
            self.begun += 1
            yield self.begun - 1


class Loops:
    def __init__(self, device, steps):
        self.device, self.steps = device, steps
        self.weights = [self.tensor(2048, 2048) for _ in range(4)]

    def tensor(self, *shape, memory=DRAM):
        shape = (1,) * (4 - len(shape)) + shape
        return ttnn.empty(shape, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=self.device, memory_config=memory)

    def forward(self, x):
        for weight in self.weights:
            x = ttnn.relu(ttnn.matmul(x, weight))
        return x

    def history(self):
        """Keeps what the model gives, and frees everything on the way: holes between what is kept."""
        kept = []
        for _ in self.steps:
            kept.append(self.forward(self.tensor(4096, 2048)))

    def loss(self):
        """Keeps a single tile of every step: it takes long to matter."""
        losses = []
        for _ in self.steps:
            losses.append(ttnn.sum(self.forward(self.tensor(2048, 2048))))

    def every_third(self):
        """Keeps every third result only."""
        kept, x = [], self.tensor(4096, 2048)
        for step in self.steps:
            x = ttnn.add(x, 1.0)
            if step % 3 == 0:
                kept.append(x)

    def hidden(self):
        """Keeps the result of every layer in every step: four more each time."""
        kept = []
        for _ in self.steps:
            x = self.tensor(4096, 2048)
            for weight in self.weights:
                x = ttnn.matmul(x, weight)
                kept.append(x)

    def cache(self):
        """A KV cache that is concatenated: each one is larger than the last and replaces it."""
        keys = self.tensor(2048, 2048)
        for _ in self.steps:
            new = ttnn.add(self.tensor(512, 2048), 1.0)
            keys = ttnn.concat([keys, new], dim=2)
            ttnn.relu(keys)

    def tokens(self):
        """The same, a token at a time: tiles hide most steps."""
        keys = self.tensor(32, 65536)
        for _ in self.steps:
            keys = ttnn.concat([keys, self.tensor(1, 65536)], dim=2)

    def chunks(self):
        """A cache in chunks, all of which every step reads."""
        chunks, total = [], self.tensor(2048, 2048)
        for _ in self.steps:
            chunks.append(ttnn.matmul(self.tensor(2048, 2048), self.weights[0]))
            for chunk in chunks[-8:]:
                total = ttnn.add(total, chunk)

    def requests(self):
        """A server: a prompt and a few decode steps for each request, whose result and prompt it never lets go."""
        answers = {}
        for request in self.steps:
            prompt = self.tensor(1024, 2048)
            x = self.forward(prompt)
            for _ in range(2 + request % 3):
                x = self.forward(ttnn.add(x, 1.0))
            answers[request] = prompt, x

    def uploads(self):
        """Tensors that nobody ever uses."""
        kept = []
        for _ in self.steps:
            kept.append(self.tensor(4096, 2048))

    def l1(self):
        """Keeps L1 tensors until a program's buffers have no room."""
        kept, x = [], self.tensor(2048, 2048)
        for _ in self.steps:
            kept.append(ttnn.add(x, 1.0, memory_config=L1))

    def thread(self):
        worker = threading.Thread(target=self.history)
        worker.start()
        worker.join()


def main():
    device = ttnn.open_device(device_id=0)
    steps = Steps(int(sys.argv[2]) if len(sys.argv) > 2 else None)
    try:
        getattr(Loops(device, steps), sys.argv[1])()
    except RuntimeError:
        print("ended after", steps.begun - 1, flush=True)
        raise
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
