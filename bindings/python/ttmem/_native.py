# SPDX-License-Identifier: Apache-2.0
"""libttmem through ctypes: the structures and calls of include/ttmem/*.h that this package uses, and errors as exceptions."""

import ctypes
import os
import pathlib


class Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("line", ctypes.c_uint64), ("message", ctypes.c_char * 1024)]


class DramUsage(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in ("peak", "total_allocations", "total_deallocations")]


class L1Usage(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_int64)
        for name in ("peak_cb", "peak_l1", "peak_total", "peak_dataflow_buffer", "peak_scratchpad", "peak_core")
    ]


class PhaseUsage(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("mode", ctypes.c_int),
        ("dram", DramUsage),
        ("l1", L1Usage),
        ("cumulative_peak", ctypes.c_int64),
        ("cumulative_current", ctypes.c_int64),
        ("events", ctypes.c_uint64),
        ("unknown_deallocations", ctypes.c_uint64),
    ]


class CoreRange(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in ("x0", "y0", "x1", "y1")]


class Progress(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("read_bytes", "total_bytes", "operations")]


ON_PROGRESS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(Progress))


class ReadOptions(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("threads", ctypes.c_uint),
        ("keep_ir", ctypes.c_bool),
        ("on_progress", ON_PROGRESS),
        ("context", ctypes.c_void_p),
    ]


class TtmemError(RuntimeError):
    """An error of libttmem. `code` is a ttm_status, `line` the input line it is about (0: none)."""

    def __init__(self, message, code=0, line=0):
        super().__init__(message)
        self.code = code
        self.line = line


_P, _STR, _I, _SIZE, _U64 = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_size_t, ctypes.c_uint64
_ERR = ctypes.POINTER(Error)
# Name: (result, arguments). Calls that end in _ERR return a status; call() turns it into an exception.
_CALLS = {
    "ttm_tracker_new": (_I, [ctypes.POINTER(_P), _ERR]),
    "ttm_tracker_free": (None, [_P]),
    "ttm_tracker_begin": (_I, [_P, _I, _ERR]),
    "ttm_tracker_snapshot": (_I, [_P, _STR, _ERR]),
    "ttm_tracker_end": (_I, [_P, _STR, _ERR]),
    "ttm_tracker_clear": (None, [_P]),
    "ttm_tracker_active": (ctypes.c_bool, [_P]),
    "ttm_tracker_allocated": (None, [_P, _I, _U64]),
    "ttm_tracker_deallocated": (None, [_P, _I, _U64]),
    "ttm_tracker_buffer_allocated": (_I, [_P, _U64, _I, _U64, _ERR]),
    "ttm_tracker_buffer_deallocated": (None, [_P, _U64]),
    "ttm_tracker_program_buffer": (_I, [_P, _I, _U64, ctypes.POINTER(CoreRange), _SIZE, _ERR]),
    "ttm_tracker_program_buffers_deallocated": (None, [_P]),
    "ttm_tracker_graph": (_I, [_P, _STR, _SIZE, _ERR]),
    "ttm_tracker_phase_count": (_SIZE, [_P]),
    "ttm_tracker_phase": (_I, [_P, _SIZE, ctypes.POINTER(PhaseUsage), _ERR]),
    "ttm_tracker_find": (_I, [_P, _STR, ctypes.POINTER(PhaseUsage), _ERR]),
    "ttm_tracker_text": (_P, [_P]),
    "ttm_text_free": (None, [_P]),
    "ttm_profile_read_opts": (_I, [ctypes.POINTER(_P), _STR, ctypes.POINTER(ReadOptions), _ERR]),
    "ttm_profile_free": (None, [_P]),
    "ttm_findings_make": (_I, [ctypes.POINTER(_P), _P, ctypes.c_uint, _ERR]),
    "ttm_findings_free": (None, [_P]),
    "ttm_findings_json": (_I, [_P, ctypes.POINTER(_P), ctypes.POINTER(_SIZE), _ERR]),
    "ttm_table_name": (_STR, [_I]),
    "ttm_table_rows": (ctypes.c_uint32, [_P, _I]),
    "ttm_table_stream": (_I, [_P, _I, _P, _ERR]),
    "ttm_version": (_STR, []),
}


def _load():
    path = os.environ.get("TTMEM_LIBRARY") or str(pathlib.Path(__file__).with_name("libttmem.so"))
    library = ctypes.CDLL(path)
    for name, (result, arguments) in _CALLS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


lib = _load()


def call(name, *arguments):
    """Calls a function that returns a status and fills an error; raises TtmemError."""
    error = Error()
    status = getattr(lib, name)(*arguments, ctypes.byref(error))
    if status != 0:
        raise TtmemError(error.message.decode("utf-8", "replace"), status, error.line)


def text(value):
    """A Python string for a C call; no zero bytes inside, or the rest would be lost."""
    data = os.fsencode(value)
    if b"\0" in data:
        raise ValueError("a name must not hold a zero byte")
    return data
