# SPDX-License-Identifier: Apache-2.0
"""A program's buffers meet an L1 tensor: the report names the operation and the tensor in the way, with its source line. The program itself says
which tensor starts at the address of ttnn's message. Run by scripts/test-ttnn, on a mock board. Environment: TTMEM, the program."""

import glob
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.environ.get("TTMEM") or __import__("ttmem").program()
BOARD = os.environ["TTMEM_BOARD"]
MOCK = ("TT_METAL_MOCK_CLUSTER_DESC_PATH", "TT_METAL_CACHE")
HEAD = """import json, re, sys, ttnn
device = ttnn.open_device(device_id=0)
L1, DRAM, TILE = ttnn.L1_MEMORY_CONFIG, ttnn.DRAM_MEMORY_CONFIG, ttnn.TILE_LAYOUT
view = ttnn.get_memory_view(device, ttnn.BufferType.L1)
banks, room = view.num_banks, view.total_bytes_per_bank
KEPT = {}
def says(e):
    at, end = map(int, re.search(r"allocated at (\\d+) and static \\w+ buffer region ends at (\\d+)", str(e)).groups())
    json.dump({"at": at, "end": end, "kept": {k: t.buffer_address() for k, t in KEPT.items() if t.is_allocated()}}, open("truth.json", "w"))
"""


class Clash(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="ttmem-check-clash-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def ttmem(self, *words, status=0):
        env = {k: v for k, v in os.environ.items() if k not in MOCK}
        env.update(PYTHONDONTWRITEBYTECODE="1", TMPDIR=self.dir, TTMEM_HOME=self.dir)
        done = subprocess.run([PROGRAM, *words], cwd=self.dir, env=env, capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, status, done.stdout[-2000:] + done.stderr[-2000:])
        return done.stdout

    def report(self, body):
        """The incident of the recording, the program's own truth, and its lines."""
        lines = "".join("    " + line + "\n" for line in body.strip().splitlines())
        text = HEAD + "try:\n" + lines + "except RuntimeError as e:\n    says(e)\n    raise\n"
        pathlib.Path(self.dir, "model.py").write_text(text)
        self.ttmem("run", "--board", BOARD, "--no-html", "-q", "--", sys.executable, "model.py", status=1)
        (self.folder,) = glob.glob(self.dir + "/logs/*")
        (found,) = [json.loads(p.read_text()) for p in pathlib.Path(self.folder).glob("*findings.json")]
        truth = json.loads(pathlib.Path(self.dir, "truth.json").read_text())
        (incident,) = [i for i in found["incidents"] if i["kind"] == "l1_clash"]
        self.assertEqual((incident["l1_buffer_at"], incident["static_buffers_end"]), (truth["at"], truth["end"]))
        self.found, self.line = found, {w: 1 + text[: text.index(w)].count("\n") for w in ("low =", "high =", "ttnn.softmax", "ttnn.add") if w in text}
        return incident, truth

    def check_named(self, incident, name, op):
        way = incident["in_the_way"]
        self.assertEqual((way[0]["address"], way[0]["basis"]), (incident["l1_buffer_at"], "measured"))
        self.assertEqual((way[0]["operation"]["mlir_op"], way[0]["operation"]["loc"]), (op, "model.py:%d" % self.line[name]))
        statement = self.found["statements"][0]
        self.assertEqual((statement["id"], statement["severity"]), ("l1.overlap", "failure"))
        place = "%s at model.py:%d" % (op, self.line[name])
        self.assertIn(place, statement["detail"])
        self.assertTrue(any(place in fix["text"] for fix in statement["fixes"]), statement["fixes"])
        self.assertNotIn("narrowest", json.dumps(self.found))
        for words in ("analyze", "--no-json"), ("ask", "--findings"), ("explain",):
            said = " ".join(self.ttmem(words[0], glob.glob(self.folder + "/*recording.json")[0], *words[1:]).split())
            self.assertIn(place, said, words)

    def test_a_bystander(self):
        """An L1 tensor that the operation does not use: another one lies above it, a DRAM tensor beside it."""
        incident, truth = self.report("""
KEPT["high"] = high = ttnn.empty([1, 1, 32, 32 * banks], dtype=ttnn.bfloat16, layout=TILE, device=device, memory_config=L1)
KEPT["low"] = low = ttnn.empty([1, 1, (room - 60000) // 2048 * 32, 32 * banks], dtype=ttnn.bfloat16, layout=TILE, device=device, memory_config=L1)
x = ttnn.empty([1, 1, 1024, 8192], dtype=ttnn.bfloat16, layout=TILE, device=device, memory_config=DRAM)
ttnn.softmax(x, dim=-1)
""")
        self.assertEqual(truth["kept"]["low"], truth["at"])
        self.assertEqual(incident["operation"]["loc"], "model.py:%d" % self.line["ttnn.softmax"])
        self.check_named(incident, "low =", "ttnn.empty")
        self.assertFalse(incident["in_the_way"][0]["needed"])
        below = [t for t in truth["kept"].values() if t < truth["end"]]
        self.assertEqual(len(incident["in_the_way"]), len(below))

    def test_an_operand(self):
        """What the operation reads cannot be freed before it."""
        incident, truth = self.report("""
KEPT["low"] = low = ttnn.empty([1, 1, (room - 8000) // 2048 * 32, 32 * banks], dtype=ttnn.bfloat16, layout=TILE, device=device, memory_config=L1)
ttnn.add(low, 1.0, memory_config=DRAM)
""")
        self.assertEqual(truth["kept"]["low"], truth["at"])
        self.check_named(incident, "low =", "ttnn.empty")
        self.assertTrue(incident["in_the_way"][0]["needed"])
        self.assertFalse(any("free it" in fix["text"] for fix in self.found["statements"][0]["fixes"]))

    def test_its_own_result(self):
        """The result was allocated before the program was refused, and is gone when the message comes."""
        incident, truth = self.report("""
x = ttnn.empty([1, 1, (room - 8000) // 2048 * 32, 32 * banks], dtype=ttnn.bfloat16, layout=TILE, device=device, memory_config=DRAM)
ttnn.add(x, 1.0, memory_config=L1)
""")
        self.check_named(incident, "ttnn.add", "ttnn.add")

    def test_a_tensor_of_a_freed_place(self):
        """Places are used again: the name is that of the tensor which is there now."""
        incident, truth = self.report("""
old = ttnn.zeros([1, 1, (room - 60000) // 2048 * 32, 32 * banks], dtype=ttnn.bfloat16, layout=TILE, device=device, memory_config=L1)
ttnn.deallocate(old)
KEPT["low"] = low = ttnn.empty([1, 1, (room - 60000) // 2048 * 32, 32 * banks], dtype=ttnn.bfloat16, layout=TILE, device=device, memory_config=L1)
x = ttnn.empty([1, 1, 1024, 8192], dtype=ttnn.bfloat16, layout=TILE, device=device, memory_config=DRAM)
ttnn.softmax(x, dim=-1)
""")
        self.assertEqual(truth["kept"]["low"], truth["at"])
        self.check_named(incident, "low =", "ttnn.empty")

    def test_a_shard(self):
        incident, truth = self.report("""
spec = ttnn.create_sharded_memory_config((1, 1, 2048 * 8, 512), core_grid=ttnn.CoreGrid(y=4, x=4), strategy=ttnn.ShardStrategy.HEIGHT)
KEPT["low"] = low = ttnn.empty([1, 1, 2048 * 8, 512], dtype=ttnn.bfloat16, layout=TILE, device=device, memory_config=spec)
x = ttnn.empty([1, 1, 1024, 8192], dtype=ttnn.bfloat16, layout=TILE, device=device, memory_config=DRAM)
ttnn.softmax(x, dim=-1)
""")
        self.assertEqual(truth["kept"]["low"], truth["at"])
        self.check_named(incident, "low =", "ttnn.empty")

    def test_fit_names_it_too(self):
        pathlib.Path(self.dir, "model.py").write_text(HEAD + """
low = ttnn.empty([1, 1, (room - 60000) // 2048 * 32, 32 * banks], dtype=ttnn.bfloat16, layout=TILE, device=device, memory_config=L1)
ttnn.softmax(ttnn.empty([1, 1, 1024, 8192], dtype=ttnn.bfloat16, layout=TILE, device=device), dim=-1)
""")
        answer = json.loads(self.ttmem("fit", "--board", BOARD, "--json", "-q", "--", sys.executable, "model.py", status=1))["boards"][0]
        place = "ttnn.empty at model.py:%d" % (HEAD.count("\n") + 2)
        self.assertIn(place, answer["incident"]["in_the_way"])
        self.assertIn(place, answer["detail"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
