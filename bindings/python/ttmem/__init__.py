# SPDX-License-Identifier: Apache-2.0
"""Where the memory of a Tenstorrent device went.

    import ttmem

    findings = ttmem.analyze("model_profile.log")          # what `ttmem analyze` concludes, as dictionaries
    print(findings["peak"]["DRAM"])

    guard = ttmem.MemoryUsageTracker.begin_capture()        # tt-train's tracker: same words, same numbers, same text
    ...
    ttmem.MemoryUsageTracker.snapshot("MODEL_CREATION")
    ttmem.MemoryUsageTracker.end_capture("ITERATION_COMPLETE")
    ttmem.MemoryUsageTracker.print_memory_usage()
"""

from ._native import TtmemError
from .analysis import analyze, program
from .tracker import DRAMUsage, Guard, L1Usage, Memory, MemoryUsageTracker, Phase, RunMode, Tracker

__all__ = [
    "DRAMUsage",
    "Guard",
    "L1Usage",
    "Memory",
    "MemoryUsageTracker",
    "Phase",
    "RunMode",
    "Tracker",
    "TtmemError",
    "analyze",
    "program",
]
