# SPDX-License-Identifier: Apache-2.0
"""tt-train's names for the tracker, for scripts that have them and run without tt-train:

    from ttmem.compat import ttml               # instead of import ttml

    MemoryUsageTracker = ttml.core.utils.MemoryUsageTracker
"""

import types

from .tracker import MemoryUsageTracker

ttml = types.SimpleNamespace(core=types.SimpleNamespace(utils=types.SimpleNamespace(MemoryUsageTracker=MemoryUsageTracker)))
