# SPDX-License-Identifier: Apache-2.0
"""Programs with one planted problem each (tests/ttnn/planted), recorded on a mock board: the first fix of the report is made, which is what `--fixed`
does, and the program runs again. Its peak is the one that was promised: to the byte where the fix was replayed or derived, within 5 % where it is an
estimate, at least that where nothing is recorded after the failure. What failed has to run to its end. Run by scripts/test-ttnn, once."""

import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor

PROGRAM = os.environ.get("TTMEM") or __import__("ttmem").program()
SOURCE = os.environ["TTMEM_SOURCE"]
PLANTED = os.path.join(SOURCE, "tests/ttnn/planted")
PATIENCE = 900  # only bounds a hang

# The first fix of each, and what else `--fixed` has to be told, by the fix.
FIRST = {
    "late_free": ("free_earlier", None),
    "two_forms": ("free_earlier", None),
    "kept_results": ("stop_leak", None),
    "bf16_weights": ("weights_dtype", None),
    "upcast_weight": ("no_upcast", None),
    "embedding_table": ("row_major", None),
    "tile_padding": ("reshape", None),
    "narrow_rows": ("wider_rows", None),
    # These fail.
    "weights_oom": ("weights_dtype", None),
    "caches_oom": ("cache", lambda fix: str(fix["count"])),
    "table_oom": ("row_major", None),
    "fragmentation_pin": ("move_pin", None),
    "too_large": ("divide", lambda fix: str(fix["count"])),
    "l1_tensor": ("dram", None),
    "l1_clash": ("l1_tensors", None),
    "l1_small": ("l1_small", lambda fix: str(fix["bytes"])),
}
FAIL = list(FIRST)[8:]


def peaks_of(recording):
    """Highest level of DRAM and L1 in bytes per bank, added up here, apart from ttmem."""
    with open(recording) as f:
        nodes = json.load(f)["graph"]
    now, peaks = [0, 0], [0, 0]
    for node in nodes:
        kind, params = node["node_type"], node["params"]
        if kind == "memory_view" and params["buffer_type"] < 2:
            assert now[params["buffer_type"]] == params["allocated_per_bank"], (recording, node, now)
        if kind in ("buffer_allocate", "buffer_deallocate") and params["buffer_type"] < 2:
            now[params["buffer_type"]] += params["max_size_per_bank"] * (1 if kind == "buffer_allocate" else -1)
            peaks = [max(pair) for pair in zip(peaks, now)]
    return peaks


class Fixes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.here = tempfile.mkdtemp(prefix="ttmem-once-fixes-")
        cls.addClassCleanup(shutil.rmtree, cls.here, ignore_errors=True)
        with ThreadPoolExecutor(2) as pool:  # a device takes seconds to open
            cls.results = dict(zip(FIRST, pool.map(cls.try_one, FIRST)))

    @classmethod
    def run_one(cls, name, *arguments):
        """(findings, peaks, exit status) of a run."""
        here = os.path.join(cls.here, name + "-".join(arguments))
        os.makedirs(here)
        env = {k: v for k, v in os.environ.items() if k not in ("TT_METAL_MOCK_CLUSTER_DESC_PATH", "TT_METAL_CACHE")}
        env.update(TTMEM_VIEWS="all", TTMEM_BRIEF="0", TMPDIR=here, PYTHONDONTWRITEBYTECODE="1")
        command = [PROGRAM, "run", "-q", "--no-html", "--board", "n150", "--", sys.executable, os.path.join(PLANTED, name + ".py"), *arguments]
        run = subprocess.run(command, cwd=here, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
        with open(glob.glob(here + "/logs/*/*_findings.json")[0]) as f:
            return json.load(f), peaks_of(glob.glob(here + "/logs/*/*_recording.json")[0]), run.returncode

    @classmethod
    def try_one(cls, name):
        before = cls.run_one(name)
        fixes, argument = before[0]["fixes"], FIRST[name][1]
        if not fixes or fixes[0]["kind"] != FIRST[name][0]:
            return before, None
        return before, cls.run_one(name, "--fixed", *([argument(fixes[0])] if argument else []))

    def check(self, name):
        (found, peaks, status), after = self.results[name]
        told = ["%s: %s" % (fix["kind"], fix["text"]) for fix in found["fixes"]]
        self.assertIsNotNone(after, told)
        fix, memory = found["fixes"][0], int(name.startswith("l1"))
        self.assertEqual((status, after[2]), (int(name in FAIL), 0), told)
        if name in FAIL:
            self.assertFalse(after[0]["incidents"])
            self.assertTrue(fix.get("fits", True), told[0])
        peak, promised = after[1][memory], fix.get("peak_after_per_bank_B")
        if promised is None:  # L1, which the replay does not move around: that it runs is what was promised
            self.assertTrue(name.startswith("l1"), told)
        elif fix.get("peak_after_lower_bound"):  # the recording ends with the failure, the program goes on
            self.assertLessEqual(promised if fix["verified"] != "estimated" else 0.95 * promised, peak, told[0])
            self.assertLess(peak, 1.05 * promised, told[0])
        elif fix["verified"] == "estimated":
            self.assertLess(abs(peak - promised), 0.05 * promised, told[0])
        else:
            self.assertEqual(peak, promised, told[0])


for _name in FIRST:
    setattr(Fixes, "test_" + _name, lambda self, name=_name: self.check(name))

if __name__ == "__main__":
    unittest.main()
