#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The history in the browser's language: search, pages, trends, two runs compared, hostile texts, tokens, 100,000 runs in time; the same pages from SQLite and PostgreSQL."""
import html
import http.client
import json
import os
import pathlib
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

TTMEM = os.environ["TTMEM"]
SOURCE = pathlib.Path(os.environ["TTMEM_SOURCE"])
GEN_HISTORY = pathlib.Path(os.environ["GEN_LOG"]).with_name("gen_history")
OOM_LOG = SOURCE / "tests/cli/data/two_runs_oom_profile.log"
RUNS = 120
MANY = 100000
EVIL = "<script>alert(1)</script>\"'&<img src=x onerror=alert(2)>"
sys.path.insert(0, str(SOURCE / "tests/history"))
from server import Server as Postgres, programs  # noqa: E402


class Site:
    def __init__(self, *args, home, **env):
        env = {**os.environ, "TTMEM_HOME": str(home), "TTMEM_SHM_DIR": str(home), **env}
        if "--token" not in args and "TTMEM_TOKEN" not in env:
            args = ("--no-token", *args)
        self.process = subprocess.Popen([TTMEM, "serve", "--port", "0", *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            raise RuntimeError(self.process.communicate()[1])
        self.port = int(self.url.split(":")[2].split("/")[0])
        self.base = "/" + self.url.split("/", 3)[3]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=60)

    def processor_time(self):
        fields = pathlib.Path("/proc/%d/stat" % self.process.pid).read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def get(self, path="", status=200, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", (self.base if not path.startswith("/") else "") + path, headers=headers or {})
        answer = connection.getresponse()
        body = answer.read().decode()
        connection.close()
        if answer.status != status:
            raise AssertionError("%s gives %d: %s" % (path, answer.status, body[-400:]))
        self.headers = answer.headers
        return body


def rows(page):
    """The ids of the runs that a page lists."""
    return re.findall(r'<tr><td class="k" data-of="Run"><a href="run\?a=([^&"]*)', page)


def query(**words):
    return "?" + urllib.parse.urlencode(words)


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.dir = pathlib.Path(cls.folder.name)
        cls.home = cls.dir / "home"
        cls.home.mkdir()
        cls.store = cls.dir / "h.sqlite"
        subprocess.run([GEN_HISTORY, cls.store, str(RUNS)], check=True)
        cls.db = sqlite3.connect(cls.store)
        cls.site = Site("--store", cls.store, home=cls.home)

    @classmethod
    def tearDownClass(cls):
        cls.site.__exit__()
        cls.folder.cleanup()

    def copy(self, name):
        """The store once more, to be changed."""
        target = self.dir / name
        copy = sqlite3.connect(target)
        self.db.backup(copy)
        copy.execute("PRAGMA journal_mode=WAL")
        return target, copy

    def test_pages_hold_every_run_once(self):
        wanted = [r for (r,) in self.db.execute("SELECT run FROM run ORDER BY time_us DESC, run DESC")]
        found = []
        for page in ("1", "2", "3"):
            text = self.site.get(query(page=page))
            found += rows(text)
        self.assertEqual(found, wanted)
        self.assertIn("1 to 50 of 120 runs, newest first", self.site.get())
        self.assertIn("101 to 120 of 120 runs", text)
        self.assertIn('<span class="dim">older</span>', text)
        self.assertEqual(rows(self.site.get(query(page="4"))), [])
        for odd in ("0", "-1", "x", "1e3", "99999999999999999999", "1;drop"):
            self.assertEqual(rows(self.site.get(query(page=odd))), wanted[:50], odd)

    def test_search(self):
        model, board = self.db.execute("SELECT model, board FROM run LIMIT 1").fetchone()
        wanted = {r for (r,) in self.db.execute("SELECT run FROM run WHERE model = ? AND board = ?", (model, board))}
        for words in (model + " " + board, board + "  " + model, model.upper() + " " + board.upper(), " %s %s run analyze HOST " % (model, board)):
            self.assertEqual(set(rows(self.site.get(query(q=words)))), wanted, words)
        commit = self.db.execute("SELECT git_commit FROM run ORDER BY time_us LIMIT 1").fetchone()[0]
        self.assertEqual(len(rows(self.site.get(query(q=commit[3:20])))), 20)
        failed = [r for (r,) in self.db.execute("SELECT run FROM run WHERE failures > 0 ORDER BY time_us DESC, run DESC")]
        self.assertTrue(failed)
        self.assertEqual(rows(self.site.get(query(q="out of MEMORY"))), failed)
        self.assertIn("Out of memory in DRAM", self.site.get(query(q="out of memory")))
        page = self.site.get(query(q="model", page="2"))
        self.assertIn('href="./?q=model&amp;page=1"', page)

    def test_search_is_no_sql_and_no_pattern(self):
        for words in ("%", "_", "!", "'", "' OR 1=1 --", "\"; DROP TABLE run; --", "$1", "?1", "*", "\\", "no%such", "m_del", "\x01", "🦄", "x" * 5000, "model " * 15 + "nothing"):
            page = self.site.get(query(q=words))
            self.assertEqual(rows(page), [], words)
            self.assertIn("0 runs, newest first", page)
        self.assertEqual(self.db.execute("SELECT count(*) FROM run").fetchone()[0], RUNS)
        self.site.get("?q=%ff%fe")
        self.assertEqual(len(rows(self.site.get("?q="))), 50)
        self.assertEqual(len(rows(self.site.get("?q=+++"))), 50)

    def test_models_and_trend(self):
        wanted = self.db.execute("SELECT model, board, count(*) FROM run GROUP BY 1, 2").fetchall()
        page = self.site.get("models")
        self.assertEqual(page.count("<tr><td data-of"), len(wanted))
        model, board, count = max(wanted, key=lambda row: row[2])
        self.assertIn('<a href="trend?model=%s&amp;board=%s&amp;">%s</a>' % (model, board, model), page)
        self.assertIn("1 to 1 of 1 model,", self.site.get("models" + query(q=model + " " + board)))
        trend = self.site.get("trend" + query(model=model, board=board))
        self.assertIn("<h1>%s on %s</h1>" % (model, board), trend)
        self.assertIn("Method: run, %d runs" % count, trend)
        self.assertEqual(trend.count("<figure>"), 2)  # DRAM and L1
        self.assertEqual(trend.count('class="dot'), 2 * count)
        told = subprocess.run([TTMEM, "history", model, "--board", board, "--store", self.store, "--json"], check=True, capture_output=True, text=True)
        for statement in json.loads(told.stdout)["series"][0]["statements"]:
            self.assertIn(html.escape(statement["headline"]).replace("&#x27;", "&#39;"), trend)
        for wrong in (query(model="none", board=board), query(model=model, board="none"), query(model="*", board=board), "", query(model=model)):
            self.site.get("trend" + wrong, status=404)

    def test_one_and_two(self):
        a, b = [r for (r,) in self.db.execute("SELECT run FROM run ORDER BY time_us LIMIT 2")]
        peaks = [self.db.execute("SELECT peak_bytes FROM peak WHERE run = ? AND memory = 'DRAM'", (r,)).fetchone()[0] for r in (a, b)]
        one = self.site.get("run" + query(a=a))
        self.assertIn(a, one)
        self.assertIn("A sentence of some length that tells what it was.", one)
        self.assertIn('href="./?from=' + a, one)
        chosen = self.site.get(query(**{"from": a}))
        self.assertIn('href="run?a=%s&amp;b=' % a, chosen)
        self.assertIn('name="from" value="%s"' % a, chosen)
        self.assertIn("from=%s&amp;page=2" % a, chosen)
        two = self.site.get("run" + query(a=a, b=b))
        word = "higher" if peaks[1] > peaks[0] else "lower"
        self.assertRegex(two, r"DRAM peak is [0-9,.]+ MB %s per bank \([+-][0-9.]+ %%\), [0-9,.]+ MB instead of [0-9,.]+ MB" % word)
        self.assertIn("weights model.layers.*.weight", two)
        self.assertIn("lower" if word == "higher" else "higher", self.site.get("run" + query(a=b, b=a)))
        self.assertIn("<h1>A run</h1>", self.site.get("run" + query(a=a, b=a)))
        for wrong in (query(a="none"), query(a=a, b="none"), query(a="none", b=b), "", query(b=b), query(a="' OR 1=1 --")):
            self.site.get("run" + wrong, status=404)

    def test_hostile_store(self):
        """Whatever stands in a store that others write to: nothing of it is markup, and links stay here."""
        store, db = self.copy("evil.sqlite")
        names = (EVIL, "javascript:alert(1)", "\x00\x1b[31m\u202e", "../../etc", "a" * 3000)
        for i, evil in enumerate(names):
            db.execute("INSERT INTO run SELECT 'evil-' || ?1, time_us + 1000000000, ?2, ?2, ?2, ?2, ?2, ?2, source_bytes, ?2, ?2, ?2, ?2, chips, ranks, program_runs, operations, 1, ?2, NULL, ?2 FROM run LIMIT 1", (i, evil))
            db.execute("INSERT INTO peak SELECT 'evil-' || ?1, memory, -5, -1, -7, largest_free_bytes, 1, basis, rank, line, operation, operation_name, place, raised_bytes FROM peak LIMIT 1", (i,))
            db.execute("INSERT INTO statement VALUES('evil-' || ?1, 0, ?2, ?2, ?2, ?2, ?2, ?2, 1, 1)", (i, evil))
            db.execute("INSERT INTO live_at_peak VALUES('evil-' || ?1, 'DRAM', 0, ?2, ?2, ?2, 1, 9223372036854775807, 1)", (i, evil))
        db.execute("INSERT INTO run SELECT ?1 || run, time_us + 1, model, board, method, command, name, source, source_bytes, kind, host, git_commit, ttmem, chips, ranks, program_runs, operations, failures, failure, exit_status, report FROM run LIMIT 1", (EVIL,))
        db.commit()
        with Site("--store", store, home=self.home) as site:
            pages = ["", "models", "?q=evil", "run?a=evil-0&b=evil-1", "run?a=evil-1&b=evil-0", "trend" + query(model=EVIL, board=EVIL), query(q=EVIL), query(**{"from": EVIL}), "run" + query(a=EVIL)]
            for path in pages + ["run?a=evil-%d" % i for i in range(len(names))]:
                text = site.get(path, status=404 if path == "run" + query(a=EVIL) else 200)
                for bad in ("<script", "<img", "onerror=alert(2)>", "\x00", "\x1b", "\u202e"):
                    self.assertNotIn(bad, text, path)
                self.assertIn("default-src 'none'; style-src", site.headers["Content-Security-Policy"])
                for link in re.findall(r'(?:href|action)="([^"]*)"', text):
                    self.assertRegex(link, r"^(\./|models|reports|live|open|trend\?|run\?|compare\?)", path)
            self.assertEqual(site.get("../secret", status=404).count("secret"), 0)

    def test_reports_of_runs(self):
        """A link to the report only where it is still that run's; two runs with reports lead to the page of both."""
        home = self.dir / "own"
        env = {**os.environ, "TTMEM_HOME": str(home), "TTMEM_NO_HISTORY": ""}
        env.pop("TTMEM_STORE", None)
        log = self.dir / "m.log"
        lines = OOM_LOG.read_text().splitlines(True)
        for name, text, age in (("one", lines, 3000), ("two", lines[:113], 2000), ("one", lines, 1000)):
            log.write_text("".join(text))
            os.utime(log, (time.time() - age,) * 2)
            subprocess.run([TTMEM, "analyze", log, "-q", "--no-html", "--name", name, "--model", "m"], check=True, env=env)
        with Site(home=home) as site:
            page = site.get()
            self.assertEqual(len(rows(page)), 3)
            linked = re.findall(r'<a href="(\w+)/">report</a>', page)
            self.assertEqual(linked, ["one", "two"])
            newest, middle, oldest = rows(page)
            self.assertIn('href="compare?a=two&amp;b=one&amp;"', site.get("run" + query(a=middle, b=newest)))
            self.assertNotIn("compare?a", site.get("run" + query(a=oldest, b=newest)))
            site.get("compare?a=two&b=one&")
            self.assertIn("two_findings.json", site.get("two/"))
            self.assertIn('href="one/"', site.get("reports"))
            self.assertIn("Fails, and did not before", site.get("run" + query(a=middle, b=newest)))
        with Site("one", home=home) as site:  # nothing but this
            for path in ("/models", "/live", "/reports", "/run" + query(a=newest)):
                connection = http.client.HTTPConnection("127.0.0.1", site.port)
                connection.request("GET", path)
                answer = connection.getresponse()
                self.assertIn(answer.status, (302, 404), path)
                self.assertNotIn(newest, answer.read().decode())
                connection.close()
        with Site(home / "reports", home=home) as site:
            self.assertIn("2 reports, newest first", site.get())
            self.assertNotIn("<nav>", site.get())
            site.get("/models", status=404)
        with Site(home / "reports", "--store", home / "history.sqlite", home=home) as site:
            self.assertEqual(len(rows(site.get())), 3)

    def test_without_a_history(self):
        home = self.dir / "empty"
        (home / "reports").mkdir(parents=True)
        with Site(home=home) as site:
            self.assertIn("No report yet", site.get())
            site.get("models", status=404)
        for store, words in ((self.dir / "fleet", "only writes"), (self.dir / "none.sqlite", "no history yet"), (OOM_LOG.with_suffix(".db"), "no history yet")):
            done = subprocess.run([TTMEM, "serve", "--store", store], capture_output=True, text=True, env={**os.environ, "TTMEM_HOME": str(home)})
            self.assertEqual((done.returncode, words in done.stderr), (2, True), done.stderr)
        with Site(home=home, TTMEM_STORE=str(self.dir / "fleet")) as site:  # the reports are there all the same
            self.assertIn("only writes", site.get("", status=503))
            site.get("reports")

    def test_tokens(self):
        token = "my-own_token-0123456789"
        for more, env in ((["--token", token], {}), ([], {"TTMEM_TOKEN": token})):
            with Site("--store", self.store, *more, home=self.home, **env) as site:
                self.assertEqual(site.base, "/%s/" % token)
                self.assertEqual(len(rows(site.get())), 50)
                site.get("models")
                for path in ("/", "/models", "/" + token[:-1] + "/", "/" + token + "x/"):
                    self.assertNotIn("model-", site.get(path, status=403))
        with Site("--store", self.store, "--host", "0.0.0.0", "--token", token, home=self.home) as site:
            self.assertEqual(len(rows(site.get("", headers={"Host": "some.machine"}))), 50)
            site.get("/", status=403)
        for bad in ("short", "x" * 200, "sixteen characters/", ""):
            done = subprocess.run([TTMEM, "serve", "--store", self.store, "--token", bad], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2, bad)
            self.assertIn("token", done.stderr)

    def test_behind_a_proxy(self):
        """As docs/manual.md says: the proxy asks for localhost, and every link holds below its path."""
        page = self.site.get("", headers={"Host": "localhost"})
        self.assertFalse(re.findall(r'(?:href|action)="(/|https?:)', page))

    def test_file_of_an_earlier_ttmem(self):
        store, db = self.copy("v1.sqlite")
        db.executescript("DROP INDEX run_by_time; DROP INDEX run_by_report; PRAGMA user_version=1")
        db.close()
        with Site("--store", store, home=self.home) as site:
            self.assertEqual(len(rows(site.get(query(q="model")))), 50)
        env = {**os.environ, "TTMEM_HOME": str(self.home), "TTMEM_NO_HISTORY": ""}
        subprocess.run([TTMEM, "analyze", OOM_LOG, "-q", "--no-html", "--store", store], check=True, env=env)
        db = sqlite3.connect(store)
        self.assertEqual(db.execute("PRAGMA user_version").fetchone(), (2,))
        self.assertEqual(db.execute("SELECT count(*) FROM sqlite_master WHERE name IN ('run_by_time', 'run_by_report')").fetchone(), (2,))

    def test_postgres(self):
        if not os.path.exists(os.path.join(programs(), "initdb")):
            self.skipTest("no PostgreSQL server here")
        server = Postgres()
        try:
            subprocess.run([GEN_HISTORY, server.url(), str(RUNS)], check=True)
            runs = [r for (r,) in self.db.execute("SELECT run FROM run ORDER BY time_us LIMIT 2")]
            model, board = self.db.execute("SELECT model, board FROM run LIMIT 1").fetchone()
            with Site("--store", server.url(), home=self.home) as site:
                for path in ("", query(q=model.upper() + " " + board), query(q="%_!'"), query(page=2), "models", "models?q=MODEL", "trend" + query(model=model, board=board),
                             "run" + query(a=runs[0]), "run" + query(a=runs[0], b=runs[1]), "?q=%ff%fe%00"):
                    self.assertEqual(site.get(path), self.site.get(path), path)
        finally:
            server.stop()

    def test_many_runs(self):
        """A page of 100,000 runs is a page. How long each takes is printed; docs/performance.md has the figures."""
        store, db = self.copy("many.sqlite")
        db.execute("PRAGMA synchronous=OFF")
        run = "time_us + n.n * 72000000000, model, board, method, command, name, source, source_bytes, kind, host, git_commit || n.n, ttmem, chips, ranks, program_runs, operations, failures, failure, exit_status, '/r/' || n.n"
        for table, columns in (("run", run), ("peak", "memory, banks, capacity_bytes, peak_bytes, largest_free_bytes, at_least, basis, rank, line, operation, operation_name, place, raised_bytes")):
            db.execute("WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?) INSERT INTO %s SELECT t.run || '-' || n.n, %s FROM n, %s t" % (table, columns, table), (MANY // RUNS,))
        db.commit()
        (count,) = db.execute("SELECT count(*) FROM run").fetchone()
        self.assertGreater(count, MANY)
        model, board = db.execute("SELECT model, board FROM run LIMIT 1").fetchone()
        with Site("--store", store, home=self.home) as site:
            for path in ("", query(page=count // 50), query(q=model + " " + board), query(q="nothing of this kind"), query(q="out of memory", page=3), "models",
                         "trend" + query(model=model, board=board)):
                began, used = time.monotonic(), site.processor_time()
                page = site.get(path)
                took, used = time.monotonic() - began, site.processor_time() - used
                print("%d runs, /%s: %.0f ms, processor %.0f ms" % (count, path, 1000 * took, 1000 * used))
                self.assertLessEqual(page.count("<tr>"), 51, path)  # with the head of the table
            self.assertIn("1 to 50 of {:,} runs, newest first".format(count), site.get())
            last = site.get(query(page=(count + 49) // 50))
            self.assertIn("{0:,} to {1:,} of {1:,} runs".format((count - 1) // 50 * 50 + 1, count), last)
            self.assertIn(db.execute("SELECT run FROM run ORDER BY time_us LIMIT 1").fetchone()[0], last)


if __name__ == "__main__":
    unittest.main()
