#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python scripts whose work ttmem does, under their old names: each of those names is a link to this file, which starts the
command that took its place. `python scripts/analyze_memory.py --logs F` is `ttmem train --logs F`."""

import os
import pathlib
import shutil
import subprocess
import sys

COMMANDS = {
    "analyze_memory": ["train"],
    "code_memory_analyzer": ["cb", "scan"],
    "extract_last_run": ["last-run"],
    "generate_viz": ["html"],
    "memory_analysis_tool": ["cb", "simulate"],
    "run_memory_analysis": ["cb", "all"],
    "runtime_memory_profiler": ["cb", "log"],
}


def program():
    """The ttmem that belongs to this file: installed beside it, built in this clone, or the one in PATH."""
    here = pathlib.Path(__file__)
    for path in (here.parent / "ttmem", here.resolve().parent.parent / "build" / "bin" / "ttmem"):
        if os.access(path, os.X_OK) and path.is_file():
            return str(path)
    return shutil.which("ttmem")


def last_run_beside(log):
    """extract_last_run wrote over the log. That is kept now, and the last run stands beside it."""
    for ending in (".gz", ".zst", ".log", "_profile"):
        log = log[: -len(ending)] if log.endswith(ending) else log
    return f"{log}_last_run_profile.log"


def main():
    name = pathlib.Path(sys.argv[0]).stem
    if name not in COMMANDS:
        sys.exit(f"{name}: call it by one of these names: {', '.join(sorted(COMMANDS))}")
    ttmem = program()
    if not ttmem:
        sys.exit(f"{name}: ttmem is not built and not in PATH; run 'make' in the clone, or 'pip install .'")
    command, given = [ttmem, *COMMANDS[name]], sys.argv[1:]
    # Two of them knew what to do without being told.
    if name == "extract_last_run" and len(given) == 1 and not given[0].startswith("-"):
        target = last_run_beside(given[0])
        status = subprocess.run([*command, *given, "-o", target]).returncode
        if status == 0:
            print(target)
        sys.exit(status if status >= 0 else 128 - status)
    if name == "code_memory_analyzer" and not given:
        given = ["."]
    os.execv(ttmem, [*command, *given])


main()
