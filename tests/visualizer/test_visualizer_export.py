#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`ttmem export --visualizer`: the folder, and that reading it again gives the same memory. ttnn-visualizer itself is asked by
test_visualizer_client.py."""
import glob
import hashlib
import json
import os
import pathlib
import sqlite3
import subprocess
import tempfile
import unittest

TTMEM = os.environ["TTMEM"]
DATA = pathlib.Path(os.environ["TTMEM_SOURCE"]) / "tests" / "data"
DEMO = pathlib.Path(os.environ["TTMEM_SOURCE"]) / "demo"


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.out = self.folder.name + "/report"
        self.env = dict(os.environ, TTMEM_HOME=self.folder.name + "/home")

    def ttmem(self, *words, status=0):
        done = subprocess.run([TTMEM, *map(str, words)], capture_output=True, text=True, env=self.env, timeout=600)
        self.assertEqual(done.returncode, status, f"{words}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done

    def export(self, source, **more):
        return self.ttmem("export", "--visualizer", self.out, source, **more)

    def findings(self, what, name):
        folder = f"{self.folder.name}/{name}"
        self.ttmem("analyze", "-q", "--no-html", "--no-history", "-d", folder, what)
        return json.loads(pathlib.Path(glob.glob(folder + "/*_findings.json")[0]).read_text())

    def rows(self, sql):
        connection = sqlite3.connect(self.out + "/db.sqlite")
        found = connection.execute(sql).fetchall()
        connection.close()
        return found


class RoundTrip(Case):
    def peaks(self, findings):
        """Per bank, as the input prints them: a log to 0.001 MB."""
        return {memory: peak["allocated_per_bank_MB"] for memory, peak in findings["peak"].items() if peak.get("allocated_per_bank_MB")}

    def test_logs_and_captures(self):
        for source in (DATA / "small.log", DEMO / "llama_small.log.zst", DATA / "capture_small.json"):
            with self.subTest(source.name):
                before = self.findings(source, "before-" + source.name)
                self.export(source)
                after = self.findings(self.out, "after-" + source.name)
                self.assertEqual(set(self.peaks(before)), set(self.peaks(after)))
                for memory, peak in self.peaks(before).items():
                    self.assertAlmostEqual(peak, self.peaks(after)[memory], delta=0.0011)
                self.assertEqual([i["verdict"] for i in before["incidents"]], [i["verdict"] for i in after["incidents"]])

    def test_recordings_to_the_byte(self):
        for source in sorted(DATA.glob("recording_*.json")):
            with self.subTest(source.name):
                before = self.findings(source, "before-" + source.name)["recording"]
                self.export(source)
                after = self.findings(self.out, "after-" + source.name)["recording"]
                for memory in before["memories"]:
                    self.assertEqual(before["memories"][memory]["peak_per_bank_B"], after["memories"][memory]["peak_per_bank_B"], memory)
                for key in ("fullest_B", "tensors_B", "l1_small_B", "circular_buffers_B", "dataflow_buffers_B", "scratchpads_B", "programs", "programs_without_buffers"):
                    self.assertEqual(before["l1_per_core"][key], after["l1_per_core"][key], key)

    def test_a_database_again(self):
        import database

        path = self.folder.name + "/db.sqlite"
        database.small(path).close()
        before = self.findings(path, "before")["recording"]
        self.export(path)
        after = self.findings(self.out, "after")["recording"]
        self.assertEqual(before["memories"]["DRAM"]["peak_per_bank_B"], after["memories"]["DRAM"]["peak_per_bank_B"])
        self.assertEqual(before["l1_per_core"]["fullest_B"], after["l1_per_core"]["fullest_B"])


class Folder(Case):
    def test_the_same_bytes_again(self):
        hashes = set()
        for _ in range(2):
            self.export(DATA / "capture_small.json")
            hashes.add(hashlib.sha256(pathlib.Path(self.out, "db.sqlite").read_bytes()).hexdigest())
        self.assertEqual(len(hashes), 1)
        self.assertEqual(sorted(os.listdir(self.out)), ["config.json", "db.sqlite"])
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["report"])

    def test_what_is_not_ours_stays(self):
        os.mkdir(self.out)
        sqlite3.connect(self.out + "/db.sqlite").execute("CREATE TABLE operations (operation_id int)")
        pathlib.Path(self.out, "config.json").write_text('{"report_name": "of ttnn"}')
        self.assertIn("ttmem did not write", self.export(DATA / "small.log", status=2).stderr)
        self.assertEqual(pathlib.Path(self.out, "config.json").read_text(), '{"report_name": "of ttnn"}')
        other = self.folder.name + "/other"
        os.mkdir(other)
        pathlib.Path(other, "thesis.txt").write_text("x")
        self.ttmem("export", "--visualizer", other, DATA / "small.log", status=2)
        self.assertEqual(os.listdir(other), ["thesis.txt"])

    def test_not_onto_its_input(self):
        self.export(DATA / "capture_small.json")
        before = pathlib.Path(self.out, "db.sqlite").read_bytes()
        self.assertIn("is the input", self.export(self.out, status=2).stderr)
        self.assertEqual(pathlib.Path(self.out, "db.sqlite").read_bytes(), before)

    def test_no_place(self):
        pathlib.Path(self.folder.name, "file").write_text("")
        self.ttmem("export", "--visualizer", self.folder.name + "/file/report", DATA / "small.log", status=2)

    def test_what_is_in_it(self):
        self.export(DEMO / "llama_small.log.zst")
        self.assertEqual(self.rows("SELECT value FROM report_metadata WHERE key='schema_version'"), [("3.5",)])
        self.assertEqual(self.rows("SELECT count(*) FROM operations WHERE operation_id NOT IN (SELECT operation_id FROM captured_graph)"), [(0,)])
        self.assertEqual(self.rows("SELECT count(*) FROM input_tensors WHERE tensor_id NOT IN (SELECT tensor_id FROM tensors)"), [(0,)])
        self.assertEqual(self.rows("SELECT count(*) FROM output_tensors WHERE tensor_id NOT IN (SELECT tensor_id FROM tensors)"), [(0,)])
        for (graph,) in self.rows("SELECT captured_graph FROM captured_graph"):
            self.assertEqual([node["counter"] for node in json.loads(graph)], list(range(len(json.loads(graph)))))


if __name__ == "__main__":
    unittest.main()
