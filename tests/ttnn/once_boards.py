# SPDX-License-Identifier: Apache-2.0
"""Every board of boards/ opened by real ttnn, and what its allocator sees against the table of src/base/boards.c. Run by scripts/test-ttnn, once."""

import json
import os
import re
import subprocess
import sys
import unittest

SOURCE = os.environ["TTMEM_SOURCE"]

OPEN = """
import json, ttnn
device = ttnn.open_device(device_id=0)
dram, l1 = (ttnn.get_memory_view(device, kind) for kind in (ttnn.BufferType.DRAM, ttnn.BufferType.L1))
grid = device.compute_with_storage_grid_size()
keep = ttnn.empty([1, 1, 1024, 1024], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
held = ttnn.get_memory_view(device, ttnn.BufferType.DRAM).total_bytes_allocated_per_bank - dram.total_bytes_allocated_per_bank
print("SEEN" + json.dumps([ttnn.get_num_devices(), dram.num_banks, dram.total_bytes_per_bank, grid.x, grid.y, l1.num_banks, l1.total_bytes_per_bank, held]))
ttnn.close_device(device)
"""


def table():
    """{name: (chips, DRAM banks, bytes of one, grid x, grid y, L1 banks, bytes of one)} as boards.c has it for ttnn 0.81."""
    with open(os.path.join(SOURCE, "src/base/boards.c")) as file:
        text = file.read()
    number = lambda key, part: int(re.search(rf"\.{key} = (\d+)", part).group(1))
    newest = re.findall(r'\{"[\d.]+", (\d+), (\d+), \d+\}', text)[-1]
    arches = {}
    for i, arch in enumerate(("WORMHOLE", "BLACKHOLE")):
        part = text[text.index(f"[TTM_ARCH_{arch}]") :]
        arches[arch] = (number("dram_view_bytes", part) - number("dram_reserved", part), number("l1_bytes", part) - int(newest[i]))
    boards = {}
    for name, arch, *rest in re.findall(r'\{"(\w+)", TTM_ARCH_(\w+), (\d+), (\d+), (\d+), (\d+), (\d+)\}', text):
        chips, banks, x, y, l1 = map(int, rest)
        boards[name] = [chips, banks, arches[arch][0], x, y, l1, arches[arch][1]]
    return boards


class Boards(unittest.TestCase):
    def test_each_is_what_the_table_says(self):
        boards = table()
        self.assertEqual(sorted(boards), sorted(f[:-5] for f in os.listdir(os.path.join(SOURCE, "boards")) if f.endswith(".yaml")))
        for name, expected in boards.items():
            with self.subTest(board=name):
                environment = dict(os.environ, TT_METAL_MOCK_CLUSTER_DESC_PATH=os.path.join(SOURCE, "boards", name + ".yaml"))
                run = subprocess.run([sys.executable, "-c", OPEN], env=environment, capture_output=True, text=True, timeout=600)
                line = [line for line in run.stdout.splitlines() if line.startswith("SEEN")]
                self.assertTrue(line, run.stdout[-2000:] + run.stderr[-2000:])
                *seen, held = json.loads(line[0][4:])
                self.assertEqual(seen, expected)
                self.assertEqual(held, -(-1024 // expected[1]) * 2048)


if __name__ == "__main__":
    unittest.main()
