# SPDX-License-Identifier: Apache-2.0
"""The recording as a file: a graph report with ttnn's nodes, and between them ours. docs/captures.md says how they are joined.

head                head of the report: `ttmem_recording` 1, `metadata`, `devices`, `board`, `program`
recording_begin     the first node
operation           written before it begins: `id`, `name`, `at` file:line, `function`, `site` (a number for its place, whose `at`, `function` and `stack`
                    only the first operation from there has), `key` (equal: the same operation and kinds of arguments, L1 equally full), `to` (what the
                    program calls the result), `kept` 1: an object keeps it; on traces also `device_id` and `trace`
results             `id` of an operation with several results, `to` and `places` (addresses), with `|` between them
circular_buffer_deallocate_all   ttnn's, with `program`: the number of the program that begins; in answers also `name`
test, test_end      `name`; `outcome` passed, failed, skipped and `message`
piece               the nodes that follow are one capture, counters begin anew; `key`: its only call may be repeated, its nodes have a `slot` where they
                    have an address; `mode` NO_DISPATCH: nothing in it happened; `mode` REPEAT: buffers of the programs of an operation
again               `key`, `connections`: a call did what the piece with that `key` did; the addresses of its slots, inputs first
freed               `connections`: device, memory and address of each buffer that was freed between such calls
memory_view         `get_memory_view`: `num_banks`, `total_bytes_per_bank`, `allocated_per_bank`, `largest_free_per_bank`, `base_address`; `late` 1: frees
                    of another thread may not be written yet
failure             `id`, `name`, `type`, `message` of the exception that ended an operation; `id` 0: raised outside of them
uncaught            `type`, `failure`: process and `id` of the failed operation it comes from, 0 if none; `in_thread` 1: it ended a thread only
device_open, device_close        `device_id`; `chips`, a bit for each
host                `rss`, `at`, `id` of the last operation; now and then `peak`, `pinned`, `locked`, `huge`, `address_space`; at first the limits
host_end            by `ttmem run`: `signal`, `oom_kills`, `rss`, `peak`, `machine`, `available`, `lowest_available`, `cgroup`
recording_end       of a process: `reason`, `operations`, `late`, `traces`, `asked_chips`

Ours carry `lane`, a number for the process (1,024 times its id) and its thread; none means the first of each. ttnn's belong to the lane of the piece."""

import gc
import itertools
import json
import mmap
import os
import re
import sys
import threading

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
VAGUE = re.compile(r"<[\w: ]+>")  # a type in the place of its value
CHANGING = re.compile(r"(tensor_id|buffer_unique_id|address)\W{1,3}\d+")  # from call to call, whatever the program
MOST_NUMBERS = 100000
TAIL = 1 << 18  # bytes
LONGEST_MESSAGE = 4000
# A move of shards copies from the memory of one tensor to that of another. NO_DISPATCH leaves it out: there both have no address.
WITHIN_TENSORS = ("::MoveShardedProgramFactory",)
DROPPED = ("capture_start", "capture_end", "sub_device_manager", "program_execution")

quote = json.encoder.encode_basestring_ascii
encode = json.JSONEncoder(separators=(",", ":"), default=str).encode


def node(node_type, **params):
    return {"node_type": node_type, "params": params}


def message_of(error):
    return str(error).partition("backtrace:")[0][:LONGEST_MESSAGE]


def tell(sentence):
    """To the user, if standard error still stands."""
    try:
        sys.stderr.write("ttmem: %s\n" % sentence)
    except Exception:
        pass


class File:
    """The recording. Every line is where it cannot be lost at once: what was written is there whatever happens to the process. All processes of the
    program append to one file; the first makes it with its head, and `ttmem run` closes the brackets."""

    def __init__(self, path, head, native=None):
        new = "%s.%d" % (path, os.getpid())
        self.tail, self.native = None, native
        self.state = native.tail if native else [0, 0]  # bytes that wait in the tail; 1: they are being written
        self.tail_path = new + ".tail"
        self.lock = threading.Lock()
        self.fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o666)
        try:
            self.write(head.encode("utf-8", "replace"))
            os.link(new, path)  # fails when it is there
            self.first = True
        except FileExistsError:
            os.close(self.fd)
            self.fd = os.open(path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_CLOEXEC", 0))
            self.first = False
        finally:
            os.unlink(new)
        self.open_tail()

    def open_tail(self):
        """Lines wait here for the others of their kind: memory that is a file, so that they are there whatever happens. `ttmem run` puts what is
        left in it, up to the first zero, behind the recording."""
        try:
            fd = os.open(self.tail_path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | getattr(os, "O_CLOEXEC", 0), 0o666)
            os.ftruncate(fd, TAIL)
            self.tail = mmap.mmap(fd, TAIL)
            if self.native:
                self.native.use_tail(fd, TAIL)
            os.close(fd)
        except (OSError, ValueError):
            pass  # every line is written at once

    def close(self):
        """Nothing follows."""
        self.put("")
        if self.tail is not None:
            self.tail.close()
            self.tail = None
            os.unlink(self.tail_path)

    def write(self, data):
        while data and self.fd is not None:
            try:
                data = data[os.write(self.fd, data) :]
            except OSError:  # the disk is full
                self.fd = None
                raise

    def put(self, text, soon=False):
        """`soon`: it may wait in the tail, which costs no system call."""
        with self.lock:
            data, waiting = text.encode("utf-8", "replace"), self.state[0]
            end = waiting + len(data)
            if soon and self.tail is not None and end < TAIL:
                self.tail[waiting:end] = data
                self.state[0] = end
                return
            self.state[1] = 1
            try:
                self.write(self.tail[:waiting] + data if waiting else data)
            finally:
                if waiting:
                    self.tail[:waiting] = bytes(waiting)
                self.state[:] = [0, 0]


SHARD_GRID = re.compile(r"grid\W*=?\W*\[([^\]]*)")


def shard_cores(config):
    """The cores that hold the shards of a tensor, by its memory configuration, written as programs' buffers have them: "{[0-0 - 7-3]}"; "": none."""
    grid = SHARD_GRID.search(config) if isinstance(config, str) else None
    numbers = re.findall(r"\d+", grid.group(1)) if grid else []
    ranges = ["[%s-%s - %s-%s]" % tuple(numbers[i : i + 4]) for i in range(0, len(numbers) // 4 * 4, 4)]
    return "{%s}" % ", ".join(ranges) if ranges else ""


# In a memory configuration: every core has an address of its own, or the address is the tensor's own on its cores only.
PER_CORE, RANGE = "per_core_allocation=1", "range_lockstep_allocation=1"


def own_cores(running):
    """What the innermost function with a memory configuration says of the cores of a buffer that it allocates."""
    for function in reversed(running):
        config = next((text for text in function.get("arguments") or () if "per_core_allocation=" in str(text)), None)
        if config:
            said = {"per_core": 1} if PER_CORE in config else {"range_lockstep": 1} if RANGE in config else {}
            return dict(said, core_range_set=shard_cores(config)) if said else said
    return {}


def place_of_own(params):
    """Where such a tensor lies, on the first core of the first chip: ttnn gives it no address."""
    found = re.search(r'"address":(\d+),"device_id":(\d+)', str(params.get("device_tensors")))
    return {"address": int(found.group(1)), "device_id": int(found.group(2)), "per_core": 1} if found else {"per_core": 1}


class Programs:
    """Numbers for programs: what decides about one is the device operation, its factory and its arguments, as a capture has them."""

    def __init__(self):
        self.numbers = {}  # of all threads
        self.next = itertools.count(1)
        self.answered = []  # (number, device operation) of those that need not be asked for

    def number(self, function, outer):
        """0: cannot be told. Some arguments are not written out; then those of the operation that the program called count, its key `outer`."""
        params, arguments = function.get("params") or {}, "|".join(map(str, function.get("arguments") or ()))
        if not arguments or len(self.numbers) >= MOST_NUMBERS:
            return 0
        vague = VAGUE.search(arguments) is not None
        if vague and not outer:
            return 0
        arguments = CHANGING.sub("", arguments)
        key = (params.get("name"), params.get("program_factory_type"), arguments, outer if vague else 0)
        number = self.numbers.get(key)
        if number is None:
            new = next(self.next)
            number = self.numbers.setdefault(key, new)
            if number == new and str(key[1]).endswith(WITHIN_TENSORS):
                self.answered.append((number, key[0]))
        return number

    def answers(self):
        """Pieces that tell the buffers of programs whose buffers all lie in their tensors."""
        answered = []
        try:
            while self.answered:
                answered.append(self.answered.pop(0))
        except IndexError:
            pass  # another thread took the last one
        nodes = [node("circular_buffer_deallocate_all", program=number, name=name) for number, name in answered]
        return [node("piece", mode="REPEAT", key=0)] + nodes if nodes else []


def lean(nodes, programs=None, key_of=lambda name: 0, asked=False):
    """The nodes of a capture with what the reader needs. Programs get their number; `key_of` tells the key of the operation that ran them.
    Of those that were asked for, the name of the device operation is kept."""
    kept, running, outer = [], [], 0
    for n in nodes:
        kind = n["node_type"]
        if kind in DROPPED:
            continue
        params = n.get("params") or {}
        if kind == "function_start":
            if not running:
                outer = key_of(params.get("name"))
            running.append(n)
        elif kind == "function_end" and running:
            running.pop()
        entry = {"counter": n["counter"], "node_type": kind, "params": {name: params[name] for name in KEPT.get(kind, ()) if name in params}}
        if kind in ("buffer", "buffer_allocate", "buffer_deallocate"):
            entry["connections"] = n["connections"]
            if kind == "buffer_allocate" and params.get("num_cores"):
                entry["params"].update(own_cores(running))
        elif kind == "tensor":
            config = params.get("memory_config", "")
            cores = shard_cores(config)
            if PER_CORE in config:
                entry["params"].update(place_of_own(params))
            if cores:
                entry["params"]["core_range_set"] = cores
        elif kind == "function_start" and n.get("input_tensors"):
            entry["input_tensors"] = n["input_tensors"]
        elif kind == "circular_buffer_deallocate_all" and programs and running:
            number = programs.number(running[-1], outer)
            if number:
                entry["params"]["program"] = number
            if asked:
                entry["params"]["name"] = running[-1]["params"]["name"]
        kept.append(entry)
    return kept


class NothingCollected:
    """Between two captures nothing is seen, so nothing may be freed: the collector of cycles has to wait until no thread is between two."""

    lock, inside, collecting = threading.RLock(), 0, False

    def __enter__(self):
        with self.lock:
            if not self.__class__.inside:
                self.__class__.collecting = gc.isenabled()
                gc.disable()
            self.__class__.inside += 1

    def __exit__(self, *_):
        with self.lock:
            self.__class__.inside -= 1
            if not self.inside and self.collecting:
                gc.enable()

    @classmethod
    def forked(cls):
        """The other threads are not there any more."""
        cls.lock = threading.RLock()
        if cls.inside and cls.collecting:
            gc.enable()
        cls.inside = 0
