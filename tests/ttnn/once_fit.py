# SPDX-License-Identifier: Apache-2.0
"""`ttmem fit -- python PROGRAM` against really running the program on each board, without ttmem: verdict, peaks, and where it stops.
Run by scripts/test-ttnn, once."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.environ.get("TTMEM") or __import__("ttmem").program()
SOURCE = os.environ["TTMEM_SOURCE"]
PROGRAMS = os.path.join(SOURCE, "tests/ttnn/programs")
PATIENCE = 900  # only bounds a hang
MOCK = ("TT_METAL_MOCK_CLUSTER_DESC_PATH", "TT_METAL_CACHE")


class Fit(unittest.TestCase):
    def setUp(self):
        self.here = tempfile.mkdtemp(prefix="ttmem-once-fit-")
        self.addCleanup(shutil.rmtree, self.here, ignore_errors=True)

    def call(self, command, **environment):
        env = {k: v for k, v in os.environ.items() if k not in MOCK}
        env.update(TMPDIR=self.here, PYTHONDONTWRITEBYTECODE="1", **environment)
        return subprocess.run(command, cwd=self.here, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)

    def fit(self, boards, program, *arguments, options=()):
        path = os.path.join(PROGRAMS, program)
        run = self.call([PROGRAM, "fit", "--json", "--board", ",".join(boards), *options, "--", sys.executable, path, *arguments])
        self.assertIn(run.returncode, (0, 1), run.stderr)
        answers = {b["board"]: b for b in json.loads(run.stdout)["boards"]}
        self.assertEqual(list(answers), list(boards))
        self.assertEqual(run.returncode, 0 if all(b["fits"] for b in answers.values()) else 1)
        return answers

    def really(self, board, program, *arguments):
        """(it ran to its end, what it saw, what it printed)"""
        own = os.path.join(self.here, "own.json")
        run = self.call(
            [sys.executable, os.path.join(PROGRAMS, program), *arguments],
            OWN_VIEW=own,
            TT_METAL_MOCK_CLUSTER_DESC_PATH=os.path.join(SOURCE, "boards", board + ".yaml"),
            TT_METAL_CACHE=os.environ["TT_METAL_CACHE"],
        )
        with open(own) as f:
            return run.returncode == 0, json.load(f), run.stdout + run.stderr

    def compare(self, boards, program, *arguments):
        answers = self.fit(boards, program, *arguments)
        for board, answer in answers.items():
            with self.subTest(board=board, program=program):
                ended_well, own, printed = self.really(board, program, *arguments)
                self.assertIs(answer["fits"], ended_well)
                if ended_well or answer["incident"]["kind"] == "oom":
                    self.assertEqual(answer["peak_dram_per_bank_B"], own["dram_peak_B"])
                    self.assertEqual(answer["peak_dram_B"], own["dram_peak_B"] * own["dram"]["banks"])
                else:  # the operation that clashed had its result already, which the program never saw
                    self.assertGreater(answer["peak_dram_per_bank_B"], own["dram_peak_B"])
                self.assertEqual(answer["capacity_dram_per_bank_B"], own["dram"]["bank_B"])
                self.assertEqual(answer["peak_l1_tensors_per_core_B"], own["l1_peak_B"])
                self.assertGreaterEqual(answer["peak_l1_per_core_B"], own["l1_peak_B"])
                self.assertEqual(answer["incident"] is None, ended_well)
                if not ended_well:
                    frames = re.findall(r'File "([^"]*%s)", line (\d+)' % re.escape(program), printed)
                    self.assertEqual(answer["incident"]["at"], "%s:%s" % frames[-1])
                    same = lambda text: re.sub(r"program \d+", "program", text)  # questions before the call are programs too
                    self.assertIn(same(answer["incident"]["message"]), same(printed))
        return answers

    def test_dram(self):
        """A hundred results of 128 MiB are kept: too many for 12 GiB of DRAM, few for 28 and 32."""
        answers = self.compare(("n150", "galaxy", "p100", "p150"), "history_loop.py", "100")
        self.assertEqual([a["fits"] for a in answers.values()], [False, False, True, True])
        self.assertEqual(answers["n150"]["incident"]["kind"], "oom")

    def test_l1(self):
        """Three tensors leave a core 17 KB of L1 on Wormhole and 85 KB on Blackhole; the kernels of softmax want 62."""
        answers = self.compare(("n150", "p150"), "sharded_chain.py", "448")
        self.assertEqual([a["fits"] for a in answers.values()], [False, True])
        self.assertEqual((answers["n150"]["incident"]["kind"], answers["n150"]["l1_clashes"]), ("l1_clash", 1))
        self.assertGreater(answers["p150"]["peak_l1_per_core_B"], answers["n150"]["capacity_l1_per_core_B"])

    def test_boards_with_ethernet_dispatch(self):
        """Plain ttnn refuses this program on a mock n300, see boards/README.md: no truth to be had but that of a board like it."""
        descriptor = os.path.join(SOURCE, "boards/n300.yaml")  # as a user's own would be given
        answers = self.fit(("n150", "n300", "t3k", descriptor), "transformer_block.py", "1", "1024")
        self.assertEqual([a["fits"] for a in answers.values()], [True] * 4)
        same = ("peak_dram_per_bank_B", "capacity_dram_per_bank_B", "peak_l1_per_core_B")
        self.assertEqual([answers["n300"][k] for k in same], [answers["n150"][k] for k in same])
        self.assertEqual([answers["t3k"][k] for k in same], [answers["n150"][k] for k in same])
        self.assertEqual([answers[descriptor][k] for k in same], [answers["n150"][k] for k in same])

    def test_two_chips(self):
        self.compare(("galaxy", "p300"), "two_chips.py")
        path = os.path.join(PROGRAMS, "two_chips.py")
        run = self.call([PROGRAM, "fit", "--json", "--board", "p150,n300", "--", sys.executable, path])
        one, two = json.loads(run.stdout)["boards"]
        self.assertEqual((run.returncode, one["fits"], two["fits"]), (2, None, True), run.stdout)
        self.assertIn("requires 2 devices", one["why_unknown"])

    def test_boards_with_the_same_chip_are_run_once(self):
        answers = self.fit(("n150", "n300", "galaxy", "p150", "p300"), "history_loop.py", "3")
        self.assertEqual([a["run_on"] for a in answers.values()], [None, "n150", None, None, "p150"])

    def test_what_ended_the_program(self):
        """A failed allocation that was caught, raised again elsewhere, or only remembered."""
        head = "import sys, threading, ttnn\nd = ttnn.open_device(device_id=0)\n" \
               "def big(n=14000):\n    return ttnn.empty([1, 1, 512 * n, 1024], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=d)\n"
        old = "Out of Memory: Not enough space to allocate 1024 B L1 buffer across 64 banks, where each bank needs to store 32 B, but bank size is 16 B"
        caught = "try:\n    big()\nexcept RuntimeError as e:\n    %s\n"
        for name, text, fits, why in (
            ("retried", caught % "x = big(1)", True, None),
            ("retried, then an assertion", caught % "pass" + "for i in range(5): x = ttnn.relu(big(1))\nassert False, 'PCC'\n", None, "went on for 10 operations"),
            ("gave up", caught % "sys.exit(1)", False, None),
            ("another exception of it", caught % "raise ValueError('too large') from e", False, None),
            ("a thread died of it", "t = threading.Thread(target=big)\nt.start()\nt.join()\n", False, None),
            ("raised again by the main thread", "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(1) as pool: pool.submit(big).result()\n", False, None),
            ("an old message", "big(1)\nprint(%r)\nassert False\n" % old, None, "of no recorded operation"),
            ("an old exception", "big(1)\nraise RuntimeError(%r)\n" % old, None, "of no recorded operation"),
        ):
            with self.subTest(name):
                path = os.path.join(self.here, "ended.py")
                with open(path, "w") as f:
                    f.write(head + text)
                run = self.call([PROGRAM, "fit", "-q", "--json", "--board", "n150", "--", sys.executable, path])
                answer, = json.loads(run.stdout)["boards"]
                self.assertIs(answer["fits"], fits, answer)
                self.assertEqual(run.returncode, {True: 0, False: 1, None: 2}[fits])
                if why:
                    self.assertIn(why, answer["why_unknown"])
                if fits is False:
                    self.assertEqual((answer["incident"]["operation"], os.path.basename(answer["incident"]["at"])), ("ttnn.empty", "ended.py:4"))

    def test_another_reason_than_memory(self):
        broken = os.path.join(self.here, "broken.py")
        for text, why in (
            ("import no_such_module\n", "No module named 'no_such_module'"),
            ("def f(:\n", "SyntaxError"),
            ("import sys\nsys.exit(3)\n", "exit status 3"),
            ("import ttnn\nd = ttnn.open_device(device_id=0)\nttnn.add(1, 2)\n", "exit status 1; no device memory was refused"),
        ):
            with self.subTest(text=text):
                with open(broken, "w") as f:
                    f.write(text)
                run = self.call([PROGRAM, "fit", "--json", "--board", "n150", "--", sys.executable, broken])
                self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
                answer = json.loads(run.stdout)["boards"][0]
                self.assertIsNone(answer["fits"])
                self.assertIsNone(answer["incident"])
                self.assertIn(why, answer["why_unknown"])


if __name__ == "__main__":
    unittest.main()
