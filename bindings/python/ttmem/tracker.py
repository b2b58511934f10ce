# SPDX-License-Identifier: Apache-2.0
"""Memory of a training run, phase by phase. Where ttnn can be imported, its graph captures are the events; without it (or besides it)
the caller reports them."""

import collections
import contextlib
import ctypes
import enum
import importlib.util
import json
import os
import sys

from . import _native


class RunMode(enum.IntEnum):
    NORMAL = 0
    NO_DISPATCH = 1


class Memory(enum.IntEnum):
    DRAM = 0
    L1 = 1
    L1_SMALL = 2
    TRACE = 3


DRAMUsage = collections.namedtuple("DRAMUsage", [name for name, _ in _native.DramUsage._fields_])
L1Usage = collections.namedtuple("L1Usage", [name for name, _ in _native.L1Usage._fields_])
Phase = collections.namedtuple("Phase", [name for name, _ in _native.PhaseUsage._fields_])


def _tuple(kind, struct):
    return kind(*(getattr(struct, name) for name in kind._fields))


def _phase(raw):
    return Phase(
        raw.name.decode("utf-8", "replace"),
        RunMode(raw.mode),
        _tuple(DRAMUsage, raw.dram),
        _tuple(L1Usage, raw.l1),
        raw.cumulative_peak,
        raw.cumulative_current,
        raw.events,
        raw.unknown_deallocations,
    )


class Guard:
    """Ends and clears the capture when it is destroyed, or when its with-block ends."""

    def __init__(self, tracker):
        self._tracker = tracker

    def release(self):
        """The capture is left alone from now on."""
        self._tracker = None

    def close(self):
        tracker, self._tracker = self._tracker, None
        if tracker is not None:
            try:
                tracker.end_capture()
            finally:
                tracker.clear()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __del__(self):
        if not sys.is_finalizing():
            self.close()


class _NoTtnn:
    """Events come from the caller only."""

    def begin(self, mode):
        pass

    def end(self):
        return []


class _Ttnn:
    """Drives ttnn.graph: one capture per phase."""

    def __init__(self):
        import ttnn

        self.graph = ttnn.graph
        self.advised = False

    def begin(self, mode):
        with self._quiet():
            self.graph.begin_graph_capture(getattr(self.graph.RunMode, mode.name))

    @contextlib.contextmanager
    def _quiet(self):
        """ttnn gives the same advice at every capture, and every phase is one: once is enough."""
        logger = getattr(sys.modules.get("loguru"), "logger", None)
        if self.advised and logger:
            logger.disable("ttnn.graph")
        try:
            yield
        finally:
            if self.advised and logger:
                logger.enable("ttnn.graph")
            self.advised = True

    def end(self):
        return self.graph.end_graph_capture()


def _has_ttnn():
    if os.environ.get("TTMEM_TTNN", "") == "0":
        return False
    try:
        return importlib.util.find_spec("ttnn") is not None
    except (ImportError, ValueError):
        return False


def _mode(mode):
    """A RunMode of ours or of ttnn's, or its name."""
    name = mode if isinstance(mode, str) else getattr(mode, "name", None)
    if name not in RunMode.__members__:
        raise ValueError(f"{mode!r} is no run mode: NORMAL or NO_DISPATCH")
    return RunMode[name]


class Tracker:
    """A tracker of its own. `ttnn`: True drives ttnn.graph, False leaves the events to the caller, None (default) drives ttnn.graph
    where ttnn can be imported (the environment variable TTMEM_TTNN=0 says no).

        with ttmem.Tracker() as tracker:         # ends the capture at the end and keeps what was measured
            ...
            tracker.snapshot("MODEL_CREATION")
        tracker.print_memory_usage()
    """

    def __init__(self, mode=RunMode.NORMAL, ttnn=None):
        self._raw = ctypes.c_void_p()
        self._mode = _mode(mode)
        self._want_ttnn = ttnn
        self._source = None
        _native.call("ttm_tracker_new", ctypes.byref(self._raw))

    def __del__(self):
        raw, self._raw = getattr(self, "_raw", None), None
        if raw:
            _native.lib.ttm_tracker_free(raw)

    # ---- Life cycle

    def begin_capture(self, mode=None):
        """Begins a capture; returns a guard that ends and clears it."""
        mode = self._mode if mode is None else _mode(mode)
        _native.call("ttm_tracker_begin", self._raw, int(mode))
        try:
            if self._source is None:
                use = _has_ttnn() if self._want_ttnn is None else self._want_ttnn
                self._source = _Ttnn() if use else _NoTtnn()
            self._source.begin(mode)
        except BaseException:
            self._abandon()
            raise
        self._capture_mode = mode
        return Guard(self)

    def snapshot(self, name):
        """Ends the phase under this name and starts the next one."""
        if not self.active:
            _native.call("ttm_tracker_snapshot", self._raw, _native.text(name))  # says that no capture is active
        self._take_events()
        _native.call("ttm_tracker_snapshot", self._raw, _native.text(name))
        try:
            self._source.begin(self._capture_mode)
        except BaseException:
            self._abandon()
            raise

    def end_capture(self, name="END_TRACE"):
        """Ends the last phase and the capture; nothing when none is active."""
        if not self.active:
            return
        self._take_events()
        _native.call("ttm_tracker_end", self._raw, _native.text(name))

    def clear(self):
        """Forgets every phase, and an active capture."""
        if self.active:
            self._source.end()
        _native.lib.ttm_tracker_clear(self._raw)

    @property
    def active(self):
        return bool(_native.lib.ttm_tracker_active(self._raw))

    def __enter__(self):
        self.begin_capture().release()
        return self

    def __exit__(self, *exception):
        self.end_capture()

    def _take_events(self):
        captured = self._source.end()
        if captured:
            self.graph(captured)

    def _abandon(self):
        """Back to inactive; the phases so far stay."""
        _native.call("ttm_tracker_end", self._raw, b"ABANDONED")

    # ---- Events of the caller

    def allocated(self, memory, size):
        _native.lib.ttm_tracker_allocated(self._raw, int(memory), size)

    def deallocated(self, memory, size):
        _native.lib.ttm_tracker_deallocated(self._raw, int(memory), size)

    def buffer_allocated(self, id, memory, size):
        _native.call("ttm_tracker_buffer_allocated", self._raw, id, int(memory), size)

    def buffer_deallocated(self, id):
        _native.lib.ttm_tracker_buffer_deallocated(self._raw, id)

    def program_buffer(self, size, cores=(), kind=0):
        """A circular buffer (kind 0), dataflow buffer (1) or scratchpad (2): bytes per core, and the cores as (x0, y0, x1, y1)
        ranges, both ends included; none means every core."""
        ranges = (_native.CoreRange * len(cores))(*cores)
        _native.call("ttm_tracker_program_buffer", self._raw, kind, size, ranges, len(cores))

    def program_buffers_deallocated(self):
        _native.lib.ttm_tracker_program_buffers_deallocated(self._raw)

    def graph(self, capture):
        """A ttnn graph capture: what ttnn.graph.end_graph_capture returned, or its JSON text."""
        if not isinstance(capture, (str, bytes)):
            capture = json.dumps(capture)
        data = capture.encode() if isinstance(capture, str) else capture
        _native.call("ttm_tracker_graph", self._raw, data, len(data))

    # ---- Answers

    def phases(self):
        """Every phase that has ended, in order."""
        found = []
        raw = _native.PhaseUsage()
        for index in range(_native.lib.ttm_tracker_phase_count(self._raw)):
            _native.call("ttm_tracker_phase", self._raw, index, ctypes.byref(raw))
            found.append(_phase(raw))
        return found

    def phase(self, name):
        """The phase of this name; TtmemError when there is none, or several."""
        raw = _native.PhaseUsage()
        _native.call("ttm_tracker_find", self._raw, _native.text(name), ctypes.byref(raw))
        return _phase(raw)

    def get_dram_usage(self, name):
        return self.phase(name).dram

    def get_l1_usage(self, name):
        return self.phase(name).l1

    def get_dram_usage_all(self):
        return [(phase.name, phase.dram) for phase in self.phases()]

    def get_l1_usage_all(self):
        return [(phase.name, phase.l1) for phase in self.phases()]

    def get_trace_names(self):
        return [phase.name for phase in self.phases()]

    def text(self):
        """The summary, as tt-train prints it."""
        raw = _native.lib.ttm_tracker_text(self._raw)
        if not raw:
            raise MemoryError
        try:
            return ctypes.string_at(raw).decode("utf-8", "replace")
        finally:
            _native.lib.ttm_text_free(raw)

    def print_memory_usage(self):
        sys.stdout.write(self.text())
        sys.stdout.flush()


class MemoryUsageTracker:
    """One tracker for the whole program, under the names of tt-train's."""

    _tracker = None

    @classmethod
    def instance(cls):
        if cls._tracker is None:
            cls._tracker = Tracker()
        return cls._tracker

    @classmethod
    def begin_capture(cls, mode=RunMode.NORMAL):
        return cls.instance().begin_capture(mode)

    @classmethod
    def snapshot(cls, name):
        cls.instance().snapshot(name)

    @classmethod
    def end_capture(cls, name="END_TRACE"):
        cls.instance().end_capture(name)

    @classmethod
    def get_dram_usage(cls, name):
        return cls.instance().get_dram_usage(name)

    @classmethod
    def get_l1_usage(cls, name):
        return cls.instance().get_l1_usage(name)

    @classmethod
    def get_dram_usage_all(cls):
        return cls.instance().get_dram_usage_all()

    @classmethod
    def get_l1_usage_all(cls):
        return cls.instance().get_l1_usage_all()

    @classmethod
    def get_trace_names(cls):
        return cls.instance().get_trace_names()

    @classmethod
    def print_memory_usage(cls):
        cls.instance().print_memory_usage()

    @classmethod
    def clear(cls):
        cls.instance().clear()
