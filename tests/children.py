# SPDX-License-Identifier: Apache-2.0
"""Programs that a test starts in a process group of their own: Popen(..., start_new_session=True, preexec_fn=interruptible), then
addCleanup(end, child). Shared by the tests of `ttmem run` on the fake ttnn and on the real one."""
import os
import signal


def interruptible():
    """In the child: a test started in the background of a script would pass on that Ctrl-C is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def end(child):
    """Whatever became of the test, nothing of it runs on: neither the child nor what it started and left behind."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()
    for stream in (child.stdout, child.stderr):
        if stream:
            stream.close()
