# SPDX-License-Identifier: Apache-2.0
"""The tables of the Python package, opened by pyarrow, pandas, polars and duckdb themselves (tests/requirements.txt), and the README's
example as it stands there."""

import gc
import os
import pathlib
import re
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(os.environ["TTMEM_SOURCE"])
LIBRARY = os.environ["LIBTTMEM"]
TOOLS = SOURCE / "build/pytools/bin/python"
DEMO = SOURCE / "demo/llama_small.log.zst"
SMALL = SOURCE / "tests/data/small.log"


def start_again():
    """With the Python that has those packages, and, for a library with AddressSanitizer, its runtime loaded first."""
    have = subprocess.run([TOOLS, "-c", "import pyarrow, pandas, polars, duckdb"], capture_output=True) if TOOLS.exists() else None
    if not have or have.returncode:
        print("SKIPPED: no pyarrow, pandas, polars and duckdb in build/pytools (scripts/setup test brings them)")
        sys.exit(77)
    env = {**os.environ, "TTMEM_LIBRARY": LIBRARY, "PYTHONPATH": str(SOURCE / "bindings/python")}
    needed = subprocess.run(["ldd", LIBRARY], capture_output=True, text=True).stdout
    asan = re.search(r"lib(?:clang_rt\.)?asan\S* => (\S+)", needed)
    if asan:
        # libstdc++ too: the runtime looks for its exceptions when it starts.
        env.update(LD_PRELOAD=f"{asan.group(1)} libstdc++.so.6", ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1")
    os.execve(TOOLS, [str(TOOLS), __file__], env)


if "TTMEM_LIBRARY" not in os.environ:
    start_again()

import duckdb
import pandas
import polars
import pyarrow

import ttmem


class Judges(unittest.TestCase):
    """Four libraries, one answer."""

    @classmethod
    def setUpClass(cls):
        cls.profile = ttmem.read(DEMO)
        cls.findings = ttmem.analyze(DEMO)

    def held(self):
        return sum(t.bank_bytes for t in self.profile.tensors if t.alive_at_peak and t.memory == "DRAM")

    def test_plain_python(self):
        peak = self.findings["peak"]["DRAM"]
        self.assertAlmostEqual(self.held() / 2**20, peak["allocated_per_bank_MB"], places=2)
        operations = list(self.profile.operations)
        self.assertEqual(len(operations), len(self.profile.operations))
        raised = next(o for o in operations if o.index == peak["caused_by"]["index"])
        self.assertEqual((raised.name, raised.line), (peak["caused_by"]["mlir_op"], peak["caused_by"]["line"]))
        self.assertEqual(raised.dram_delta, peak["caused_by"]["effect_MB"] * 2**20)
        self.assertTrue(all(o.index is None for o in operations if o.deallocate))

    def test_findings_are_those_of_the_file(self):
        findings, file = self.profile.findings, self.findings
        self.assertEqual(findings.json, file)
        told = [(s.id, s.severity, s.basis, s.headline, s.detail or "", s.line) for s in findings]
        self.assertEqual(told, [(s["id"], s["severity"], s["basis"], s["headline"], s.get("detail", ""), s.get("line")) for s in file["statements"]])
        index = {o.operation: o.index for o in self.profile.operations}
        self.assertEqual([index.get(s.operation) for s in findings], [s.get("operation") for s in file["statements"]])
        best = sorted((fix for fix in findings.fixes if fix.rank is not None), key=lambda fix: fix.rank)
        self.assertEqual([(f.text, f.bytes, f.verified) for f in best], [(f["text"], f["bytes"], f["verified"]) for f in file["fixes"]])
        for fix in findings.fixes:
            self.assertIn(fix.text, [f["text"] for f in file["statements"][fix.statement]["fixes"]])

    def test_pyarrow(self):
        table = pyarrow.table(self.profile.tensors)
        table.validate(full=True)
        self.assertEqual(table.column_names, self.profile.tensors.columns)
        alive = table.filter((pyarrow.compute.field("alive_at_peak")) & (pyarrow.compute.field("memory") == "DRAM"))
        self.assertEqual(pyarrow.compute.sum(alive["bank_bytes"]).as_py(), self.held())
        rows = [tuple(row.values()) for row in table.to_pylist()]
        self.assertEqual(rows, [tuple(t) for t in self.profile.tensors])

    def test_pandas(self):
        frame = pyarrow.table(self.profile.tensors).to_pandas()
        self.assertEqual(frame[frame.alive_at_peak & (frame.memory == "DRAM")].bank_bytes.sum(), self.held())
        if hasattr(pandas.DataFrame, "from_arrow"):  # since pandas 3
            pandas.testing.assert_frame_equal(pandas.DataFrame.from_arrow(self.profile.tensors), frame)

    def test_polars(self):
        frame = polars.DataFrame(self.profile.tensors)
        alive = frame.filter(polars.col("alive_at_peak"), polars.col("memory") == "DRAM")
        self.assertEqual(alive["bank_bytes"].sum(), self.held())
        self.assertEqual(frame["freed_by"].null_count(), sum(t.freed_by is None for t in self.profile.tensors))

    def test_duckdb(self):
        tensors, operations, states = self.profile.tensors, self.profile.operations, self.profile.states
        held = duckdb.sql("select sum(bank_bytes) from tensors where alive_at_peak and memory = 'DRAM'").fetchall()[0][0]
        self.assertEqual(held, self.held())
        most = duckdb.sql(
            "select o.index from states s join operations o on s.operation = o.operation order by s.dram_allocated desc, o.index limit 1"
        ).fetchall()[0][0]
        self.assertEqual(most, self.findings["peak"]["DRAM"]["caused_by"]["index"] + 1)  # a state stands before its operation
        del tensors, operations, states

    def test_every_table(self):
        findings = self.profile.findings
        for table in (self.profile.operations, self.profile.states, self.profile.tensors, self.profile.incidents, findings, findings.fixes):
            arrow = pyarrow.table(table)
            arrow.validate(full=True)
            self.assertEqual(len(table), arrow.num_rows)
            self.assertEqual(polars.DataFrame(table).columns, arrow.column_names)


class Lives(unittest.TestCase):
    """Who goes first does not matter."""

    def test_a_table_outlives_its_profile(self):
        table = ttmem.read(SMALL).tensors
        gc.collect()
        self.assertEqual(len(list(table)), len(table))

    def test_a_stream_outlives_its_table(self):
        reader = pyarrow.RecordBatchReader.from_stream(ttmem.read(SMALL).operations)
        gc.collect()
        self.assertEqual(reader.read_all().num_rows, 18)

    def test_a_capsule_nobody_takes(self):
        table = ttmem.read(SMALL).states
        for _ in range(1000):
            capsule = table.__arrow_c_stream__()
        self.assertIn("arrow_array_stream", repr(capsule))
        del capsule, table

    def test_a_loop_that_is_left(self):
        for row in ttmem.read(SMALL).operations:
            self.assertEqual(row.operation, 0)
            break

    def test_the_end_of_python(self):
        code = "import ttmem; t = ttmem.read('tests/data/small.log').tensors; c = t.__arrow_c_stream__(); i = iter(t); next(i)"
        self.assertEqual(subprocess.run([sys.executable, "-c", code], cwd=SOURCE).returncode, 0)


class Reading(unittest.TestCase):
    def test_progress(self):
        seen = []
        ttmem.read(DEMO, progress=lambda *now: seen.append(now))
        self.assertTrue(seen and all(done <= total for done, total, _ in seen))

    def test_what_progress_raises_cancels(self):
        with self.assertRaises(KeyboardInterrupt):
            ttmem.read(DEMO, progress=self.interrupt)

    def interrupt(self, *_):
        raise KeyboardInterrupt

    def test_errors(self):
        with self.assertRaisesRegex(ttmem.TtmemError, "missing.log"):
            ttmem.read("missing.log")
        with self.assertRaises(ttmem.TtmemError) as caught:
            ttmem.read(os.devnull)
        self.assertEqual(caught.exception.code, -5)


class Documents(unittest.TestCase):
    def test_every_column_is_explained(self):
        text = (SOURCE / "docs/library.md").read_text()
        profile = ttmem.read(SMALL)
        for name in re.findall(r"^### (\w+)$", text, re.M):
            rows = text.split(f"### {name}\n")[1].split("\n#")[0]
            told = [column for row in re.findall(r"^\| (`.*?) \|", rows, re.M) for column in re.findall(r"`(\w+)`", row)]
            table = profile.findings.fixes if name == "fixes" else getattr(profile, name)
            self.assertEqual(sorted(told), sorted(table.columns))

    def test_the_readmes_example(self):
        text = (SOURCE / "README.md").read_text()
        code, shown = re.search(r"```python\n(.*?)```\n+```text\n(.*?)```", text, re.S).groups()
        ran = subprocess.run([sys.executable, "-c", code], cwd=SOURCE, capture_output=True, text=True)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertEqual(ran.stdout, shown)


if __name__ == "__main__":
    unittest.main()
