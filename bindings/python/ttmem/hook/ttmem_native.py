# SPDX-License-Identifier: Apache-2.0
"""The functions of ttmem_native.c, which follows captures from the inside, and of ttmem_calls.c, which records brief calls (ttmem_brief.py)."""

import ctypes
import os
import sys

from _ttmem_names import address_of

LIBRARIES = ("build/lib/_ttnncpp.so", "build/lib/libtt_metal.so")
NUMBER, SMALL, OBJECT, TEXT = ctypes.c_uint64, ctypes.c_int, ctypes.py_object, ctypes.c_char_p
# As attributes of Native: what they return, and take.
FUNCTIONS = {
    "native_follow": (SMALL,), "native_leave": (None,), "native_begin": (SMALL, SMALL), "native_end": (NUMBER,), "native_events": (ctypes.c_uint32,),
    "native_programs": (ctypes.c_uint32,), "native_details": (TEXT,), "native_forget": (None,), "native_is_astray": (SMALL,),
    "calls_pending": (TEXT,), "calls_finish": (None,), "calls_running": (NUMBER,), "calls_next": (NUMBER,), "calls_operations": (NUMBER,),
    "calls_learn": (None, NUMBER, NUMBER), "calls_unlearn": (None, NUMBER), "calls_remember": (None, NUMBER, NUMBER, TEXT, SMALL),
    "calls_start": (SMALL, OBJECT, NUMBER, NUMBER, NUMBER, OBJECT), "calls_interrupt": (None,), "calls_interrupt_all": (None,),
    "calls_restart": (None,), "calls_made": (ctypes.c_uint32,), "calls_changed": (None,), "calls_use_tail": (SMALL, SMALL, ctypes.c_size_t),
    "calls_forget_calls": (None,), "calls_connect": (None, *[OBJECT] * 7), "calls_set_up": (None,), "calls_begin_call": (OBJECT,), "calls_end_call": (OBJECT,),
}


def open_library(home):
    """Ours, and the paths of ttnn's."""
    library = ctypes.PyDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "ttmem_native.so"))
    return library, [os.fsencode(os.path.join(home, path)) for path in LIBRARIES]


class Native:
    """They are short, so that the lock of Python is kept (PyDLL)."""

    def __init__(self, home):
        library, paths = open_library(home)
        self.works = library.ttmem_native_set_up(*map(ctypes.c_char_p, paths)) == 1
        for name, (result, *given) in FUNCTIONS.items():
            function = getattr(library, "ttmem_" + name)
            function.restype, function.argtypes = result, given
            setattr(self, name.partition("_")[2], function)
        self.set_up()
        self.begin_call, self.end_call = self.begin_call(), self.end_call()
        self.l1 = (NUMBER * 2).in_dll(library, "ttmem_native_l1")
        self.tail = (NUMBER * 2).in_dll(library, "ttmem_calls_tail")
        self.next_view = ctypes.c_double.in_dll(library, "ttmem_calls_next_view")


def load(home):
    """None: captures cannot be followed with this ttnn and Python on this machine."""
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return None
    try:
        native = Native(home)
        return native if native.works else None
    except (OSError, AttributeError, ValueError):
        return None


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
