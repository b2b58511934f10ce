# SPDX-License-Identifier: Apache-2.0
"""Calls whose capture would bring nothing new but addresses: what they did the last time is a template, and they are recorded as its repetition.
ttmem_native.c follows captures from the inside, and tells the path of a call: a number for everything it did but the addresses.

A call becomes brief when two captured ones with its key went the same way. One that then goes another way is recorded with what
ttmem_native.c saw, and its key is never brief again. The first brief call from a place is begun here, those that follow by ttmem_calls.c alone. Where
ttnn cannot be followed, every call is captured.
"""

from _ttmem_nodes import node

ONCE, BRIEF, NEVER = range(3)
MOST = 100000  # calls, until ttnn's own notes of them are thrown away


class Known:
    """What is known of the calls with a key."""

    __slots__ = ("state", "path", "name")

    def __init__(self, name):
        self.state, self.path, self.name = ONCE, None, name


def astray(name, programs, details):
    """Nodes for a call that went another way than its template."""
    numbers = list(map(int, details.split(b",")[1:]))
    nodes = [node("piece"), dict(node("function_start", name=name), counter=0)]
    for at in range(0, len(numbers), 6):
        allocates, device, memory, address, bank, size = numbers[at : at + 6]
        kind = "buffer_allocate" if allocates else "buffer_deallocate"
        nodes.append(node(kind, device_id=device, buffer_type=memory, address=address, max_size_per_bank=bank, size=size))
    nodes += [node("circular_buffer_deallocate_all") for _ in range(programs)]
    nodes.append(node("function_end"))
    for at, n in enumerate(nodes):
        n["counter"] = at
    return nodes


class Brief:
    def __init__(self, recorder):
        self.recorder = recorder
        self.native = recorder.native
        self.start_over()

    def start_over(self):
        self.known = {}  # key -> Known
        if self.native:
            self.native.forget_calls()
            self.connect()

    def connect(self):
        """What ttmem_calls.c asks for."""
        recorder, guarded, kinds = self.recorder, self.recorder.guarded, self.recorder.kinds
        kinds.changed = self.native.changed
        self.native.connect(
            recorder.ttnn.Tensor, kinds.way_number, kinds.number_of,
            lambda lane: guarded(recorder.put_text, lane, "", True),
            lambda lane: guarded(recorder.views.take, lane),
            lambda *results: guarded(recorder.calls.returned, *results),
            lambda lane, key: guarded(self.went_astray, lane, key),
        )

    def disconnect(self):
        if self.native:
            self.native.connect(*[None] * 7)
            self.native.forget_calls()

    def interrupt_all(self):
        """No thread goes on without asking here."""
        if self.native:
            self.native.interrupt_all()

    def state_of(self, lane, key):
        """None: nothing is known of such calls, or they are not followed."""
        known = self.known.get(key) if lane.followed else None
        return known and known.state

    def is_due(self, lane):
        """True when the piece has to end before a brief call: what was captured before comes before."""
        return lane.whole or self.native.made() >= MOST

    def start(self, lane, number, key, inputs):
        begun = (lane, self.recorder.base + lane.number, number, key, inputs)
        if self.native.start(*begun):  # something between the calls has to be captured
            self.recorder.pieces.roll(lane)
            self.native.start(*begun)
        lane.whole = False

    def learn(self, lane, name, key, inputs):
        """A call is captured that may be brief the next time."""
        if self.known.setdefault(key, Known(name)).state == ONCE:
            lane.learning = (key, inputs)
        self.native.begin(0)

    def learned(self, lane):
        """Its end."""
        (key, inputs), lane.learning = lane.learning, None
        path, known = self.native.end(), self.known[key]
        events = self.native.events()
        self.recorder.pieces.leave_scope(lane)
        if path == known.path:
            known.state = BRIEF if self.recorder.pieces.roll(lane, learned=(key, inputs, events)) else NEVER
            if known.state == BRIEF:
                self.native.learn(key, path)
        known.path = path

    def failed(self, lane):
        """The running call, captured or brief."""
        if not self.native:
            return
        if self.native.running():
            self.native.finish()
        if lane.learning:
            self.known[lane.learning[0]].state, lane.learning = NEVER, None
        if lane.followed:
            self.native.end()

    def went_astray(self, lane, key):
        known = self.known[key]
        known.state = NEVER
        self.native.unlearn(key)
        self.recorder.put(lane, astray(known.name, self.native.programs(), self.native.details()))
