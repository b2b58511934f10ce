# SPDX-License-Identifier: Apache-2.0
"""Live files as ttnn writes them (docs: src/parse/shm_segment.h), made by tests."""
import os
import struct
import time

USES = ("dram", "l1", "l1_small", "trace", "cb")


class Segment:
    """A chip's file; each slot: (pid, name, uses, updated_ns)."""

    def __init__(self, folder, asic_id=0, device_id=0):
        self.path = os.path.join(folder, "tt_device_%d_memory" % asic_id)
        self.asic_id, self.device_id, self.slots, self.chips = asic_id, device_id, {}, []
        self.write()

    def bytes(self):
        data = bytearray(8576)
        struct.pack_into("<IIQI", data, 0, 3, len(self.slots), time.time_ns(), len(self.slots))
        struct.pack_into("<QQI", data, 24, 0, self.asic_id, self.device_id)
        for use in range(5):
            struct.pack_into("<Q", data, 48 + 8 * use, sum(slot[2][use] for slot in self.slots.values()))
        for chip in range(16):
            struct.pack_into("<I", data, 88 + 48 * chip, 0xFFFFFFFF)
        for chip, (chip_id, remote, uses) in enumerate(self.chips):
            struct.pack_into("<II5Q", data, 88 + 48 * chip, chip_id, remote, *uses)
        for at, (pid, name, uses, updated) in self.slots.items():
            struct.pack_into("<i4x6Q64s", data, 856 + 120 * at, pid, *uses, updated, name)
        return bytes(data)

    def write(self, data=None):
        """In place, as tt-metal does: the file stays the same one. Only a file of another size comes as a whole: whoever looks while it
        grows would see a third state, which no test asked for."""
        data = self.bytes() if data is None else data
        if os.path.exists(self.path) and os.path.getsize(self.path) == len(data):
            with open(self.path, "r+b", buffering=0) as file:
                file.write(data)
            return
        with open(self.path + ".new", "wb") as file:
            file.write(data)
        os.replace(self.path + ".new", self.path)

    def hold(self, at, pid, name=b"python", updated=None, **uses):
        self.slots[at] = (pid, name, [uses.get(use, 0) for use in USES], time.time_ns() if updated is None else updated)
        self.write()

    def count(self, chip_id, remote, **uses):
        """What the file says of one of the chips that it counts."""
        self.chips.append((chip_id, int(remote), [uses.get(use, 0) for use in USES]))
        self.write()

    def release(self, at):
        del self.slots[at]
        self.write()
