# SPDX-License-Identifier: Apache-2.0
"""The Arrow C stream interface through ctypes: capsules for the libraries that read Arrow, and rows for plain Python.

Nobody copies a column on its way: a library takes over the buffers that libttmem filled, and releases them.
"""

import ctypes
import itertools

from . import _native


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


_P, _STR, _I, _I64 = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_int64
_POINTER = ctypes.POINTER
Schema._fields_ = [
    ("format", _STR), ("name", _STR), ("metadata", _STR), ("flags", _I64), ("n_children", _I64),
    ("children", _POINTER(_POINTER(Schema))), ("dictionary", _P), ("release", ctypes.CFUNCTYPE(None, _POINTER(Schema))), ("private_data", _P),
]  # fmt: skip
Array._fields_ = [
    ("length", _I64), ("null_count", _I64), ("offset", _I64), ("n_buffers", _I64), ("n_children", _I64), ("buffers", _POINTER(_P)),
    ("children", _POINTER(_POINTER(Array))), ("dictionary", _P), ("release", ctypes.CFUNCTYPE(None, _POINTER(Array))), ("private_data", _P),
]  # fmt: skip
Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(_I, _POINTER(Stream), _POINTER(Schema))),
    ("get_next", ctypes.CFUNCTYPE(_I, _POINTER(Stream), _POINTER(Array))),
    ("get_last_error", ctypes.CFUNCTYPE(_STR, _POINTER(Stream))),
    ("release", ctypes.CFUNCTYPE(None, _POINTER(Stream))),
    ("private_data", _P),
]

# ---- Capsules ----------------------------------------------------------------------------------------------------------------

_NAME = b"arrow_array_stream"
_python = ctypes.PyDLL(None)  # one of our own: argument types of ctypes.pythonapi belong to everybody
_python.PyMem_RawCalloc.restype, _python.PyMem_RawCalloc.argtypes = _P, [ctypes.c_size_t, ctypes.c_size_t]
_python.PyMem_RawFree.restype, _python.PyMem_RawFree.argtypes = None, [_P]
_python.PyCapsule_New.restype, _python.PyCapsule_New.argtypes = ctypes.py_object, [_P, _STR, _P]
_python.PyCapsule_GetPointer.restype, _python.PyCapsule_GetPointer.argtypes = _P, [_P, _STR]


# The capsule comes as a bare pointer: it is on its way out, and a reference to it would bring it back. Everything used here is an
# argument, for the names of this module may be gone by then.
def _destroy(capsule, python=_python, name=_NAME, stream_at=Stream.from_address):
    address = python.PyCapsule_GetPointer(capsule, name)
    stream = stream_at(address)
    if stream.release:  # nobody took it
        stream.release(stream)
    python.PyMem_RawFree(address)


_destructor = ctypes.CFUNCTYPE(None, _P)(_destroy)
ctypes.pythonapi.Py_IncRef(ctypes.py_object(_destructor))  # capsules may outlive this module


def capsule(fill):
    """A PyCapsule with a stream that fill(pointer) makes."""
    address = _python.PyMem_RawCalloc(1, ctypes.sizeof(Stream))
    if not address:
        raise MemoryError
    try:
        fill(_P(address))
    except BaseException:
        _python.PyMem_RawFree(address)
        raise
    return _python.PyCapsule_New(address, _NAME, ctypes.cast(_destructor, _P))


# ---- Rows --------------------------------------------------------------------------------------------------------------------


def _bits(address, n):
    data = ctypes.string_at(address, (n + 7) // 8)
    return itertools.islice((byte >> bit & 1 for byte in data for bit in range(8)), n)


def _texts(array, n):
    offsets = (ctypes.c_int32 * (n + 1)).from_address(array.buffers[1])
    data = ctypes.string_at(array.buffers[2], offsets[n])
    return [data[offsets[i] : offsets[i + 1]].decode() for i in range(n)]


def _values(form, array):
    n = array.length
    if form == b"u":
        values = _texts(array, n)
    elif form == b"b":
        values = map(bool, _bits(array.buffers[1], n))
    else:
        values = (ctypes.c_int64 * n).from_address(array.buffers[1])
    if not array.buffers[0]:
        return list(values)
    return [value if known else None for value, known in zip(values, _bits(array.buffers[0], n))]


class Reader:
    """Reads a stream that fill(pointer) makes, batch by batch."""

    def __init__(self, fill):
        self._stream = Stream()
        fill(ctypes.byref(self._stream))
        schema = Schema()
        self._check(self._stream.get_schema(self._stream, schema))
        fields = [schema.children[i].contents for i in range(schema.n_children)]
        self.names = [field.name.decode() for field in fields]
        self._forms = [field.format for field in fields]
        schema.release(schema)

    def rows(self):
        """Tuples in the order of names."""
        array = Array()
        while True:
            self._check(self._stream.get_next(self._stream, array))
            if not array.release:
                return
            columns = [_values(form, array.children[i].contents) for i, form in enumerate(self._forms)]
            array.release(array)
            yield from zip(*columns)

    def _check(self, status):
        if status:
            raise _native.TtmemError(self._stream.get_last_error(self._stream).decode(), -1)

    def __del__(self):
        if self._stream.release:
            self._stream.release(self._stream)
