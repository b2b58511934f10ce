#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One run over many files: skew, the rank that fails first, identical ranks folded; a list, a folder and an archive say the same, in bounded memory."""
import csv
import io
import json
import os
import pathlib
import shutil
import sqlite3
import struct
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

TTMEM = os.environ["TTMEM"]
SOURCE = pathlib.Path(os.environ["TTMEM_SOURCE"])
OOM_LOG = SOURCE / "tests/cli/data/two_runs_oom_profile.log"
sys.path.insert(0, str(SOURCE / "tests"))
from small_logs import Log  # noqa: E402


def write(path, mb, note="", layers=4):
    log = Log(prefix="")
    log.start()
    kept = [log.make(mb / layers, name="ttnn.matmul", loc="layers.%d|dot" % i) for i in range(layers)]
    for value in kept:
        log.free(value)
    log.finish()
    log.write(path)
    with open(path, "a") as out:
        out.write(note)  # what a rank prints of its own does not make it another one
    return path


class Ranks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.dir = pathlib.Path(self.folder.name).resolve()
        self.job = self.dir / "job7"
        self.job.mkdir()
        self.home = self.dir / "home"
        self.env = {**os.environ, "TTMEM_HOME": str(self.home), "TTMEM_NO_HISTORY": "", "LC_ALL": "C.UTF-8", "TERM": "dumb"}

    def tearDown(self):
        self.folder.cleanup()

    def run_it(self, *words, status=0):
        done = subprocess.run([TTMEM, *map(str, words)], capture_output=True, text=True, env=self.env, cwd=self.dir)
        self.assertEqual(done.returncode, status, (words, done.stdout, done.stderr))
        return done

    def fill(self, n=12):
        for i in range(n):
            write(self.job / ("rank%d.log" % i), 240 if i == 7 else 200, note="hello from %d\n" % i)
        return sorted(self.job.iterdir())

    def test_skew_and_groups(self):
        files = self.fill()
        told = json.loads(self.run_it("analyze", "--no-html", "--json", *files).stdout)
        self.assertEqual([r["rank"] for r in told["ranks"]], list(range(12)))  # by number, not by name
        self.assertEqual((told["groups"], told["leading_rank"]), (2, 7))
        self.assertEqual({r["group"] for r in told["ranks"] if r["rank"] != 7}, {0})
        skew = next(s for s in told["statements"] if s["id"] == "ranks.skew")
        self.assertIn("rank 7 holds 240.0 MB, rank 0 200.0 MB", skew["headline"])
        self.assertIn("ttnn.matmul layers.3|dot", skew["detail"])
        groups = next(s for s in told["statements"] if s["id"] == "ranks.groups")
        self.assertIn("0-6, 8-11", json.dumps(groups))
        self.assertTrue((self.home / "reports/ranks/ranks_findings.json").exists())

    def test_list_folder_and_archive_are_alike(self):
        files = self.fill()
        with tarfile.open(self.dir / "job7.tar.gz", "w:gz") as out:
            out.add(self.job, "job7")
        with tarfile.open(self.dir / "plain.tar", "w") as out:
            for file in files:
                out.add(file, file.name)
        with tarfile.open(self.dir / "long.tar", "w", format=tarfile.GNU_FORMAT) as out:
            for file in files:
                out.add(file, "/".join(["a-folder-with-a-name"] * 12 + [file.name]))
        for name, method in (("stored.zip", zipfile.ZIP_STORED), ("deflated.zip", zipfile.ZIP_DEFLATED)):
            with zipfile.ZipFile(self.dir / name, "w", method) as out:
                out.writestr("job7/", b"")
                for file in files:
                    with out.open("job7/" + file.name, "w", force_zip64=name == "stored.zip") as member:
                        member.write(file.read_bytes())
        (self.dir / "behind.zip").write_bytes(b"#!/bin/sh\nexit\n" + (self.dir / "deflated.zip").read_bytes())  # one that unpacks itself

        def facts(*inputs):
            told = json.loads(self.run_it("analyze", "--no-html", "--json", *inputs).stdout)
            return [{k: v for k, v in r.items() if k != "path"} for r in told["ranks"]], [s["headline"] for s in told["statements"]]

        wanted = facts(*files)
        for inputs in ([self.job], [str(self.job) + "/"], [self.dir / "job7.tar.gz"], [self.dir / "plain.tar"], [self.dir / "long.tar"], [self.dir / "stored.zip"],
                       [self.dir / "deflated.zip"], [self.dir / "deflated.zip", "-j", "1"], [self.dir / "behind.zip"], [*files, "-j", "1"]):
            self.assertEqual(facts(*inputs), wanted, inputs)
        self.assertTrue((self.home / "reports/job7/job7_findings.json").exists())

    def test_the_rank_that_fails_first(self):
        self.fill(4)
        shutil.copy(OOM_LOG, self.job / "rank2.log")
        text = OOM_LOG.read_text().splitlines(keepends=True)
        at = next(i for i, line in enumerate(text) if "Finished execution" in line)
        (self.job / "rank3.log").write_text("".join(text[at + 1 :]))  # the second run only: it fails after fewer operations
        told = json.loads(self.run_it("analyze", "--no-html", "--json", self.job).stdout)
        first = told["statements"][0]
        self.assertEqual((first["id"], first["severity"]), ("ranks.first-failure", "failure"))
        self.assertRegex(first["headline"], r"^Rank 3 fails first, after \d+ operations?: Out of memory in DRAM")
        self.assertIn("2 of 4 ranks failed", first["detail"])
        after = {r["rank"]: r["failed_after"] for r in told["ranks"]}
        self.assertLess(after[3], after[2])
        self.assertEqual(told["leading_rank"], 3)
        self.run_it("analyze", "-q", "--no-html", "--check", self.job, status=1)
        self.assertIn("Rank 3 fails first", self.run_it("analyze", "--no-html", self.job).stdout)

    def test_identical(self):
        for i in range(5):
            write(self.job / ("worker-%d.log" % i), 200)
        out = self.run_it("analyze", "--no-html", self.job).stdout
        self.assertIn("5 ranks, all identical", out)
        self.assertIn("DRAM peak is even: 200.0 MB per bank on every rank", out)
        rows = list(csv.DictReader(io.StringIO(self.run_it("analyze", "--no-html", "--csv", self.job).stdout)))
        self.assertEqual([(r["Rank"], r["Alike"]) for r in rows], [(str(i), "5") for i in range(5)])
        db = sqlite3.connect(self.home / "history.sqlite")
        self.assertEqual(db.execute("SELECT ranks FROM run").fetchall(), [(5,)])
        self.assertEqual(db.execute("SELECT rank, dram_peak_bytes FROM device ORDER BY device").fetchall(), [(i, 200 << 20) for i in range(5)])

    def test_what_cannot_be_read(self):
        self.fill(3)
        (self.job / "rank9.log").write_text("no memory here\n")
        done = self.run_it("analyze", "--no-html", self.job)
        self.assertIn("1 files without memory states were left out", done.stderr)
        self.assertIn("3 ranks", done.stdout)
        self.run_it("analyze", self.job / "rank0.log", self.job / "gone.log", status=2)
        (self.dir / "bad.tar").write_bytes(b"this is no archive" * 100)
        self.assertIn("no tar archive", self.run_it("analyze", self.dir / "bad.tar", status=2).stderr)
        (self.dir / "cut.tar").write_bytes(b"")
        head = bytearray(tarfile.TarInfo("x").tobuf(tarfile.GNU_FORMAT))
        head[156:157], head[124:136] = b"L", b"77777777777\0"
        (self.dir / "name.tar").write_bytes(bytes(head) + bytes(4096))
        self.assertIn("a name of", self.run_it("analyze", self.dir / "name.tar", status=2).stderr)
        self.run_it("analyze", self.dir / "cut.tar", status=2)
        for file in self.job.iterdir():
            file.write_text("nothing\n")
        self.assertIn("none of these", self.run_it("analyze", self.job, status=2).stderr)

    def zip_of(self, members):
        """Bytes of an archive of (name, bytes)."""
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in members:
                archive.writestr(name, data)
        return bytearray(out.getvalue())

    def refused(self, data, words):
        (self.dir / "bad.zip").write_bytes(data)
        done = self.run_it("analyze", "--no-html", self.dir / "bad.zip", status=2)
        self.assertIn(words, done.stderr)
        self.assertLess(len(done.stderr), 2000)

    def test_hostile_zips(self):
        log = self.fill(2)[0].read_bytes()
        good = self.zip_of([("rank0.log", log), ("rank1.log", log)])
        directory = good.index(b"PK\1\2")
        end = good.rindex(b"PK\5\6")
        self.refused(b"", "no zip archive")
        self.refused(b"PK\5\6" + bytes(17), "no zip archive")
        self.refused(b"PK\5\6" + bytes(18), "none of these 0 files")  # an empty one
        for cut in (1, 30, end - 1, len(good) - 1, directory + 5):
            self.refused(good[:cut], "no zip archive")
        broken = bytearray(good)
        broken[60] ^= 0xFF  # of the packed data
        self.refused(broken, "rank0.log is damaged")
        for at, value, words in ((directory + 16, b"\0\0\0\0", "is damaged"),  # CRC
                                 (directory + 24, b"\5\0\0\0", "more of it than it says"),  # a bomb says less than it has
                                 (directory + 24, b"\xff\xff\xff\x7f", "is damaged"),
                                 (directory + 20, b"\xff\xff\xff\x7f", "damaged zip archive"),
                                 (directory + 42, b"\xff\xff\xff\x7f", "damaged zip archive"),
                                 (directory + 42, b"\1\0\0\0", "is damaged"),  # no local header there
                                 (directory + 8, b"\1\0", "is encrypted"),
                                 (directory + 10, b"\x0e\0", "only other programs know"),  # LZMA
                                 (directory, b"XX", "damaged zip archive"),
                                 (directory + 28, b"\xff\xff", "damaged zip archive"),
                                 (end + 12, b"\xff\xff\xff\x7f", "damaged zip archive"),
                                 (end + 16, b"\xff\xff\xff\x7f", "damaged zip archive"),
                                 (end + 16, b"\xff\xff\xff\xff", "damaged zip archive")):  # zip64 without its record
            broken = bytearray(good)
            broken[at : at + len(value)] = value
            self.refused(broken, words)
        # Many names for the same bytes: what is unpacked may not grow with the directory.
        first = good[directory : good.index(b"PK\1\2", directory + 4)]
        many = bytes(first) * 1000
        tail = b"PK\5\6" + struct.pack("<4H2IH", 0, 0, 1000, 1000, len(many), directory, 0)
        self.refused(bytes(good[:directory]) + many + tail, "overlap")
        # Records of zip64 that lead nowhere, or to each other.
        for place in (0, end, 2**63, 2**64 - 1):
            locator = b"PK\6\7" + struct.pack("<IQI", 0, place, 1)
            self.refused(bytes(good[:end]) + locator + b"PK\5\6" + struct.pack("<4H2IH", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0), "damaged zip archive")

    def test_zip_names_and_sizes(self):
        log = self.fill(2)[0].read_bytes()
        evil = "../../../tmp/\x1b[31mrank4.log"
        (self.dir / "names.zip").write_bytes(self.zip_of([("/etc/rank1.log", log), (evil, log), ("rank1.log/notes.bin", b"x"), ("a" * 5000 + "/rank5.log", log), ("rank5.log", b"nothing")]))
        done = self.run_it("analyze", "--json", "--no-html", self.dir / "names.zip")
        self.assertEqual([r["rank"] for r in json.loads(done.stdout)["ranks"]], [1, 4, 5])
        self.assertIn("1 files without memory states were left out", done.stderr)
        shown = self.run_it("analyze", "--no-html", self.dir / "names.zip")
        self.assertNotIn("\x1b[31m", shown.stdout + shown.stderr)
        self.assertEqual([p for p in self.dir.iterdir() if p.name.startswith("rank")], [])  # nothing is unpacked
        (self.dir / "twice.zip").write_bytes(self.zip_of([("rank0.log", log), ("rank0.log", log), ("rank1.log", log)]))
        self.run_it("analyze", "--no-html", self.dir / "twice.zip")
        # 200 MB of one line, packed a thousand times: bounded memory.
        (self.dir / "long.zip").write_bytes(self.zip_of([("rank0.log", log), ("rank1.log", b"\n" * (200 << 20))]))
        code = "import resource, subprocess, sys\nsubprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\nprint(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
        env = {**self.env, "ASAN_OPTIONS": "quarantine_size_mb=1:allocator_may_return_null=1"}
        kb = int(subprocess.run([sys.executable, "-c", code, TTMEM, "analyze", "--no-json", self.dir / "long.zip"], check=True, capture_output=True, text=True, env=env).stdout)
        self.assertLess(kb, 150 << 10)

    def test_memory_is_bounded(self):
        """Ten times the ranks do not take twice the memory."""
        source = write(self.dir / "one.log", 200, layers=400)

        def most(n):
            for i in range(n):
                os.symlink(source, self.job / ("rank%d.log" % i))
            code = ("import resource, subprocess, sys\nsubprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n"
                    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
            words = [sys.executable, "-c", code, TTMEM, "analyze", "--no-json", "-j", "2", str(self.job)]
            env = {**self.env, "ASAN_OPTIONS": "quarantine_size_mb=1:allocator_may_return_null=1"}  # what it holds back is no memory of ours
            kb = int(subprocess.run(words, check=True, capture_output=True, text=True, env=env).stdout)
            for file in self.job.iterdir():
                file.unlink()
            return kb

        few, many = most(12), most(120)
        self.assertLess(many, 2 * few)


if __name__ == "__main__":
    unittest.main()
