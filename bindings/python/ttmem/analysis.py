# SPDX-License-Identifier: Apache-2.0
"""Analysing a runtime log from Python."""

import ctypes
import importlib.metadata
import json
import os
import pathlib
import tempfile

from . import _native

_ALL_FILES, _FINDINGS = (1 << 30) - 1, 16  # ttm_report_file


def analyze(path):
    """The findings of a runtime log (plain, .gz or .zst): peaks and who raised them, incidents, runs, leaks, padding. The same
    dictionary that `ttmem analyze` writes as NAME_findings.json. Raises TtmemError when the log cannot be read or holds nothing."""
    profile = ctypes.c_void_p()
    _native.call("ttm_profile_read", ctypes.byref(profile), _native.text(path))
    try:
        with tempfile.TemporaryDirectory(prefix="ttmem-") as folder:
            options = _native.ReportOptions(size=ctypes.sizeof(_native.ReportOptions), leave_out=_ALL_FILES & ~_FINDINGS)
            _native.call("ttm_report_write_files", profile, _native.text(folder), b"log", ctypes.byref(options))
            return json.loads((pathlib.Path(folder) / "log_findings.json").read_text(encoding="utf-8"))
    finally:
        _native.lib.ttm_profile_free(profile)


def program(name="ttmem"):
    """Where the program of the wheel is."""
    for file in importlib.metadata.files("ttmem") or ():
        if file.name == name and os.access(file.locate(), os.X_OK):
            return str(pathlib.Path(file.locate()).resolve())
    raise FileNotFoundError(f"the program {name} is not among the installed files of ttmem")
