#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command that prints a table prints it as JSON and as CSV too, with the same rows: text, JSON and CSV are three forms of one document."""
import csv
import fcntl
import io
import json
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

TTMEM = os.environ["TTMEM"]
SOURCE = pathlib.Path(os.environ["TTMEM_SOURCE"])
DATA = SOURCE / "tests/cli/data"
SMALL = SOURCE / "tests/data"
LOG = str(DATA / "two_runs_oom_profile.log")
sys.path.insert(0, str(SOURCE / "tests/live"))
import segments  # noqa: E402

FOLDER = tempfile.TemporaryDirectory()
BASELINE = os.path.join(FOLDER.name, "memory.json")
# Commands that print no table, and what they print instead.
OTHERS = {"html": "a page", "serve": "an address", "mcp": "messages", "run": "what the program prints, then the summary of analyze", "last-run": "a log", "help": "help",
          "history bisect": "a sentence and two commands", "baseline update": "a sentence", "open": "a path", "rm": "what was deleted",
          "prune": "what was deleted", "completion": "a script"}

QUESTIONS = (["--op", "3"], ["--tensor", "model.proj.weight"], ["--range", "2-4"], ["--ops", "matmul"], ["--at", "4"], ["--at-peak"], ["--findings"])
# Of each command some calls whose text has few lines per row.
CALLS = {
    "--llm": [["--llm", LOG]],
    "analyze": [["analyze", LOG, "--no-json"]],
    "explain": [["explain", LOG]],
    "fit": [["fit", LOG], ["fit", LOG, "--board", "n150", "--per", "chip"]],
    "plan": [["plan", str(DATA / "recording_caches.json")]],
    "verify": [["verify", LOG, "--change", "dtype=bfp8:weights"]],
    "predict": [["predict", str(SMALL / "program.mlir")]],
    "ask": [["ask", LOG, *q] for q in QUESTIONS],
    "diff": [["diff", str(SMALL / "small.log"), LOG]],
    "cb simulate": [["cb", "simulate", "8", "4"]],
    "cb scan": [["cb", "scan", str(SMALL / "cb/forms.cpp")], ["cb", "scan", "--compare", str(SMALL / "cb/customer"), str(SMALL / "cb/fixed")]],
    "cb log": [["cb", "log"], *(["cb", "log", str(SOURCE / "fuzz/corpus/metal_log" / name)] for name in ("old.log", "detailed.csv", "summary.csv"))],
    "cb all": [["cb", "all", "--multi"]],
    "baseline show": [["baseline", "show", BASELINE]],
    "graph": [["graph", str(SMALL / "capture_small.json")]],
    "train": [["train", "--logs", str(DATA / "tinyllama_train.log")]],
    "history": [["history"]],
    "ls": [["ls"]],
    "live": [["live", "--once"]],
    "doctor": [["doctor", LOG]],
}


def run(*words, columns=0):
    """What a command prints; with `columns` on a terminal that wide."""
    env = {**os.environ, "TERM": "dumb", "LC_ALL": "C.UTF-8", "TTMEM_SHM_DIR": SHM.name, "NO_COLOR": "1"}
    if not columns:
        done = subprocess.run([TTMEM, *words], capture_output=True, env=env)
        assert done.returncode in (0, 1), (words, done.stderr)
        return done.stdout.decode()
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 4000, columns, 0, 0))
    process = subprocess.Popen([TTMEM, *words], stdout=theirs, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, env=env)
    os.close(theirs)
    text = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        text += piece
    os.close(ours)
    assert process.wait() in (0, 1), words
    return text.decode().replace("\r\n", "\n")


def tables(text):
    """The tables of a CSV output: heads and rows; an empty line stands between two with other heads."""
    parts, heads = [], None
    for row in csv.reader(io.StringIO(text, newline="")):
        if not row:
            heads = None
        elif heads is None:
            heads = row
            parts.append((heads, []))
        else:
            parts[-1][1].append(row)
    return parts


UNITS = {"B": 1, "KB": 1024, "MB": 1 << 20, "GB": 1 << 30}
NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:e\d+)?(?: (?:B|KB|MB|GB)\b)?")


def numbers(line):
    """Every number of a line, as it stands, and in bytes where it has a unit; with the last digit that is shown."""
    for match in NUMBER.findall(line):
        figure, _, unit = match.partition(" ")
        decimals = len(figure.partition(".")[2])
        value, last = float(figure.replace(",", "")), 10.0**-decimals
        yield value, last
        if unit:
            yield value * UNITS[unit], last * UNITS[unit]


def stands_in(cell, line):
    if cell in ("", "-"):
        return True
    try:
        value = float(cell)
    except ValueError:
        return re.sub(r"\s+", "", cell) in re.sub(r"\s+", "", line)
    return any(abs(value - shown) <= last * 0.51 + 1e-9 for shown, last in numbers(line))


def values(tree):
    """All plain values of a JSON text."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield key
            yield from values(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from values(value)
    else:
        yield tree


class Tables(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        run("train", "--logs", str(DATA / "tinyllama_train.log"))  # a run for the history
        run("baseline", "update", BASELINE, LOG)
        run("analyze", "-q", "--no-html", LOG)  # a report for ls

    def test_every_command_has_both(self):
        text = run("--help")
        names = re.findall(r"^  (--llm|(?:cb |history |baseline )?[a-z-]+)\b", text[text.index("Commands:") : text.index("Options:")], re.M)
        self.assertGreater(len(names), 20)
        for name in names:
            with self.subTest(command=name):
                options = run("help", *name.split())
                has = {form for form in ("--json", "--csv") if re.search(rf"^ +{form}\b", options, re.M)}
                self.assertEqual(has, set() if name in OTHERS else {"--json", "--csv"}, name)
                self.assertTrue(name in CALLS or name in OTHERS or name == "export", name)

    def test_only_one_form(self):
        for name, calls in CALLS.items():
            done = subprocess.run([TTMEM, *calls[0], "--csv", "--json"], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (2, ""), name)
            self.assertIn("give only one of --json, --csv", done.stderr)

    def test_the_rows_are_those_of_the_text(self):
        for name, calls in CALLS.items():
            for call in calls:
                with self.subTest(call=call):
                    self.compare(call)

    def compare(self, call):
        text = run(*call, columns=600)
        squeezed = re.sub(r"\s+", "", text)
        known = list(values(json.loads(run(*call, "--json"))))
        parts = tables(run(*call, "--csv"))
        self.assertTrue(parts)
        lines = text.splitlines()
        for heads, rows in parts:
            self.assertEqual(len(heads), len(set(heads)), heads)
            for row in rows:
                self.assertEqual(len(row), len(heads), row)
                cells = [c for c, head in zip(row, heads) if head != "Section"]
                if "Text" in heads:  # sentences and labelled rows
                    self.assertIn(re.sub(r"[\s.:]+", "", row[-1]), re.sub(r"[\s.:]+", "", squeezed), row)
                elif call[0] in ("analyze", "explain", "history", "live", "ls"):  # the columns of `export` and of the JSON, not those of the screen
                    self.assertTrue(set(cells) & {str(v) for v in known}, row)
                elif call[0] == "--llm":  # markdown, whose cells are escaped
                    self.assertTrue(any(stands_in(cells[0], line) for line in lines), row)
                else:
                    self.assertTrue(any(all(stands_in(c, line) for c in cells) for line in lines), (row, text))

    def test_ask_as_json_has_the_rows_it_is_about(self):
        def ask(*question):
            return json.loads(run("ask", LOG, *question, "--json"))

        table = json.loads(run("export", "--json", "--table", "operations", LOG, "-o", "-"))
        self.assertEqual(ask("--op", "3")["rows"]["operations"], [o for o in table if o["index"] == 3])
        of_range = ask("--range", "2-4")["rows"]["operations"]
        self.assertEqual(of_range, [o for o in table if of_range[0]["operation"] <= o["operation"] <= of_range[-1]["operation"]])
        tensors = ask("--tensor", "model.proj.weight")["rows"]["tensors"]
        self.assertEqual({t["name"] for t in tensors}, {"model.proj.weight"})
        findings = json.loads(run("analyze", LOG, "--no-json", "--json"))
        self.assertEqual(ask("--findings")["rows"]["statements"], findings["statements"])
        peak = ask("--at-peak")["sections"][0]["tables"][0]
        self.assertEqual(peak["columns"], ["MB per bank", "Class", "Name", "Tensor", "Made by"])
        self.assertAlmostEqual(sum(r["MB per bank"] for r in peak["rows"]), 1006.337, places=2)

    def test_all_rows_where_the_text_shows_some(self):
        demo = str(SOURCE / "demo/llama_small.log.zst")
        text = run("ask", demo, "--range", "0-99")
        self.assertIn("and 60 more operations", text)
        self.assertEqual(len(tables(run("ask", demo, "--range", "0-99", "--csv"))[0][1]), 100)
        self.assertEqual(len(json.loads(run("ask", demo, "--range", "0-99", "--json"))["sections"][0]["tables"][0]["rows"]), 100)


SHM = tempfile.TemporaryDirectory()
segments.Segment(SHM.name, asic_id=7).hold(0, os.getpid(), dram=3 << 30, l1=5 << 20)

if __name__ == "__main__":
    unittest.main()
