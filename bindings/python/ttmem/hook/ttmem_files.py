# SPDX-License-Identifier: Apache-2.0
"""Lists what the program read, for `ttmem fit --find`, which keeps answers as long as nothing of it changes: its own modules and the files it
opened, and ttnn's. Loaded only when TTMEM_FILES names the list; every process of the program appends to it when it ends."""

import atexit
import os
import sys

opened = set()
library = os.path.dirname(os.__file__) + os.sep
here = os.path.dirname(os.path.abspath(__file__)) + os.sep


def note(event, args):
    """An audit hook: sees every file that Python opens."""
    if event != "open" or not isinstance(args[0], str):
        return
    mode, flags = args[1], args[2]
    reads = not any(c in mode for c in "wax+") if mode else isinstance(flags, int) and not flags & (os.O_WRONLY | os.O_RDWR)
    if reads:
        opened.add(args[0])


def is_kept(path):
    if path.startswith((library, here, "/proc/", "/sys/", "/dev/")) or path.endswith(".pyc") or "\n" in path:
        return False
    return "-packages" + os.sep not in path or "-packages" + os.sep + "ttnn" + os.sep in path


def write(path, folder):
    files = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    files = {os.path.join(folder, name) for name in files | opened if isinstance(name, str) and name[:1] != "<"}
    text = "".join(sorted(name + "\n" for name in files if is_kept(name)))
    with open(path, "a", encoding="utf-8", errors="surrogateescape") as f:
        f.write(text)


def watch(path):
    sys.addaudithook(note)
    atexit.register(write, path, os.getcwd())
