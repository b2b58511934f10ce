# SPDX-License-Identifier: Apache-2.0
"""Threads of the program. A capture belongs to the thread that began it, so each has its own."""

import itertools
import threading
import time

MOST_LANES = 1024  # of a process
NEW_THREAD_SECONDS = 1.0  # in which it is likely to call its first operation


class Lane:
    """A thread, as the recording has it."""

    def __init__(self, number):
        self.number = number
        self.active = False  # our capture runs
        self.depth = 0  # of wrapped operations; ttmem_calls.c sets it too
        self.scoped = False  # the running one stands in the capture by its Python name
        self.names = {}  # of the results of the running one
        self.in_piece = 0  # operations that were captured
        self.piece_began = 0.0
        self.user_captures = 0  # begun by the program itself
        self.user_mode = "NORMAL"  # of the outermost of them
        self.tracing = False  # a trace is being captured: nothing may run twice
        self.keys = []  # (name, key) of the operations of the piece
        self.followed = False  # by ttmem_native.c
        self.whole = True  # something may stand in the capture
        self.learning = None  # key and inputs of the running call, when it may become a template
        self.note = None  # what else the next operation says of itself


class Threads:
    def __init__(self, recorder):
        self.recorder = recorder
        self.stale = False  # the capture of the process that forked this one still runs in this thread
        self.start_over()

    def start_over(self):
        self.local = threading.local()
        self.numbers = itertools.count()  # of lanes
        self.users = set()  # lanes that called an operation
        self.last_user = None
        self.watchful = 0.0  # until then a new thread may be about to
        self.late = 0  # operations of one thread that were written behind later ones of another

    def forked(self):
        lane = getattr(self.local, "lane", None)
        self.stale = bool(lane and lane.active)
        self.start_over()

    def lane(self):
        """This thread's."""
        lane = getattr(self.local, "lane", None)
        if lane is None:
            if self.stale:  # of the parent, and in this process nobody's
                self.stale = False
                self.recorder.pieces.end()
            lane = self.local.lane = Lane(next(self.numbers) % MOST_LANES)
        return lane

    def before_start(self):
        """Another thread is about to start. What this one did before comes before."""
        self.watchful = time.monotonic() + NEW_THREAD_SECONDS
        self.recorder.brief.interrupt_all()
        if self.recorder.recording():
            self.recorder.pieces.roll(self.lane())

    def begins(self):
        """From its start on, for it may be the one that frees a tensor."""
        if self.recorder.recording() and self.recorder.devices.open and not self.lane().active:
            self.recorder.pieces.start(self.lane())

    def ends(self):
        lane = getattr(self.local, "lane", None)
        if lane is None:
            return
        if self.recorder.recording() and lane in self.users and lane.active and self.recorder.devices.open:
            self.recorder.views.take(lane, wanted=True)
        self.recorder.pieces.last()
        self.users.discard(lane)

    def is_crowded(self, lane):
        """True when several threads call operations: then each operation is a piece, which keeps them in order."""
        if lane not in self.users:
            if time.monotonic() > self.watchful:
                self.late += sum(other.in_piece for other in list(self.users))
            self.users.add(lane)
            self.recorder.brief.interrupt_all()
        return len(self.users) > 1 or time.monotonic() < self.watchful

    def in_operations(self, lane):
        """True when another thread is in one."""
        return any(other.depth for other in list(self.users) if other is not lane)
