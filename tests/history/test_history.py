#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The history of runs: what is added, by many writers at once, after kill -9, on a full disk; steps, forecasts, first bad runs. Python's own sqlite3 reads
the file."""
import csv
import io
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

TTMEM = os.environ["TTMEM"]
PROFILER = os.environ["TT_MEMORY_PROFILER"]
SOURCE = pathlib.Path(os.environ["TTMEM_SOURCE"])
OOM_LOG = SOURCE / "tests/cli/data/two_runs_oom_profile.log"
SMALL_LOG = SOURCE / "tests/data/small.log"
TRAIN_LOG = SOURCE / "tests/cli/data/tinyllama_train.log"
sys.path.insert(0, str(SOURCE / "tests"))
from server import can_be  # noqa: E402
from small_logs import Log  # noqa: E402

DAY = 86400
START = 1790000000  # 2026-09-21


def write_log(path, mb, when=None, extra=0):
    """A program of four layers that holds `mb` per bank, and `extra` in its second layer."""
    log = Log()
    log.start()
    base = log.make(mb * 0.6, loc="weights")
    values = [log.make(mb * 0.1, name="ttnn.matmul", loc="layers.%d|mlp|dot" % i, of=(base,)) for i in range(4)]
    if extra:
        values.append(log.make(extra, name="ttnn.concat", loc="layers.1|attn|concat"))
    for v in [*values, base]:
        log.free(v)
    log.finish()
    log.write(path)
    if when is not None:
        os.utime(path, (when, when))
    return str(path)


class HistoryTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.dir = pathlib.Path(self.folder.name)
        self.home = self.dir / "home"
        self.file = self.home / "history.sqlite"
        self.env = {k: v for k, v in os.environ.items() if k not in ("TTMEM_NO_HISTORY", "GITHUB_SHA", "CI_COMMIT_SHA", "TTMEM_COMMIT")}
        self.env.update(TTMEM_HOME=str(self.home), LC_ALL="C.UTF-8", TERM="dumb")

    def tearDown(self):
        self.folder.cleanup()

    def run_it(self, *words, status=0, **more):
        env = {**self.env, **more.pop("env", {})}
        done = subprocess.run([more.pop("program", TTMEM), *map(str, words)], capture_output=True, text=True, env=env, cwd=more.pop("cwd", self.dir), **more)
        if status is not None:
            self.assertEqual(done.returncode, status, (words, done.stdout, done.stderr))
        return done

    def start(self, name):
        """A run from a pipe, which is a new one each time."""
        with open(SMALL_LOG) as log:
            return subprocess.Popen([TTMEM, "analyze", "-q", "--no-html", "--name", name, "-"], stdin=log, stderr=subprocess.PIPE, env=self.env)

    def pipe(self, name):
        child = self.start(name)
        self.assertEqual((child.communicate()[1], child.returncode), (b"", 0))

    def ask(self, sql, *params):
        db = sqlite3.connect(self.file)
        try:
            return db.execute(sql, params).fetchall()
        finally:
            db.close()

    def add_series(self, peaks, name="llama", **more):
        for i, mb in enumerate(peaks):
            path = write_log(self.dir / ("%s_%08d.log" % (name, i)), mb, START + i * DAY, **(more if i == len(peaks) - 1 else {}))
            self.run_it("analyze", "-q", "--no-html", path, env={"TTMEM_COMMIT": "%040x" % (i + 1)})

    def series(self, *words):
        told = json.loads(self.run_it("history", "--json", *words).stdout)["series"]
        self.assertEqual(len(told), 1, told)
        return told[0]

    # ---- What is added ------------------------------------------------------------------------------------------------

    def test_tables_agree_with_the_report(self):
        self.run_it("analyze", "-q", "--no-html", OOM_LOG, "--name", "oom", env={"TTMEM_COMMIT": "cafe"})
        findings = json.loads((self.home / "reports/oom/oom_findings.json").read_text())
        run = self.ask("SELECT run, model, board, method, command, name, source, operations, failures, failure, git_commit, report FROM run")
        self.assertEqual(len(run), 1)
        run_id, *rest = run[0]
        self.assertRegex(run_id, r"^\d{8}-\d{6}-[0-9a-f]{12}$")
        self.assertEqual(rest, ["oom", "n150", "run", "analyze", "oom", str(OOM_LOG.resolve()), findings["operations"]["total"], len(findings["incidents"]),
                                findings["statements"][0]["headline"], "cafe", str(self.home / "reports/oom")])
        for memory, peak in self.ask("SELECT memory, peak_bytes FROM peak"):
            told = findings["peak"][memory]
            self.assertAlmostEqual(peak / 2**20, (told["in_operation_peak"] or told)["allocated_per_bank_MB"], places=3)
        statements = self.ask("SELECT id, severity, basis, headline FROM statement ORDER BY position")
        self.assertEqual(statements, [(s["id"], s["severity"], s["basis"], s["headline"]) for s in findings["statements"]])
        dram = self.ask("SELECT sum(bytes) FROM live_at_peak WHERE memory = 'DRAM'")[0][0]
        level = findings["peak"]["DRAM"]["allocated_per_bank_MB"] * 2**20
        self.assertLess(abs(dram - level), 0.002 * 2**20)  # they add up, but for the log's rounding
        self.assertEqual(self.ask("PRAGMA user_version"), [(2,)])
        self.assertEqual(self.ask("PRAGMA journal_mode"), [("wal",)])
        self.assertEqual(self.ask("PRAGMA integrity_check"), [("ok",)])
        self.assertEqual(self.ask("SELECT count(*), min(failures) FROM device"), [(1, 1)])

    def test_every_table_is_documented(self):
        self.run_it("analyze", "-q", "--no-html", OOM_LOG)
        text = (SOURCE / "docs/history.md").read_text()
        tables = [t for (t,) in self.ask("SELECT name FROM sqlite_master WHERE type = 'table'")]
        self.assertEqual(sorted(tables), ["device", "live_at_peak", "operation_effect", "peak", "program", "run", "statement"])
        for table in tables:
            part = re.search(r"^### `%s`\n(.*?)(?=^#|\Z)" % table, text, re.S | re.M)
            self.assertIsNotNone(part, table)
            for column in (row[1] for row in self.ask("PRAGMA table_info(%s)" % table)):
                self.assertIn("`%s`" % column, part[1], table)

    def test_the_same_file_is_one_run(self):
        for _ in range(3):
            self.run_it("analyze", "-q", "--no-html", SMALL_LOG)
        self.assertEqual(self.ask("SELECT count(*) FROM run"), [(1,)])
        rows = self.ask("SELECT count(*) FROM statement")
        copy = self.dir / "small.log"
        shutil.copy(SMALL_LOG, copy)
        self.run_it("analyze", "-q", "--no-html", copy)
        self.assertEqual(self.ask("SELECT count(*), count(DISTINCT model) FROM run"), [(2, 1)])
        self.assertEqual(self.ask("SELECT count(*) FROM statement"), [(2 * rows[0][0],)])
        for _ in range(2):  # a pipe has no identity
            self.pipe("pipe")
        self.assertEqual(self.ask("SELECT count(*) FROM run"), [(4,)])

    def test_commands(self):
        self.run_it("train", "--logs", TRAIN_LOG)
        self.run_it("fit", OOM_LOG)
        self.run_it("fit", OOM_LOG, "--scale-batch", "2")  # a thought, no run
        self.run_it("--analyze", SMALL_LOG, program=PROFILER)
        program = self.dir / "model"
        program.write_text("#!/bin/sh\ncat %s\nexit 3\n" % SMALL_LOG)
        program.chmod(0o755)
        self.run_it("run", "-q", "--no-html", "--", program, status=3)
        runs = self.ask("SELECT command, method, model, exit_status, count(*) FROM run GROUP BY command, method, model, exit_status ORDER BY command, model")
        self.assertEqual(runs, [("analyze", "run", "small", None, 1), ("fit", "replay", "two-runs-oom", None, 7), ("run", "run", "model", 3, 1),
                                ("train", "train", "tinyllama-train", None, 1)])
        boards = [b for (b,) in self.ask("SELECT board FROM run WHERE command = 'fit' ORDER BY board")]
        self.assertEqual(boards, ["galaxy", "n150", "n300", "p100", "p150", "p300", "t3k"])
        self.assertEqual(self.ask("SELECT count(*) FROM peak p JOIN run r ON p.run = r.run WHERE r.command = 'train'"), [(1,)])
        self.assertNotIn("per bank", self.run_it("history", "tinyllama-train").stdout)  # of the whole device
        self.assertIn("MB per bank", self.run_it("history", "small").stdout)
        # what only reads, or asks what if, adds nothing
        before = self.ask("SELECT count(*) FROM run")
        for words in (["--llm", OOM_LOG], ["ask", OOM_LOG, "--at-peak"], ["diff", SMALL_LOG, OOM_LOG], ["analyze", "--no-json", OOM_LOG], ["doctor", OOM_LOG],
                      ["analyze", "-q", self.home / "reports/small"]):
            self.run_it(*words)
        self.assertEqual(self.ask("SELECT count(*) FROM run"), before)

    def test_left_out(self):
        self.run_it("analyze", "-q", "--no-history", SMALL_LOG)
        self.run_it("train", "--no-history", "--logs", TRAIN_LOG)
        self.run_it("fit", "--no-history", OOM_LOG)
        self.run_it("analyze", "-q", SMALL_LOG, env={"TTMEM_NO_HISTORY": "1"})
        self.assertFalse(self.file.exists())
        empty = self.run_it("history", status=2)
        self.assertIn("no history yet", empty.stderr)
        self.assertEqual(empty.stdout, "")

    def test_models(self):
        names = {"llama_20261116_081729.log": "llama", "llama-2026-11-16.log": "llama", "llama.2026-11-16T08:17:29.log": "llama", "resnet50.log": "resnet50",
                 "bert-large-384.log": "bert-large-384", "llama-3.1-8b_4711123.log": "llama-3.1-8b", "20261116.log": "20261116", "v2_10.log": "v2-10"}
        for name in names:
            shutil.copy(SMALL_LOG, self.dir / name)
            self.run_it("analyze", "-q", "--no-html", name)
        self.assertEqual(dict(self.ask("SELECT source, model FROM run")), {str(self.dir.resolve() / n): m for n, m in names.items()})
        self.run_it("analyze", "-q", "--no-html", "resnet50.log", "--model", "mine")
        self.assertEqual(self.ask("SELECT model FROM run WHERE name = 'resnet50'"), [("mine",)])
        self.assertIn("llama-3.1-8b", self.run_it("history").stdout)
        self.assertEqual(len(json.loads(self.run_it("history", "llama*", "--json").stdout)["series"]), 2)

    def test_commit_of_the_program_that_ran(self):
        repo = self.dir / "repo"
        repo.mkdir()
        git = ["git", "-C", str(repo), "-c", "user.name=t", "-c", "user.email=t@t"]
        subprocess.run([*git, "init", "-q"], check=True)
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
        head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
        deep = repo / "a/b"
        deep.mkdir(parents=True)
        for step in ("loose", "packed", "detached", "worktree"):
            where = deep
            if step == "packed":
                subprocess.run([*git, "pack-refs", "--all"], check=True)
            if step == "detached":
                subprocess.run([*git, "checkout", "-q", "--detach"], check=True)
            if step == "worktree":
                where = self.dir / "beside"
                subprocess.run([*git, "worktree", "add", "-q", "-b", "other", str(where)], check=True)
            self.run_it("run", "-q", "--no-html", "--model", step, "--", "cat", SMALL_LOG, cwd=where)
        self.assertEqual(self.ask("SELECT model, git_commit FROM run ORDER BY time_us"), [(s, head) for s in ("loose", "packed", "detached", "worktree")])
        self.run_it("analyze", "-q", "--no-html", SMALL_LOG, cwd=deep)  # a log may be of any commit
        self.assertEqual(self.ask("SELECT git_commit FROM run WHERE command = 'analyze'"), [(None,)])

    # ---- What machines do ---------------------------------------------------------------------------------------------

    def test_many_writers(self):
        """32 processes at once, the first of them make the file; every run is there, whole."""
        started = [self.start("w%d" % i) for i in range(32)]
        for child in started:
            _, err = child.communicate()
            self.assertEqual((child.returncode, err), (0, b""))
        self.assertEqual(self.ask("SELECT count(*) FROM run"), [(32,)])
        counts = self.ask("SELECT (SELECT count(*) FROM statement s WHERE s.run = r.run), (SELECT count(*) FROM peak p WHERE p.run = r.run) FROM run r")
        self.assertEqual(len(set(counts)), 1, counts)
        self.assertEqual(self.ask("PRAGMA integrity_check"), [("ok",)])

    def test_killed_writers(self):
        """kill -9 at any moment leaves whole runs only, and the next writer goes on."""
        shuffle = random.Random(23)
        self.pipe("first")
        began = time.monotonic()
        self.pipe("again")
        length = time.monotonic() - began
        for i in range(60):
            child = self.start("k%d" % i)
            time.sleep(length * shuffle.uniform(0.2, 1.1))
            child.send_signal(signal.SIGKILL)
            child.communicate()
        self.pipe("last")
        self.assertEqual(self.ask("PRAGMA integrity_check"), [("ok",)])
        counts = self.ask("SELECT (SELECT count(*) FROM statement s WHERE s.run = r.run), (SELECT count(*) FROM live_at_peak p WHERE p.run = r.run) FROM run r")
        self.assertEqual(len(set(counts)), 1, counts)
        self.assertEqual(self.ask("SELECT count(*) FROM statement WHERE run NOT IN (SELECT run FROM run)"), [(0,)])
        self.assertIn(("last",), self.ask("SELECT name FROM run"))

    def test_no_place_for_it(self):
        """A history that cannot be written is a note; the report, the summary and the exit status are the same."""
        fine = self.run_it("analyze", "--no-html", OOM_LOG, "--output-dir", self.dir / "out")
        shutil.rmtree(self.home)
        self.home.write_text("")  # the home is a file: nothing can be made in it, not by root either
        bad = self.run_it("analyze", "--no-html", OOM_LOG, "--output-dir", self.dir / "out")
        self.assertEqual(bad.stdout, fine.stdout)
        self.assertRegex(bad.stderr, r"\Attmem: note: this run is not in the history: .*home.*--no-history.*\n\Z")
        quiet = self.run_it("analyze", "-q", "--no-html", OOM_LOG, "--output-dir", self.dir / "out", "--check", status=1)
        self.assertNotIn("history", quiet.stderr)
        none = self.run_it("analyze", "--no-html", OOM_LOG, "--no-history", "--output-dir", self.dir / "out")
        self.assertEqual((none.stdout, none.stderr), (fine.stdout, ""))

    @unittest.skipIf(os.geteuid() == 0 and not can_be(65534), "root writes everywhere, and nobody else can run a program here")
    def test_read_only_home(self):
        self.run_it("analyze", "-q", "--no-html", SMALL_LOG)
        rows = self.ask("SELECT * FROM run")
        for path in self.home.glob("history.sqlite*"):
            path.chmod(0o444)
        self.home.chmod(0o555)
        self.dir.chmod(0o755)
        log = pathlib.Path(shutil.copy(SMALL_LOG, self.dir))
        log.chmod(0o644)  # a clone may be its owner's alone
        words = [TTMEM, "analyze", str(log), "--no-html", "--output-dir", str(self.dir / "out")]
        (self.dir / "out").mkdir(mode=0o777)
        (self.dir / "out").chmod(0o777)
        if os.geteuid() == 0:
            words = ["setpriv", "--reuid=65534", "--clear-groups", *words]
        done = subprocess.run(words, capture_output=True, text=True, env=self.env)
        self.home.chmod(0o755)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("not in the history", done.stderr)
        self.assertEqual(self.ask("SELECT * FROM run"), rows)

    def test_full_disk(self):
        """A file that may not grow stands for a disk that is full."""
        self.pipe("one")
        size = sum(p.stat().st_size for p in self.home.glob("history.sqlite*"))
        rows = self.ask("SELECT count(*) FROM run")

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))

        done = self.run_it("analyze", "--no-html", "--output-dir", self.dir / "out", "--name", "two", "-", input=SMALL_LOG.read_text(), preexec_fn=limit, status=None)
        self.assertIn("not in the history", done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        self.assertGreater(size, 20000)
        self.assertEqual(self.ask("SELECT count(*) FROM run"), rows)
        self.assertEqual(self.ask("PRAGMA integrity_check"), [("ok",)])
        self.pipe("three")
        self.assertEqual(self.ask("SELECT count(*) FROM run"), [(rows[0][0] + 1,)])

    def test_damaged_file(self):
        """It is left as it is, byte for byte, and the message says what to do."""
        self.home.mkdir()
        for bytes_ in (b"this is no database at all, it only has its name" * 50, None):
            if bytes_ is None:  # a real one, its middle overwritten
                self.file.unlink()
                self.run_it("analyze", "-q", "--no-html", OOM_LOG)
                sqlite3.connect(self.file).execute("PRAGMA wal_checkpoint(TRUNCATE)")
                bytes_ = bytearray(self.file.read_bytes())
                bytes_[100:8192] = b"\xa5" * (8192 - 100)
            for left in self.home.glob("history.sqlite-*"):
                left.unlink()
            self.file.write_bytes(bytes_)
            done = self.run_it("analyze", "--no-html", SMALL_LOG)
            self.assertIn("is damaged", done.stderr)
            self.assertIn(".recover", done.stderr)
            asked = self.run_it("history", status=2)
            self.assertIn("is damaged", asked.stderr)
            self.assertEqual(self.file.read_bytes(), bytes(bytes_))

    def test_file_of_a_later_ttmem(self):
        self.run_it("analyze", "-q", "--no-html", SMALL_LOG)
        db = sqlite3.connect(self.file)
        db.execute("PRAGMA user_version=99")
        db.close()
        self.assertIn("later ttmem", self.run_it("analyze", "--no-html", OOM_LOG).stderr)
        self.assertIn("later ttmem", self.run_it("history", status=2).stderr)
        self.assertEqual(self.ask("SELECT count(*) FROM run"), [(1,)])

    # ---- What it means ------------------------------------------------------------------------------------------------

    def test_step(self):
        self.add_series([200] * 5 + [230] * 4)
        told = self.series("llama")
        (step,) = told["steps"]
        self.assertEqual((step["memory"], step["index"], step["runs_before"], step["runs_after"]), ("DRAM", 5, 5, 4))
        rose = next(s for s in told["statements"] if s["id"] == "history.rose")
        self.assertIn(told["runs"][5]["run"], rose["headline"])
        self.assertIn("%012x" % 0, rose["detail"])  # of its commit
        text = self.run_it("history", "llama").stdout
        self.assertIn("rose by", text)
        self.assertIn("▁▁▁▁▁████", text)
        ascii_text = self.run_it("history", "llama", env={"LC_ALL": "C"}).stdout
        self.assertIn("111118888", ascii_text)

    def test_a_part_of_a_run_is_no_step(self):
        self.add_series([200] * 4)
        lines = pathlib.Path(write_log(self.dir / "llama_00000009.log", 200, START + 9 * DAY)).read_text().splitlines(True)
        (self.dir / "llama_00000009.log").write_text("".join(lines[: len(lines) // 3]))
        self.run_it("analyze", "-q", "--no-html", "llama_00000009.log")
        told = self.series("llama")
        self.assertEqual([run.get("dram_at_least", False) for run in told["runs"]], [False] * 4 + [True])
        self.assertLess(told["runs"][4]["dram_peak_bytes"], told["runs"][3]["dram_peak_bytes"])
        self.assertEqual(told["steps"], [])

    def test_what_changed(self):
        """The operation and the layer behind a step, from the live tensors of the runs on both sides."""
        self.add_series([200] * 4, extra=24)
        told = self.series()
        (step,) = told["steps"]
        self.assertEqual((step["index"], step["runs_after"]), (3, 1))
        rose = next(s for s in told["statements"] if s["id"] == "history.rose")
        self.assertRegex(rose["evidence"][0]["text"] if "evidence" in rose else str(rose), r"\+24\.\d+ MB .*layers\.1\|attn\|concat.*ttnn\.concat \(new\)")
        self.assertIn("One run is no proof", rose["detail"])

    def test_flat_series_with_noise(self):
        noise = random.Random(7)
        self.add_series([200 + noise.gauss(0, 2) for _ in range(16)])
        told = self.series()
        self.assertEqual(told["steps"], [])
        ids = [s["id"] for s in told["statements"]]
        self.assertIn("history.steady", ids)
        self.assertIn("history.headroom", ids)

    def test_forecast(self):
        self.add_series([500 + 20 * i for i in range(10)])
        told = self.series()
        fills = next(s for s in told["statements"] if s["id"] == "history.fills")
        q = {x["name"]: x["value"] for x in fills["quantities"]} if isinstance(fills["quantities"], list) else {k: (v["value"] if isinstance(v, dict) else v) for k, v in fills["quantities"].items()}
        self.assertAlmostEqual(q["per_run"], 20, delta=0.5)
        self.assertAlmostEqual(q["runs_left"], (1021.169 - 680) / 20, delta=1.5)
        self.assertLessEqual(q["runs_left_low"], q["runs_left"])
        self.assertLessEqual(q["runs_left"], q["runs_left_high"])
        self.assertEqual(fills["basis"], "estimated")
        self.assertEqual(told["steps"], [])

    def test_few_runs(self):
        self.add_series([200, 230])
        told = self.series()
        self.assertRegex(told["statements"][0]["headline"], r"\+30\.0.* against the run before; 2 runs cannot tell a step from noise")
        self.assertEqual(told["steps"], [])

    def test_since_board_and_forms(self):
        self.add_series([200] * 6)
        day = time.strftime("%Y-%m-%d", time.gmtime(START + 4 * DAY))
        self.assertEqual(len(self.series("--since", day)["runs"]), 2)
        self.assertEqual(len(self.series("--since", "20000d")["runs"]), 6)
        self.assertEqual(len(self.series("--board", "n150")["runs"]), 6)
        self.run_it("history", "--board", "p150", status=2)
        self.run_it("history", "--since", "yesterday", status=2)
        self.run_it("history", "gpt", status=2)
        rows = list(csv.DictReader(io.StringIO(self.run_it("history", "--csv").stdout)))
        runs = self.series()["runs"]
        self.assertEqual([r["run"] for r in rows], [r["run"] for r in runs])
        self.assertEqual([int(r["dram_peak_bytes"]) for r in rows], [r["dram_peak_bytes"] for r in runs])
        self.assertEqual([r["dram_peak_bytes"] for r in runs], [p for (p,) in self.ask("SELECT peak_bytes FROM peak JOIN run USING(run) WHERE memory='DRAM' ORDER BY time_us")])
        self.run_it("history", "--json", "--csv", status=2)
        self.assertIn("| Run |", self.run_it("history", "--md").stdout)
        self.assertIn("<h2>", self.run_it("history", "--html").stdout)

    # ---- bisect -------------------------------------------------------------------------------------------------------

    def test_first_bad_run(self):
        self.add_series([200] * 4 + [260] * 3)
        runs = self.series()["runs"]
        named = self.run_it("history", "bisect", "llama", status=1).stdout
        self.assertIn(runs[4]["run"], named)
        self.assertIn("git bisect start %040x %040x" % (5, 4), named)
        self.run_it("history", "bisect", "gpt", status=2)

    def test_nothing_bad(self):
        self.add_series([200] * 4)
        self.assertIn("no run is the first bad one", self.run_it("history", "bisect", status=2).stderr)

    def test_git_bisect_run(self):
        """A real repository: the commit that makes the model larger is found by git."""
        repo = self.dir / "repo"
        repo.mkdir()
        git = ["git", "-C", str(repo), "-c", "user.name=t", "-c", "user.email=t@t"]
        subprocess.run([*git, "init", "-q"], check=True)
        commits = []
        for i in range(9):
            write_log(repo / "output.log", 200 if i < 5 else 240)
            (repo / "other").write_text(str(i))
            if i == 6:
                (repo / "output.log").write_text("no memory here\n")  # cannot be judged
            subprocess.run([*git, "add", "."], check=True)
            subprocess.run([*git, "commit", "-q", "-m", "c%d" % i], check=True)
            commits.append(subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip())
        program = self.dir / "model.sh"
        program.write_text("#!/bin/sh\ncat output.log\n")
        program.chmod(0o755)
        for i in (0, 1, 2, 7, 8):
            subprocess.run([*git, "checkout", "-q", commits[i]], check=True)
            self.run_it("run", "-q", "--no-html", "--output-dir", self.dir / "logs", "--model", "m", "--", program, cwd=repo)
        named = self.run_it("history", "bisect", "m", cwd=repo, status=1).stdout
        self.assertIn("git bisect start %s %s" % (commits[7], commits[2]), named)
        before = self.ask("SELECT count(*) FROM run")
        subprocess.run([*git, "bisect", "start", commits[7], commits[2]], check=True, capture_output=True)
        done = subprocess.run([*git, "bisect", "run", TTMEM, "history", "bisect", "--model", "m", "--", str(program)], capture_output=True, text=True, env=self.env, cwd=repo)
        self.assertIn("%s is the first bad commit" % commits[5], done.stdout + done.stderr)
        subprocess.run([*git, "checkout", "-q", "-f", commits[6]], check=True, capture_output=True)
        self.run_it("history", "bisect", "--model", "m", "--", program, cwd=repo, status=125)
        self.assertEqual(self.ask("SELECT count(*) FROM run"), before)
        self.assertEqual(sorted(p.name for p in repo.iterdir()), [".git", "other", "output.log"])

    def test_bisect_of_a_failure(self):
        fine = write_log(self.dir / "fine.log", 900)
        for i, log in enumerate((fine, fine, OOM_LOG)):
            path = self.dir / ("m_%08d.log" % i)
            shutil.copy(log, path)
            os.utime(path, (START + i * DAY, START + i * DAY))
            self.run_it("analyze", "-q", "--no-html", path, "--name", "x%d" % i, "--model", "m")
        failing = self.run_it("history", "bisect", status=1).stdout
        self.assertIn("Fails since run", failing)
        self.run_it("history", "bisect", "--model", "m", "--", "cat", fine, status=0)
        self.run_it("history", "bisect", "--model", "m", "--", "cat", OOM_LOG, status=1)
        self.run_it("history", "bisect", "--model", "m", "--", "echo", "hello", status=125)


if __name__ == "__main__":
    unittest.main()
