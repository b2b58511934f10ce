# SPDX-License-Identifier: Apache-2.0
"""What the allocator itself says. The reader checks its sums against it."""

import ctypes
import time

from _ttmem_environment import setting
from _ttmem_nodes import NothingCollected, node

SHARE = 50  # a view is taken when the last one's cost, times this, has passed
TRIES = 3  # while other threads come in between
MEMORIES = ("DRAM", "L1", "L1_SMALL", "TRACE")


class Views:
    def __init__(self, recorder):
        self.recorder = recorder
        self.ttnn = recorder.ttnn
        self.always = setting("TTMEM_VIEWS") == "all"  # for tests: after every operation
        self.next = recorder.native.next_view if recorder.native else ctypes.c_double()  # when, by the monotonic clock

    def start_over(self):
        self.next.value = 0.0

    def take(self, lane, wanted=False):
        """Where a piece ends."""
        now, recorder = time.monotonic(), self.recorder
        if not wanted and now < self.next.value:
            return
        with NothingCollected():  # else what is freed meanwhile would stand behind the view
            if lane.whole or recorder.native.is_astray():
                recorder.pieces.roll(lane)
            else:
                recorder.put_text(lane, "")
            for _ in range(TRIES):
                before = recorder.calls.begun(), recorder.pieces.written
                views = [n for device in recorder.devices.open for n in self.of(device)]
                if (recorder.calls.begun(), recorder.pieces.written) == before and not recorder.threads.in_operations(lane):
                    recorder.put(lane, views)
                    break  # else an operation of another thread may be written and not in them, or in them and not written yet
        after = time.monotonic()
        self.next.value = 0.0 if self.always else after + (after - now) * SHARE

    def of(self, device):
        ends = {}
        for number, name in zip((0, 1, 3, 4), MEMORIES):
            try:
                v = self.ttnn.get_memory_view(device, getattr(self.ttnn.BufferType, name))
            except Exception:
                continue
            params = {"late": 1} if len(self.recorder.threads.users) > 1 else {}  # then frees of another thread may not be written yet
            try:
                params["base_address"] = self.ttnn.get_allocator_base_address(device, getattr(self.ttnn.BufferType, name))
                if name in ("DRAM", "L1"):
                    ends[name] = params["base_address"] + v.total_bytes_per_bank
                else:  # they lie above these two, but ttnn gives L1's own base for both
                    params["base_address"] = ends["L1" if name == "L1_SMALL" else "DRAM"]
            except Exception:
                params.pop("base_address", None)  # then it cannot be told where the bank is free
            yield node(
                "memory_view", device_id=device.id(), buffer_type=number, num_banks=v.num_banks, total_bytes_per_bank=v.total_bytes_per_bank,
                allocated_per_bank=v.total_bytes_allocated_per_bank, largest_free_per_bank=v.largest_contiguous_bytes_free_per_bank,
                **params,
            )

    def fullness(self):
        """Of L1: what is allocated, and where the lowest block is, down to which circular buffers have room."""
        if self.recorder.native:
            return self.recorder.native.l1[0], self.recorder.native.l1[1]
        levels = []
        for device in self.recorder.devices.open:
            v = self.ttnn.get_memory_view(device, self.ttnn.BufferType.L1)
            used, largest = v.total_bytes_allocated_per_bank, v.largest_contiguous_bytes_free_per_bank
            if used + largest < v.total_bytes_per_bank:  # there are holes
                largest = min(int(block["address"]) for block in v.block_table if block["allocated"] == "yes")
            levels.append((used, largest))
        return tuple(levels)
