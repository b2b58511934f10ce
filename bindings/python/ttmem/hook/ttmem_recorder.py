# SPDX-License-Identifier: Apache-2.0
"""Records what a ttnn program allocates and frees, from the opening of its device to its end, without a change to the program.

`ttmem run` puts this folder before the user's program (ttmem_start.py loads this file when the program imports ttnn); it needs nothing but
the standard library of Python 3.8 or newer. Operations are wrapped (ttmem_wrap.py): each writes a line with its name and the user's file and
line before it begins, and ttnn's own graph capture (run mode NORMAL) tells what it allocates. The capture is ended and begun anew
every few operations, so that neither it nor what a crash can cost grows: the recording is one graph report, written piece by piece,
with nodes of our own between ttnn's (ttmem_nodes.py).

A capture belongs to the thread that began it, so each thread has its own (Lane). Processes of the program append to the same file.

The program is more important than its recording: whatever goes wrong here ends the recording, is told once, and the program goes on
(Recorder.guarded).

Environment: TTMEM_RECORDING, the file to write; TTMEM_PIECE, operations per piece; TTMEM_VIEWS=all, a memory view after every
operation; TTMEM_BOARD, the mock board; TTMEM_REPEATS=0, no questions in run mode NO_DISPATCH there; TTMEM_BRIEF=0, every call is captured.
"""

import atexit
import dis
import itertools
import json
import os
import signal
import sys
import threading
import time

from _ttmem_environment import setting
from _ttmem_names import Names, name_at, tensors_in
from _ttmem_kinds import Kinds
from _ttmem_native import BRIEF, NEVER, ONCE, Known, addresses_of, astray, load, make_template
from _ttmem_nodes import PROGRAM_BUFFERS, File, NothingCollected, Programs, encode, lean, node, quote, tell
from _ttmem_sites import Sites
from _ttmem_tests import Tests

PIECE = 64  # operations
PIECE_SECONDS = 0.1
OPERATION = ',\n{"node_type":"operation","params":{"id":%d,"lane":%d,%s}}'
MOST_BRIEF = 100000  # calls, until ttnn's own notes of them are thrown away
VIEW_SHARE = 50  # a memory view is taken when the last one's cost, times this, has passed
MEMORIES = ("DRAM", "L1", "L1_SMALL", "TRACE")
LONGEST_MESSAGE = 4000
MOST_KEYS = 100000  # some arguments look different at each call, and memory has to stay bounded
MOST_LANES = 1024  # of a process
NEW_THREAD_SECONDS = 1.0  # in which it is likely to call its first operation
MARK = "_ttmem_failure"  # on exceptions: the operation that raised it
DEVICE_FACTS = (
    "worker_l1_size", "l1_num_banks", "l1_bank_size", "address_at_first_l1_cb_buffer", "cb_limit", "num_x_compute_cores", "num_y_compute_cores",
)
# They run no program.
NEVER_ASKED = {
    "ttnn." + name
    for name in "deallocate empty empty_like to_device from_device to_dtype copy_host_to_device_tensor copy_device_to_host_tensor "
    "allocate_tensor_on_device synchronize_device".split()
}
# One in Python may do more than compute. These do not; the first two run programs only when they are given a device.
ASKED_IN_PYTHON = {
    "ttnn." + name
    for name in "from_torch as_tensor Tensor.__getitem__ Tensor.to Tensor.pad Tensor.unpad Tensor.reshape Tensor.pad_to_tile "
    "Tensor.unpad_from_tile unsqueeze_to_4D reallocate".split()
}
NEED_A_DEVICE = ("ttnn.from_torch", "ttnn.as_tensor")


def message_of(error):
    return str(error).partition("backtrace:")[0][:LONGEST_MESSAGE]


def is_raised(error):
    """True when a raise or assert of Python is where it began, and not a call into C++."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is None or dis.opname[trace.tb_frame.f_code.co_code[trace.tb_lasti]] in ("RAISE_VARARGS", "RERAISE")


def opening_of(device):
    return node("device_open", device_id=device.id(), chips=sum(1 << chip for chip in set(device.get_device_ids()) if chip < 63))


class Lane:
    """A thread: captures belong to the one that began them."""

    def __init__(self, number):
        self.number = number
        self.active = False  # our capture runs
        self.depth = 0  # of wrapped operations
        self.scoped = False  # the running one stands in the capture by its Python name
        self.names = {}  # of the results of the running one
        self.in_piece = 0  # operations
        self.piece_began = 0.0
        self.user_captures = 0  # begun by the program itself
        self.user_mode = "NORMAL"  # of the outermost of them
        self.tracing = False  # a trace is being captured: nothing may run twice
        self.keys = []  # (name, key) of the operations of the piece
        self.followed = False  # by ttmem_native.c
        self.whole = True  # something may stand in the capture
        self.brief = None  # key and inputs of the running call, when it is
        self.learning = None  # key and inputs of the running call, when it may become a template
        self.pending = ""  # lines for the recording
        self.note = None  # what else the next operation says of itself


class Recorder:
    def __init__(self, ttnn, version):
        self.ttnn = ttnn
        self.version = version
        self.path = setting("TTMEM_RECORDING")
        self.piece = max(1, int(setting("TTMEM_PIECE") or PIECE))
        self.always = setting("TTMEM_VIEWS") == "all"  # for tests: the allocator is asked after every operation
        # NORMAL captures leave out dataflow buffers, and the circular buffers of cached programs. On a mock board an operation is called
        # before in run mode NO_DISPATCH, which allocates and runs nothing and tells them.
        self.asks = bool(setting("TTMEM_BOARD")) and setting("TTMEM_REPEATS") != "0"
        self.home = os.path.dirname(os.path.abspath(ttnn.__file__)) + os.sep
        self.sites = Sites(self.home)
        self.kinds = Kinds(ttnn.Tensor)
        self.native = load(self.home) if setting("TTMEM_BRIEF") != "0" else None
        self.names = Names()
        self.tests = Tests(self)
        self.devices = []  # open
        # Closed ones, and those of the process that forked this one: ttnn crashes when a device is destroyed while a capture runs that
        # has not seen it.
        self.kept = []
        self.not_ours = []
        self.inherited = []  # open in the process that forked this one
        self.stale = False  # its capture still runs in this thread
        self.asked_chips = 0  # the program wanted to know how many there are
        self.host = None  # who looks at the memory of this process
        graph = ttnn.graph
        self.begin = getattr(graph, "_cpp_begin_graph_capture", graph.begin_graph_capture)
        self.end = getattr(graph, "_cpp_end_graph_capture", graph.end_graph_capture)
        self.enter = getattr(graph, "_cpp_track_function_start", None) or getattr(graph, "track_function_start", None)
        self.leave = getattr(graph, "_cpp_track_function_end", None) or getattr(graph, "track_function_end", None)
        allocate = getattr(ttnn, "allocate_tensor_on_device", None)
        self.allocate = getattr(allocate, "function", allocate)  # unseen by others who wrap operations
        self.unwind = getattr(graph, "_cpp_unwind_open_functions", None)
        self.start_over()
        os.register_at_fork(after_in_child=self.forked)

    def start_over(self):
        """Nothing is recorded yet in this process."""
        self.file = None
        self.base = 0  # of its lanes' numbers: 0 in the process that made the file
        self.local = threading.local()
        self.numbers = itertools.count()  # of lanes
        self.ids = itertools.count(1)  # of operations
        self.operations = 0  # started
        self.late = 0  # operations of one thread that were written behind later ones of another
        self.users = set()  # lanes that called an operation
        self.last_user = None
        self.watchful = 0.0  # until then a new thread may be about to
        self.next_view = 0.0
        self.closing = False
        self.traces = 0  # pretended
        self.waits = 0  # for events, left out
        self.keys = {}  # operation with kinds of arguments and fullness of L1 -> number
        self.key_numbers = itertools.count(1)
        self.asked = set()  # numbers
        self.calls = {}  # number -> Known
        self.astray = 0  # brief calls that went another way than their template
        self.quoted = {}  # text -> as JSON
        self.lines = {}  # place, key and name -> the line of the operation, but for its id
        self.names.at_site.clear()
        self.sites.forget()
        self.programs = Programs()

    def forked(self):
        """In a child. What it inherits is recorded as soon as it calls an operation; a device of its own makes the rest not its business."""
        lane = getattr(self.local, "lane", None)
        self.stale = bool(lane and lane.active)
        self.inherited, self.devices = self.devices, []
        if self.native:
            self.native.leave()
        self.start_over()

    def lane(self):
        """This thread's."""
        lane = getattr(self.local, "lane", None)
        if lane is None:
            if self.stale:  # of the parent, and in this process nobody's
                self.stale = False
                self.end()
            lane = self.local.lane = Lane(next(self.numbers) % MOST_LANES)
        return lane

    def guarded(self, function, *args):
        """Everything that we do beside the program goes through here."""
        try:
            return function(*args)
        except Exception as error:
            self.give_up(error)

    def give_up(self, error):
        """The recording ends, the program does not."""
        if self.closing:
            return
        self.closing = True
        try:
            why = "%s: %s" % (type(error).__name__, error)
        except Exception:
            why = type(error).__name__
        tell("the recording ends here, the program goes on: " + why)
        for last in (self.last_piece, lambda: self.file and self.file_ends(why[:LONGEST_MESSAGE])):
            try:
                last()
            except Exception:
                pass  # told already

    def last_piece(self):
        """Ends our capture, with what it can still tell."""
        if self.lane().active:
            self.roll(self.lane(), again=False)

    # ---- The file ------------------------------------------------------------------------------------------------------

    def open_file(self, device):
        head = {"ttmem_recording": 1, "metadata": {"version": self.version}, "devices": [self.facts_of(device)]}
        head["program"] = sys.argv[:1]
        if setting("TTMEM_BOARD"):
            head["board"] = setting("TTMEM_BOARD")
        self.file = File(self.path, encode(head)[:-1] + ',\n"graph":[\n' + encode(node("recording_begin")))
        self.base = 0 if self.file.first else os.getpid() * MOST_LANES
        self.tests.opened()
        atexit.register(self.finish, "exit")
        workers = sys.modules.get("multiprocessing.process")
        if workers and workers.parent_process() and threading.current_thread() is threading.main_thread():
            if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:  # how a pool ends its workers
                signal.signal(signal.SIGTERM, self.terminated)

    def put(self, lane, nodes):
        """The first says whose they are: `lane` is left out for the first thread of the first process."""
        if nodes and self.base + lane.number:
            for n in nodes if nodes[0]["node_type"] != "piece" else nodes[:1]:
                n["params"]["lane"] = self.base + lane.number
        self.put_text(lane, "".join([",\n" + encode(n) for n in nodes]))

    def put_text(self, lane, text, brief=False):
        """Behind what is known of brief calls and of the time since."""
        if lane.followed:
            freed = self.native.freed()
            if freed:
                lane.pending += ',\n{"node_type":"freed","params":{"lane":%d},"connections":[%s]}' % (self.base + lane.number, freed[1:].decode())
        if lane.pending:
            text, lane.pending = lane.pending + text, ""
        if text:
            self.file.put(text, brief)

    def file_ends(self, reason):
        end = node("recording_end", reason=reason, operations=self.operations, late=self.late, traces=self.traces, waits=self.waits, asked_chips=self.asked_chips)
        self.put(self.lane(), [end])

    def facts_of(self, device):
        facts = {"device_id": device.id(), "arch": str(device.arch()).split(".")[-1], "chips": len(device.get_device_ids())}
        try:
            info = self.ttnn._ttnn.reports.get_device_info(device)
            facts.update((name, getattr(info, name)) for name in DEVICE_FACTS if hasattr(info, name))
        except Exception:
            pass
        return facts

    # ---- Captures ------------------------------------------------------------------------------------------------------

    def recording(self):
        return self.file is not None and not self.closing

    def start_capture(self, lane):
        self.begin(self.ttnn.graph.RunMode.NORMAL)
        lane.active = lane.whole = True
        lane.followed = bool(self.native and self.native.follow())
        lane.in_piece = 0
        lane.piece_began = time.monotonic()

    def roll(self, lane, again=True, learned=None):
        """Ends the piece and begins the next. `learned`: key, inputs and events of its only call, when that may be a template. True when it is."""
        if not lane.active:
            return False
        with NothingCollected():
            if lane.followed:
                self.put_text(lane, "")
                self.native.leave()
            lane.active = lane.followed = False
            nodes = self.end()
            if again:
                self.start_capture(lane)
            nodes = lean(nodes, self.programs, self.key_in_piece(lane))
            template = {}
            if nodes and learned and make_template(nodes, *learned[1:]):
                template["key"] = learned[0]
            if nodes:
                self.put(lane, [node("piece", **template)] + nodes)
                self.put(lane, self.programs.answers())
        return bool(template)

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

    def stand_in(self, value, made):
        """An argument with a tensor of its kind in the place of every one on a device, so that nothing is done to those of the program."""
        if isinstance(value, self.ttnn.Tensor):
            if value.storage_type() == self.ttnn.StorageType.HOST or not value.is_allocated():
                return value
            if id(value) not in made:
                made[id(value)] = self.allocate(value.spec, value.device())
                if hasattr(value, "update_tensor_topology"):
                    made[id(value)].update_tensor_topology(value.tensor_topology())
            return made[id(value)]
        if type(value) in (list, tuple):
            return type(value)(self.stand_in(v, made) for v in value)
        if type(value) is dict:
            return {name: self.stand_in(v, made) for name, v in value.items()}
        return value

    def ask(self, lane, key, function, args, kwargs):
        """The call that is about to be made, without anything happening: for the buffers of its programs. Before its result is there, since
        programs depend on what L1 has room for. Everything that is made meanwhile has to go meanwhile: it has no memory."""
        self.roll(lane, again=False)
        made = {}
        with NothingCollected():
            self.begin(self.ttnn.graph.RunMode.NO_DISPATCH)
            try:
                function(*self.stand_in(args, made), **self.stand_in(kwargs, made))
            except Exception as error:  # then they are not known
                error.__traceback__ = None
            finally:
                made.clear()
                nodes = self.end()
                self.start_capture(lane)
        nodes = [n for n in lean(nodes, self.programs, lambda _: key, asked=True) if n["node_type"] in PROGRAM_BUFFERS]
        self.put(lane, [node("piece", mode="REPEAT", key=key)] + nodes)

    def view(self, lane, wanted=False):
        """What the allocator itself says, where a piece ends: the reader checks its sums against it."""
        now = time.monotonic()
        if not wanted and now < self.next_view:
            return
        with NothingCollected():  # else what is freed meanwhile would stand behind the view
            if lane.whole or self.native.is_astray():
                self.roll(lane)
            else:
                self.put_text(lane, "")
            before = self.operations
            views = [n for device in self.devices for n in self.views_of(device)]
            if self.operations == before and not any(other.depth for other in self.users if other is not lane):
                self.put(lane, views)  # else they may hold what a running operation of another thread has not written yet
        after = time.monotonic()
        self.next_view = after + (after - now) * VIEW_SHARE

    def views_of(self, device):
        for number, name in zip((0, 1, 3, 4), MEMORIES):
            try:
                v = self.ttnn.get_memory_view(device, getattr(self.ttnn.BufferType, name))
            except Exception:
                continue
            params = {"late": 1} if len(self.users) > 1 else {}  # then frees of another thread may not be written yet
            try:
                params["base_address"] = self.ttnn.get_allocator_base_address(device, getattr(self.ttnn.BufferType, name))
                if name == "L1":
                    end_of_l1 = params["base_address"] + v.total_bytes_per_bank
                elif name == "L1_SMALL":  # it lies above L1, but ttnn gives L1's own base for it
                    params["base_address"] = end_of_l1
            except Exception:
                params.pop("base_address", None)  # then it cannot be told where the bank is free
            yield node(
                "memory_view", device_id=device.id(), buffer_type=number, num_banks=v.num_banks, total_bytes_per_bank=v.total_bytes_per_bank,
                allocated_per_bank=v.total_bytes_allocated_per_bank, largest_free_per_bank=v.largest_contiguous_bytes_free_per_bank,
                **params,
            )

    # ---- Devices -------------------------------------------------------------------------------------------------------

    def before_open(self):
        """ttmem_start.py has something to do here when there is a mock board."""

    def opened(self, device):
        if self.inherited:
            self.not_ours += self.inherited + self.kept
            self.inherited, self.kept = [], []
        if self.closing or any(device is known for known in self.devices):
            return
        lane = self.lane()
        if self.file is None:
            if setting("TT_METAL_ALLOCATOR_MODE_HYBRID").startswith("1"):  # tensors without an address, and NO_DISPATCH fails there
                self.asks, self.native = False, None
            self.open_file(device)
        self.devices.append(device)
        self.put(lane, [opening_of(device)])
        if not lane.active and not lane.user_captures:
            self.let_go()
            self.start_capture(lane)
        if lane.active:
            self.view(lane, wanted=True)

    def divided(self, submesh):
        if self.recording():
            self.put(self.lane(), [opening_of(submesh)])

    def before_close(self, device):
        lane = self.lane()
        if self.recording() and lane.active and any(device is known for known in self.devices):
            self.view(lane, wanted=True)

    def closed(self, device):
        if not any(device is known for known in self.devices):
            return
        self.devices = [known for known in self.devices if known is not device]
        if not self.closing:
            self.kept.append(device)
        if self.recording():
            lane = self.lane()
            self.roll(lane, again=bool(self.devices))
            self.put(lane, [node("device_close", device_id=device.id())])
            if self.native and not self.devices:
                self.native.forget()

    def let_go(self):
        """Where no capture runs: of the closed devices those that nobody else holds."""
        ours = 3  # references: the list, the name below, the argument
        self.kept = [device for device in self.kept if sys.getrefcount(device) > ours]

    # ---- Threads -------------------------------------------------------------------------------------------------------

    def before_thread(self):
        """Another thread is about to start. What this one did before comes before."""
        self.watchful = time.monotonic() + NEW_THREAD_SECONDS
        if self.recording():
            self.roll(self.lane())

    def thread_begins(self):
        """From its start on, for it may be the one that frees a tensor."""
        if self.recording() and self.devices and not self.lane().active:
            self.start_capture(self.lane())

    def thread_ends(self):
        lane = getattr(self.local, "lane", None)
        if lane is None:
            return
        if self.recording() and lane in self.users and lane.active and self.devices:
            self.view(lane, wanted=True)
        self.last_piece()
        self.users.discard(lane)

    def is_crowded(self, lane):
        """True when several threads call operations: then each operation is a piece, which keeps them in order."""
        if lane not in self.users:
            if time.monotonic() > self.watchful:
                self.late += sum(other.in_piece for other in self.users)
            self.users.add(lane)
        return len(self.users) > 1 or time.monotonic() < self.watchful

    # ---- Operations ----------------------------------------------------------------------------------------------------

    def fullness(self):
        """Of L1: what is allocated, and where the lowest block is, down to which circular buffers have room."""
        if self.native:
            return self.native.l1[0], self.native.l1[1]
        levels = []
        for device in self.devices:
            v = self.ttnn.get_memory_view(device, self.ttnn.BufferType.L1)
            used, largest = v.total_bytes_allocated_per_bank, v.largest_contiguous_bytes_free_per_bank
            if used + largest < v.total_bytes_per_bank:  # there are holes
                largest = min(int(block["address"]) for block in v.block_table if block["allocated"] == "yes")
            levels.append((used, largest))
        return tuple(levels)

    def key_of(self, name, args, kwargs, inputs):
        """The number of this operation with arguments of these kinds and L1 as full as now; None when it cannot be told. `inputs` get the addresses
        of its tensors."""
        try:
            tensors = []
            key = (name, self.kinds.of(args, tensors), self.kinds.of(kwargs, tensors), self.fullness())
            inputs += addresses_of(tensors)
            if len(set(inputs)) < len(inputs):
                key += (tuple(map(inputs.index, inputs)),)
            number = self.keys.get(key)
        except Exception:  # an argument of the program's own making
            return None
        if number is None and len(self.keys) < MOST_KEYS:
            number = self.keys[key] = next(self.key_numbers)
        return number

    def call(self, name, function, args, kwargs, frame, repeatable=False):
        if self.closing or not (self.devices or self.inherited):
            return function(*args, **kwargs)
        lane = self.lane()
        if lane.depth:
            return function(*args, **kwargs)
        lane.depth, number = 1, 0
        try:
            number = self.guarded(self.begins, lane, name, function, args, kwargs, frame, repeatable) or 0
            result = function(*args, **kwargs)
            if lane.names and isinstance(result, (list, tuple)):
                self.guarded(self.returned, lane, number, result)
            return result
        except BaseException as error:
            self.guarded(self.failed, lane, number, name, error)
            raise
        finally:
            try:
                self.guarded(self.ends, lane, name)
            finally:
                lane.depth = 0

    def begins(self, lane, name, function, args, kwargs, frame, repeatable):
        """Writes the operation down, and asks for the buffers of its programs. Returns its number."""
        if self.file is None:  # a child that works with what it inherited
            self.devices, self.inherited = self.inherited, []
            self.open_file(self.devices[0])
            self.start_capture(lane)
            self.view(lane, wanted=True)
        if not lane.active and not lane.user_captures:
            self.start_capture(lane)  # the thread's first, or an interrupt came between two pieces, and the program goes on
        crowded = self.is_crowded(lane)
        key, inputs = None, []
        if lane.active and not lane.tracing and (self.asks or lane.followed):
            key = self.key_of(name, args[1:] if repeatable else args, kwargs, inputs)
        known = self.calls.get(key) if key and lane.followed and not crowded else None
        brief = known is not None and known.state == BRIEF
        if lane.active and self.is_due(lane, known, crowded):
            self.roll(lane)
        if crowded and self.last_user is not lane:
            self.last_user = lane
            self.view(lane, wanted=True)  # what another thread freed since its last operation is not written yet
        number = self.operations = next(self.ids)
        self.put_text(lane, self.operation(lane, number, name, frame, key), brief)
        lane.in_piece += 1
        if brief:
            return self.begins_briefly(lane, number, key, inputs)
        if key and self.asks and key not in self.asked and self.can_ask(name, kwargs, repeatable):
            self.asked.add(key)
            self.ask(lane, key, function, args, kwargs)
        if key:
            lane.keys.append((name, key))
        lane.whole = True
        lane.scoped = bool(lane.active and self.enter)
        if lane.scoped:
            if self.unwind:
                self.unwind("ttmem: left open")
            self.enter(name)
        if lane.followed and key and not crowded:
            self.learn(lane, name, key, inputs)
        return number

    def is_due(self, lane, known, crowded):
        """True when the piece has to end before the next call. A brief one writes itself, and what was captured before comes before. One that may
        become a template is alone in its piece."""
        if known is not None and known.state == BRIEF:
            return lane.whole or lane.in_piece >= MOST_BRIEF
        if known is not None and known.state == ONCE:
            return True
        return crowded or lane.in_piece >= self.piece or time.monotonic() - lane.piece_began > PIECE_SECONDS

    def operation(self, lane, number, name, frame, key):
        """The line that says that an operation is called, and the one about its place when that is new."""
        site, place = self.sites.number_of(frame)
        known = self.lines.get((site, key, name))
        if known is not None and not lane.note:
            lane.names = self.names.at_site[site]
            return OPERATION % (number, self.base + lane.number, known)
        params = '"name":%s' % self.quote(name)
        if place:
            params += "," + encode(place)[1:-1]
        if site:
            params += ',"site":%d' % site
        lane.names = self.names.of_call(frame, site)
        if lane.names:
            if () in lane.names:
                params += ',"to":' + self.quote(lane.names[()][0])
            if any([kept for _, kept in lane.names.values()]):
                params += ',"kept":1'
        if key:
            params += ',"key":%d' % key
        if lane.note:
            params += "," + encode(lane.note)[1:-1]
        elif site and not place and site in self.names.at_site and len(self.lines) < MOST_KEYS:
            self.lines[site, key, name] = params
        return OPERATION % (number, self.base + lane.number, params)

    def quote(self, text):
        quoted = self.quoted.get(text)
        if quoted is None:
            if len(self.quoted) >= MOST_KEYS:
                self.quoted.clear()
            quoted = self.quoted[text] = quote(text)
        return quoted

    # ---- Brief calls -----------------------------------------------------------------------------------------------------

    def begins_briefly(self, lane, number, key, inputs):
        lane.brief = (key, inputs)
        if self.native.begin(1):  # something between the calls has to be captured
            self.roll(lane)
            self.native.begin(1)
        lane.whole = False
        return number

    def learn(self, lane, name, key, inputs):
        """A call is captured that may be brief the next time."""
        if self.calls.setdefault(key, Known(name)).state == ONCE:
            lane.learning = (key, inputs)
        self.native.begin(0)

    def learned(self, lane):
        """Its end."""
        (key, inputs), lane.learning = lane.learning, None
        path, known = self.native.end(), self.calls[key]
        events = self.native.events()
        self.leave_scope(lane)
        if path == known.path:
            known.state = BRIEF if self.roll(lane, learned=(key, inputs, events)) else NEVER
        known.path = path

    def ends_briefly(self, lane):
        (key, inputs), lane.brief = lane.brief, None
        known = self.calls[key]
        if self.native.end() == known.path:
            addresses = (str(inputs)[1:-1] + self.native.addresses().decode()).lstrip(",")
            lane.pending += ',\n{"node_type":"again","params":{"key":%d,"lane":%d},"connections":[%s]}' % (key, self.base + lane.number, addresses)
            return
        known.state = NEVER
        self.astray += 1
        self.put(lane, astray(known.name, self.native.programs(), self.native.details()))

    def returned(self, lane, number, result):
        """Which of several results has which name: by their addresses, for they need not be allocated in this order."""
        named = [(name_at(lane.names, path), address) for path, address in tensors_in(result)]
        if self.recording() and named:
            names, places = ("|".join(map(str, column)) for column in zip(*named))
            self.put(lane, [node("results", id=number, to=names, places=places)])

    def can_ask(self, name, kwargs, native):
        if name in NEED_A_DEVICE:
            return kwargs.get("device") is not None and not kwargs.get("cache_file_name")
        return name in ASKED_IN_PYTHON or (native and name not in NEVER_ASKED)

    def leave_scope(self, lane):
        if lane.scoped and lane.active:
            self.leave()
        lane.scoped = False

    def ends(self, lane, name):
        if not self.recording():
            return
        if lane.brief:
            self.ends_briefly(lane)
            if self.always or time.monotonic() > self.next_view:
                self.view(lane, self.always)
            return
        if lane.learning:
            self.learned(lane)
        elif lane.followed:
            self.native.end()
        self.leave_scope(lane)
        if name.endswith("_trace_capture"):
            lane.tracing = name.endswith("begin_trace_capture") and not self.traces
        if lane.active and (self.always or time.monotonic() - lane.piece_began > PIECE_SECONDS):
            self.view(lane, self.always)
            self.roll(lane)
        elif lane.active and self.is_crowded(lane):
            self.roll(lane)

    def failed(self, lane, number, name, error):
        if not self.recording():
            return
        try:
            setattr(error, MARK, self.base // MOST_LANES << 32 | number)
        except Exception:
            pass
        if lane.brief:
            self.ends_briefly(lane)
        if lane.learning:
            self.calls[lane.learning[0]].state, lane.learning = NEVER, None
        if lane.followed:
            self.native.end()
        if lane.active and self.unwind:
            self.unwind("failed")
            lane.scoped = False
        self.leave_scope(lane)
        self.roll(lane)
        self.put(lane, [node("failure", id=number, name=name, type=type(error).__name__, message=message_of(error))])
        if lane.active:
            self.view(lane, wanted=True)

    # ---- Captures of the program's own -----------------------------------------------------------------------------------

    def user_begins(self, *args, **kwargs):
        """The program's own capture takes the place of ours, else its run mode would not count."""
        lane = self.lane()
        with NothingCollected():
            if self.recording() and not lane.user_captures:
                self.guarded(self.roll, lane, False)
            try:
                result = self.begin(*args, **kwargs)
            except BaseException:
                self.guarded(self.take_over, lane)
                raise
            if not lane.user_captures:
                mode = args[0] if args else kwargs.get("run_mode")
                lane.user_mode = "NO_DISPATCH" if str(mode).endswith("NO_DISPATCH") else "NORMAL"
            lane.user_captures += 1
            return result

    def user_ends(self, real, args, kwargs):
        lane = self.lane()
        with NothingCollected():
            if self.recording() and not lane.user_captures:  # there is none but ours, and the program has to be told so
                self.guarded(self.roll, lane, False)
            try:
                result = real(*args, **kwargs)
            except BaseException:
                self.guarded(self.take_over, lane)
                raise
            lane.user_captures = max(0, lane.user_captures - 1)
            self.guarded(self.take_over, lane, result)
        return result

    def take_over(self, lane, result=None):
        """Where no capture of the program's runs any more, ours does; with what the program's told, if it told it here."""
        if lane.user_captures or not self.recording():
            return
        if self.devices:
            self.start_capture(lane)
        nodes = json.loads(result) if isinstance(result, str) else result
        if isinstance(nodes, dict):
            nodes = nodes.get("graph")
        if isinstance(nodes, list):
            self.put(lane, [node("piece", mode=lane.user_mode)] + lean(nodes))
        if lane.active:
            self.view(lane, wanted=True)

    # ---- The end ---------------------------------------------------------------------------------------------------------

    def uncaught(self, error, in_thread):
        """An exception that nobody caught: which failed operation it comes from, itself or by what led to it."""
        if not self.recording() or error is None:
            return
        failure, origin, steps = 0, error, 0
        while origin is not None and steps < 100 and not failure:
            failure, steps = getattr(origin, MARK, 0), steps + 1
            origin = origin.__cause__ or origin.__context__
        lane = self.lane()
        self.roll(lane)
        if not failure and isinstance(error, Exception) and not is_raised(error):  # by ttnn, where nothing is wrapped
            self.put(lane, [node("failure", id=0, type=type(error).__name__, message=message_of(error))])
        self.put(lane, [node("uncaught", type=type(error).__name__, failure=failure, in_thread=int(in_thread))])

    def terminated(self, number, _):
        self.finish("exit")
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def finish(self, reason):
        self.guarded(self.finish_file, reason)

    def finish_file(self, reason):
        if not self.recording():
            return
        lane = self.lane()
        if self.host:
            self.guarded(self.host.end)
        try:
            self.uncaught(getattr(sys, "last_exc", None) or getattr(sys, "last_value", None), False)
            if lane.active and self.devices:
                self.view(lane, wanted=True)
            self.roll(lane, again=False)
        except Exception as error:  # ttnn may be gone already
            tell("the last piece of the recording is missing: %s: %s" % (type(error).__name__, error))
        self.closing = True
        self.file_ends(reason)
        self.file.close()
        if self.host:
            self.host.wait()
        self.kinds.known.clear()
        for held in (self.devices, self.kept, self.not_ours, self.inherited):
            held.clear()  # else nanobind complains at exit
