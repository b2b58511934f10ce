#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is kept: `ttmem ls`, `open`, `rm`, `prune`, and names of reports and runs wherever a log is taken."""
import csv
import io
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile
import unittest

TTMEM = os.environ["TTMEM"]
SOURCE = pathlib.Path(os.environ["TTMEM_SOURCE"])
OOM_LOG = SOURCE / "tests/cli/data/two_runs_oom_profile.log"
SMALL_LOG = SOURCE / "tests/data/small.log"


class Keep(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.dir = pathlib.Path(self.folder.name).resolve()
        self.home = self.dir / "home"
        self.store = self.home / "reports"
        self.env = {k: v for k, v in os.environ.items() if k not in ("TTMEM_NO_HISTORY", "BROWSER", "DISPLAY")}
        self.env.update(TTMEM_HOME=str(self.home), LC_ALL="C.UTF-8", TERM="dumb")

    def tearDown(self):
        self.folder.cleanup()

    def run_it(self, *words, status=0, cwd=None, env=None):
        done = subprocess.run([TTMEM, *map(str, words)], capture_output=True, text=True, env={**self.env, **(env or {})}, cwd=cwd or self.dir)
        self.assertEqual(done.returncode, status, (words, done.stdout, done.stderr))
        return done

    def names(self):
        rows = csv.DictReader(io.StringIO(self.run_it("ls", "--csv").stdout))
        return [row["Report"] for row in rows]

    def store_some(self, n):
        """Reports r0, r1, ..., the last is the newest; a day apart."""
        for i in range(n):
            self.run_it("analyze", "-q", "--no-html", OOM_LOG, "--name", "r%d" % i, "--no-history")
            for file in (self.store / ("r%d" % i)).iterdir():
                os.utime(file, (1790000000 + i * 86400,) * 2)

    def test_ls(self):
        self.assertIn("None yet", self.run_it("ls").stdout)
        self.assertEqual(json.loads(self.run_it("ls", "--json").stdout)["sections"][0]["tables"][0]["rows"] if
                         json.loads(self.run_it("ls", "--json").stdout)["sections"] else [], [])
        self.store_some(3)
        self.assertEqual(self.names(), ["r2", "r1", "r0"])
        (row, *_) = json.loads(self.run_it("ls", "--json").stdout)["sections"][0]["tables"][0]["rows"]
        self.assertEqual(row["Report"], "r2")
        self.assertEqual(row["Size"], sum(f.stat().st_size for f in (self.store / "r2").iterdir()))
        self.assertIn("Out of memory", row["Failure"])
        self.assertIn("Out of", self.run_it("ls").stdout)

    def test_run_and_analyze_store_in_one_place(self):
        self.run_it("analyze", "-q", "--no-html", SMALL_LOG)
        self.run_it("run", "-q", "--no-html", "--name", "model", "--", "cat", OOM_LOG)
        run, small = self.names()
        self.assertEqual(small, "small")
        self.assertRegex(run, r"^model_\d{8}_\d{6}$")
        self.assertTrue((self.store / run / "model_profile.log").is_file())
        self.assertEqual((self.dir / "logs" / run).resolve(), self.store / run)  # where it always was, there is a link
        # a folder that the user names holds it itself
        self.run_it("run", "-q", "--no-html", "--name", "model", "-d", "mine", "--", "cat", OOM_LOG)
        (own,) = (self.dir / "mine").iterdir()
        self.assertFalse(own.is_symlink())
        self.assertEqual(len(self.names()), 2)
        # a home that takes nothing is no reason not to run
        self.run_it("run", "-q", "--no-html", "--name", "there", "--", "cat", OOM_LOG, env={"TTMEM_HOME": "/dev/null/home"})
        (there,) = (self.dir / "logs").glob("there_*")
        self.assertFalse(there.is_symlink())
        self.assertTrue((there / "there_findings.json").is_file())
        # a home that is a relative path
        self.run_it("run", "-q", "--no-html", "--name", "near", "--", "cat", OOM_LOG, env={"TTMEM_HOME": "near-home"})
        (near,) = (self.dir / "logs").glob("near_*")
        self.assertEqual(near.resolve().parent, self.dir / "near-home/reports")
        # nothing ran, nothing is left
        before = sorted(self.store.iterdir()), sorted((self.dir / "logs").iterdir())
        self.run_it("run", "--", "no-such-program-anywhere", status=2)
        self.assertEqual((sorted(self.store.iterdir()), sorted((self.dir / "logs").iterdir())), before)

    def test_names_stand_for_logs(self):
        log = self.dir / "llama-small.log"
        shutil.copy(OOM_LOG, log)
        self.run_it("analyze", "-q", "--no-html", log)
        self.run_it("run", "-q", "--no-html", "--name", "model", "--", "cat", SMALL_LOG)
        elsewhere = self.dir / "elsewhere"
        elsewhere.mkdir()
        direct = self.run_it("ask", log, "--at-peak").stdout
        runs = dict(sqlite3.connect(self.home / "history.sqlite").execute("SELECT name, run FROM run"))
        self.assertEqual(self.run_it("ask", "llama-small", "--at-peak", cwd=elsewhere).stdout, direct)
        for name in (runs["llama-small"], runs["llama-small"][:-3]):
            self.assertEqual(self.run_it("ask", name, "--at-peak", cwd=elsewhere).stdout, direct, name)
        of_model = self.run_it("ask", SMALL_LOG, "--at-peak").stdout
        for name in ("model", runs["model"]):
            self.assertEqual(self.run_it("ask", name, "--at-peak", cwd=elsewhere).stdout, of_model)
        for words in (["diff", "llama-small", "model"], ["fit", "model"], ["export", "--csv", "llama-small", "--table", "states", "-o", "-"], ["html", "model", "-o", "x.html"],
                      ["--llm", "model"], ["verify", "llama-small", "--change", "board=p150"], ["doctor", "model"], ["analyze", "-q", "--no-html", "llama-small"]):
            done = subprocess.run([TTMEM, *words], capture_output=True, text=True, env=self.env, cwd=elsewhere)
            self.assertIn(done.returncode, (0, 1), (words, done.stderr))
        # a file of that name comes first
        shutil.copy(SMALL_LOG, elsewhere / "llama-small")
        self.assertEqual(self.run_it("ask", "llama-small", "--at-peak", cwd=elsewhere).stdout, of_model)
        # the log is gone: the report answers
        (elsewhere / "llama-small").unlink()
        log.unlink()
        done = self.run_it("ask", "llama-small", "--op", "3", cwd=elsewhere)
        self.assertIn("answered from the report's files", done.stderr)
        self.assertIn("no-such-name", self.run_it("ask", "no-such-name", "--at-peak", status=2).stderr)
        self.assertIn("several runs", self.run_it("ask", "20", "--at-peak", status=2).stderr)

    def test_open(self):
        self.run_it("analyze", "-q", OOM_LOG, "--name", "r")
        page = str(self.store / "r/r_report.html")
        browser = self.dir / "browser"
        browser.write_text('#!/bin/sh\necho "$@" >%s/asked\n' % self.dir)
        browser.chmod(0o755)
        self.assertEqual(self.run_it("open", "r", env={"BROWSER": str(browser)}).stdout, "opened %s\n" % page)
        self.assertEqual((self.dir / "asked").read_text(), page + "\n")
        self.assertIn(page, self.run_it("open", "r", env={"BROWSER": "/nowhere/browser"}).stdout)
        self.assertIn(page, self.run_it("open", self.store / "r", env={"BROWSER": "/nowhere/browser"}).stdout)
        os.unlink(page)
        self.assertIn("ttmem html r", self.run_it("open", "r", status=2).stderr)
        self.run_it("open", "nothing", status=2)
        self.run_it("open", status=2)

    def test_rm(self):
        self.store_some(2)
        self.assertEqual(self.run_it("rm", "--dry-run", "r0").stdout, "would delete r0\n")
        self.assertEqual(self.run_it("rm", "r0").stdout, "deleted r0\n")
        self.assertFalse((self.store / "r0").exists())
        self.assertEqual(self.names(), ["r1"])
        (self.store / "r1/notes.txt").write_text("mine")
        self.run_it("rm", "r1")
        self.assertEqual(os.listdir(self.store / "r1"), ["notes.txt"])
        self.assertTrue(OOM_LOG.exists())
        for bad in ("../home", "/", "nothing", ".", "r1/notes.txt"):
            self.run_it("rm", bad, status=2)
        self.assertEqual((self.store / "r1/notes.txt").read_text(), "mine")

    def test_rm_of_a_run(self):
        self.run_it("run", "-q", "--no-html", "--name", "model", "--", "cat", OOM_LOG)
        (folder,) = self.names()
        self.run_it("rm", folder)
        self.assertEqual(os.listdir(self.store), [])
        (run,) = sqlite3.connect(self.home / "history.sqlite").execute("SELECT run FROM run").fetchone()
        self.run_it("rm", "model", status=2)  # a model is many runs
        self.assertEqual(self.run_it("rm", "--dry-run", run).stdout, "would forget run %s\n" % run)
        self.assertEqual(self.run_it("rm", run[:20]).stdout, "forgot run %s\n" % run)
        db = sqlite3.connect(self.home / "history.sqlite")
        for table in ("run", "peak", "statement", "live_at_peak"):
            self.assertEqual(db.execute("SELECT count(*) FROM %s" % table).fetchone(), (0,))

    def test_prune(self):
        self.store_some(6)
        self.assertEqual(self.run_it("prune", "--keep", "4", "--dry-run").stdout, "would delete r1\nwould delete r0\n")
        self.assertEqual(len(self.names()), 6)
        self.run_it("prune", "--keep", "5")
        self.assertEqual(self.names(), ["r5", "r4", "r3", "r2", "r1"])
        one = sum(f.stat().st_size for f in (self.store / "r5").iterdir())
        self.run_it("prune", "--keep", "%.6fMB" % (3.5 * one / 2**20))
        self.assertEqual(self.names(), ["r5", "r4", "r3"])
        self.run_it("prune", "--keep", "2026-09-25")  # the day of r4
        self.assertEqual(self.names(), ["r5", "r4"])
        self.run_it("prune", "--keep", "1h")
        self.assertEqual(self.names(), [])
        self.run_it("prune", status=2)
        for bad in ("x", "-1", "1.5", "5TB", ""):
            self.run_it("prune", "--keep", bad, status=2)


if __name__ == "__main__":
    unittest.main()
