# SPDX-License-Identifier: Apache-2.0
"""Records what a ttnn program allocates and frees, from the opening of its device to its end, without a change to the program.

`ttmem run` puts this folder before the user's program (ttmem_start.py loads this file when the program imports ttnn); it needs nothing but
the standard library of Python 3.8 or newer. Operations are wrapped (ttmem_wrap.py): each writes a line with its name and the user's file and
line before it begins (ttmem_operations.py), and ttnn's own graph capture (run mode NORMAL) tells what it allocates. The capture is ended and begun anew
every few operations (ttmem_pieces.py), so that neither it nor what a crash can cost grows: the recording is one graph report, written piece by piece,
with nodes of our own between ttnn's (ttmem_nodes.py).

Threads have captures of their own (ttmem_threads.py). Processes of the program append to the same file.

The program is more important than its recording: whatever goes wrong here ends the recording, is told once, and the program goes on
(Recorder.guarded).

Environment: TTMEM_RECORDING, the file to write; TTMEM_PIECE, operations per piece; TTMEM_VIEWS=all, a memory view after every
operation; TTMEM_BOARD, the mock board; TTMEM_REPEATS=0, no questions in run mode NO_DISPATCH there; TTMEM_BRIEF=0, every call is captured.
"""

import atexit
import dis
import os
import signal
import sys
import threading

from _ttmem_brief import Brief
from _ttmem_devices import Devices
from _ttmem_environment import setting
from _ttmem_kinds import Kinds
from _ttmem_native import load
from _ttmem_nodes import LONGEST_MESSAGE, File, NothingCollected, encode, message_of, node, tell
from _ttmem_operations import MARK, Operations
from _ttmem_pieces import Pieces
from _ttmem_questions import Questions
from _ttmem_sites import Sites
from _ttmem_tests import Tests
from _ttmem_threads import MOST_LANES, Threads
from _ttmem_views import Views


def is_raised(error):
    """True when a raise or assert of Python is where it began, and not a call into C++."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is None or dis.opname[trace.tb_frame.f_code.co_code[trace.tb_lasti]] in ("RAISE_VARARGS", "RERAISE")


class Recorder:
    def __init__(self, ttnn, version):
        self.ttnn = ttnn
        self.version = version
        self.path = setting("TTMEM_RECORDING")
        self.home = os.path.dirname(os.path.abspath(ttnn.__file__)) + os.sep
        self.native = load(self.home) if setting("TTMEM_BRIEF") != "0" else None
        self.host = None  # who looks at the memory of this process
        self.sites = Sites(self.home)
        self.kinds = Kinds(ttnn.Tensor)
        self.tests = Tests(self)
        self.devices = Devices(self)
        self.threads = Threads(self)
        self.pieces = Pieces(self)
        self.views = Views(self)
        self.questions = Questions(self)
        self.calls = Operations(self)
        self.brief = Brief(self)
        self.lane, self.call = self.threads.lane, self.calls.call
        self.begin_file()
        os.register_at_fork(after_in_child=self.forked)

    def begin_file(self):
        """Nothing is recorded yet in this process."""
        self.file = None
        self.base = 0  # of its lanes' numbers: 0 in the process that made the file
        self.closing = False
        self.traces = 0  # pretended
        self.waits = 0  # for events, left out
        self.sub_devices = 0  # loads of them

    def forked(self):
        """In a child. What it inherits is recorded as soon as it calls an operation; a device of its own makes the rest not its business."""
        if self.native:
            self.native.leave()
        NothingCollected.forked()
        self.threads.forked()
        self.devices.forked()
        self.sites.forget()
        self.begin_file()
        for part in (self.pieces, self.views, self.questions, self.calls, self.brief):
            part.start_over()

    def recording(self):
        return self.file is not None and not self.closing

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
        self.close()
        try:
            why = "%s: %s" % (type(error).__name__, error)
        except Exception:
            why = type(error).__name__
        tell("the recording ends here, the program goes on: " + why)
        for last in (self.pieces.last, lambda: self.file and self.file_ends(why[:LONGEST_MESSAGE])):
            try:
                last()
            except Exception:
                pass  # told already

    def close(self):
        self.closing = True
        self.brief.interrupt_all()

    # ---- The file ------------------------------------------------------------------------------------------------------

    def open_file(self, device):
        head = {"ttmem_recording": 1, "metadata": {"version": self.version}, "devices": [self.devices.facts_of(device)]}
        head["program"] = sys.argv[:1]
        if setting("TTMEM_BOARD"):
            head["board"] = setting("TTMEM_BOARD")
        self.file = File(self.path, encode(head)[:-1] + ',\n"graph":[\n' + encode(node("recording_begin")), self.native)
        self.base = 0 if self.file.first else os.getpid() * MOST_LANES
        self.tests.opened()
        atexit.register(self.finish, "exit")
        workers = sys.modules.get("multiprocessing.process")
        if workers and workers.parent_process() and threading.current_thread() is threading.main_thread():
            if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:  # how a pool ends its workers
                signal.signal(signal.SIGTERM, self.terminated)

    def put(self, lane, nodes):
        """The first says whose they are: `lane` is left out for the first thread of the first process."""
        if nodes and self.base + lane.number:
            for n in nodes if nodes[0]["node_type"] != "piece" else nodes[:1]:
                n["params"]["lane"] = self.base + lane.number
        self.put_text(lane, "".join([",\n" + encode(n) for n in nodes]))

    def put_text(self, lane, text, soon=False):
        """Behind what is known of brief calls and of the time since."""
        if lane.followed:
            text = self.native.pending().decode() + text
        if text:
            self.file.put(text, soon)

    def file_ends(self, reason):
        counts = {"operations": self.calls.begun(), "late": self.threads.late, "traces": self.traces, "waits": self.waits, "sub_devices": self.sub_devices}
        self.put(self.lane(), [node("recording_end", reason=reason, **counts, asked_chips=self.devices.asked_chips)])

    # ---- The end ---------------------------------------------------------------------------------------------------------

    def uncaught(self, error, in_thread):
        """An exception that nobody caught: which failed operation it comes from, itself or by what led to it."""
        if not self.recording() or error is None:
            return
        failure, origin, steps = 0, error, 0
        while origin is not None and steps < 100 and not failure:
            failure, steps = getattr(origin, MARK, 0), steps + 1
            origin = origin.__cause__ or origin.__context__
        lane = self.lane()
        self.pieces.roll(lane)
        if not failure and isinstance(error, Exception) and not is_raised(error):  # by ttnn, where nothing is wrapped
            self.put(lane, [node("failure", id=0, type=type(error).__name__, message=message_of(error))])
        self.put(lane, [node("uncaught", type=type(error).__name__, failure=failure, in_thread=int(in_thread))])

    def terminated(self, number, _):
        self.finish("exit")
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def finish(self, reason):
        self.guarded(self.finish_file, reason)

    def finish_file(self, reason):
        if not self.recording():
            return
        lane = self.lane()
        if self.host:
            self.guarded(self.host.end)
        try:
            self.uncaught(getattr(sys, "last_exc", None) or getattr(sys, "last_value", None), False)
            if lane.active and self.devices.open:
                self.views.take(lane, wanted=True)
            self.pieces.roll(lane, again=False)
        except Exception as error:  # ttnn may be gone already
            tell("the last piece of the recording is missing: %s: %s" % (type(error).__name__, error))
        self.close()
        self.file_ends(reason)
        self.file.close()
        if self.host:
            self.host.wait()
        self.brief.disconnect()
        self.kinds.forget()
        self.devices.let_all_go()
