# SPDX-License-Identifier: Apache-2.0
"""Devices of the program, from their opening to their closing."""

import sys

from _ttmem_environment import setting
from _ttmem_nodes import node

FACTS = (
    "worker_l1_size", "l1_num_banks", "l1_bank_size", "address_at_first_l1_cb_buffer", "cb_limit", "num_x_compute_cores", "num_y_compute_cores",
)


def opening_of(device):
    return node("device_open", device_id=device.id(), chips=sum(1 << chip for chip in set(device.get_device_ids()) if chip < 63))


class Devices:
    def __init__(self, recorder):
        self.recorder = recorder
        self.open = []
        # Closed ones, and those of the process that forked this one: ttnn crashes when a device is destroyed while a capture runs that
        # has not seen it.
        self.kept = []
        self.not_ours = []
        self.inherited = []  # open in the process that forked this one
        self.asked_chips = 0  # the program wanted to know how many there are

    def forked(self):
        self.inherited, self.open = self.open, []

    def take_inherited(self):
        """The program works with what it inherited."""
        self.open, self.inherited = self.inherited, []

    def is_open(self, device):
        return any(device is known for known in self.open)

    def before_open(self):
        """ttmem_start.py has something to do here when there is a mock board."""

    def opened(self, device):
        recorder = self.recorder
        if self.inherited:
            self.not_ours += self.inherited + self.kept
            self.inherited, self.kept = [], []
        if recorder.closing or self.is_open(device):
            return
        lane = recorder.lane()
        if recorder.file is None:
            if setting("TT_METAL_ALLOCATOR_MODE_HYBRID").startswith("1"):  # tensors without an address, and NO_DISPATCH fails there
                recorder.questions.asks = recorder.pieces.follows = False
            recorder.open_file(device)
        self.open.append(device)
        recorder.put(lane, [opening_of(device)])
        if not lane.active and not lane.user_captures:
            self.let_go()
            recorder.pieces.start(lane)
        if lane.active:
            recorder.views.take(lane, wanted=True)

    def divided(self, submesh):
        if self.recorder.recording():
            self.recorder.put(self.recorder.lane(), [opening_of(submesh)])

    def before_close(self, device):
        lane = self.recorder.lane()
        if self.recorder.recording() and lane.active and self.is_open(device):
            self.recorder.views.take(lane, wanted=True)
            self.recorder.pieces.roll(lane, again=False)  # ttnn aborts when closing frees a trace that a capture follows

    def closed(self, device):
        if not self.is_open(device):
            return
        recorder = self.recorder
        self.open = [known for known in self.open if known is not device]
        if not recorder.closing:
            self.kept.append(device)
        if recorder.recording():
            lane = recorder.lane()
            recorder.pieces.roll(lane, again=bool(self.open))
            recorder.put(lane, [node("device_close", device_id=device.id())])
            if recorder.native and not self.open:
                recorder.native.forget()

    def let_go(self):
        """Where no capture runs: of the closed devices those that nobody else holds."""
        ours = 3  # references: the list, the name below, the argument
        self.kept = [device for device in self.kept if sys.getrefcount(device) > ours]

    def let_all_go(self):
        """At the end, else nanobind complains."""
        for held in (self.open, self.kept, self.not_ours, self.inherited):
            held.clear()

    def facts_of(self, device):
        facts = {"device_id": device.id(), "arch": str(device.arch()).split(".")[-1], "chips": len(device.get_device_ids())}
        try:
            info = self.recorder.ttnn._ttnn.reports.get_device_info(device)
            facts.update((name, getattr(info, name)) for name in FACTS if hasattr(info, name))
        except Exception:
            pass
        return facts
