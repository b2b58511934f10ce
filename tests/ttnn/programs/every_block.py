# SPDX-License-Identifier: Apache-2.0
"""Runs a program and writes every block of every memory after each of its operations, into the file that EVERY_BLOCK names.
usage: every_block.py PROGRAM.py [ARGS]"""

import json
import os
import runpy
import sys

import ttnn

KINDS = [getattr(ttnn.BufferType, name) for name in ("DRAM", "L1", "L1_SMALL", "TRACE")]
device, states = None, []


def after(kind):
    real = kind.__call__

    def call(self, *args, **kwargs):
        result = real(self, *args, **kwargs)
        if device:
            views = [ttnn.get_memory_view(device, memory) for memory in KINDS]
            states.append([self.python_fully_qualified_name] + [[v.total_bytes_allocated_per_bank, v.block_table] for v in views])
        return result

    kind.__call__ = call


def opening(real):
    def open_device(*args, **kwargs):
        global device
        device = real(*args, **kwargs)
        return device

    return open_device


after(ttnn.decorators.FastOperation)
ttnn.open_device, ttnn.open_mesh_device = opening(ttnn.open_device), opening(ttnn.open_mesh_device)
sys.argv = sys.argv[1:]
sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    with open(os.environ["EVERY_BLOCK"], "w") as f:
        json.dump(states, f)
