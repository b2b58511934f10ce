# SPDX-License-Identifier: Apache-2.0
"""The row of make bench about `ttmem live`: processor time of the screen at ten looks a second, beside chips whose use changes all the time."""
import os
import pty
import signal
import sys
import tempfile
import threading
import time

from table import ENV, ROOT, TTMEM, row

sys.path.insert(0, os.path.join(ROOT, "tests", "live"))
from segments import Segment  # noqa: E402  the files that ttnn writes, as the tests make them

CHIPS, SECONDS, LOOKS = 8, 20, 10


def read_all(terminal):
    """As a terminal does; else the program would wait for it."""
    try:
        while os.read(terminal, 1 << 16):
            pass
    except OSError:
        pass  # the program has ended


def share_of_a_core():
    with tempfile.TemporaryDirectory(prefix="ttmem-bench-live-") as folder:
        chips = [Segment(folder, 100 + number, number) for number in range(CHIPS)]
        pid, terminal = pty.fork()
        if pid == 0:
            env = dict(ENV, TTMEM_SHM_DIR=folder, TERM="xterm-256color", LC_ALL="C.UTF-8")
            os.execve(TTMEM, [TTMEM, "live", "--board", "n150", "--interval", str(1 / LOOKS)], env)
        threading.Thread(target=read_all, args=(terminal,), daemon=True).start()
        began = time.monotonic()
        step = 0
        while time.monotonic() - began < SECONDS:
            step += 1
            for number, chip in enumerate(chips):
                chip.hold(0, os.getpid(), dram=(step * 37 + number * 11) % 1000 << 23, l1=(step * 13) % 64 << 20)
            time.sleep(1 / LOOKS)
        os.kill(pid, signal.SIGINT)
        _, status, usage = os.wait4(pid, 0)
        if status:
            sys.exit(f"bench: ttmem live ended with {os.waitstatus_to_exitcode(status)}")
        return (usage.ru_utime + usage.ru_stime) / (time.monotonic() - began)


def rows():
    share = share_of_a_core()
    row(f"processor time of `ttmem live`, its screen at {LOOKS} Hz, {CHIPS} chips whose use changes at each look", f"{100 * share:.2f} % of a core",
        "< 1 %", share < 0.01)
