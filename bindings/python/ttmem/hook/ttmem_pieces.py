# SPDX-License-Identifier: Apache-2.0
"""Captures of ttnn's graph, one after the other: each is a piece of the recording. Captures of the program's own take their place."""

import json
import time

from _ttmem_native import make_template
from _ttmem_nodes import NothingCollected, Programs, lean, node


class Pieces:
    def __init__(self, recorder):
        self.recorder = recorder
        graph = recorder.ttnn.graph
        self.modes = graph.RunMode
        self.begin = getattr(graph, "_cpp_begin_graph_capture", graph.begin_graph_capture)
        self.end = getattr(graph, "_cpp_end_graph_capture", graph.end_graph_capture)
        self.enter = getattr(graph, "_cpp_track_function_start", None) or getattr(graph, "track_function_start", None)
        self.leave = getattr(graph, "_cpp_track_function_end", None) or getattr(graph, "track_function_end", None)
        self.unwind = getattr(graph, "_cpp_unwind_open_functions", None)
        self.follows = recorder.native is not None  # captures, from the inside
        self.start_over()

    def start_over(self):
        self.programs = Programs()
        self.written = 0  # of all threads

    def start(self, lane):
        native = self.recorder.native
        self.begin(self.modes.NORMAL)
        lane.active = lane.whole = True
        lane.followed = bool(self.follows and native.follow())
        if lane.followed:
            native.restart()
        lane.in_piece = 0
        lane.piece_began = time.monotonic()

    def roll(self, lane, again=True, learned=None):
        """Ends the piece and begins the next. `learned`: key, inputs and events of its only call, when that may be a template. True when it is."""
        if not lane.active:
            return False
        recorder = self.recorder
        with NothingCollected():
            if lane.followed:
                recorder.put_text(lane, "")
                recorder.native.leave()
            lane.active = lane.followed = False
            nodes = self.end()
            if again:
                self.start(lane)
            nodes = lean(nodes, self.programs, self.key_in_piece(lane))
            template = {}
            if nodes and learned and make_template(nodes, *learned[1:]):
                template["key"] = learned[0]
            if nodes:
                recorder.put(lane, [node("piece", **template)] + nodes)
                recorder.put(lane, self.programs.answers())
                self.written += 1
        return bool(template)

    def last(self):
        """Of this thread, with what it can still tell."""
        if self.recorder.lane().active:
            self.roll(self.recorder.lane(), again=False)

    def key_in_piece(self, lane):
        """The keys of the operations of a piece, by their names, in turn."""
        keys, lane.keys = lane.keys, []

        def key_of(name):
            for at, (called, key) in enumerate(keys):
                if called == name:
                    del keys[: at + 1]
                    return key
            return 0

        return key_of

    # ---- An operation stands in the capture by its Python name -----------------------------------------------------------

    def enter_scope(self, lane, name):
        lane.scoped = bool(lane.active and self.enter)
        if lane.scoped:
            if self.unwind:
                self.unwind("ttmem: left open")
            self.enter(name)

    def leave_scope(self, lane):
        if lane.scoped and lane.active:
            self.leave()
        lane.scoped = False

    def leave_failed(self, lane):
        if lane.active and self.unwind:
            self.unwind("failed")
            lane.scoped = False
        self.leave_scope(lane)

    # ---- Captures of the program's own -----------------------------------------------------------------------------------

    def user_begins(self, *args, **kwargs):
        """The program's own capture takes the place of ours, else its run mode would not count."""
        recorder, lane = self.recorder, self.recorder.lane()
        with NothingCollected():
            if recorder.recording() and not lane.user_captures:
                recorder.guarded(self.roll, lane, False)
            try:
                result = self.begin(*args, **kwargs)
            except BaseException:
                recorder.guarded(self.take_over, lane)
                raise
            if not lane.user_captures:
                mode = args[0] if args else kwargs.get("run_mode")
                lane.user_mode = "NO_DISPATCH" if str(mode).endswith("NO_DISPATCH") else "NORMAL"
            lane.user_captures += 1
            return result

    def user_ends(self, real, args, kwargs):
        recorder, lane = self.recorder, self.recorder.lane()
        with NothingCollected():
            if recorder.recording() and not lane.user_captures:  # there is none but ours, and the program has to be told so
                recorder.guarded(self.roll, lane, False)
            try:
                result = real(*args, **kwargs)
            except BaseException:
                recorder.guarded(self.take_over, lane)
                raise
            lane.user_captures = max(0, lane.user_captures - 1)
            recorder.guarded(self.take_over, lane, result)
        return result

    def take_over(self, lane, result=None):
        """Where no capture of the program's runs any more, ours does; with what the program's told, if it told it here."""
        recorder = self.recorder
        if lane.user_captures or not recorder.recording():
            return
        if recorder.devices.open:
            self.start(lane)
        nodes = json.loads(result) if isinstance(result, str) else result
        if isinstance(nodes, dict):
            nodes = nodes.get("graph")
        if isinstance(nodes, list):
            recorder.put(lane, [node("piece", mode=lane.user_mode)] + lean(nodes))
        if lane.active:
            recorder.views.take(lane, wanted=True)
