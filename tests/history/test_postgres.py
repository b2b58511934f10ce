#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The history on a real PostgreSQL server: the same rows and answers as SQLite, many writers, roles that may do no more than they must."""
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

TTMEM = os.environ["TTMEM"]
SOURCE = pathlib.Path(os.environ["TTMEM_SOURCE"])
OOM_LOG = SOURCE / "tests/cli/data/two_runs_oom_profile.log"
SMALL_LOG = SOURCE / "tests/data/small.log"
TRAIN_LOG = SOURCE / "tests/cli/data/tinyllama_train.log"
sys.path.insert(0, str(SOURCE / "tests"))
sys.path.insert(0, str(SOURCE / "tests/history"))
from server import Server, programs  # noqa: E402
from test_history import DAY, START, write_log  # noqa: E402

TABLES = ("run", "device", "peak", "program", "operation_effect", "live_at_peak", "statement")


class Postgres(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.dir = pathlib.Path(self.folder.name)
        self.env = {k: v for k, v in os.environ.items() if k not in ("TTMEM_NO_HISTORY", "TTMEM_STORE", "GITHUB_SHA", "CI_COMMIT_SHA", "TTMEM_COMMIT")}
        self.env.update(TTMEM_HOME=str(self.dir / "home"), LC_ALL="C.UTF-8", TERM="dumb")
        self.server.sql("DROP SCHEMA IF EXISTS ttmem CASCADE")
        self.url = self.server.url()

    def tearDown(self):
        self.folder.cleanup()

    def run_it(self, *words, status=0, env=None, **more):
        done = subprocess.run([TTMEM, *map(str, words)], capture_output=True, text=True, env={**self.env, **(env or {})}, cwd=self.dir, **more)
        self.assertEqual(done.returncode, status, (words, done.stdout, done.stderr))
        return done

    def count(self, table="run"):
        return int(self.server.sql("SELECT count(*) FROM ttmem.%s" % table))

    def fill(self, *store):
        for i, mb in enumerate([200] * 5 + [230] * 4):
            path = write_log(self.dir / ("llama_%08d.log" % i), mb, START + i * DAY, extra=3 if i == 8 else 0)
            self.run_it("analyze", "-q", "--no-html", path, *store, env={"TTMEM_COMMIT": "%040x" % i})
        self.run_it("analyze", "-q", "--no-html", OOM_LOG, *store)
        self.run_it("train", "--logs", TRAIN_LOG, *store)
        self.run_it("fit", OOM_LOG, *store)

    def test_the_same_as_sqlite(self):
        self.fill()
        self.fill("--store", self.url)
        db = sqlite3.connect(self.dir / "home/history.sqlite")
        for table in TABLES:
            columns = [row[1] for row in db.execute("PRAGMA table_info(%s)" % table)]
            names = ", ".join(columns)
            ours = ["|".join("" if c is None else str(c) for c in row).split("\n") for row in db.execute("SELECT %s FROM %s ORDER BY 1, 2, 3" % (names, table))]
            theirs = self.server.sql("SELECT %s FROM ttmem.%s ORDER BY 1, 2, 3" % (names, table)).split("\n")
            self.assertEqual([line for row in ours for line in row], theirs, table)
        for words in ([], ["llama"], ["llama", "--json"], ["--json"], ["--csv"], ["*oom*", "--board", "n150", "--json"], ["--since", "2026-09-24", "--json"]):
            local = self.run_it("history", *words).stdout
            self.assertEqual(self.run_it("history", *words, "--store", self.url).stdout, local)
            self.assertEqual(self.run_it("history", *words, env={"TTMEM_STORE": self.url}).stdout, local)
        bisect = self.run_it("history", "bisect", "llama", status=1).stdout
        self.assertEqual(self.run_it("history", "bisect", "llama", "--store", self.url, status=1).stdout, bisect)
        self.assertEqual(self.server.sql("SELECT max(version) FROM ttmem.schema_version"), "2")

    def test_store_of_the_environment(self):
        env = {"TTMEM_STORE": self.url}
        self.run_it("analyze", "-q", "--no-html", SMALL_LOG, env=env)
        self.run_it("analyze", "-q", "--no-html", SMALL_LOG, env=env)  # the same run again
        self.assertEqual(self.count(), 1)
        self.assertFalse((self.dir / "home/history.sqlite").exists())
        self.run_it("ask", "small", "--at-peak", env=env)
        self.run_it("analyze", "-q", "--no-html", SMALL_LOG, "--no-history", "--name", "x", env=env)
        self.assertEqual(self.count(), 1)

    def start(self, name):
        with open(SMALL_LOG) as log:
            return subprocess.Popen([TTMEM, "analyze", "-q", "--no-html", "--name", name, "--store", self.url, "-"], stdin=log, stderr=subprocess.PIPE, env=self.env)

    def test_many_writers(self):
        """32 at once, who also race to make the tables."""
        for child in [self.start("w%d" % i) for i in range(32)]:
            err = child.communicate()[1]
            self.assertEqual((child.returncode, err), (0, b""))
        self.assertEqual(self.count(), 32)
        whole = self.server.sql("SELECT count(DISTINCT n) FROM (SELECT count(*) n FROM ttmem.statement GROUP BY run) s")
        self.assertEqual(whole, "1")

    def test_killed_writers(self):
        self.start("first").communicate()
        for i in range(20):
            child = self.start("k%d" % i)
            time.sleep(0.004 * i)
            child.send_signal(signal.SIGKILL)
            child.communicate()
        self.start("last").communicate()
        self.assertEqual(self.server.sql("SELECT count(DISTINCT n) FROM (SELECT count(*) n FROM ttmem.statement GROUP BY run) s"), "1")
        self.assertEqual(self.server.sql("SELECT count(*) FROM ttmem.statement WHERE run NOT IN (SELECT run FROM ttmem.run)"), "0")
        self.assertEqual(self.server.sql("SELECT count(*) FROM ttmem.run WHERE name = 'last'"), "1")

    def test_least_privilege(self):
        """The roles of docs/history.md, word for word."""
        text = (SOURCE / "docs/history.md").read_text()
        self.run_it("analyze", "-q", "--no-html", SMALL_LOG, "--store", self.url)
        self.server.sql("DROP ROLE IF EXISTS ttmem_writer; DROP ROLE IF EXISTS ttmem_reader")
        roles = text[text.index("CREATE ROLE ttmem_writer") :]
        self.server.sql(roles[: roles.index("```")])
        writer, reader = self.server.url("ttmem_writer"), self.server.url("ttmem_reader")
        self.run_it("analyze", "-q", "--no-html", OOM_LOG, "--store", writer)
        self.assertEqual(self.count(), 2)
        self.assertIn("two-runs-oom", self.run_it("history", "--store", reader).stdout)
        done = self.run_it("analyze", "--no-html", OOM_LOG, "--name", "z", "--store", reader)
        self.assertIn("permission denied", done.stderr)
        for forbidden in ("DROP TABLE ttmem.run", "TRUNCATE ttmem.run", "CREATE TABLE ttmem.x(a int)", "UPDATE ttmem.run SET model = ''"):
            with self.assertRaises(subprocess.CalledProcessError):
                self.server.sql(forbidden, user="ttmem_writer")
        self.server.sql("DROP OWNED BY ttmem_writer, ttmem_reader; DROP ROLE ttmem_writer; DROP ROLE ttmem_reader")

    def test_no_server(self):
        """A note without the password; the report and the exit status are the same."""
        for url in ("postgres://me:sesame@/history?host=/nowhere", "postgres://me:sesame@127.0.0.1:1/history", "postgres:///history?host=/nowhere&password=sesame"):
            done = self.run_it("analyze", "--no-html", OOM_LOG, "--store", url)
            self.assertIn("not in the history", done.stderr)
            self.assertNotIn("sesame", done.stderr)
            self.assertTrue(done.stdout.startswith("Log "))
            self.assertNotIn("sesame", self.run_it("history", "--store", url, status=2).stderr)
        self.assertIn("holds no runs", self.run_it("history", "--store", self.url, status=2).stderr)

    def test_hostile_texts(self):
        """Whatever names hold, rows are rows."""
        name = "a\\N'; DROP TABLE run; -- \\t\\\\x ü"
        path = self.dir / "odd\tname\nwith\\lines.log"
        path.write_bytes(SMALL_LOG.read_bytes())
        self.run_it("analyze", "-q", "--no-html", path, "--name", name, "--model", name, "--store", self.url)
        told = json.loads(self.run_it("history", name, "--json", "--store", self.url).stdout)["series"]
        self.assertEqual(told[0]["model"], name)
        self.assertEqual(told[0]["runs"][0]["source"], str(path.resolve()))

    def test_tables_of_a_later_ttmem(self):
        self.run_it("analyze", "-q", "--no-html", SMALL_LOG, "--store", self.url)
        self.server.sql("INSERT INTO ttmem.schema_version VALUES(99)")
        self.assertIn("later ttmem", self.run_it("analyze", "--no-html", OOM_LOG, "--store", self.url).stderr)
        self.assertIn("later ttmem", self.run_it("history", "--store", self.url, status=2).stderr)


if __name__ == "__main__":
    if not os.path.exists(os.path.join(programs(), "initdb")):
        print("SKIPPED: no PostgreSQL server here (apt-get install postgresql)")
        sys.exit(77)
    unittest.main()
