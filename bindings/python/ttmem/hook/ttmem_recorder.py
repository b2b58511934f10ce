# SPDX-License-Identifier: Apache-2.0
"""Records what a ttnn program allocates and frees, from the opening of its device to its end, without a change to the program.

`ttmem run` puts this folder before the user's program (ttmem_start.py loads this file when the program imports ttnn); it needs nothing but
the standard library of Python 3.8 or newer. Operations are wrapped (ttmem_wrap.py): each writes a line with its name and the user's file and
line before it begins, and ttnn's own graph capture (run mode NORMAL) tells what it allocates. The capture is ended and begun anew
every few operations, so that neither it nor what a crash can cost grows: the recording is one graph report, written piece by piece,
with nodes of our own between ttnn's. docs/captures.md describes them.

The program is more important than its recording: whatever goes wrong here ends the recording, is told once, and the program goes on
(Recorder.guarded).

Environment: TTMEM_RECORDING, the file to write; TTMEM_PIECE, operations per piece; TTMEM_VIEWS=all, a memory view after every
operation; TTMEM_BOARD, the mock board; TTMEM_REPEATS=0, no second calls there.
"""

import atexit
import gc
import json
import os
import sys
import threading
import time

PIECE = 64  # operations
PIECE_SECONDS = 0.1
VIEW_SHARE = 50  # a memory view is taken when the last one's cost, times this, has passed
MEMORIES = ("DRAM", "L1", "L1_SMALL", "TRACE")
LONGEST_MESSAGE = 4000
MOST_KEYS = 100000  # some arguments look different at each call, and memory has to stay bounded
HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep

# What the reader needs of each node; the rest (arguments, memory configurations) would be most of the file.
ALLOCATION = ("size", "address", "type", "buffer_type", "page_size", "num_cores", "device_id", "max_size_per_bank")
KEPT = {
    "function_start": ("name", "program_cache_hit", "program_factory_type"),
    "function_end": (),
    "tensor": ("shape", "dtype", "layout", "address", "buffer_type", "device_id"),
    "buffer": ("size", "type", "buffer_type", "device_id"),
    "buffer_allocate": ALLOCATION,
    "buffer_deallocate": ALLOCATION,
    "circular_buffer_allocate": ("size", "address", "core_range_set", "globally_allocated", "device_id"),
    "dataflow_buffer_allocate": ("size", "address", "core_range_set", "borrows_memory", "device_id"),
    "scratchpad_allocate": ("size", "address", "core_range_set", "device_id"),
    "circular_buffer_deallocate_all": ("device_id",),
}
PROGRAM_BUFFERS = ("circular_buffer_deallocate_all", "circular_buffer_allocate", "dataflow_buffer_allocate", "scratchpad_allocate")
DROPPED = ("capture_start", "capture_end", "sub_device_manager", "program_execution")
DEVICE_FACTS = (
    "worker_l1_size", "l1_num_banks", "l1_bank_size", "address_at_first_l1_cb_buffer", "cb_limit", "num_x_compute_cores", "num_y_compute_cores",
)

encode = json.JSONEncoder(separators=(",", ":"), default=str).encode


def node(node_type, **params):
    return {"node_type": node_type, "params": params}


def tell(sentence):
    """To the user, if standard error still stands."""
    try:
        sys.stderr.write("ttmem: %s\n" % sentence)
    except Exception:
        pass


class File:
    """The recording. Every line is written at once: what was written is there whatever happens to the process."""

    def __init__(self, path):
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
        try:
            self.fd = os.open(path, flags, 0o666)
        except FileExistsError:  # another process of the program has a device too
            self.fd = os.open("%s.%d" % (path, os.getpid()), flags, 0o666)
        self.any = False

    def write(self, text):
        data = text.encode("utf-8", "replace")
        while data and self.fd is not None:
            try:
                data = data[os.write(self.fd, data) :]
            except OSError:  # the disk is full
                self.fd = None
                raise

    def put(self, nodes):
        if nodes:
            self.write((",\n" if self.any else "\n") + ",\n".join(map(encode, nodes)))
            self.any = True


def lean(nodes):
    """The nodes of a capture with what the reader needs."""
    kept = []
    for n in nodes:
        kind = n["node_type"]
        if kind in DROPPED:
            continue
        params = n.get("params") or {}
        entry = {"counter": n["counter"], "node_type": kind, "params": {name: params[name] for name in KEPT.get(kind, ()) if name in params}}
        if kind in ("buffer", "buffer_allocate", "buffer_deallocate"):
            entry["connections"] = n["connections"]
        elif kind == "function_start" and n.get("input_tensors"):
            entry["input_tensors"] = n["input_tensors"]
        kept.append(entry)
    return kept


class NothingCollected:
    """Between two captures nothing is seen, so nothing may be freed: the collector of cycles has to wait."""

    def __enter__(self):
        self.collecting = gc.isenabled()
        gc.disable()

    def __exit__(self, *_):
        if self.collecting:
            gc.enable()


def hides_buffers(nodes):
    """True when a program in these nodes does not tell its buffers, and calling it again is safe: nothing older was freed."""
    born, empty, program = set(), 0, False
    for n in nodes:
        kind = n["node_type"]
        if kind == "buffer_allocate":
            born.update(n["connections"][:1])
        elif kind == "buffer_deallocate" and not born.issuperset(n["connections"][:1]):
            return False
        elif kind == "circular_buffer_deallocate_all":
            empty += program
            program = True
        elif kind in PROGRAM_BUFFERS:
            program = False
    return empty + program > 0


def kind_of(value):
    """What decides how an operation works on an argument, as something that can be looked up."""
    if isinstance(value, (list, tuple)):
        return tuple(map(kind_of, value))
    if isinstance(value, dict):
        return tuple((name, kind_of(v)) for name, v in value.items())
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        config = getattr(value, "memory_config", None)
        return (str(value.shape), str(value.dtype), str(getattr(value, "layout", "")), str(config()) if callable(config) else "")
    if value is None or isinstance(value, (bool, int, float, str)):
        return (type(value).__name__, value)  # True == 1 == 1.0, but not to an operation
    text = repr(value)
    if " object at 0x" in text and type(value).__module__.startswith("ttnn") and not hasattr(value, "arch"):  # a configuration, no device
        members = ((name, getattr(value, name)) for name in dir(value) if name[0] != "_")
        return (type(value).__name__, *((name, kind_of(member)) for name, member in members if not callable(member)))
    return text


class Recorder:
    def __init__(self, ttnn, version):
        self.ttnn = ttnn
        self.version = version
        self.path = os.environ["TTMEM_RECORDING"]
        self.piece = max(1, int(os.environ.get("TTMEM_PIECE") or PIECE))
        self.always = os.environ.get("TTMEM_VIEWS") == "all"  # for tests: the allocator is asked after every operation
        # NORMAL captures leave out dataflow buffers, and the circular buffers of cached programs. On a mock board an operation that has
        # such programs is called once more, in run mode NO_DISPATCH, which allocates and runs nothing and tells them.
        self.repeats = bool(os.environ.get("TTMEM_BOARD")) and os.environ.get("TTMEM_REPEATS") != "0"
        self.home = os.path.dirname(os.path.abspath(ttnn.__file__)) + os.sep
        self.libraries = tuple({os.path.dirname(os.__file__) + os.sep, self.home, os.path.dirname(self.home[:-1]) + os.sep})
        self.folder = os.getcwd() + os.sep
        self.places = {}
        self.user_captures = 0  # begun by the program itself
        self.user_mode = "NORMAL"  # of the outermost of them
        self.devices = []  # open
        # Closed ones, and those of the process that forked this one: ttnn crashes when a device is destroyed while a capture runs that
        # has not seen it.
        self.kept = []
        self.not_ours = []
        self.start_over()
        graph = ttnn.graph
        self.begin = getattr(graph, "_cpp_begin_graph_capture", graph.begin_graph_capture)
        self.end = getattr(graph, "_cpp_end_graph_capture", graph.end_graph_capture)
        self.enter = getattr(graph, "_cpp_track_function_start", None) or getattr(graph, "track_function_start", None)
        self.leave = getattr(graph, "_cpp_track_function_end", None) or getattr(graph, "track_function_end", None)
        self.unwind = getattr(graph, "_cpp_unwind_open_functions", None)

    def start_over(self):
        """Nothing is recorded yet in this process."""
        self.pid = os.getpid()
        self.file = None
        self.thread = None  # the one that opened the device: captures belong to a thread
        self.active = False  # our capture runs
        self.depth = 0  # of wrapped operations
        self.scoped = False  # the running one stands in the capture by its Python name
        self.operations = 0  # started
        self.elsewhere = 0  # operations of other threads
        self.in_piece = 0
        self.piece_began = 0.0
        self.next_view = 0.0
        self.closing = False
        self.tracing = False  # a trace is being captured: nothing may run twice
        self.traces = 0  # pretended
        self.keys = {}  # operation with kinds of arguments -> number
        self.looked_at = set()  # numbers

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
        for last in (self.drop_capture, lambda: self.file and self.file_ends(why[:LONGEST_MESSAGE])):
            try:
                last()
            except Exception:
                pass  # told already

    def drop_capture(self):
        """Ours, without a look at it."""
        if self.active and self.thread == threading.get_ident():
            self.active = False
            self.end()

    # ---- The file ------------------------------------------------------------------------------------------------------

    def open_file(self, device):
        head = {"ttmem_recording": 1, "metadata": {"version": self.version}, "devices": [self.facts_of(device)]}
        head["program"] = sys.argv[:1]
        if os.environ.get("TTMEM_BOARD"):
            head["board"] = os.environ["TTMEM_BOARD"]
        self.file = File(self.path)
        self.file.write(encode(head)[:-1] + ',\n"graph":[')

    def file_ends(self, reason):
        self.file.put([node("recording_end", reason=reason, operations=self.operations, elsewhere=self.elsewhere, traces=self.traces)])
        self.file.write("\n]}\n")

    def facts_of(self, device):
        facts = {"device_id": device.id(), "arch": str(device.arch()).split(".")[-1], "chips": len(device.get_device_ids())}
        try:
            info = self.ttnn._ttnn.reports.get_device_info(device)
            facts.update((name, getattr(info, name)) for name in DEVICE_FACTS if hasattr(info, name))
        except Exception:
            pass
        return facts

    # ---- Captures ------------------------------------------------------------------------------------------------------

    def mine(self):
        return self.file is not None and not self.closing and self.pid == os.getpid() and self.thread == threading.get_ident()

    def start_capture(self):
        self.begin(self.ttnn.graph.RunMode.NORMAL)
        self.active = True
        self.in_piece = 0
        self.piece_began = time.monotonic()

    def roll(self, again=True):
        """Ends the piece and begins the next. Returns its nodes."""
        if not self.active:
            return []
        with NothingCollected():
            self.active = False
            nodes = self.end()
            if again:
                self.start_capture()
            nodes = lean(nodes)
            if nodes:
                self.file.put([node("piece")] + nodes)
            return nodes

    def repeat(self, key, function, args, kwargs):
        """The call that was just made, once more without anything happening: for the buffers of its programs."""
        self.leave_scope()
        if not hides_buffers(self.roll()):
            return
        with NothingCollected():
            self.active = False
            self.end()
            self.begin(self.ttnn.graph.RunMode.NO_DISPATCH)
            try:
                function(*args, **kwargs)
            except Exception:
                pass  # then they are not known
            finally:
                nodes = self.end()
                self.start_capture()
        nodes = [n for n in lean(nodes) if n["node_type"] in PROGRAM_BUFFERS]
        self.file.put([node("piece", mode="REPEAT", key=key)] + nodes)

    def view(self, wanted=False):
        """What the allocator itself says, where a piece ends: the reader checks its sums against it."""
        now = time.monotonic()
        if not wanted and now < self.next_view:
            return
        with NothingCollected():  # else what is freed meanwhile would stand behind the view
            self.roll()
            self.file.put([n for device in self.devices for n in self.views_of(device)])
        after = time.monotonic()
        self.next_view = after + (after - now) * VIEW_SHARE

    def views_of(self, device):
        for number, name in zip((0, 1, 3, 4), MEMORIES):
            try:
                v = self.ttnn.get_memory_view(device, getattr(self.ttnn.BufferType, name))
            except Exception:
                continue
            params = {}
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

    def opened(self, device):
        if self.pid != os.getpid():  # a forked worker
            self.drop_capture()  # of the parent, and in this process nobody's
            self.not_ours += self.devices + self.kept
            self.devices, self.kept = [], []
            self.start_over()
        if self.closing or any(device is known for known in self.devices):
            return
        if self.file is None:
            self.thread = threading.get_ident()
            self.open_file(device)
            atexit.register(self.finish, "exit")
        self.devices.append(device)
        if self.mine() and not self.active and not self.user_captures:
            self.let_go()
            self.start_capture()
        if self.mine() and self.active:
            self.view(wanted=True)

    def before_close(self, device):
        if self.mine() and self.active and any(device is known for known in self.devices):
            self.view(wanted=True)

    def closed(self, device):
        if not any(device is known for known in self.devices):
            return
        self.devices = [known for known in self.devices if known is not device]
        if not self.closing:
            self.kept.append(device)
        if self.mine():
            self.roll(again=bool(self.devices))
            self.file.put([node("device_close", device_id=device.id())])

    def let_go(self):
        """Where no capture runs: of the closed devices those that nobody else holds."""
        ours = 3  # references: the list, the name below, the argument
        self.kept = [device for device in self.kept if sys.getrefcount(device) > ours]

    # ---- Operations ----------------------------------------------------------------------------------------------------

    def place(self, frame):
        """(file:line, function) in the user's program that led here; a library's own when there is none of the user's."""
        nearest = None
        while frame is not None:
            name = frame.f_code.co_filename
            if not name.startswith((HERE, self.home, "<frozen")):
                nearest = nearest or frame
                if not name.startswith(self.libraries) and "-packages" + os.sep not in name:
                    break
            frame = frame.f_back
        frame = frame or nearest
        if frame is None:
            return "", ""
        name = frame.f_code.co_filename
        path = self.places.get(name)
        if path is None:
            path = os.path.abspath(name) if name[:1] != "<" else name
            path = path[len(self.folder) :] if path.startswith(self.folder) else path
            self.places[name] = path
        return "%s:%d" % (path, frame.f_lineno), frame.f_code.co_name

    def key_of(self, name, args, kwargs):
        """The number of this operation with arguments of these kinds; None when they cannot be told, or are other ones all the time."""
        try:
            key = (name, kind_of(args), kind_of(kwargs))
        except Exception:  # an argument of the program's own making
            return None
        if key in self.keys or len(self.keys) < MOST_KEYS:
            return self.keys.setdefault(key, len(self.keys) + 1)
        return None

    def call(self, name, function, args, kwargs, frame, repeatable=False):
        if self.depth or not self.devices or not self.mine():
            if self.devices and self.pid == os.getpid() and self.thread != threading.get_ident():
                self.elsewhere += 1
            return function(*args, **kwargs)
        key = self.guarded(self.begins, name, args, kwargs, frame, repeatable)
        self.depth = 1
        try:
            result = function(*args, **kwargs)
            if key and self.mine():
                self.guarded(self.repeat, key, function, args, kwargs)
        except BaseException as error:
            self.guarded(self.failed, name, error)
            raise
        finally:
            self.depth = 0
            self.guarded(self.ends, name)
        return result

    def begins(self, name, args, kwargs, frame, repeatable):
        """Writes the operation down. Returns its key when it is to be called again for the buffers of its programs."""
        if not self.active and not self.user_captures:
            self.start_capture()  # an interrupt came between two pieces, and the program goes on
        if self.active and (self.in_piece >= self.piece or time.monotonic() - self.piece_began > PIECE_SECONDS):
            self.roll()
        at, inside = self.place(frame)
        self.operations += 1
        called = node("operation", id=self.operations, name=name, at=at, function=inside)
        again = None
        if repeatable and self.repeats and not self.tracing:
            key = self.key_of(name, args[1:], kwargs)
            if key:
                called["params"]["key"] = key
            if key and self.active and self.enter and key not in self.looked_at:
                again = key
                self.looked_at.add(key)
                self.roll()  # a piece of its own
        self.file.put([called])
        self.in_piece += 1
        self.scoped = bool(self.active and self.enter)
        if self.scoped:
            if self.unwind:
                self.unwind("ttmem: left open")
            self.enter(name)
        return again

    def leave_scope(self):
        if self.scoped and self.active:
            self.leave()
        self.scoped = False

    def ends(self, name):
        if not self.mine():
            return
        self.leave_scope()
        if name.endswith("_trace_capture"):
            self.tracing = name.endswith("begin_trace_capture") and not self.traces
        if self.active and (self.always or time.monotonic() - self.piece_began > PIECE_SECONDS):
            self.view(self.always)
            self.roll()

    def failed(self, name, error):
        if not self.mine():
            return
        text = str(error)
        cut = text.find("backtrace:")
        text = text[: cut if cut >= 0 else len(text)][:LONGEST_MESSAGE]
        if self.active and self.unwind:
            self.unwind("failed")
            self.scoped = False
        self.leave_scope()
        self.roll()
        self.file.put([node("failure", id=self.operations, name=name, type=type(error).__name__, message=text)])
        if self.active:
            self.view(wanted=True)

    # ---- Captures of the program's own -----------------------------------------------------------------------------------

    def user_begins(self, *args, **kwargs):
        """The program's own capture takes the place of ours, else its run mode would not count."""
        with NothingCollected():
            if self.mine() and not self.user_captures:
                self.guarded(self.roll, False)
            try:
                result = self.begin(*args, **kwargs)
            except BaseException:
                self.guarded(self.take_over)
                raise
            if not self.user_captures:
                mode = args[0] if args else kwargs.get("run_mode")
                self.user_mode = "NO_DISPATCH" if str(mode).endswith("NO_DISPATCH") else "NORMAL"
            self.user_captures += 1
            return result

    def user_ends(self, real, args, kwargs):
        with NothingCollected():
            if self.mine() and not self.user_captures:  # there is none but ours, and the program has to be told so
                self.guarded(self.roll, False)
            try:
                result = real(*args, **kwargs)
            except BaseException:
                self.guarded(self.take_over)
                raise
            self.user_captures = max(0, self.user_captures - 1)
            self.guarded(self.take_over, result)
        return result

    def take_over(self, result=None):
        """Where no capture of the program's runs any more, ours does; with what the program's told, if it told it here."""
        if self.user_captures or not self.mine():
            return
        if self.devices:
            self.start_capture()
        nodes = json.loads(result) if isinstance(result, str) else result
        if isinstance(nodes, dict):
            nodes = nodes.get("graph")
        if isinstance(nodes, list):
            self.file.put([node("piece", mode=self.user_mode)] + lean(nodes))
        if self.active:
            self.view(wanted=True)

    # ---- The end ---------------------------------------------------------------------------------------------------------

    def finish(self, reason):
        self.guarded(self.finish_file, reason)

    def finish_file(self, reason):
        if self.file is None or self.closing or self.pid != os.getpid():
            return
        if self.thread == threading.get_ident():
            try:
                if self.active and self.devices:
                    self.view(wanted=True)
                self.roll(again=False)
            except Exception as error:  # ttnn may be gone already
                tell("the last piece of the recording is missing: %s: %s" % (type(error).__name__, error))
        self.closing = True
        self.file_ends(reason)
