#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The history of a fleet as Parquet files, and the questions of examples/history: the same answers from DuckDB, ClickHouse, Spark, SQLite and PostgreSQL. `make test` has
DuckDB; ClickHouse (chdb) and Spark are used where `make test-clients` brought them (TTMEM_CLIENTS). TTMEM_FLEET_RUNS says how many runs (default 600; `make test-fleet`: 100,000).
Above MANY the engines read what DuckDB has put together month by month, as docs/history.md says: a hundred thousand small files take each of them minutes for every question."""
import glob
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

TTMEM = os.environ["TTMEM"]
SOURCE = pathlib.Path(os.environ["TTMEM_SOURCE"])
GEN_HISTORY = pathlib.Path(os.environ["GEN_LOG"]).with_name("gen_history")
CLIENTS = pathlib.Path(os.environ.get("TTMEM_CLIENTS", "/nowhere"))
PYTHON = CLIENTS / "venv/bin/python" if CLIENTS.is_dir() else SOURCE / "build/pytools/bin/python"
RUNS = int(os.environ.get("TTMEM_FLEET_RUNS", "600"))
MANY = 10000
OOM_LOG = SOURCE / "tests/cli/data/two_runs_oom_profile.log"
QUERIES = {pathlib.Path(p).stem: pathlib.Path(p).read_text() for p in sorted(glob.glob(str(SOURCE / "examples/history/*.sql")))}
TABLES = ("run", "device", "peak", "program", "operation_effect", "live_at_peak", "statement")
sys.path.insert(0, str(SOURCE / "tests/history"))
from server import Server, programs  # noqa: E402

# Each prints a JSON object: the rows of every question, and the seconds it took. Views as in examples/history/README.md.
HEAD = """
import json, sys, time
folder, tables, queries = sys.argv[1], json.loads(sys.argv[2]), json.load(sys.stdin)
answers, took = {}, {}
def ask(run):
    for name, sql in queries.items():
        began = time.monotonic()
        answers[name] = [list(row) for row in run(sql)]
        took[name] = time.monotonic() - began
    print(json.dumps([answers, took]))
"""
ENGINES = {
    "compact": """
import duckdb, json, os, sys
duckdb.sql("SET enable_progress_bar = false")
folder, tables, target = sys.argv[1], json.loads(sys.argv[2]), sys.argv[1] + ".months"
for t in tables:
    os.makedirs(f"{target}/{t}")
    for month in sorted({d[5:12] for d in os.listdir(f"{folder}/{t}")}):
        duckdb.sql(f"COPY (SELECT * FROM read_parquet('{folder}/{t}/date={month}-*/**/*.parquet', hive_partitioning = false)) TO '{target}/{t}/{month}.parquet'")
""",
    "duckdb": HEAD + """
import duckdb
duckdb.sql("SET enable_progress_bar = false")
for t in tables:
    duckdb.sql(f"CREATE VIEW {t} AS SELECT * FROM read_parquet('{folder}/{t}/**/*.parquet', hive_partitioning = false)")
ask(lambda sql: duckdb.sql(sql).fetchall())
""",
    "chdb": HEAD + """
from chdb.session import Session
s = Session()
s.query("CREATE DATABASE d")
s.query("USE d")
for t in tables:
    s.query(f"CREATE VIEW {t} AS SELECT * FROM file('{folder}/{t}/**/*.parquet', Parquet)")
def run(sql):
    text = str(s.query(sql, "JSONCompactEachRow"))
    return [[int(v) if isinstance(v, str) and v.lstrip("-").isdigit() else v for v in json.loads(line)] for line in text.splitlines()]
ask(run)
""",
    "pyspark": HEAD + """
from pyspark.sql import SparkSession
s = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "4").getOrCreate()
s.sparkContext.setLogLevel("ERROR")
for t in tables:
    s.sql(f"CREATE TEMPORARY VIEW {t} USING parquet OPTIONS (path '{folder}/{t}', recursiveFileLookup 'true')")
ask(lambda sql: s.sql(sql).collect())
""",
}


def has(module):
    return PYTHON.exists() and subprocess.run([PYTHON, "-c", "import " + module], capture_output=True).returncode == 0


class Fleet(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.dir = pathlib.Path(cls.folder.name)
        cls.file = cls.dir / "history.sqlite"
        cls.fleet = cls.dir / "fleet"
        for store in (cls.file, cls.fleet):
            began = time.monotonic()
            subprocess.run([GEN_HISTORY, store, str(RUNS)], check=True)
            cls.tell_size(store, began)
        if RUNS > MANY and has("duckdb"):
            began = time.monotonic()
            subprocess.run([PYTHON, "-c", ENGINES["compact"], cls.fleet, json.dumps(TABLES)], check=True)
            cls.fleet = cls.dir / "fleet.months"
            cls.tell_size(cls.fleet, began)
        db = sqlite3.connect(cls.file)
        cls.wanted = {}
        for name, sql in QUERIES.items():
            began = time.monotonic()
            cls.wanted[name] = [list(row) for row in db.execute(sql)]
            print("sqlite %s: %.0f ms" % (name, 1000 * (time.monotonic() - began)))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @staticmethod
    def tell_size(store, began):
        took = time.monotonic() - began
        files = [store] if store.is_file() else list(store.rglob("*.parquet"))
        print("%s: %d runs in %.1f s, %d files, %.1f MB" % (store.name, RUNS, took, len(files), sum(p.stat().st_size for p in files) / 2**20))

    def check(self, engine, answers):
        for name, rows in self.wanted.items():
            self.assertTrue(rows, name)
            self.assertEqual(answers[name], rows, (engine, name))

    def engine(self, name, module):
        if not has(module):
            self.skipTest("%s is not in %s (make test-clients brings it)" % (module, PYTHON.parent))
        done = subprocess.run([PYTHON, "-c", ENGINES[name], self.fleet, json.dumps(TABLES)], input=json.dumps(QUERIES), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        answers, took = json.loads(done.stdout.splitlines()[-1])
        print("%s: %s" % (name, ", ".join("%s %.0f ms" % (q, 1000 * s) for q, s in took.items())))
        self.check(name, answers)

    def test_duckdb(self):
        self.engine("duckdb", "duckdb")

    def test_clickhouse(self):
        self.engine("chdb", "chdb")

    def test_spark(self):
        self.engine("pyspark", "pyspark")

    def test_postgres(self):
        if not os.path.exists(os.path.join(programs(), "initdb")):
            self.skipTest("no PostgreSQL server here")
        server = Server()
        try:
            began, answers = time.monotonic(), {}
            subprocess.run([GEN_HISTORY, server.url(), str(RUNS)], check=True)
            size = int(server.sql("SELECT pg_database_size('history')")) / 2**20
            print("postgres: %d runs in %.1f s, %.1f MB" % (RUNS, time.monotonic() - began, size))
            for name, sql in QUERIES.items():
                began = time.monotonic()
                text = server.sql("SET search_path = ttmem; " + sql).split("\n")
                rows = [line.split("|") for line in text if line and line != "SET"]
                answers[name] = [[int(v) if v.isdigit() else v for v in row] for row in rows]
                print("postgres %s: %.0f ms" % (name, 1000 * (time.monotonic() - began)))
            self.check("postgres", answers)
        finally:
            server.stop()

    def test_every_column_of_a_real_run(self):
        """What `ttmem analyze` writes as Parquet is what it writes into SQLite, null for null."""
        if not has("duckdb"):
            self.skipTest("duckdb is not in %s" % PYTHON.parent)
        env = {**os.environ, "TTMEM_HOME": str(self.dir / "home"), "TTMEM_NO_HISTORY": ""}
        real = self.dir / "real"
        for store in ([], ["--store", str(real)]):
            for words in (["analyze", "-q", "--no-html", OOM_LOG, "--model", "a/b=c d.ü"], ["fit", OOM_LOG]):
                subprocess.run([TTMEM, *words, *store], check=True, env=env, stdout=subprocess.DEVNULL)
        db = sqlite3.connect(self.dir / "home/history.sqlite")
        queries = {t: "SELECT * FROM %s ORDER BY 1, 2, 3" % t for t in TABLES}
        done = subprocess.run([PYTHON, "-c", ENGINES["duckdb"], real, json.dumps(TABLES)], input=json.dumps(queries), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        answers = json.loads(done.stdout.splitlines()[-1])[0]
        for table, sql in queries.items():
            self.assertEqual(answers[table], [list(row) for row in db.execute(sql)], table)
        (path,) = (real / "run").glob("date=*/model=a%2Fb%3Dc%20d.%C3%BC/board=n150/*.parquet")
        self.assertEqual([p for p in real.rglob("*") if p.is_file() and p.suffix != ".parquet"], [])
        before = path.read_bytes()
        subprocess.run([TTMEM, "analyze", "-q", "--no-html", OOM_LOG, "--model", "a/b=c d.ü", "--store", str(real)], check=True, env=env)
        self.assertEqual(path.read_bytes(), before)  # the same run: the same file
        done = subprocess.run([TTMEM, "history", "--store", str(real)], env=env, capture_output=True, text=True)
        self.assertEqual((done.returncode, "only writes" in done.stderr), (2, True))
        done = subprocess.run([TTMEM, "analyze", "--no-html", OOM_LOG, "--store", "/dev/null/fleet"], env=env, capture_output=True, text=True)
        self.assertEqual((done.returncode, "not in the history" in done.stderr), (0, True))


if __name__ == "__main__":
    unittest.main()
