# SPDX-License-Identifier: Apache-2.0
"""Calls whose capture would bring nothing new but addresses: what they did the last time is a template, and they are recorded as its repetition.
ttmem_native.c follows captures from the inside, and tells the path of a call: a number for everything it did but the addresses.

A call becomes brief when two captured ones with its key went the same way. One that then goes another way is recorded with what
ttmem_native.c saw, and its key is never brief again. Where ttnn cannot be followed, every call is captured.
"""

import ctypes
import os

from _ttmem_names import address_of
from _ttmem_nodes import node

LIBRARIES = ("build/lib/_ttnncpp.so", "build/lib/libtt_metal.so")
ONCE, BRIEF, NEVER = range(3)


class Native:
    """The functions of ttmem_native.c. They are short, so that the lock of Python is kept (PyDLL)."""

    def __init__(self, home):
        library = ctypes.PyDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "ttmem_native.so"))
        paths = [os.fsencode(os.path.join(home, path)) for path in LIBRARIES]
        self.works = library.ttmem_native_set_up(*map(ctypes.c_char_p, paths)) == 1
        for name, result in (
            ("follow", ctypes.c_int), ("leave", None), ("end", ctypes.c_uint64), ("events", ctypes.c_uint32), ("programs", ctypes.c_uint32),
            ("addresses", ctypes.c_char_p), ("details", ctypes.c_char_p), ("freed", ctypes.c_char_p), ("forget", None), ("is_astray", ctypes.c_int),
        ):
            function = getattr(library, "ttmem_native_" + name)
            function.restype, function.argtypes = result, ()
            setattr(self, name, function)
        self.begin = library.ttmem_native_begin
        self.begin.restype, self.begin.argtypes = ctypes.c_int, (ctypes.c_int,)
        self.l1 = (ctypes.c_uint64 * 2).in_dll(library, "ttmem_native_l1")


def load(home):
    """None: captures cannot be followed with this ttnn on this machine."""
    try:
        native = Native(home)
        return native if native.works else None
    except (OSError, AttributeError, ValueError):
        return None


class Known:
    """What is known of the calls with a key."""

    __slots__ = ("state", "path", "name")

    def __init__(self, name):
        self.state, self.path, self.name = ONCE, None, name


def addresses_of(tensors):
    """Where tensors lie; those that lie nowhere are left out."""
    return [address for address in map(address_of, tensors) if address is not None]


def make_template(nodes, inputs, events):
    """Gives every node of a captured call that has an address the place of that address among those of a repetition: first the inputs', then those of
    allocations and frees in their order. False when one is none of them."""
    allocated, after = {}, len(inputs)
    for n in nodes:
        params = n["params"]
        if n["node_type"] in ("buffer_allocate", "buffer_deallocate"):
            params["slot"] = after
            if n["node_type"] == "buffer_allocate":
                allocated[params["buffer_type"], params["address"]] = after
            after += 1
        elif n["node_type"] == "tensor" and "address" in params:
            place = (params.get("buffer_type"), params["address"])
            if place not in allocated and place[1] not in inputs:
                return False
            params["slot"] = allocated[place] if place in allocated else inputs.index(place[1])
        elif n["node_type"].endswith("_allocate"):
            return False  # buffers of a program that was made
    return after == len(inputs) + events


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
