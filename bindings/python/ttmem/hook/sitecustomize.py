# SPDX-License-Identifier: Apache-2.0
"""Python imports this when it starts, because `ttmem run` put its folder first in PYTHONPATH: watches for ttnn, then steps aside for
the user's own sitecustomize."""

import importlib.util
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != _here]
try:
    _spec = importlib.util.spec_from_file_location("_ttmem_start", os.path.join(_here, "ttmem_start.py"))
    _start = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(_start)
    _start.watch()
except Exception as error:  # the program runs in any case
    sys.stderr.write("ttmem: no recording: %s: %s\n" % (type(error).__name__, error))

_ours = sys.modules.pop("sitecustomize")
try:
    import sitecustomize  # noqa: F401  the user's own
except ImportError as error:
    if error.name != "sitecustomize":
        raise
finally:
    sys.modules.setdefault("sitecustomize", _ours)
