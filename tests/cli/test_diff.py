#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ttmem diff by structure: operations are aligned in their order, whatever they are called, and a free that moved is a change."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from small_logs import Log  # noqa: E402

TTMEM = os.environ["TTMEM"]
SAMPLES = pathlib.Path(os.environ.get("TTMEM_SHARED", "../shared")) / "samples" / "answers" / "E3"


def compare(before, after):
    done = subprocess.run([TTMEM, "diff", str(before), str(after), "--json"], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def shown(before, after):
    done = subprocess.run([TTMEM, "diff", str(before), str(after)], stdout=subprocess.PIPE, check=True, text=True)
    return " ".join(done.stdout.split())


def write(path, steps, runs=1, name="main"):
    """Steps are (size, location) for an operation, ("free", place of the step) for a free. Every run ends with all of it freed."""
    log = Log()
    for _ in range(runs):
        log.start(name)
        values = []
        for step in steps:
            if step[0] == "free":
                log.free(values[step[1]])
            else:
                values.append(log.make(step[0], "ttnn.relu", step[1]))
        for value in list(log.values):
            log.free(value)
        log.finish(name)
    return log


class Diff(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def diff(self, before, after, runs=(1, 1)):
        paths = [self.folder / "before.log", self.folder / "after.log"]
        for path, steps, n in zip(paths, (before, after), runs):
            write(path, steps, n).write(path)
        return compare(*paths), shown(*paths)

    def test_a_run_that_went_astray_and_died_is_the_same_up_to_there(self):
        good = [(float(mb), "op.%d" % mb) for mb in range(1, 9)]
        log = write(None, good, 2)
        log.start("main")
        for mb, loc in good[:6]:
            log.make(mb, "ttnn.relu", loc)
        log.make(40.0, "ttnn.zeros", "astray")
        paths = [self.folder / "before.log", self.folder / "after.log"]
        write(None, good, 3).write(paths[0])
        log.write(paths[1])
        d = compare(*paths)
        self.assertEqual((d["operations"]["in_both"], d["operations"]["only_before"], d["operations"]["only_after"]), (8, 0, 1))
        self.assertEqual([row["mlir_op"] for row in d["only_in_one"]], ["ttnn.zeros"])

    def test_live_tensors_fold_over_both_logs(self):
        before = [(20.0, "layers.0|x"), (20.0, "layers.1|x"), ("free", 0), ("free", 1), (5.0, "end")]
        after = [(10.0, "layers.0|x"), ("free", 0), (70.0, "layers.3|x"), ("free", 1), (5.0, "end")]
        d, text = self.diff(before, after)
        rows = [(r["name"], r["class"], r["before"]["per_bank_MB"], r["before"]["tensors"], r["after"]["per_bank_MB"], r["after"]["tensors"]) for r in d["live_at_peak"]["DRAM"]]
        self.assertEqual(rows, [("layers.*|x", "activations", 40.0, 2, 70.0, 1)])
        self.assertIn("Live at the DRAM peak: activations 30.00 MB per bank more", text)
        self.assertEqual(self.diff(before, before)[0]["live_at_peak"]["DRAM"], [])

    def same_names(self, sizes):
        return [(float(mb), "a") for mb in sizes]

    def test_one_inserted_operation_is_one_change(self):
        for loc in ("a", None):  # the same location for all, or one each
            sizes = [1, 2, 3, 4, 5, 6, 7, 8]
            before = [(float(mb), loc or "op.%d" % mb) for mb in sizes]
            for at in range(len(before) + 1):
                after = before[:at] + [(50.0, loc or "new")] + before[at:]
                d, text = self.diff(before, after)
                self.assertEqual((d["operations"]["in_both"], d["operations"]["only_after"], d["operations"]["only_before"]), (8, 1, 0))
                self.assertEqual([(row["kind"], row["change_MB"], row["before"]) for row in d["changed"]], [("inserted", 50.0, None)])
                self.assertEqual(d["changed"][0]["after"]["line"], 2 + 6 * at)
                self.assertEqual(d["peak"]["DRAM"]["change_MB"], 50.0)
                self.assertEqual(d["freed_elsewhere"], [])
                back, _ = self.diff(after, before)
                self.assertEqual([(row["kind"], row["change_MB"]) for row in back["changed"]], [("removed", -50.0)])

    def test_changed_results_are_the_same_operation(self):
        d, text = self.diff(self.same_names([1, 2, 3, 4, 5]), self.same_names([1, 2, 30, 4, 5]))
        self.assertEqual((d["operations"]["in_both"], d["operations"]["changed"], d["operations"]["only_after"]), (5, 1, 0))
        self.assertEqual([(row["kind"], row["change_MB"]) for row in d["changed"]], [("changed", 27.0)])

    def test_an_operation_that_moved_is_not_a_new_one(self):
        d, text = self.diff(self.same_names([1, 2, 3, 4, 5, 6]), self.same_names([1, 3, 4, 5, 2, 6]))
        self.assertEqual((d["operations"]["in_both"], d["operations"]["moved"], d["operations"]["only_after"]), (6, 1, 0))
        self.assertEqual(d["changed"], [])

    def test_a_moved_free_is_told(self):
        steps = self.same_names([1, 20, 3, 4, 40, 5])
        early, late = steps[:3] + [("free", 1)] + steps[3:], steps[:5] + [("free", 1)] + steps[5:]
        d, text = self.diff(early, late)
        self.assertEqual(d["peak"]["DRAM"]["change_MB"], 15.0)  # 48 + 20 against 53
        self.assertEqual([(f["per_bank_MB"], f["later"], f["operations_later"], f["alive_at_peak"]) for f in d["freed_elsewhere"]], [(20.0, True, 2, True)])
        self.assertIn("diff.freed-later", [s["id"] for s in d["statements"]])
        self.assertIn("1 tensor freed later than before, which holds 20.00 MB more per bank at the DRAM peak", text)
        back, text = self.diff(late, early)
        self.assertEqual([(f["later"], f["operations_later"]) for f in back["freed_elsewhere"]], [(False, -2)])

    def test_a_free_that_is_gone_is_told(self):
        before, after = Log(), Log()
        for log in (before, after):
            log.start()
            first = log.make(20.0, loc="a")
            log.make(3.0, loc="b", of=(first,))
            if log is before:
                log.free(first)
            log.make(30.0, loc="c")
            log.finish()
        d = compare(before.write(self.folder / "a.log"), after.write(self.folder / "b.log"))
        self.assertEqual([(f["loc"], f["operations_later"], f["later"]) for f in d["freed_elsewhere"]], [("a", None, True)])

    def test_layers_that_were_inserted_fold(self):
        layer = lambda n: [(2.0, "layers.%d|a" % n), (3.0, "layers.%d|b" % n), (1.0, "layers.%d|c" % n)]
        before, after = sum((layer(n) for n in range(4)), []), sum((layer(n) for n in range(10)), [])
        d, text = self.diff(before, after)
        self.assertEqual((d["operations"]["in_both"], d["operations"]["only_after"]), (12, 18))
        self.assertEqual(sorted((row["name"], row["places"]) for row in d["changed"]), [("layers.*|%s" % x, 6) for x in "abc"])
        self.assertIn("6 layers more, 10 instead of 4", text)

    def test_layers_without_names(self):
        layer = [2.0, 3.0, 1.0]
        d, text = self.diff(self.same_names(layer * 4), self.same_names(layer * 10))
        self.assertEqual((d["operations"]["in_both"], d["operations"]["only_after"], d["operations"]["changed"]), (12, 18, 0))

    def test_more_runs_are_no_more_operations(self):
        steps = self.same_names([1, 2, 3])
        d, text = self.diff(steps, steps, runs=(2, 5))
        self.assertEqual((d["operations"]["in_both"], d["operations"]["only_after"]), (3, 0))
        self.assertIn("3 runs more, 5 instead of 2", text)

    def test_several_programs(self):
        paths = []
        for name, extra in (("before", []), ("after", [(9.0, "a")])):
            logs = [write(None, self.same_names([1, 2, 3]), name="prefill"), write(None, self.same_names([4, 5]) + extra, 3, "decode")]
            paths.append(self.folder / (name + ".log"))
            paths[-1].write_text("".join("\n".join(log.lines) + "\n" for log in logs))
        d = compare(*paths)
        self.assertEqual([(row["kind"], row["change_MB"]) for row in d["changed"]], [("inserted", 9.0)])
        self.assertEqual(d["operations"]["in_both"], 5)

    def test_a_run_that_died_is_the_beginning_of_the_others(self):
        paths = []
        for name, sizes in (("before", [1, 2, 3, 4]), ("after", [1, 50, 2, 3, 4])):
            whole, cut = write(None, self.same_names(sizes)), write(None, self.same_names(sizes))
            paths.append(self.folder / (name + ".log"))
            paths[-1].write_text("\n".join(cut.lines[:13] + whole.lines) + "\n")
        d = compare(*paths)
        self.assertEqual([(row["kind"], row["places"], row["change_MB"]) for row in d["changed"]], [("inserted", 1, 50.0)])

    def test_the_samples(self):
        if not SAMPLES.exists():
            self.skipTest("%s is absent" % SAMPLES)
        d = compare(SAMPLES / "u0.log", SAMPLES / "u1.log")
        self.assertEqual([(row["kind"], row["change_MB"], row["after"]["line"]) for row in d["changed"]], [("inserted", 50.0, 32)])
        d = compare(SAMPLES / "d_base.log", SAMPLES / "d_late.log")
        self.assertEqual([(f["per_bank_MB"], f["alive_at_peak"]) for f in d["freed_elsewhere"]], [(20.0, True)])


if __name__ == "__main__":
    unittest.main()
