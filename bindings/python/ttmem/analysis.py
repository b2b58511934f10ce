# SPDX-License-Identifier: Apache-2.0
"""Analysing a runtime log from Python."""

import importlib.metadata
import os
import pathlib
import shutil

from .profile import read


def analyze(path):
    """The findings of a runtime log (plain, .gz or .zst): peaks and who raised them, failures, runs, leaks, padding. The same
    dictionary that `ttmem analyze` writes as NAME_findings.json. Raises TtmemError when the log cannot be read or holds nothing."""
    return read(path).findings.json


def program(name="ttmem"):
    """Where the program of the wheel is, or that of the system's package."""
    try:
        files = importlib.metadata.files("ttmem") or ()
    except importlib.metadata.PackageNotFoundError:  # no wheel
        files = ()
    for file in files:
        if file.name == name and os.access(file.locate(), os.X_OK):
            return str(pathlib.Path(file.locate()).resolve())
    found = shutil.which(name)
    if not found:
        raise FileNotFoundError(f"the program {name} is neither among the installed files of ttmem nor in PATH")
    return found
