#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reports of ttnn-visualizer as an input: what they say of memory, whatever their schema and order, and nothing but a sentence for what is none."""
import glob
import hashlib
import json
import os
import pathlib
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile
import unittest

import database as d

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from perf_csv import PerfCsv  # noqa: E402

TTMEM = os.environ["TTMEM"]


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.dir = pathlib.Path(self.folder.name) / "small"
        self.dir.mkdir()
        self.path = str(self.dir / "db.sqlite")
        self.env = dict(os.environ, TTMEM_HOME=self.folder.name + "/home")

    def ttmem(self, *words, status=0, **more):
        done = subprocess.run([TTMEM, *words], capture_output=True, text=True, env=self.env, timeout=600, **more)
        self.assertEqual(done.returncode, status, f"{words}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done

    def findings(self, what=None):
        self.ttmem("analyze", "--no-html", "--no-history", "-d", self.folder.name + "/out", what or self.path)
        return json.loads(pathlib.Path(max(glob.glob(self.folder.name + "/out/*_findings.json"), key=os.path.getmtime)).read_text())

    def refused(self, path, *texts):
        done = self.ttmem("analyze", "--no-html", "--no-history", "-d", self.folder.name + "/out", path, status=2)
        self.assertIn("ttmem: error: ", done.stderr)
        for text in texts:
            self.assertIn(text, done.stderr)

    def check(self, findings):
        memories = findings["recording"]["memories"]
        self.assertEqual(memories["DRAM"]["peak_per_bank_B"], 54 * d.MB)
        self.assertEqual(memories["L1"]["peak_per_bank_B"], 64 * 1024)
        self.assertEqual(memories["L1"]["capacity_per_bank_B"], 1360544)
        core = findings["recording"]["l1_per_core"]
        self.assertEqual((core["fullest_B"], core["circular_buffers_B"], core["programs_completed"]), (64 * 1024 + 12288, 12288, 1))
        self.assertEqual(core["operation"]["mlir_op"], "ttnn.add")


class Reads(Case):
    def test_rows_of_the_profiler_by_call_count(self):
        db = d.Database(self.path)
        db.device()
        for number, name, call in ((1, "ttnn.add", 2048), (2, "ttnn.exp", 1024)):
            ran = d.node("program_execution", command_queue_id=0, device_id=1, global_call_count=call, physical_device_id=0, runtime_id=call // 1024)
            db.operation(number, name, [d.allocate(number << 20, 2048), ran], [(number << 20, 2048, d.DRAM)])
        db.close()
        csv = PerfCsv().add("UnaryDeviceOperation", 3000, call=1024).add("BinaryNgDeviceOperation", 5000, call=2048).write(self.dir / "ops.csv")
        found = json.loads(self.ttmem("analyze", self.path, "--times", csv, "--json", "--no-json", "--no-history").stdout)["device_time"]
        self.assertEqual((found["matched_by"], {op["mlir_op"]: op["ns"] for op in found["operations"]}), ("global_call_count", {"ttnn.add": 5000, "ttnn.exp": 3000}))

    def test_schemas(self):
        for schema in ("2", "2.2", "3.3", "3.4", "3.5"):
            with self.subTest(schema):
                pathlib.Path(self.path).unlink(missing_ok=True)
                d.small(self.path, schema).close()
                findings = self.findings()
                self.check(findings)
                self.assertEqual(findings["recording"]["visualizer_schema"], schema)
                self.assertFalse(findings["peak"]["DRAM"].get("lower_bound", False))

    def test_a_folder_is_its_database(self):
        d.small(self.path).close()
        self.check(self.findings(str(self.dir)))
        self.assertIn("ttnn.add", self.ttmem("ask", str(self.dir), "--at-peak").stdout)

    def test_the_place_in_the_program(self):
        d.small(self.path).close()
        peak = self.findings()["recording"]["memories"]["DRAM"]["peak_operation"]
        self.assertEqual((peak["mlir_op"], peak["loc"]), ("ttnn.add", "/home/a/model.py:9"))

    def test_without_all_buffers_it_is_a_lower_bound(self):
        d.small(self.path).close()
        self.assertNotIn("lower_bound", {k: v for k, v in self.findings()["peak"]["DRAM"].items() if v})
        pathlib.Path(self.path).unlink()
        d.small(self.path, detailed=False).close()
        self.assertTrue(self.findings()["peak"]["DRAM"]["lower_bound"])
        (self.dir / "config.json").write_text('{"enable_detailed_buffer_report": true}')
        self.assertNotIn("lower_bound", {k: v for k, v in self.findings()["peak"]["DRAM"].items() if v})

    def test_rows_in_any_order(self):
        d.small(self.path).close()
        c = sqlite3.connect(self.path)
        for table in ("buffers", "captured_graph", "operations", "input_tensors"):
            columns = [row[1] for row in c.execute(f"PRAGMA table_info({table})")]
            rows = c.execute(f"SELECT * FROM {table}").fetchall()
            random.Random(7).shuffle(rows)
            c.execute(f"DELETE FROM {table}")
            c.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(columns))})", rows)
        c.commit()
        c.close()
        self.check(self.findings())

    def test_every_rank(self):
        db = d.small(self.path)
        run = d.program("BinaryDeviceOperation", False, d.CIRCULAR)
        for rank in (10, 2):  # as names of files sort
            db.operation(1, "ttnn.zeros", [d.allocate(*d.X), *run], [d.X], rank=rank)
        db.close()
        findings = self.findings()
        self.check(findings)
        self.assertEqual(findings["recording"]["processes"], 3)

    def test_without_graphs(self):
        """Old writers leave the nodes out: what is new after an operation is its own."""
        db = d.Database(self.path, "3.3")
        db.device()
        db.operation(1, "ttnn.a", None, [d.X])
        db.operation(2, "ttnn.b", None, [d.X, d.Y])
        db.operation(3, "ttnn.c", None, [d.WEIGHTS])
        db.close()
        memory = self.findings()["recording"]["memories"]["DRAM"]
        self.assertEqual((memory["peak_per_bank_B"], memory["peak_operation"]["mlir_op"]), (54 * d.MB, "ttnn.c"))

    def test_another_size_at_the_same_place(self):
        db = d.Database(self.path)
        db.device()
        db.operation(1, "ttnn.a", [], [d.X])
        db.operation(2, "ttnn.b", [], [(d.X[0], 20 * d.MB, d.DRAM)])
        db.close()
        self.assertEqual(self.findings()["recording"]["memories"]["DRAM"]["peak_per_bank_B"], 20 * d.MB)

    def test_failures(self):
        text = ("TT_FATAL @ bank_manager.cpp:439: address.has_value()\ninfo:\nOut of Memory: Not enough space to allocate 13107200000 B DRAM buffer across 12 banks, "
                "where each bank needs to store 1092267008 B, but bank size is 1072693184 B (allocated: 41943040 B, free: 1030750144 B, largest free block: 1030750144 B)")
        db = d.small(self.path)
        db.operation(5, "ttnn.zeros", [], error=("exception", text))
        db.operation(6, "ttnn.add", [d.start("lost")], error=("incomplete_operation", "Operation 'ttnn.add' started but never completed (likely crashed)"))
        db.add("errors", operation_id=0, operation_name="", error_type="exception", error_message="of no operation")
        db.close()
        findings = self.findings()
        self.check(findings)
        self.assertEqual([i["verdict"] for i in findings["incidents"]], ["impossible"])
        self.assertEqual(findings["incidents"][0]["operation"]["mlir_op"], "ttnn.zeros")
        self.assertFalse(findings["recording"]["ended"])

    def test_every_command_takes_it(self):
        d.small(self.path).close()
        self.ttmem("llm", self.path)
        self.ttmem("diff", self.path, str(self.dir))
        self.ttmem("graph", self.path)
        self.ttmem("doctor", self.path)
        self.ttmem("html", self.path, "-o", self.folder.name + "/page.html")
        self.ttmem("export", "--csv", "--table", "tensors", self.path)
        self.assertIn("ttnn-visualizer", self.ttmem("analyze", "--no-html", "--no-history", self.path).stdout)
        self.assertTrue(os.path.isdir(self.folder.name + "/home/reports/small"))


    def test_agents(self):
        d.small(self.path).close()
        asked = [{"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
                 {"method": "notifications/initialized"},
                 {"id": 2, "method": "tools/call", "params": {"name": "peak", "arguments": {"input": str(self.dir)}}}]
        lines = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in asked)
        done = self.ttmem("mcp", "--root", self.folder.name, input=lines)
        answer = json.loads(done.stdout.splitlines()[-1])["result"]
        self.assertFalse(answer.get("isError"), answer)
        self.assertIn("ttnn.add", json.dumps(answer))


class LeavesItAlone(Case):
    def test_nothing_is_written(self):
        db = d.small(self.path)
        db.connection.execute("CREATE TRIGGER t AFTER INSERT ON operations BEGIN DELETE FROM buffers; END")
        db.close()
        sqlite3.connect(self.path).execute("PRAGMA journal_mode=WAL").fetchone()
        before = hashlib.sha256(pathlib.Path(self.path).read_bytes()).hexdigest(), sorted(os.listdir(self.dir))
        self.check(self.findings())
        self.assertEqual((hashlib.sha256(pathlib.Path(self.path).read_bytes()).hexdigest(), sorted(os.listdir(self.dir))), before)

    def test_odd_names(self):
        folder = pathlib.Path(self.folder.name) / "a ?mode=rwc&b#c%41"
        folder.mkdir()
        d.small(str(folder / "db.sqlite")).close()
        self.check(self.findings(str(folder)))
        self.assertEqual(os.listdir(folder), ["db.sqlite"])

    def test_one_that_is_written_now(self):
        d.small(self.path).close()
        pathlib.Path(self.path + "-journal").write_bytes(b"x")
        self.refused(self.path, "is being written")


class Hostile(Case):
    """A sentence or a report, never a crash."""

    def any(self, path):
        done = subprocess.run([TTMEM, "analyze", "--no-html", "--no-history", "-d", self.folder.name + "/out", path], capture_output=True, text=True, env=self.env, timeout=600)
        self.assertIn(done.returncode, (0, 1, 2), done.stderr)
        self.assertTrue(done.returncode == 0 or "ttmem: error: " in done.stderr)
        return done

    def test_no_report(self):
        c = sqlite3.connect(self.path)
        c.execute("CREATE TABLE t (x)")
        c.commit()
        self.refused(self.path, "no table 'operations'")
        c.execute("CREATE VIEW operations AS WITH RECURSIVE n(operation_id) AS (SELECT 1 UNION ALL SELECT operation_id+1 FROM n) SELECT operation_id, 'x' name FROM n")
        c.commit()
        c.close()
        self.refused(self.path, "no table 'operations'")

    def test_empty_tables(self):
        d.Database(self.path).close()
        self.refused(self.path, "no operation")

    def test_no_database(self):
        pathlib.Path(self.path).write_bytes(b"SQLite format 3\0" + b"x" * 5000)
        self.refused(self.path, "cannot be read")

    def test_packed(self):
        d.small(self.path).close()
        subprocess.run(["gzip", self.path], check=True)
        self.refused(self.path + ".gz", "unpack it")

    def test_cut(self):
        d.small(self.path).close()
        whole = pathlib.Path(self.path).read_bytes()
        for n in (16, 100, 4096, 5000, len(whole) // 2, len(whole) - 1):
            pathlib.Path(self.path).write_bytes(whole[:n])
            self.any(self.path)

    def test_flipped_bytes(self):
        d.small(self.path, page_size=512).close()
        whole = bytearray(pathlib.Path(self.path).read_bytes())
        chance = random.Random(11)
        for _ in range(40):
            copy = bytearray(whole)
            for _ in range(chance.choice((1, 3, 20))):
                copy[chance.randrange(16, len(copy))] = chance.randrange(256)
            pathlib.Path(self.path).write_bytes(copy)
            self.any(self.path)

    def test_wrong_values(self):
        odd = [None, -1, 2**63 - 1, -(2**63), 1e308, "text", "\x1b[31m\0\n\"'<script>", b"\xff\xfe", b"x" * 100000, "Shape([1, 2"]
        for value in odd:
            pathlib.Path(self.path).unlink(missing_ok=True)
            db = d.small(self.path, unique=False)
            for table in d.TABLES:
                for column in [row[1] for row in db.connection.execute(f"PRAGMA table_info({table})") if row[1] != "rank" and row[1] != "operation_id"]:
                    db.connection.execute(f"UPDATE {table} SET {column}=?", [value])
            db.close()
            self.any(self.path)

    def test_missing_tables_and_columns(self):
        for table in [*d.TABLES, "report_metadata"]:
            pathlib.Path(self.path).unlink(missing_ok=True)
            db = d.small(self.path)
            db.connection.execute(f"DROP TABLE {table}")
            db.connection.execute(f"CREATE TABLE {table} (operation_id int, other int)")
            db.connection.execute(f"INSERT INTO {table} VALUES (1, 2)")
            db.close()
            self.any(self.path)

    def test_graphs_that_are_none(self):
        for text in ("", "[", "[[[[[", "null", "[" * 100000, '[{"node_type": "buffer_allocate"', '[{"node_type": "memory_view", "params": {"lane": 5}}]',
                     json.dumps([d.start("f")] * 3000), json.dumps([d.end("f")] * 3000)):
            pathlib.Path(self.path).unlink(missing_ok=True)
            db = d.small(self.path)
            db.connection.execute("UPDATE captured_graph SET captured_graph=?", [text])
            db.close()
            self.any(self.path)


class Large(Case):
    def test_memory_does_not_grow_with_rows(self):
        """A million rows of buffers: only what changes between operations is kept."""
        db = d.Database(self.path)
        db.device()
        held = [(d.MB + 4096 * i, 4096, d.DRAM) for i in range(5000)]
        for number in range(1, 201):
            db.operation(number, "ttnn.add", [d.allocate(500 * d.MB, 4096), d.free(500 * d.MB, 4096)])
            db.connection.executemany("INSERT INTO buffers VALUES (?,1,?,?,?,0,0)", [(number, *b) for b in held])
        db.close()
        peak = self.findings()["recording"]["memories"]["DRAM"]["peak_per_bank_B"]
        self.assertEqual(peak, 5001 * 4096)
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, 256 * 1024 if "asan" not in TTMEM else 1 << 30)


if __name__ == "__main__":
    unittest.main()
