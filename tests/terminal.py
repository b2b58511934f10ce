# SPDX-License-Identifier: Apache-2.0
"""Programs in terminals of their own, through tmux as a person would use them: keys in, the screen looked at. Shared by the tests of
the interactive program and of `ttmem live`."""
import os
import re
import shutil
import subprocess
import time

WAIT = int(os.environ.get("TTMEM_UI_WAIT", "120"))  # only ever waited for in full when something is wrong


def is_here():
    return shutil.which("tmux") is not None


class Tmux:
    """A server of its own in `folder`; close() ends it and everything in it."""

    def __init__(self, folder):
        self.socket = os.path.join(folder, "tmux")
        self.count = 0
        # tmux ends with its last session, and a new one asked for just then is lost: one session stays.
        self.run("new-session", "-d", "-s", "keeper", "sleep 100000", check=True)

    def run(self, *words, check=False):
        return subprocess.run(["tmux", "-S", self.socket, "-f", "/dev/null", *words], capture_output=True, text=True, check=check,
                              env={**os.environ, "LC_ALL": "C.UTF-8"})

    def start(self, command, columns=80, rows=24):
        """A shell command; what it ended with is on the screen then."""
        self.count += 1
        name = "s%d" % self.count
        self.run("new-session", "-d", "-s", name, "-x", str(columns), "-y", str(rows), "%s; echo \"ended with $?\"; sleep 100000" % command, check=True)
        return Pane(self, name)

    def close(self):
        self.run("kill-server")


class Pane:
    def __init__(self, tmux, name):
        self.tmux, self.name = tmux, name

    def keys(self, *keys):
        for key in keys:
            self.tmux.run("send-keys", "-t", self.name, key)
        return self

    def burst(self, *keys):
        """All of them at once, faster than anybody types."""
        self.tmux.run("send-keys", "-t", self.name, *keys)
        return self

    def type(self, text):
        self.tmux.run("send-keys", "-t", self.name, "-l", text)
        return self

    def screen(self):
        return self.tmux.run("capture-pane", "-p", "-t", self.name).stdout

    def resize(self, columns, rows):
        self.tmux.run("resize-window", "-t", self.name, "-x", str(columns), "-y", str(rows))

    def keep_bytes(self, file):
        """From now on, what the program sends to its terminal goes into `file` as well."""
        self.tmux.run("pipe-pane", "-t", self.name, "cat >>'%s'" % file, check=True)

    def see(self, *wanted, without=()):
        """Waits until all of it (texts, or expressions) is on the screen and none of `without` is; gives the screen."""
        end = time.monotonic() + WAIT
        on = lambda what, screen: what.search(screen) is not None if isinstance(what, re.Pattern) else what in screen
        while True:
            screen = self.screen()
            missing, extra = [w for w in wanted if not on(w, screen)], [w for w in without if on(w, screen)]
            if not missing and not extra:
                return screen
            if time.monotonic() > end:
                raise AssertionError("missing %r, too much %r on\n%s" % (missing, extra, screen))
            time.sleep(0.05)

    def end(self):
        self.tmux.run("kill-session", "-t", self.name)
