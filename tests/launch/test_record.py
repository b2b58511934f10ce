#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`ttmem run` around a Python program that uses ttnn, here a fake one (fake_ttnn): names and lines, pieces, every way to end, and that
nobody else is disturbed. What real ttnn says is checked by tests/ttnn/check_record.py."""
import base64
import glob
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import zlib

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS))
from children import end, interruptible  # noqa: E402

TTMEM = os.path.abspath(os.environ.get("TTMEM", "build/bin/ttmem"))
LOG = TESTS / "cli/data/two_runs_oom_profile.log"
FAKE = TESTS / "launch/fake_ttnn/site-packages"
PATIENCE = 120  # only bounds a hang
MODEL = """import ttnn

def forward(x):
    y = ttnn.relu(x)
    z = ttnn.softmax(y)
    ttnn.deallocate(y)
    return z

device = ttnn.open_device(device_id=0)
x = ttnn.empty(4096, device)
for i in range(20):
    x = forward(x)
{end}
ttnn.close_device(device)
"""


# What libc's environment holds and os.environ does not show.
HIDDEN = "(lambda c: (setattr(c.getenv, 'restype', __import__('ctypes').c_char_p), c.getenv(b'NAME'))[1] or b'')(__import__('ctypes').CDLL(None)).decode()"
# What a program can see of its surroundings, as it starts and where it has a device; and what its children can.
SURROUNDINGS = """
import os, sys, json
def look():
    return {"environ": dict(os.environ), "environb": len(os.environb), "path": sys.path, "cwd": os.getcwd(), "argv": sys.argv, "flags": list(sys.flags)[:9]}
"""
CHILDREN = SURROUNDINGS + """
import subprocess, multiprocessing
def worker(queue):
    import ttnn
    queue.put(look())
if __name__ == "__main__":
    seen = [look()]
    import ttnn
    device = ttnn.open_device(device_id=0)
    seen.append(look())
    child = [sys.executable, "child.py"]
    os.environ["MINE"] = "1"
    seen.append(json.loads(subprocess.check_output(child)))
    seen.append(json.loads(subprocess.check_output(child, env={**os.environ, "MINE": "2"})))
    os.environ["PYTHONPATH"] = os.environ["PYTHONPATH"] + ":/else"
    seen.append(json.loads(subprocess.check_output(child)))
    seen.append(json.loads(subprocess.check_output(child, close_fds=False)))
    seen.append(json.loads(os.popen(" ".join(child)).read()))
    for spawn in (lambda: os.posix_spawn(child[0], child, os.environ), lambda: os.spawnve(os.P_NOWAIT, child[0], child, dict(os.environ)), lambda: os.spawnv(os.P_NOWAIT, child[0], child)):
        os.environ["OUT"] = "out.json"
        os.waitpid(spawn(), 0)
        seen.append(json.load(open("out.json")))
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=worker, args=(queue,))
    process.start()
    seen.append(queue.get())
    process.join()
    ttnn.close_device(device)
    json.dump(seen, open(os.environ["SEEN"], "w"))
"""


def page_facts(page):
    """The facts inside a page, as JSON text."""
    return zlib.decompress(base64.b64decode(re.search(r'id="data\.facts">([^<]*)<', page)[1])).decode()


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="ttmem-record-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("TT_", "TTNN_", "PYTHON")) and k != "VIRTUAL_ENV"}
        self.env.update(PYTHONPATH=str(FAKE), PYTHONDONTWRITEBYTECODE="1", LC_ALL="C.UTF-8", TMPDIR=self.dir, TTMEM_HOME=self.dir + "/home")
        self.temporary = self.dir + "/home/cache/tmp/ttmem-run-"

    def write(self, name, text):
        path = os.path.join(self.dir, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(text)
        return path

    def start(self, *options, script="model.py", python=sys.executable, page=False):
        command = [TTMEM, "run", *([] if page else ["--no-html"]), *options, "--", python, script]
        p = subprocess.Popen(command, cwd=self.dir, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True, start_new_session=True, preexec_fn=interruptible)
        self.addCleanup(end, p)
        return p

    def run_it(self, *options, **more):
        p = self.start(*options, **more)
        out, err = p.communicate(timeout=PATIENCE)
        return p.returncode, out, err

    def model(self, end="", text=MODEL):
        self.write("model.py", text.replace("{end}", end))

    def findings(self):
        with open(max(glob.glob(self.dir + "/logs/*/model_findings.json"))) as f:
            return json.load(f)

    def recording(self):
        return max(glob.glob(self.dir + "/logs/*/model_recording.json"))


class Recorded(Case):
    def test_operations_have_the_programs_lines(self):
        self.model()
        code, _, err = self.run_it()
        self.assertEqual(code, 0, err)
        found = self.findings()
        self.assertEqual(found["operations"]["total"], 41)  # one empty, 20 relu and softmax; frees are no operations
        peak = found["recording"]["memories"]["DRAM"]
        self.assertEqual(peak["peak_per_bank_B"], 3 * 4096)
        self.assertEqual(peak["capacity_per_bank_B"], 1 << 20)
        self.assertEqual((peak["peak_operation"]["mlir_op"], peak["peak_operation"]["loc"]), ("ttnn.softmax", "model.py:5"))
        self.assertIn("ttnn.softmax at model.py:5", err)
        self.assertEqual(found["recording"]["corrections"] + found["recording"]["hole_corrections"], 0)
        self.assertTrue(found["recording"]["ended"])
        with open(self.recording()) as f:
            json.load(f)  # whole JSON when it ended by itself

    def test_pieces_of_any_size_say_the_same(self):
        self.model()
        seen = []
        for piece in ("1", "10", "10000"):
            self.env["TTMEM_PIECE"] = piece
            self.assertEqual(self.run_it()[0], 0)
            found = self.findings()
            found["recording"].pop("pieces"), found["recording"].pop("memory_views"), found["recording"].pop("host")
            found["statements"] = [s for s in found["statements"] if s["topic"] != "host"]
            lines_gone = json.loads(json.dumps(found), object_hook=lambda o: {k: v for k, v in o.items() if not k.endswith(("line", "lines")) and k not in ("bytes", "fingerprint", "path")})
            seen.append(lines_gone)
            shutil.rmtree(self.dir + "/logs")
        self.assertEqual(seen[0], seen[1])
        self.assertEqual(seen[1], seen[2])

    def test_programs_get_their_buffers_from_a_repetition_on_a_mock_board_only(self):
        self.model()
        self.assertEqual(self.run_it()[0], 0)
        use = self.findings()["recording"]["l1_per_core"]
        self.assertEqual((use["programs"], use["programs_completed"], use["dataflow_buffers_B"]), (40, 19, 0))  # relu from the cache: as the first
        self.assertEqual(use["programs_without_buffers"], 20)
        shutil.rmtree(self.dir + "/logs")
        code, _, err = self.run_it("--board", "n150")
        self.assertEqual(code, 0, err)
        found = self.findings()["recording"]
        use = found["l1_per_core"]
        self.assertEqual((use["programs"], use["programs_completed"], use["programs_without_buffers"]), (40, 40, 0))
        self.assertEqual(found["board"], "n150")
        self.assertEqual(found["memories"]["DRAM"]["peak_per_bank_B"], 3 * 4096)

    def test_the_programs_own_captures_are_its_own(self):
        self.model("""
for mode in (ttnn.graph.RunMode.NO_DISPATCH, ttnn.graph.RunMode.NORMAL):
    before = len(device.live)
    assert not ttnn.graph.is_graph_capture_active()
    ttnn.graph.begin_graph_capture(mode)
    assert ttnn.graph.is_graph_capture_active()
    a = ttnn.relu(x)
    nodes = ttnn.graph.end_graph_capture()
    assert [n["node_type"] for n in nodes].count("buffer_allocate") == 1, nodes
    assert "arguments" in nodes[0]
    assert len(device.live) == before + (mode is ttnn.graph.RunMode.NORMAL)
    b = ttnn.relu(x)
    del a, b
""")
        code, _, err = self.run_it()
        self.assertEqual(code, 0, err)
        self.assertEqual(self.findings()["recording"]["corrections"], 0)
        self.assertEqual(self.findings()["operations"]["total"], 45)

    def test_captures_with_keywords_and_to_a_file(self):
        for kind in ("new", "old"):
            with self.subTest(ttnn=kind):
                self.env["FAKE_TTNN"] = kind
                self.model("""
import json
try:
    ttnn.graph.end_graph_capture()
except RuntimeError as error:
    assert str(error) == "no capture to end"  # ours is none of the program's
else:
    raise AssertionError("ended a capture that the program had not begun")
before = len(device.live)
ttnn.graph.begin_graph_capture(run_mode=ttnn.graph.RunMode.NO_DISPATCH)
a = ttnn.relu(x)
ttnn.graph.end_graph_capture_to_file(report_path="mine.json")
assert len(device.live) == before
assert [n["node_type"] for n in json.load(open("mine.json"))["graph"]].count("buffer_allocate") == 1
""")
                code, out, err = self.run_it()
                self.assertEqual(code, 0, out + err)
                self.assertEqual(self.findings()["recording"]["corrections"], 0)
                self.assertEqual(self.findings()["operations"]["total"], 42)
                shutil.rmtree(self.dir + "/logs")

    def test_a_look_for_ttnn_is_no_import(self):
        """Only asking whether ttnn is there, as ttmem's own tracker does, must not end the watch for it."""
        probe = "import importlib.util\nassert importlib.util.find_spec('ttnn') is not None\n"
        self.model(text=2 * probe + MODEL + "import importlib\nimportlib.reload(ttnn)\n")
        for options in ((), ("--board", "n150")):
            with self.subTest(options=options):
                code, out, err = self.run_it(*options)
                self.assertEqual(code, 0, out + err)
                self.assertEqual(self.findings()["operations"]["total"], 41)
                shutil.rmtree(self.dir + "/logs")

    def test_devices_come_and_go(self):
        """ttnn crashes when a device is destroyed while a capture runs, as when the function ends that opened it."""
        self.model(text="""import gc, ttnn, weakref

def work(size):
    device = ttnn.open_device(device_id=0)
    seen.append(weakref.ref(device))
    x = ttnn.relu(ttnn.empty(size, device))
    ttnn.close_device(device)

seen = []
for size in (1024, 2048, 4096, 8192):
    work(size)
    ttnn.graph.begin_graph_capture()
    ttnn.graph.end_graph_capture()
gc.collect()
assert sum(ref() is not None for ref in seen) <= 2  # nor are they all kept
for i in range(3):
    device = ttnn.open_device(device_id=0)  # the last one goes when the next is there
    ttnn.empty(1024, device)
    ttnn.close_device(device)
""")
        code, out, err = self.run_it()
        self.assertEqual(code, 0, out + err)
        found = self.findings()
        self.assertEqual((found["operations"]["total"], found["recording"]["corrections"], found["recording"]["lost_operations"]), (11, 0, 0))
        self.assertEqual(found["recording"]["memories"]["DRAM"]["peak_per_bank_B"], 2 * 8192)

    def test_arguments_that_are_equal_and_not_the_same(self):
        """True == 1 == 1.0 in Python; to an operation they may be three programs. Of configurations counts what they say, not where they lie."""
        self.model("Kind = ttnn.KernelConfig\nkept = [Kind(3), Kind(4), Kind(3)]\nfor how in (True, 1, 1.0, 1, *kept):\n    ttnn.scale(x, how)")
        code, out, err = self.run_it("--board", "n150")
        self.assertEqual(code, 0, out + err)
        with open(self.recording()) as f:
            nodes = json.load(f)["graph"]
        keys = [n["params"]["key"] for n in nodes if n["node_type"] == "operation" and n["params"]["name"] == "ttnn.scale"]
        self.assertEqual((len(set(keys)), keys[1], keys[4]), (5, keys[3], keys[6]))

    def test_operations_that_free_their_input_are_asked_with_another(self):
        """Asked before the call with its own, the input would be gone when it comes."""
        self.model("for frees in (False, True, True):\n    y = ttnn.empty(1024, device)\n    ttnn.conv(y, ttnn.ConvConfig(frees))\n    assert (y.address is None) == frees")
        code, out, err = self.run_it("--board", "n150")
        self.assertEqual(code, 0, out + err)
        with open(self.recording()) as f:
            nodes = json.load(f)["graph"]
        self.assertEqual(["key" in n["params"] for n in nodes if n["node_type"] == "operation" and n["params"]["name"] == "ttnn.conv"], [True] * 3)
        self.assertEqual(self.findings()["recording"]["l1_per_core"]["programs_without_buffers"], 0)

    def test_a_cycle_collected_at_any_time_is_seen(self):
        self.model("""
import gc
gc.set_threshold(7)
class Node: pass
for i in range(50):
    n = Node()
    n.me, n.tensor = n, ttnn.empty(1024, device)
""")
        self.env["TTMEM_VIEWS"] = "all"
        code, _, err = self.run_it()
        self.assertEqual(code, 0, err)
        found = self.findings()["recording"]
        self.assertGreater(found["memory_views"], 50)
        self.assertEqual((found["corrections"], found["hole_corrections"], found["unseen_frees"]), (0, 0, 0))

    def test_two_devices_and_threads(self):
        """Each device has its own states, whoever works on it."""
        self.model("""
import threading
other = ttnn.open_device(device_id=1)
kept = ttnn.empty(8192, other)
t = threading.Thread(target=lambda: ttnn.relu(kept))
t.start(), t.join()
ttnn.close_device(other)
""")
        code, _, err = self.run_it()
        self.assertEqual(code, 0, err)
        found = self.findings()
        self.assertEqual((found["operations"]["total"], found["recording"]["corrections"], found["recording"]["operations_elsewhere"]), (43, 0, 0))
        self.assertEqual(found["recording"]["memories"]["DRAM"]["peak_per_bank_B"], 2 * 8192)
        ask = subprocess.run([TTMEM, "ask", self.recording(), "--op", "42"], env=self.env, capture_output=True, text=True, timeout=PATIENCE)
        self.assertIn("ttnn.relu at model.py:17\nwhere     device 1\nDRAM      delta +0.008 MB", ask.stdout)

    def test_threads_keep_their_order(self):
        """Three threads allocate and free side by side; what the last holds is freed when its function ends."""
        self.env["TTMEM_VIEWS"] = "all"
        self.model("""
import threading
def work(rounds, turn, after):
    for i in range(rounds):
        turn.acquire()
        kept = [ttnn.empty(10240, device)]
        kept.append(ttnn.relu(kept[0]))
        after.release()
turns = [threading.Semaphore(i == 0) for i in range(3)]
threads = [threading.Thread(target=work, args=(5, turns[i], turns[(i + 1) % 3])) for i in range(3)]
for t in threads: t.start()
for t in threads: t.join()
""")
        code, _, err = self.run_it()
        self.assertEqual(code, 0, err)
        recording = self.findings()["recording"]
        self.assertEqual((self.findings()["operations"]["total"], recording["late_operations"]), (41 + 30, 0))
        self.assertEqual((recording["corrections"], recording["unseen_frees"]), (0, 0))
        self.assertEqual(recording["memories"]["DRAM"]["peak_per_bank_B"], 4096 + (3 * 2 + 1) * 10240)

    def test_a_view_is_of_one_moment(self):
        """An operation of another thread ends between the allocator's answer and its writing."""
        self.model("""
import threading
inside, go, done = threading.Event(), threading.Event(), threading.Event()
class Slow(dict):
    def __setitem__(self, address, size):
        if threading.current_thread() is t:
            inside.set(), go.wait()
        super().__setitem__(address, size)
def work():
    kept.append(ttnn.empty(10240, device))
    done.set()
def view(device, kind, real=ttnn.get_memory_view):
    seen = real(device, kind)
    if inside.is_set():
        go.set(), done.wait()
    return seen
kept, device.live = [], Slow(device.live)
t = threading.Thread(target=work)
t.start(), inside.wait()
ttnn.get_memory_view = view
ttnn.relu(x)
large = ttnn.empty(40960, device)
t.join()
""")
        code, _, err = self.run_it()
        self.assertEqual(code, 0, err)
        recording = self.findings()["recording"]
        self.assertEqual((recording["corrections"], recording["unseen_frees"]), (0, 0))
        self.assertEqual(recording["memories"]["DRAM"]["peak_per_bank_B"], 4096 + 10240 + 40960)

    def test_a_free_in_another_thread_is_seen(self):
        self.model("""
import threading
kept = [ttnn.empty(10240, device)]
t = threading.Thread(target=kept.clear)
t.start(), t.join()
more = ttnn.empty(20480, device)
""")
        code, _, err = self.run_it()
        self.assertEqual(code, 0, err)
        recording = self.findings()["recording"]
        self.assertEqual((recording["corrections"], recording["unseen_frees"]), (0, 0))
        self.assertEqual(recording["memories"]["DRAM"]["peak_per_bank_B"], 4096 + 20480)

    def test_a_recording_is_read_again(self):
        self.model()
        self.run_it()
        again = subprocess.run([TTMEM, "analyze", "--no-json", self.recording()], env=self.env, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("ttnn.softmax at model.py:5", again.stdout)

    def test_a_recording_is_asked(self):
        """It knows no programs; this one knows no types either."""
        self.model()
        self.run_it()
        ask = lambda *question: subprocess.run([TTMEM, *question], env=self.env, capture_output=True, text=True, timeout=PATIENCE, check=True).stdout
        self.assertIn("\nRuns\n  Runs are unknown: this input does not show where a run begins and ends.\n", ask("ask", self.recording(), "--findings"))
        operation = ask("ask", self.recording(), "--op", "3")
        self.assertIn("outputs   of unknown type;", operation)
        self.assertNotIn("program", operation)
        self.assertIn("together +0.008 MB per bank, deallocations between them included", ask("ask", self.recording(), "--range", "1-2"))
        report = ask("--llm", "--logfile", self.recording())
        self.assertIn("## Top 10 Padding Overhead\n\nUnknown: the types of the operations' results are not in this log.", report)
        self.assertEqual(subprocess.run([TTMEM, "doctor", self.recording()], env=self.env, capture_output=True, timeout=PATIENCE).returncode, 0)

    def page_again(self):
        folder = os.path.relpath(os.path.dirname(self.recording()), self.dir)
        return subprocess.run([TTMEM, "html", folder], cwd=self.dir, env=self.env, capture_output=True, text=True, timeout=PATIENCE)

    def analyzed(self, folder):
        """What `ttmem analyze FOLDER` takes the folder for."""
        done = subprocess.run([TTMEM, "analyze", folder, "--json", "--no-json"], cwd=self.dir, env=self.env, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["input"]

    def test_the_page_of_a_recorded_run_is_made_again(self):
        """The folder holds a log as well, with nothing of the device in it, or with lines that a runtime prints."""
        for said in ("", "print('hello')", "print('2026-01-01 00:00:00.000 | WARNING  | Always | [tt-metal] a line of the runtime')"):
            for options in ((), ("--board", "n150")):
                with self.subTest(said=said, options=options):
                    self.model(said)
                    self.assertEqual(self.run_it(*options, page=True)[0], 0)
                    page = self.recording().replace("_recording.json", "_report.html")
                    with open(page, "rb") as f:
                        before = f.read()
                    again = self.page_again()
                    self.assertEqual(again.returncode, 0, again.stderr)
                    with open(page, "rb") as f:
                        self.assertEqual(f.read(), before)
                    shutil.rmtree(self.dir + "/logs")

    def test_the_page_of_a_log_without_a_report(self):
        self.model("print('hello')")
        code, _, err = self.run_it("--log")
        self.assertEqual(code, 0, err)
        folder = os.path.relpath(os.path.dirname(self.recording()), self.dir)
        self.assertIn("ttmem:   ttmem analyze %s\nttmem:   ttmem html %s\n" % (folder, folder), err)
        self.assertEqual(self.analyzed(folder)["kind"], "capture")
        again = self.page_again()
        self.assertEqual(again.returncode, 0, again.stderr)
        with open(self.recording().replace("_recording.json", "_report.html")) as f:
            self.assertIn("model_recording.json", page_facts(f.read()))

    def test_a_log_with_operations_tells_more(self):
        with open(LOG) as f:
            self.write("printed", f.read())
        self.model("print(open('printed').read())")
        self.assertEqual(self.run_it()[0], 0)
        self.assertEqual(self.findings()["input"]["kind"], "full")
        for kept in (True, False):
            if not kept:
                for file in glob.glob(self.dir + "/logs/*/*_findings.json"):
                    os.unlink(file)
            self.assertEqual(self.page_again().returncode, 0)
            with open(self.recording().replace("_recording.json", "_report.html")) as f:
                self.assertIn("model_profile.log", page_facts(f.read()))
            self.assertEqual(self.analyzed(os.path.dirname(self.recording()))["kind"], "full")


class Ends(Case):
    def check(self, status, end, *options):
        self.model(end)
        code, _, err = self.run_it(*options)
        self.assertEqual(code, status, err)
        return self.findings(), " ".join(err.split())

    def test_out_of_memory(self):
        found, err = self.check(1, "kept = []\nwhile True:\n    kept.append(ttnn.empty(100000, device))")
        incident, = found["incidents"]
        self.assertEqual((incident["kind"], incident["memory"], incident["needed_per_bank_B"]), ("oom", "DRAM", 100000))
        self.assertEqual((incident["operation"]["mlir_op"], incident["operation"]["loc"]), ("ttnn.empty", "model.py:15"))
        self.assertTrue(found["recording"]["ended"])
        self.assertIn("In #51 ttnn.empty at model.py:15", err)

    def test_out_of_memory_that_is_caught(self):
        found, _ = self.check(0, "try:\n    ttnn.empty(1 << 21, device)\nexcept RuntimeError:\n    pass\nttnn.relu(x)")
        self.assertEqual(len(found["incidents"]), 1)
        self.assertEqual(found["operations"]["total"], 43)

    def test_exit_in_every_way(self):
        for status, end, reason in ((7, "import sys; sys.exit(7)", "exit"), (9, "import os; os._exit(9)", "os._exit"), (1, "raise KeyError", "exit")):
            with self.subTest(end=end):
                found, _ = self.check(status, end)
                self.assertEqual((found["recording"]["ended"], found["recording"]["reason"]), (True, reason))
                self.assertEqual(found["operations"]["total"], 41)
                shutil.rmtree(self.dir + "/logs")

    def test_killed(self):
        """The last piece is lost, its operations are not: they are written when they begin."""
        self.env["TTMEM_PIECE"] = "10"
        for number in (signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM):
            with self.subTest(signal=number):
                found, err = self.check(128 + number, "import os; os.kill(os.getpid(), %d)" % number)
                self.assertFalse(found["recording"]["ended"])
                self.assertEqual(found["operations"]["total"], 41)
                self.assertEqual(found["recording"]["last_operation"]["loc"], "model.py:5")
                self.assertGreater(found["recording"]["pieces"], 1)
                self.assertLess(found["recording"]["lost_operations"], 10)
                self.assertIn("the recording has no end", err)
                shutil.rmtree(self.dir + "/logs")

    def test_interrupted(self):
        self.model("import time\nprint('ready', flush=True)\ntime.sleep(600)")
        p = self.start()
        self.assertEqual(p.stdout.readline(), "ready\n")
        p.send_signal(signal.SIGINT)
        _, err = p.communicate(timeout=PATIENCE)
        self.assertEqual(p.returncode, 128 + signal.SIGINT, err)
        found = self.findings()
        self.assertTrue(found["recording"]["ended"])
        self.assertEqual(found["operations"]["total"], 41)

    def test_forks_and_children_are_recorded(self):
        """A fork that works with what it inherited, and a program of its own: every process has its own devices."""
        found, _ = self.check(0, """
import os, subprocess, sys
pid = os.fork()
if pid == 0:
    ttnn.relu(x)
    os._exit(0)
os.waitpid(pid, 0)
subprocess.run([sys.executable, "-c", "import ttnn; d = ttnn.open_device(); ttnn.empty(64, d)"], check=True)
ttnn.relu(x)
""")
        self.assertEqual(found["operations"]["total"], 44)
        self.assertEqual((found["recording"]["processes"], found["recording"]["ended"]), (3, True))
        self.assertEqual(found["recording"]["corrections"], 1)  # what the fork inherited was not seen to be allocated
        self.assertEqual(glob.glob(self.dir + "/logs/*/model_recording.json.*"), [])

    def test_a_forked_worker_that_opens_the_device(self):
        """Also when it is not the one that imported ttnn."""
        worker = "import os, ttnn\nif os.fork():\n    _, status = os.wait()\n    os._exit(os.waitstatus_to_exitcode(status))\n"
        for end in ("", "import os; os._exit(0)"):
            with self.subTest(end=end):
                self.model(end, worker + MODEL)
                code, out, err = self.run_it("--board", "n150")
                self.assertEqual(code, 0, out + err)
                found = self.findings()
                self.assertEqual((found["operations"]["total"], found["recording"]["ended"]), (41, True))
                shutil.rmtree(self.dir + "/logs")

    def test_a_worker_forked_while_recording(self):
        """It has a device of its own, with the same number."""
        found, _ = self.check(0, """
import os
if os.fork() == 0:
    device = ttnn.open_device(device_id=0)
    ttnn.relu(ttnn.empty(65536, device))
    ttnn.close_device(device)
    os._exit(0)
assert os.wait()[1] == 0
""")
        self.assertEqual((found["operations"]["total"], found["recording"]["corrections"]), (43, 0))
        self.assertEqual(found["recording"]["memories"]["DRAM"]["peak_per_bank_B"], 2 * 65536)
        with open(self.recording()) as f:
            nodes = json.load(f)["graph"]
        self.assertEqual([(n["params"]["id"], n["params"]["name"]) for n in nodes if n["node_type"] == "operation" and n["params"].get("lane")],
                         [(1, "ttnn.empty"), (2, "ttnn.relu")])


    def test_what_ended_it(self):
        """The same message twice: caught, and the one the program died of. Only `ttmem fit` has to choose."""
        found, err = self.check(1, "try:\n    ttnn.empty(1 << 21, device)\nexcept RuntimeError:\n    pass\nttnn.empty(1 << 21, device)")
        self.assertEqual([i["operation"]["loc"] for i in found["incidents"]], ["model.py:14", "model.py:17"])

    def test_a_recorder_that_gave_up_leaves_a_lower_bound(self):
        found, err = self.check(0, "ttnn.broken.add('enter')\nforward(x)")
        self.assertTrue(found["peak"]["DRAM"]["lower_bound"])
        self.assertIn("DRAM peak ≥ 0.01", err)

    def test_a_recording_of_threads_and_processes(self):
        """tests/data/recording_lanes.json: two devices, a thread, a fork with a device of its own, a device opened anew."""
        run = subprocess.run([TTMEM, "analyze", str(TESTS / "data/recording_lanes.json"), "--json", "--no-json"], cwd=self.dir, env=self.env, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(run.returncode, 0, run.stderr)
        found = json.loads(run.stdout)
        recording = found["recording"]
        self.assertEqual((found["input"]["ranks"], recording["processes"], recording["ended"], recording["corrections"]), (3, 2, True, 0))
        self.assertEqual(found["operations"]["distribution"], {"empty": 7, "relu": 4, "softmax": 1})
        self.assertEqual([i["operation"]["loc"] for i in found["incidents"]], ["model.py:16", "model.py:25"])
        self.assertEqual(recording["memories"]["DRAM"]["peak_per_bank_B"], 2 * 8192)


class Broken(Case):
    """What goes wrong in the recorder is told once, and is not the program's business."""

    def check(self, end, *options, text=MODEL, operations=None):
        self.model(end + "\nprint('result', len(device.live), flush=True)", text)
        alone = subprocess.run([sys.executable, "model.py"], cwd=self.dir, env=self.env, capture_output=True, text=True, timeout=PATIENCE)
        code, out, err = self.run_it(*options)
        told = [line for line in out.splitlines() if line.startswith("ttmem: ")]
        self.assertEqual(len(told), 1, out + err)
        self.assertRegex(told[0], "^ttmem: the recording ends here, the program goes on: ")
        self.assertEqual((alone.returncode, alone.stdout), (0, out.replace(told[0] + "\n", "")), err + alone.stderr)
        if operations is not None:
            self.assertEqual(code, 0, err)
            self.assertEqual(self.findings()["operations"]["total"], operations)
            self.assertIn("the recording ends before the program", " ".join(err.split()))
            shutil.rmtree(self.dir + "/logs")
        return told[0]

    def test_functions_of_ttnn_that_fail_us(self):
        mine = "ttnn.graph.begin_graph_capture()\n%s\nttnn.relu(x)\nttnn.graph.end_graph_capture()"
        for name, end, operations in (("enter", "%s\nfor i in range(3): x = forward(x)", 42), ("leave", "%s\nfor i in range(3): x = forward(x)", 42),
                                      ("id", "%s\nttnn.close_device(device)\nttnn.broken.clear()", 41), ("begin", mine, 42)):
            with self.subTest(broken=name):
                self.assertIn("the fake's %s is broken" % name, self.check(end % ("ttnn.broken.add(%r)" % name), operations=operations))

    def test_no_place_for_the_recording(self):
        text = "import os, shutil\nshutil.rmtree(os.path.realpath(os.path.dirname(%s or 'logs/x')), ignore_errors=True)\n" % HIDDEN.replace("NAME", "TTMEM_RECORDING")
        self.assertIn("FileNotFoundError", self.check("", text=text.join(MODEL.partition("import ttnn\n")[1:])))

    def test_arguments_that_cannot_be_looked_at(self):
        """A repetition is not worth an error; nor is it one."""
        self.model("class Odd:\n    shape = dtype = property(lambda self: 1 / 0)\n    __repr__ = lambda self: 1 / 0\nttnn.scale(x, Odd())")
        code, out, err = self.run_it("--board", "n150")
        self.assertEqual(code, 0, out + err)
        self.assertEqual(self.findings()["operations"]["total"], 42)

    def test_the_disk_is_full(self):
        """Also when it is another error that has to be written down there."""
        full = "import os, resource\nlimit = os.path.getsize(%s)\nresource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))\n" % HIDDEN.replace("NAME", "TTMEM_RECORDING")
        for end in ("ttnn.relu(x)", "ttnn.broken.add('end')\nttnn.close_device(device)"):
            with self.subTest(end=end):
                self.model(full + end + "\nprint('result', len(device.live), flush=True)")
                code, out, err = self.run_it()
                self.assertEqual(code, 0, out + err)
                self.assertEqual([line.partition(",")[0] for line in out.splitlines()][:2],
                                 ["ttmem: the recording ends here", "result %d" % ("relu" in end)], out)
                self.assertFalse(self.findings()["recording"]["ended"])
                shutil.rmtree(self.dir + "/logs")

    def test_standard_error_may_be_closed(self):
        self.model("import os, sys\nsys.stderr = None\nos.close(2)\nttnn.broken.add('enter')\nforward(x)")
        code, out, err = self.run_it()
        self.assertEqual(code, 0, out + err)


class Survivors(Case):
    def test_a_process_that_goes_on_is_told(self):
        self.model("import os, time\nif os.fork() == 0:\n    os.setsid()\n    null = os.open('/dev/null', os.O_RDWR)\n    os.dup2(null, 1)\n    os.dup2(null, 2)\n"
                   "    if os.fork() == 0:\n        open('pid', 'w').write(str(os.getpid()))\n        time.sleep(60)\n    os._exit(0)\n"
                   "while not os.path.exists('pid') or not open('pid').read(): time.sleep(0.01)")
        code, out, err = self.run_it()
        with open(self.dir + "/pid") as f:
            pid = int(f.read())
        os.kill(pid, signal.SIGKILL)
        self.assertEqual(code, 0, out + err)
        self.assertRegex(err, r"process %d \(python[\w.]*\) that it started goes on" % pid)

    def test_nothing_is_said_of_helpers_that_end_with_it(self):
        self.model("import multiprocessing.shared_memory as s\nm = s.SharedMemory(create=True, size=10)\nm.close()\nm.unlink()")
        code, out, err = self.run_it()
        self.assertEqual(code, 0, out + err)
        self.assertNotIn("goes on", err)


class Neighbours(Case):
    def test_the_users_sitecustomize_runs(self):
        self.write("site/sitecustomize.py", "print('mine', flush=True)\nimport os\nos.environ['SEEN'] = '1'\n")
        self.env["PYTHONPATH"] = self.dir + "/site:" + str(FAKE)
        self.model("import os, sys\nassert os.environ['SEEN'] == '1'\nassert sys.modules['sitecustomize'].__file__.startswith(%r)" % self.dir)
        code, out, err = self.run_it()
        self.assertEqual(code, 0, err)
        self.assertEqual(out.splitlines().count("mine"), 1)

    def test_a_broken_sitecustomize_is_the_users_business(self):
        self.write("site/sitecustomize.py", "import no_such_module\n")
        self.env["PYTHONPATH"] = self.dir + "/site:" + str(FAKE)
        self.model()
        code, out, _ = self.run_it()
        self.assertEqual(code, 0)
        self.assertIn("no_such_module", out)

    def test_nothing_is_written_beside_and_nothing_stays(self):
        before = {p: p.stat().st_mtime_ns for p in FAKE.rglob("*")}
        self.model()
        self.assertEqual(self.run_it("--board", "p150")[0], 0)
        self.assertEqual(before, {p: p.stat().st_mtime_ns for p in FAKE.rglob("*")})
        self.assertEqual(glob.glob(self.temporary + "*"), [])

    def test_the_program_sees_no_trace_of_us(self):
        """Nor do its children, however it starts them; and all of them are recorded, on the board."""
        self.write("program.py", CHILDREN)
        self.write("child.py", SURROUNDINGS + "import ttnn\nd = ttnn.open_device(device_id=0)\nttnn.relu(ttnn.empty(64, d))\nttnn.close_device(d)\n"
                   "json.dump(look(), open(os.environ.pop('OUT'), 'w') if 'OUT' in os.environ else sys.stdout)\n")
        self.env.update(TT_METAL_SIMULATOR="/somewhere", TT_VISIBLE_DEVICES="3", TT_METAL_CACHE="/mine", PYTHONUNBUFFERED="1", PYTHONDONTWRITEBYTECODE="1")
        plain = subprocess.run([sys.executable, "-u", "program.py"], cwd=self.dir, env={**self.env, "SEEN": "plain.json"}, timeout=PATIENCE, capture_output=True, text=True)
        self.assertEqual(plain.returncode, 0, plain.stderr)
        with open(self.dir + "/plain.json") as f:
            expected = json.loads(f.read().replace("plain.json", "seen.json"))
        self.env["SEEN"] = "seen.json"
        for options, processes in (((), 10), (("--board", "n150"), 10)):
            with self.subTest(options=options):
                code, out, err = self.run_it(*options, script="program.py", python=sys.executable)
                self.assertEqual(code, 0, out + err)
                with open(self.dir + "/seen.json") as f:
                    seen = json.load(f)
                for what in seen:  # announced, and none of ours
                    for name in ("TTMLIR_RUNTIME_LOGGER_LEVEL", "TT_RUNTIME_MEMORY_LOG_LEVEL", "TTXLA_LOGGER_LEVEL"):
                        what["environb"] -= what["environ"].pop(name, None) is not None
                for i, (a, b) in enumerate(zip(expected, seen)):
                    self.assertEqual(a, b, i)
                with open(glob.glob(self.dir + "/logs/*/program_recording.json")[0]) as f:
                    nodes = json.load(f)["graph"]
                self.assertEqual(sum(n["node_type"] == "device_open" for n in nodes), processes - 1)  # the spawned worker opens none
                shutil.rmtree(self.dir + "/logs")

    def test_the_board_reaches_ttnn(self):
        self.env.update(TT_METAL_SIMULATOR="/somewhere", TT_VISIBLE_DEVICES="3", TT_METAL_CACHE="/mine")
        self.model("import os, ctypes\nget = ctypes.CDLL(None).getenv\nget.restype = ctypes.c_char_p\nhidden = lambda name: os.fsdecode(get(name.encode()) or b'')" + """
assert not hidden("TT_METAL_SIMULATOR") and not hidden("TT_VISIBLE_DEVICES")
assert hidden("TT_METAL_CACHE").endswith("/cache") and hidden("TT_METAL_CACHE") != "/mine"
root = hidden("TT_METAL_RUNTIME_ROOT")
compiler = root + "/runtime/sfpi/compiler/bin/riscv-tt-elf-g++"
assert os.path.islink(root + "/__init__.py") and os.access(compiler, os.X_OK)
text = open(hidden("TT_METAL_MOCK_CLUSTER_DESC_PATH")).read()
assert "blackhole" in text, text
import subprocess
out = hidden("TTMEM_ROOT") + ".o"
subprocess.run([compiler, "-c", "-o", out, "kernel.cc", "-MF", out + ".d"], check=True)
assert open(out, "rb").read() == b"" and open(out + ".d").read() == out + ": kernel.cc\\n"
subprocess.run([compiler, "-o", out + ".elf", out], check=True)
assert open(out + ".elf", "rb").read(20) == b"\\x7fELF\\1\\1\\1" + bytes(9) + b"\\2\\0\\xf3\\0"
assert b"sfpi" in subprocess.run([compiler, "--version"], check=True, stdout=subprocess.PIPE).stdout
""")
        code, out, err = self.run_it("--board", "p100")
        self.assertEqual(code, 0, out + err)

    def test_a_descriptor_of_ones_own(self):
        mine = self.write("mine.yaml", "arch: {0: wormhole_b0}\n")
        self.model("assert %s == %r" % (HIDDEN.replace("NAME", "TT_METAL_MOCK_CLUSTER_DESC_PATH"), os.path.realpath(mine)))
        code, out, err = self.run_it("--board", "mine.yaml")
        self.assertEqual(code, 0, out + err)

    def test_without_the_board_the_environment_stays(self):
        self.env.update(TT_METAL_CACHE="/mine", TT_VISIBLE_DEVICES="3")
        self.model("import os\nassert os.environ['TT_METAL_CACHE'] == '/mine' and os.environ['TT_VISIBLE_DEVICES'] == '3'\n"
                   "assert 'TT_METAL_RUNTIME_ROOT' not in os.environ and 'TT_METAL_MOCK_CLUSTER_DESC_PATH' not in os.environ")
        code, out, err = self.run_it()
        self.assertEqual(code, 0, out + err)


class Refused(Case):
    def refuse(self, status, *options, **more):
        code, _, err = self.run_it(*options, **more)
        self.assertEqual(code, status, err)
        self.assertEqual(glob.glob(self.temporary + "*"), [])
        return err

    def test_no_ttnn(self):
        del self.env["PYTHONPATH"]
        self.model()
        err = self.refuse(2, "--board", "n150")
        self.assertIn("ttnn is not installed for " + sys.executable, err)
        self.assertIn("pip install ttnn==", err)
        self.assertEqual(glob.glob(self.dir + "/logs/*"), [], "the program must not have run")

    def test_no_ttnn_behind_another_program(self):
        del self.env["PYTHONPATH"]
        self.model()
        self.write("run.sh", "%s model.py\n" % sys.executable)
        err = self.refuse(2, "--board", "n150", python="sh", script="run.sh")
        self.assertIn("pip install ttnn==", err)

    def test_too_old(self):
        self.write("old/ttnn/__init__.py", "raise SystemExit('it was imported')")
        self.write("old/ttnn-0.65.1.dist-info/METADATA", "Metadata-Version: 2.1\nName: ttnn\nVersion: 0.65.1\n")
        self.env["PYTHONPATH"] = self.dir + "/old"
        self.model()
        err = self.refuse(2, "--board", "n150")
        self.assertIn("ttnn 0.65.1", err)
        self.assertIn("0.75 or newer", err)

    def test_no_such_board(self):
        self.model()
        self.assertIn("n150, n300, t3k, galaxy, p100, p150, p300", self.refuse(2, "--board", "n151"))
        self.assertIn("there is no cluster descriptor './none.yaml'", self.refuse(2, "--board", "./none.yaml"))

    def test_a_program_without_a_device(self):
        self.write("model.py", "print('hello')\n")
        self.assertIn("opened no ttnn device", self.refuse(2, "--board", "n150"))

    def test_leftovers_of_the_dead_are_removed_those_of_the_living_stay(self):
        nobody = 1 << 22  # above every process id
        for name, pid in (("dead", nobody), ("fresh", nobody), ("mine", os.getpid())):
            self.write("%s%d-%s/x.py" % (self.temporary, pid, name), "")
            if name != "fresh":  # that one may be in the making, in another container
                os.utime("%s%d-%s" % (self.temporary, pid, name), (1e9, 1e9))
        self.model()
        self.assertEqual(self.run_it()[0], 0)
        self.assertEqual({path.rpartition("-")[2] for path in glob.glob(self.temporary + "*")}, {"fresh", "mine"})


class Folders(Case):
    """What the program, and processes that outlive ttmem, are led to: nobody but the user and root can put anything there."""

    NAMES = ("PYTHONPATH", "TTMEM_ROOT", "TT_METAL_CACHE", "TT_METAL_MOCK_CLUSTER_DESC_PATH", "TTMEM_RECORDING")

    def led_to(self, *options):
        self.model("import json\njson.dump({name: %s for name in %r}, open('led.json', 'w'))" % (HIDDEN.replace("b'NAME'", "name.encode()"), self.NAMES))
        code, out, err = self.run_it(*options)
        self.assertEqual(code, 0, out + err)
        with open(self.dir + "/led.json") as f:
            return {name: path.removesuffix(":" + str(FAKE)) for name, path in json.load(f).items()}

    def test_only_the_user_can_write_there_also_afterwards(self):
        for name, path in self.led_to("--board", "n150").items():
            with self.subTest(name=name):
                while not os.path.lexists(path):
                    path = os.path.dirname(path)
                self.assertTrue(path.startswith(self.dir + "/home/"), path)
                st = os.lstat(path)
                self.assertEqual((st.st_uid, st.st_mode & 0o022), (os.getuid(), 0), path)

    def test_the_recorder_stays_and_is_made_once(self):
        hook = self.led_to()["PYTHONPATH"]
        self.assertIn("sitecustomize.py", os.listdir(hook))
        self.assertEqual(os.stat(hook).st_mode & 0o777, 0o700)
        before = {name: os.stat(os.path.join(hook, name)).st_mtime_ns for name in os.listdir(hook)}
        os.unlink(hook + "/ttmem_wrap.py")
        self.assertEqual(self.led_to()["PYTHONPATH"], hook)
        after = {name: os.stat(os.path.join(hook, name)).st_mtime_ns for name in os.listdir(hook)}
        self.assertEqual([name for name in before if before[name] != after[name]], ["ttmem_wrap.py"])

    def test_a_colon_does_not_split_the_path(self):
        os.mkdir(self.dir + "/a:b")
        self.env.update(TMPDIR=self.dir + "/a:b", HOME=self.dir + "/own")
        self.assertIn("/home/cache/", self.led_to()["PYTHONPATH"])
        self.env["TTMEM_HOME"] = self.dir + "/a:b"
        self.assertIn("/own/.cache/ttmem/", self.led_to()["PYTHONPATH"])
        self.env["HOME"] = self.dir + "/a:b"
        self.refuse("would split PYTHONPATH")

    def refuse(self, sentence):
        """The program runs without a recorder; with a mock board it does not run."""
        code, out, err = self.run_it("--log")
        self.assertEqual(code, 0, out + err)
        self.assertIn("are not recorded", err)
        self.assertIn(sentence, err)
        code, out, err = self.run_it("--board", "n150")
        self.assertEqual(code, 2, out + err)
        self.assertIn(sentence, err)

    def test_folders_of_others_are_refused(self):
        self.led_to()
        for name in (".", "cache", "cache/tmp"):
            path = os.path.join(self.dir, "home", name)
            with self.subTest(name=name, how="open"):
                mode = os.stat(path).st_mode & 0o777
                os.chmod(path, 0o777)
                self.refuse("other users can write to it")
                os.chmod(path, mode)
            if os.getuid():
                self.skipTest("the rest needs root, to give folders to others")
            with self.subTest(name=name, how="owner"):
                os.chown(path, 65534, -1)
                self.refuse("belongs to user 65534")
                os.chown(path, 0, -1)

    def test_files_of_others_are_refused(self):
        """The folder was open to others for a while, as after chmod -R 777."""
        hook = self.led_to()["PYTHONPATH"]
        if os.getuid():
            self.skipTest("needs root, to give files to others")
        os.makedirs(hook + "/__pycache__", exist_ok=True)
        for name in ("sitecustomize.py", "random.py", "__pycache__/ttmem_wrap.cpython-311.pyc", "numpy"):
            path = os.path.join(hook, name)
            with self.subTest(name=name):
                there = os.path.exists(path)
                if not there:
                    (os.mkdir if name == "numpy" else os.mknod)(path)
                os.chown(path, 65534, -1)
                self.refuse(name + " is not safe to run: it belongs to user 65534; delete " + os.path.dirname(path))
                os.chown(path, 0, -1)
                if not there:
                    (os.rmdir if name == "numpy" else os.unlink)(path)

    def as_alice(self, home, *accounts):
        """What ttmem says to a user whose group may write to her cache, on a system with these accounts besides."""
        for name, lines in (("passwd", ["alice:x:4242:4242::%s:/bin/sh" % home, *accounts]), ("group", ["alice:x:4242:"])):
            shutil.copy("/etc/" + name, self.dir + "/" + name)
            with open(self.dir + "/" + name, "a") as file:
                file.write("\n".join(lines) + "\n")
        script = "mount --bind '%s/passwd' /etc/passwd && mount --bind '%s/group' /etc/group && echo mounted && cd '%s' && exec setpriv --reuid 4242 --regid 4242 --clear-groups '%s/ttmem' run --log -q -d out -- true" % (self.dir, self.dir, home, self.dir)
        env = {**self.env, "HOME": home, "GCOV_PREFIX": home}  # where a coverage build may write its counters
        env.pop("TTMEM_HOME", None)
        done = subprocess.run(["unshare", "--mount", "sh", "-c", script], env=env, capture_output=True, text=True, timeout=PATIENCE, check=False)
        if "mounted" not in done.stdout:
            self.skipTest("no file can be mounted over another one here")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def test_a_group_is_private_when_nobody_else_is_in_it(self):
        if os.getuid() or not shutil.which("unshare") or not shutil.which("setpriv"):
            self.skipTest("needs root, to be somebody else")
        home = self.dir + "/alice"
        shutil.copy(TTMEM, self.dir + "/ttmem")  # where she may go
        os.makedirs(home + "/.cache")
        os.chmod(self.dir, 0o755)
        os.chmod(home + "/.cache", 0o775)
        for path in (home, home + "/.cache"):
            os.chown(path, 4242, 4242)
        self.assertEqual(self.as_alice(home), "")
        self.assertIn("/.cache is not safe to keep programs in: other users can write to it", self.as_alice(home, "bob:x:4243:4242::/:/bin/sh"))

    def test_a_link_is_refused(self):
        hook = os.path.dirname(self.led_to()["PYTHONPATH"])
        for path in (self.dir + "/home/cache", hook):
            with self.subTest(path=path):
                os.rename(path, self.dir + "/elsewhere")
                os.symlink(self.dir + "/elsewhere", path)
                self.refuse("it is a link")
                os.unlink(path)
                os.rename(self.dir + "/elsewhere", path)

    def test_a_home_that_is_a_link_is_the_users_choice(self):
        os.mkdir(self.dir + "/large")
        os.symlink(self.dir + "/large", self.dir + "/home")
        self.assertTrue(self.led_to()["PYTHONPATH"].startswith(self.dir + "/large/"))


if __name__ == "__main__":
    unittest.main()
