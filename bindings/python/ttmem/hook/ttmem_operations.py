# SPDX-License-Identifier: Apache-2.0
"""Calls of operations: each is written down with its name, its place in the program and what the program calls its result, before it begins."""

import itertools
import time

from _ttmem_brief import BRIEF, ONCE
from _ttmem_names import Names, name_at, tensors_in
from _ttmem_native import addresses_of
from _ttmem_environment import setting
from _ttmem_nodes import encode, message_of, node, quote
from _ttmem_threads import MOST_LANES

PIECE = 64  # operations
PIECE_SECONDS = 0.1
LINE = ',\n{"node_type":"operation","params":{"id":%d,"lane":%d,%s}}'
MOST_KEYS = 100000  # some arguments look different at each call, and memory has to stay bounded
MARK = "_ttmem_failure"  # on exceptions: the operation that raised it


class Operations:
    def __init__(self, recorder):
        self.recorder = recorder
        self.native = recorder.native
        self.piece = max(1, int(setting("TTMEM_PIECE") or PIECE))
        self.names = Names()
        self.start_over()

    def start_over(self):
        self.ids = itertools.count(1)
        self.last = 0
        self.keys = {}  # operation with kinds of arguments and fullness of L1 -> number
        self.key_numbers = itertools.count(1)
        self.names.at_site.clear()

    def begun(self):
        """How many, in all threads."""
        return self.native.operations() if self.native else self.last

    def next_number(self):
        if self.native:
            return self.native.next()
        self.last = next(self.ids)
        return self.last

    def key_of(self, name, args, kwargs, inputs):
        """The number of this operation with arguments of these kinds and L1 as full as now; None when it cannot be told. `inputs` get the addresses
        of its tensors."""
        try:
            tensors, kinds = [], self.recorder.kinds
            key = (name, kinds.of(args, tensors), kinds.of(kwargs, tensors), self.recorder.views.fullness())
            inputs += addresses_of(tensors)
            if len(set(inputs)) < len(inputs):
                key += (tuple(map(inputs.index, inputs)),)
            number = self.keys.get(key)
        except Exception:  # an argument of the program's own making
            return None
        if number is None and len(self.keys) < MOST_KEYS:
            number = self.keys.setdefault(key, next(self.key_numbers))
        return number

    def call(self, name, function, args, kwargs, frame, repeatable=False):
        recorder = self.recorder
        if recorder.closing or not (recorder.devices.open or recorder.devices.inherited):
            return function(*args, **kwargs)
        lane = recorder.lane()
        if lane.depth:
            return function(*args, **kwargs)
        lane.depth, number = 1, 0
        try:
            number = recorder.guarded(self.begins, lane, name, function, args, kwargs, frame, repeatable) or 0
            result = function(*args, **kwargs)
            if lane.names and isinstance(result, (list, tuple)):
                recorder.guarded(self.name_results, lane, number, lane.names, result)
            return result
        except BaseException as error:
            recorder.guarded(self.failed, lane, number, name, error)
            raise
        finally:
            try:
                recorder.guarded(self.ends, lane, name)
            finally:
                lane.depth = 0

    def prepare(self, lane):
        """A capture runs, or the program's own does."""
        recorder = self.recorder
        if self.native:
            self.native.interrupt()
        if recorder.file is None:  # a child that works with what it inherited
            recorder.devices.take_inherited()
            recorder.open_file(recorder.devices.open[0])
            recorder.pieces.start(lane)
            recorder.views.take(lane, wanted=True)
        if not lane.active and not lane.user_captures:
            recorder.pieces.start(lane)  # the thread's first, or an interrupt came between two pieces, and the program goes on

    def begins(self, lane, name, function, args, kwargs, frame, repeatable):
        """Writes the operation down, and asks for the buffers of its programs. Returns its number."""
        recorder, key, inputs = self.recorder, None, []
        self.prepare(lane)
        crowded = recorder.threads.is_crowded(lane)
        if lane.active and not lane.tracing and (recorder.questions.asks or lane.followed):
            key = self.key_of(name, args[1:] if repeatable else args, kwargs, inputs)
        state = recorder.brief.state_of(lane, key) if not crowded else None
        if lane.active and self.is_due(lane, state, crowded):
            recorder.pieces.roll(lane)
        if crowded and recorder.threads.last_user is not lane:
            recorder.threads.last_user = lane
            recorder.views.take(lane, wanted=True)  # what another thread freed since its last operation is not written yet
        number = self.next_number()
        site, line = self.line(lane, name, frame, key, state)
        recorder.put_text(lane, LINE % (number, recorder.base + lane.number, line), state == BRIEF)
        recorder.sites.told.add(site)
        if state == BRIEF:
            recorder.brief.start(lane, number, key, inputs)
            return number
        lane.in_piece += 1
        if recorder.questions.is_due(key, name, kwargs, repeatable):
            recorder.questions.ask(lane, key, function, args, kwargs)
        if key:
            lane.keys.append((name, key))
        lane.whole = True
        recorder.pieces.enter_scope(lane, name)
        if lane.followed and key and not crowded:
            recorder.brief.learn(lane, name, key, inputs)
        return number

    def is_due(self, lane, state, crowded):
        """True when the piece has to end before the next call. One that may become a template is alone in its piece."""
        if state == BRIEF:
            return self.recorder.brief.is_due(lane)
        return state == ONCE or crowded or lane.in_piece >= self.piece or time.monotonic() - lane.piece_began > PIECE_SECONDS

    def line(self, lane, name, frame, key, state):
        """The number of its place, and what is said of an operation that is called, and of the place when that is new."""
        site, place = self.recorder.sites.number_of(frame)
        params = '"name":' + quote(name)
        if place:
            params += "," + encode(place)[1:-1]
        if site:
            params += ',"site":%d' % site
        lane.names = self.names.of_call(frame, site)
        if () in lane.names:
            params += ',"to":' + quote(lane.names[()][0])
        if any([kept for _, kept in lane.names.values()]):
            params += ',"kept":1'
        if key:
            params += ',"key":%d' % key
        if lane.note:
            params += "," + encode(lane.note)[1:-1]
        elif state == BRIEF and site and not place and site in self.names.at_site:
            self.native.remember(key, site, params.encode(), bool(lane.names))
        return site, params

    def name_results(self, lane, number, names, result):
        """Which of several results has which name: by their addresses, for they need not be allocated in this order."""
        named = [(name_at(names, path), address) for path, address in tensors_in(result)]
        if self.recorder.recording() and named:
            names, places = ("|".join(map(str, column)) for column in zip(*named))
            self.recorder.put(lane, [node("results", id=number, to=names, places=places)])

    def returned(self, lane, number, site, result):
        """The same of a call that ttmem_calls.c recorded."""
        self.name_results(lane, number, self.names.at_site[site], result)

    def ends(self, lane, name):
        recorder = self.recorder
        if not recorder.recording():
            return
        if self.native and self.native.running():
            return self.native.finish()
        if lane.learning:
            recorder.brief.learned(lane)
        elif lane.followed:
            self.native.end()
        recorder.pieces.leave_scope(lane)
        if name.endswith("_trace_capture"):
            lane.tracing = name.endswith("begin_trace_capture") and not recorder.traces
        if lane.active and (recorder.views.always or time.monotonic() - lane.piece_began > PIECE_SECONDS):
            recorder.views.take(lane)
            recorder.pieces.roll(lane)
        elif lane.active and recorder.threads.is_crowded(lane):
            recorder.pieces.roll(lane)

    def failed(self, lane, number, name, error):
        recorder = self.recorder
        if not recorder.recording():
            return
        try:
            setattr(error, MARK, recorder.base // MOST_LANES << 32 | number)
        except Exception:
            pass
        recorder.brief.failed(lane)
        recorder.pieces.leave_failed(lane)
        recorder.pieces.roll(lane)
        recorder.put(lane, [node("failure", id=number, name=name, type=type(error).__name__, message=message_of(error))])
        if lane.active:
            recorder.views.take(lane, wanted=True)

    def failed_briefly(self, name, error):
        """In a call that ttmem_calls.c began, if one runs."""
        number = self.native.running()
        if number:
            self.failed(self.recorder.lane(), number, name, error)
