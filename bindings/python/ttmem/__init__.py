# SPDX-License-Identifier: Apache-2.0
"""Where the memory of a Tenstorrent device went.

    import ttmem

    profile = ttmem.read("model_profile.log")               # tables: .operations, .states, .tensors, .findings
    polars.DataFrame(profile.tensors)                       # or pyarrow.table(...), duckdb.sql("..."), or a plain loop

    guard = ttmem.MemoryUsageTracker.begin_capture()        # tt-train's tracker: same words, same numbers, same text
    ...
    ttmem.MemoryUsageTracker.snapshot("MODEL_CREATION")
    ttmem.MemoryUsageTracker.end_capture("ITERATION_COMPLETE")
    ttmem.MemoryUsageTracker.print_memory_usage()
"""

from ._native import TtmemError, lib
from .analysis import analyze, program
from .profile import Findings, Profile, Table, read
from .tracker import DRAMUsage, Guard, L1Usage, Memory, MemoryUsageTracker, Phase, RunMode, Tracker

__version__ = lib.ttm_version().decode()

__all__ = [
    "DRAMUsage",
    "Findings",
    "Guard",
    "L1Usage",
    "Memory",
    "MemoryUsageTracker",
    "Phase",
    "Profile",
    "RunMode",
    "Table",
    "Tracker",
    "TtmemError",
    "analyze",
    "program",
    "read",
]
