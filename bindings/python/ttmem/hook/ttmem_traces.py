# SPDX-License-Identifier: Apache-2.0
"""Traces of the program: their captures and replays are operations, and each says of which trace and device. On a mock board, where ttnn crashes
when a trace is captured, they are pretended: the operations of a capture run as usual, and replaying it does nothing.

Environment: TTMEM_BOARD, the mock board.
"""

import sys

from _ttmem_environment import setting

TRACE_FUNCTIONS = ("begin_trace_capture", "end_trace_capture", "execute_trace", "release_trace")


class Pretended:
    """The functions that ttnn has for traces, on a mock board."""

    def __init__(self, recorder, make_id):
        self.recorder = recorder
        self.make_id = make_id
        self.capturing = set()  # ids of devices

    def begin_trace_capture(self, mesh_device=None, *args, **kwargs):
        self.recorder.traces += 1
        self.capturing.add(id(mesh_device))
        return self.make_id(self.recorder.traces)

    def end_trace_capture(self, mesh_device=None, *args, **kwargs):
        self.capturing.discard(id(mesh_device))

    def execute_trace(self, *args, **kwargs):
        pass

    def release_trace(self, *args, **kwargs):
        pass

    def is_trace_capture_active(self, device=None):
        return id(device) in self.capturing


def named(args, kwargs):
    """Which trace of which device a call is about, for its operation; names of arguments differ between versions of ttnn."""
    given = [*args, *kwargs.values()]
    device = next((value for value in given if hasattr(value, "id")), None)
    trace = args[1] if len(args) > 1 else next((kwargs[name] for name in ("trace_id", "tid") if name in kwargs), None)
    said = {} if device is None else {"device_id": device.id()}
    if trace is not None:
        said["trace"] = int(trace)
    return said


def wrap_trace(recorder, function, name):
    def recorded(*args, **kwargs):
        lane = recorder.lane()
        if not lane.depth:
            lane.note = recorder.guarded(named, args, kwargs)
        try:
            return recorder.call("ttnn." + name, function, args, kwargs, sys._getframe(1))
        finally:
            lane.note = None

    recorded.__wrapped__ = function
    recorded.__doc__ = getattr(function, "__doc__", None)
    recorded.__name__ = name
    return recorded


def wrap_traces(recorder, ttnn):
    native = getattr(getattr(getattr(ttnn, "_ttnn", None), "operations", None), "trace", None)
    pretended = None
    if setting("TTMEM_BOARD"):
        pretended = Pretended(recorder, getattr(native, "MeshTraceId", int))
        if hasattr(ttnn, "is_trace_capture_active"):
            ttnn.is_trace_capture_active = pretended.is_trace_capture_active
    for module in (ttnn, native):
        for name in TRACE_FUNCTIONS:
            function = getattr(module, name, None)
            if function is not None:
                setattr(module, name, wrap_trace(recorder, getattr(pretended, name, function), name))
