# SPDX-License-Identifier: Apache-2.0
"""Puts the recorder into ttnn: its operations, devices, traces and captures call it, and so does the end of the process. Nothing is
decided here; what the calls mean stands in ttmem_recorder.py.
"""

import _thread
import os
import sys
import threading

from _ttmem_environment import setting
from _ttmem_host import Host
from _ttmem_mock import carry_events, carry_sub_devices, choose_dispatch
from _ttmem_traces import wrap_traces

COUNTS_OF_CHIPS = (
    "GetNumAvailableDevices", "GetNumPCIeDevices", "get_device_ids", "get_num_devices", "get_num_pcie_devices", "get_pcie_device_ids",
)


def wrap_calls(recorder, kind):
    call = kind.__call__

    def whole(self, args, kwargs, frame):
        native = getattr(self, "is_cpp_operation", False)  # one in Python may do more than compute
        return recorder.call(self.python_fully_qualified_name, call, (self, *args), kwargs, frame, native)

    def recorded(self, *args, **kwargs):
        return whole(self, args, kwargs, sys._getframe(1))

    def briefly(self, *args, **kwargs):
        try:
            if begin(self, args, kwargs):
                result = call(self, *args, **kwargs)
                end(result)
                return result
        except BaseException as error:
            recorder.guarded(recorder.calls.failed_briefly, self.python_fully_qualified_name, error)
            raise
        return whole(self, args, kwargs, sys._getframe(1))

    if recorder.native:
        begin, end = recorder.native.begin_call, recorder.native.end_call
    kind.__call__ = briefly if recorder.native else recorded
    kind.__call__.__wrapped__ = call


def wrap_function(recorder, owner, name, shown):
    function = getattr(owner, name, None)
    if function is None:
        return

    def recorded(*args, **kwargs):
        return recorder.call(shown, function, args, kwargs, sys._getframe(1))

    recorded.__wrapped__ = function
    recorded.__doc__ = getattr(function, "__doc__", None)
    recorded.__name__ = name
    setattr(owner, name, recorded)


def each_device(value):
    if isinstance(value, dict):
        value = list(value.values())
    return value if isinstance(value, (list, tuple)) else [value]


def wrap_devices(recorder, modules):
    def opening(function):
        def recorded(*args, **kwargs):
            recorder.guarded(recorder.devices.before_open)
            recorder.guarded(choose_dispatch, (*args, *kwargs.values()))
            result = function(*args, **kwargs)
            for device in each_device(result):
                recorder.guarded(recorder.devices.opened, device)
            return result

        return recorded

    def closing(function):
        def recorded(*args, **kwargs):
            devices = each_device(args[0] if args else next(iter(kwargs.values()), None))
            for device in devices:
                recorder.guarded(recorder.devices.before_close, device)
            result = function(*args, **kwargs)
            for device in devices:
                recorder.guarded(recorder.devices.closed, device)
            return result

        return recorded

    names = {name: opening for name in ("open_device", "open_mesh_device", "CreateDevice", "CreateDevices")}
    names.update((name, closing) for name in ("close_device", "close_mesh_device", "CloseDevice", "CloseDevices"))
    wrapped = {}
    for module in modules:
        for name, wrap in names.items():
            function = getattr(module, name, None)
            if function is None:
                continue
            if id(function) not in wrapped:
                wrapped[id(function)] = (wrap(function), function)  # the function is kept, so that its id stays its own
                wrapped[id(function)][0].__doc__ = getattr(function, "__doc__", None)
            setattr(module, name, wrapped[id(function)][0])


def wrap_submeshes(recorder, kind):
    """A submesh has an allocator of its own. It is noted and not held: it may not outlive its mesh."""

    def making(real):
        def recorded(*args, **kwargs):
            result = real(*args, **kwargs)
            for device in each_device(result):
                recorder.guarded(recorder.devices.divided, device)
            return result

        return recorded

    for name in ("create_submesh", "create_submeshes"):
        if hasattr(kind, name):
            setattr(kind, name, making(getattr(kind, name)))


def wrap_captures(recorder, graph):
    """The program's own captures: ttnn.graph's functions call these by name."""

    def ending(real):
        return lambda *args, **kwargs: recorder.pieces.user_ends(real, args, kwargs)

    begin = "_cpp_begin_graph_capture" if hasattr(graph, "_cpp_begin_graph_capture") else "begin_graph_capture"
    setattr(graph, begin, recorder.pieces.user_begins)
    for name in ("end_graph_capture", "end_graph_capture_to_file"):
        name = "_cpp_" + name if hasattr(graph, "_cpp_" + name) else name
        real = getattr(graph, name, None)
        if real is not None:
            setattr(graph, name, ending(real))
    if hasattr(graph, "is_graph_capture_active"):
        graph.is_graph_capture_active = lambda: recorder.lane().user_captures > 0


def follow_threads(recorder):
    """Every thread records itself, from its start to behind its last free."""

    def starting(real):
        def start(function, args, *more):
            def run(*args, **kwargs):
                recorder.guarded(recorder.threads.begins)
                try:
                    function(*args, **kwargs)
                finally:
                    recorder.guarded(recorder.threads.ends)

            recorder.guarded(recorder.threads.before_start)
            return real(run, args, *more)

        return start

    for module, name in ((threading, "_start_new_thread"), (_thread, "start_new_thread"), (_thread, "start_new")):
        if hasattr(module, name):
            setattr(module, name, starting(getattr(module, name)))
    tell = threading.excepthook

    def excepthook(args):
        recorder.guarded(recorder.uncaught, args.exc_value, True)
        tell(args)

    threading.excepthook = excepthook


def note_counts(recorder, owner, names):
    """A program that asks how many chips there are may do something else on another board with the same chips."""

    def asking(real):
        def ask(*args, **kwargs):
            if not sys._getframe(1).f_code.co_filename.startswith(recorder.home):
                recorder.devices.asked_chips = 1
            return real(*args, **kwargs)

        return ask

    for name in names:
        if callable(getattr(owner, name, None)):
            setattr(owner, name, asking(getattr(owner, name)))


def install(recorder, ttnn):
    """Called right after the program imported ttnn."""
    for kind in ("FastOperation", "Operation"):
        if hasattr(ttnn.decorators, kind):
            wrap_calls(recorder, getattr(ttnn.decorators, kind))
    for name in ("to", "pad", "unpad", "reshape", "pad_to_tile", "unpad_from_tile"):
        wrap_function(recorder, ttnn.Tensor, name, "ttnn.Tensor." + name)
    native = getattr(ttnn, "_ttnn", None)
    wrap_traces(recorder, ttnn)
    if setting("TTMEM_BOARD"):
        carry_events(recorder, ttnn)
        carry_sub_devices(recorder, ttnn)
    for name in ("create_global_semaphore", "create_global_circular_buffer"):
        wrap_function(recorder, ttnn, name, "ttnn." + name)
    modules = [ttnn, sys.modules.get("ttnn.device"), sys.modules.get("ttnn.distributed"), sys.modules.get("ttnn.distributed.distributed")]
    modules += [getattr(native, "device", None), getattr(native, "multi_device", None)]
    wrap_devices(recorder, [module for module in modules if module is not None])
    wrap_submeshes(recorder, getattr(ttnn, "MeshDevice", None))
    wrap_captures(recorder, ttnn.graph)
    note_counts(recorder, ttnn, COUNTS_OF_CHIPS)
    note_counts(recorder, getattr(ttnn, "cluster", None), ("get_cluster_type", "number_of_devices", "get_mesh_shape"))
    recorder.host = Host(recorder)
    follow_threads(recorder)
    recorder.tests.watch()
    exit_at_once = os._exit

    def recorded_exit(status):
        recorder.finish("os._exit")
        exit_at_once(status)

    os._exit = recorded_exit
