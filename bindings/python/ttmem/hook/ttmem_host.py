# SPDX-License-Identifier: Apache-2.0
"""Memory of the process on the host, beside what it allocates on the device. A thread of its own looks at it, so that operations cost nothing more, and
says where the program is when it has changed. It is none of Python's threads: the program does not see it.
"""

import _thread
import os
import sys
import threading
import time

from _ttmem_nodes import encode, node

EVERY = 0.02  # seconds: half a percent of a processor
ALL_FIGURES = 1.0  # seconds between looks at /proc/self/status, which costs more
STEP = 1 << 22  # a smaller change is not told, nor one below ...
SHARE = 128  # ... this part of all
KEPT = 4096  # samples from before the first device
FIGURES = {"VmHWM": "peak", "VmPin": "pinned", "VmLck": "locked", "HugetlbPages": "huge", "VmPeak": "address_space"}
PAGE = os.sysconf("SC_PAGE_SIZE")
start_thread = _thread.start_new_thread  # before the recorder follows threads


def read_number(path):
    try:
        with open(path) as f:
            text = f.read().split()
        return int(text[0]) if text and text[0].isdigit() else None
    except OSError:
        return None


def cgroup_limit():
    """The lowest limit of the groups that this process is in; None: there is none."""
    limits = []
    try:
        with open("/proc/self/cgroup") as f:
            lines = [line.strip().split(":", 2) for line in f]
    except OSError:
        return None
    for _, controllers, path in lines:
        if controllers not in ("", "memory"):
            continue
        root, name = ("/sys/fs/cgroup", "memory.max") if not controllers else ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
        while True:
            limits.append(read_number(os.path.join(root + path, name)))
            if path in ("/", ""):
                break
            path = os.path.dirname(path)
    limits = [limit for limit in limits if limit and limit < 1 << 60]
    return min(limits) if limits else None


def machine():
    """(all, available) memory of this machine."""
    found = {}
    try:
        with open("/proc/meminfo") as f:
            for line in f:
                name, _, rest = line.partition(":")
                if name in ("MemTotal", "MemAvailable"):
                    found[name] = int(rest.split()[0]) * 1024
    except (OSError, ValueError):
        pass
    return found.get("MemTotal"), found.get("MemAvailable")


def limits():
    total, available = machine()
    told = {"machine": total, "available": available, "cgroup": cgroup_limit()}
    try:
        import resource

        soft = resource.getrlimit(resource.RLIMIT_AS)[0]
        told["address_limit"] = soft if soft != resource.RLIM_INFINITY else None
    except (ImportError, OSError):
        pass
    return {name: value for name, value in told.items() if value}


class Host:
    def __init__(self, recorder):
        self.recorder = recorder
        self.waiting = []  # until there is a file
        self.last = 0
        self.next_figures = 0.0
        self.main = threading.main_thread().ident
        os.register_at_fork(after_in_child=self.forked)
        self.begin()

    def begin(self):
        """Also in a forked process."""
        try:
            self.statm = os.open("/proc/self/statm", os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        except OSError:
            return  # no /proc
        self.take(limits())
        self.look(always=True)
        self.over = _thread.allocate_lock()
        self.over.acquire()
        start_thread(self.watch, (self.over,))

    def forked(self):
        self.waiting, self.last, self.main = [], 0, threading.get_ident()
        self.begin()

    def watch(self, over):
        try:
            while not self.recorder.closing:
                time.sleep(EVERY)
                self.look()
        except Exception:
            pass  # the recorder goes on without it
        finally:
            over.release()

    def wait(self):
        """Until the thread is gone: at the end of Python it would hold ttnn, and nanobind complains."""
        if hasattr(self, "over"):
            self.over.acquire(timeout=10 * EVERY)

    def look(self, always=False):
        resident = int(os.pread(self.statm, 128, 0).split()[1]) * PAGE
        due = always or time.monotonic() >= self.next_figures  # also where nothing changes: it tells where the program is
        if due or abs(resident - self.last) >= max(STEP, self.last // SHARE):
            self.last = resident
            self.take({"rss": resident, **(self.figures() if due else {})}, self.line())

    def figures(self):
        self.next_figures = time.monotonic() + ALL_FIGURES
        with open("/proc/self/status") as f:
            pairs = [line.split() for line in f]
        return {FIGURES[name[0][:-1]]: int(name[1]) * 1024 for name in pairs if len(name) > 1 and name[0][:-1] in FIGURES}

    def line(self):
        """Where the program is: the line of its main thread."""
        frame = sys._current_frames().get(self.main)
        return self.recorder.sites.place(frame)["at"] if frame else ""

    def take(self, params, at=""):
        if at:
            params["at"] = at
        params["id"] = self.recorder.calls.begun()
        self.waiting.append(node("host", **params))
        if self.recorder.recording():
            nodes, self.waiting = self.waiting, []
            for n in nodes if self.recorder.base else ():
                n["params"]["lane"] = self.recorder.base
            self.recorder.file.put("".join([",\n" + encode(n) for n in nodes]))
        elif len(self.waiting) > KEPT:
            del self.waiting[1::2]

    def end(self):
        """The last figures, before the recording ends."""
        if hasattr(self, "statm"):
            _, available = machine()
            self.look(always=True)
            if available:
                self.take({"available": available})
