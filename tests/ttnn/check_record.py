# SPDX-License-Identifier: Apache-2.0
"""`ttmem run` around real ttnn: what it records is what ttnn's allocator says, with the program's own lines, whatever way the program ends.
Run by scripts/test-ttnn, on a mock board. Environment: TTMEM, the program (default: that of the installed package)."""

import glob
import importlib.util
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import unittest

PROGRAM = os.environ.get("TTMEM") or __import__("ttmem").program()
BOARD = os.environ["TTMEM_BOARD"]
SOURCE = pathlib.Path(os.environ["TTMEM_SOURCE"])
sys.path.insert(0, str(SOURCE / "tests"))
from children import end, interruptible  # noqa: E402

HAS_TORCH = isinstance(getattr(__import__("torch"), "__version__", None), str)  # the lab has a stand-in
PATIENCE = 600  # only bounds a hang
MOCK = ("TT_METAL_MOCK_CLUSTER_DESC_PATH", "TT_METAL_CACHE")
HEAD = """import atexit, json, ttnn
device = ttnn.open_device(device_id=0, l1_small_size=16384)
L1 = ttnn.L1_MEMORY_CONFIG
PEAKS = {"DRAM": 0, "L1": 0}
def new(*shape, memory=ttnn.DRAM_MEMORY_CONFIG):
    return ttnn.empty(shape, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=memory)
def look(_=None):
    for name in PEAKS:
        PEAKS[name] = max(PEAKS[name], ttnn.get_memory_view(device, getattr(ttnn.BufferType, name)).total_bytes_allocated_per_bank)
    with open("peaks.json", "w") as f:
        json.dump(PEAKS, f)
def block(x, w):
    h = ttnn.matmul(x, w)
    look()
    s = ttnn.softmax(h, dim=-1)
    look()
    ttnn.deallocate(h)
    r = ttnn.add(s, x, memory_config=L1)
    look()
    return ttnn.to_memory_config(r, ttnn.DRAM_MEMORY_CONFIG)
x, w = new(1, 1, 256, 256), new(1, 1, 256, 256)
for i in range(6):
    x = block(x, w)
    look()
"""
LINE = {name: next(n for n, line in enumerate(HEAD.splitlines(), 1) if name in line) for name in ("ttnn.matmul", "ttnn.softmax", "ttnn.add", "ttnn.empty")}


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="ttmem-check-record-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.env = {k: v for k, v in os.environ.items() if k not in MOCK}
        self.env.update(PYTHONDONTWRITEBYTECODE="1", TMPDIR=self.dir)

    def start(self, tail, *options, board=BOARD, head=HEAD):
        with open(os.path.join(self.dir, "model.py"), "w") as f:
            f.write(head + tail)
        command = [PROGRAM, "run", "--no-html", *(("--board", board) if board else ()), *options, "--", sys.executable, "model.py"]
        p = subprocess.Popen(command, cwd=self.dir, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             start_new_session=True, preexec_fn=interruptible)
        self.addCleanup(end, p)
        return p

    def run_it(self, tail="", *options, status=0, **more):
        p = self.start(tail, *options, **more)
        out, err = p.communicate(timeout=PATIENCE)
        self.assertEqual(p.returncode, status, out + err)
        return self.findings(), " ".join(err.split())

    def findings(self):
        with open(max(glob.glob(self.dir + "/logs/*/model_findings.json"))) as f:
            return json.load(f)

    def peaks(self):
        with open(self.dir + "/peaks.json") as f:
            return json.load(f)

    def check_peaks(self, found):
        recording = found["recording"]
        for name, bytes_ in self.peaks().items():
            self.assertEqual(recording["memories"][name]["peak_per_bank_B"], bytes_, name)
        self.assertEqual([recording[k] for k in ("corrections", "hole_corrections", "unseen_frees")], [0, 0, 0])


class Recorded(Case):
    def test_peaks_to_the_byte_and_lines(self):
        self.env["TTMEM_VIEWS"] = "all"
        found, err = self.run_it()
        self.check_peaks(found)
        recording = found["recording"]
        self.assertEqual((recording["board"], recording["ended"]), (BOARD, True))
        peak = recording["memories"]["DRAM"]["peak_operation"]
        self.assertEqual((peak["mlir_op"], peak["loc"]), ("ttnn.softmax", "model.py:%d" % LINE["ttnn.softmax"]))
        self.assertGreater(recording["memory_views"], 20)
        use = recording["l1_per_core"]
        self.assertEqual(use["programs_without_buffers"], 0)
        self.assertGreater(use["programs_completed"], 0)
        self.assertGreater(use["dataflow_buffers_B"], 0)
        self.assertLess(use["fullest_B"], use["limit_B"])

    def test_the_program_prints_what_it_prints_without_us(self):
        """nanobind complains about devices that somebody still holds at exit, ttnn about questions that a tensor on the host cannot answer."""
        p = self.start("""host = ttnn.Tensor([1.0] * 1024, [1, 1, 32, 32], ttnn.float32, ttnn.ROW_MAJOR_LAYOUT)
for i in range(3):
    back = ttnn.from_device(ttnn.relu(ttnn.to_device(ttnn.to_layout(host, ttnn.TILE_LAYOUT), device)))
ttnn.close_device(device)
""")
        out, err = p.communicate(timeout=PATIENCE)
        self.assertEqual(p.returncode, 0, out + err)
        self.assertNotIn("nanobind", out)
        self.assertNotIn("TT_FATAL", out)

    def test_pieces_of_any_size_say_the_same(self):
        seen = []
        for piece in ("1", "10", "10000"):
            self.env["TTMEM_PIECE"] = piece
            found, _ = self.run_it()
            self.check_peaks(found)
            found["statements"] = [s for s in found["statements"] if s["topic"] != "host"]
            for name in ("pieces", "memory_views", "host"):
                found["recording"].pop(name)
            seen.append(json.loads(json.dumps(found), object_hook=lambda o: {k: v for k, v in o.items() if not k.endswith(("line", "lines")) and k not in ("bytes", "fingerprint", "path")}))
            shutil.rmtree(self.dir + "/logs")
        self.assertEqual(seen[0], seen[1])
        self.assertEqual(seen[1], seen[2])

    def test_the_repetitions_take_no_memory_and_change_nothing(self):
        """The same run without them has the same states."""
        with_them, _ = self.run_it()
        shutil.rmtree(self.dir + "/logs")
        self.env["TTMEM_REPEATS"] = "0"
        without, _ = self.run_it()
        self.assertEqual(with_them["recording"]["memories"]["DRAM"]["peak_per_bank_B"], without["recording"]["memories"]["DRAM"]["peak_per_bank_B"])
        self.assertEqual(with_them["operations"], without["operations"])
        self.assertGreater(without["recording"]["l1_per_core"]["programs_without_buffers"], 0)

    def test_no_trace_in_memory(self):
        """After every operation every block of every memory lies where it lies without the recorder: programs that free their inputs, shard, convolve."""
        spec = importlib.util.spec_from_file_location("ttmem_start", SOURCE / "bindings/python/ttmem/hook/ttmem_start.py")
        start = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(start)
        home = os.path.dirname(importlib.util.find_spec("ttnn").origin)
        start.link_root(home, self.dir + "/root", PROGRAM, os.environ[MOCK[0]])  # the same kernels: they take memory
        programs = SOURCE / "tests/ttnn/programs"
        for name in ["transformer_block.py", "sharded_chain.py", "freeing_convolutions.py"] + (["conv_net.py"] if HAS_TORCH else []):
            with self.subTest(program=name):
                command = [sys.executable, programs / "every_block.py", programs / name]
                plain = {**os.environ, "EVERY_BLOCK": self.dir + "/plain.json", "TT_METAL_RUNTIME_ROOT": self.dir + "/root", "TT_METAL_CACHE": self.dir + "/cache"}
                done = subprocess.run(command, cwd=self.dir, env=plain, capture_output=True, text=True, timeout=PATIENCE)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.env["EVERY_BLOCK"] = self.dir + "/recorded.json"
                done = subprocess.run([PROGRAM, "run", "--no-html", "--board", BOARD, "--", *command], cwd=self.dir, env=self.env, capture_output=True,
                                      text=True, timeout=PATIENCE)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                states = []
                for which in ("plain", "recorded"):
                    with open("%s/%s.json" % (self.dir, which)) as f:
                        states.append(json.load(f))
                self.assertGreater(len(states[0]), 10)
                self.assertEqual(states[0], states[1])
                with open(max(glob.glob(self.dir + "/logs/*/*_findings.json"), key=os.path.getmtime)) as f:
                    found = json.load(f)["recording"]
                self.assertEqual(found["l1_per_core"]["programs_without_buffers"], 0)
                self.assertEqual([found[k] for k in ("corrections", "hole_corrections", "unseen_frees")], [0, 0, 0])

    def test_the_programs_own_captures(self):
        tail = """
for mode, real in ((ttnn.graph.RunMode.NO_DISPATCH, 0), (ttnn.graph.RunMode.NORMAL, 1)):
    before = ttnn.get_memory_view(device, ttnn.BufferType.DRAM).total_bytes_allocated_per_bank
    ttnn.graph.begin_graph_capture(mode)
    kept = ttnn.relu(x)
    nodes = ttnn.graph.end_graph_capture()
    look()
    after = ttnn.get_memory_view(device, ttnn.BufferType.DRAM).total_bytes_allocated_per_bank
    assert (after > before) == bool(real), (mode, before, after)
    assert any(n["node_type"] == "buffer_allocate" for n in nodes)
"""
        found, _ = self.run_it(tail)
        self.check_peaks(found)

    def test_traces_are_pretended(self):
        """On a mock board ttnn crashes when it captures one."""
        found, err = self.run_it("""
trace = ttnn.begin_trace_capture(device, cq_id=0)
a = ttnn.relu(x)
look()
ttnn.end_trace_capture(device, trace, cq_id=0)
for i in range(3):
    ttnn.execute_trace(device, trace, cq_id=0, blocking=True)
ttnn.release_trace(device, trace)
""")
        self.check_peaks(found)
        self.assertEqual(found["recording"]["traces_pretended"], 1)
        self.assertIn("1 trace not captured", err)

    def test_memory_of_the_program_stays_as_it_was(self):
        """Whatever it calls: 20,000 operations leave less than 8 MB behind, and less than 600 bytes each in the recording:
        about 370, and what is written by the clock, which a busy machine has more of."""
        self.run_it("""
def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4096
for i in range(20):
    x = block(x, w)
before = resident()
for i in range(5000):
    x = block(x, w)
assert resident() - before < 8 << 20, resident() - before
""")
        self.assertLess(os.path.getsize(max(glob.glob(self.dir + "/logs/*/model_recording.json"))), 25000 * 600)

    def test_waits_for_events(self):
        """On a mock board ttnn crashes in them. They are left out and told."""
        two = HEAD.replace("l1_small_size=16384", "l1_small_size=16384, num_command_queues=2")
        found, err = self.run_it("for i in range(3):\n    ttnn.wait_for_event(1, ttnn.record_event(device, 0))\n    x = ttnn.relu(x)\n    look()\n", head=two)
        self.check_peaks(found)
        self.assertEqual(found["recording"]["waits_left_out"], 3)
        self.assertIn("3 waits for an event not done on a mock board", err)

    def test_sub_devices(self):
        """On a mock board ttnn crashes when it tells the workers. The allocator is as with them: what their manager reserves is not free, until it is cleared."""
        found, err = self.run_it("""
def free():
    return ttnn.get_memory_view(device, ttnn.BufferType.L1).total_bytes_per_bank
def cores(x, y):
    return ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(x, 0), ttnn.CoreCoord(y, 3))})
before = free()
manager = device.create_sub_device_manager([ttnn.SubDevice([cores(0, 3)]), ttnn.SubDevice([cores(4, 6)])], 3200)
device.load_sub_device_manager(manager)
assert free() == before - 3200, free()
device.set_sub_device_stall_group([ttnn.SubDeviceId(1)])
kept = []
for i in range(6):
    kept.append(ttnn.add(x, x, memory_config=L1, sub_core_grids=cores(0, 3)))
    look()
device.reset_sub_device_stall_group()
ttnn.synchronize_device(device, sub_device_ids=[ttnn.SubDeviceId(0)])
device.clear_loaded_sub_device_manager()
device.remove_sub_device_manager(manager)
assert free() == before, free()
x = ttnn.relu(x)
look()
""")
        self.check_peaks(found)
        self.assertEqual(found["recording"]["sub_device_loads"], 1)
        self.assertIn("1 load of a sub-device manager", err)

    def test_buffers_of_programs_are_those_of_no_dispatch(self):
        """A whole capture in that run mode, by ttnn itself."""
        with open(self.dir + "/truth.py", "w") as f:
            f.write(HEAD.split("for i in range")[0] + """
ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NO_DISPATCH)
block(x, w)
truth = ttnn.graph.extract_resource_usage_per_core(ttnn.graph.end_graph_capture())
with open("truth.json", "w") as f:
    json.dump({"dataflow": truth.peak_dataflow_buffer, "circular": truth.peak_cb}, f)
""")
        env = {**self.env, **{name: os.environ[name] for name in MOCK}}
        subprocess.run([sys.executable, "truth.py"], cwd=self.dir, env=env, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=PATIENCE)
        with open(self.dir + "/truth.json") as f:
            truth = json.load(f)
        found, _ = self.run_it()
        use = found["recording"]["l1_per_core"]
        self.assertGreater(truth["dataflow"], truth["circular"])  # so that the fullest core is one with dataflow buffers
        self.assertEqual((use["dataflow_buffers_B"], use["circular_buffers_B"]), (truth["dataflow"], 0))

    def test_buffers_of_programs_are_those_of_the_real_call(self):
        """Not of a second one, for which the first one's result takes room in L1, nor of one with L1 less full. ttnn asked first is the judge."""
        program = HEAD.split("x, w =")[0] + """
a, b, fill = new(1, 1, 2048, 1024), new(1, 1, 1024, 2048), []
room = ttnn.get_memory_view(device, ttnn.BufferType.L1).total_bytes_per_bank
def step():
    TRUTH(lambda: ttnn.matmul(a, b, memory_config=L1))
    return ttnn.matmul(a, b, memory_config=L1)
for share in (0, 2, 3):
    while ttnn.get_memory_view(device, ttnn.BufferType.L1).total_bytes_allocated_per_bank < room * share // 5:
        fill.append(new(1, 1, 2048, 256, memory=L1))
    out = step()
    del out
"""
        truth = """
most = 0
def TRUTH(call):
    global most
    device.disable_and_clear_program_cache()
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NO_DISPATCH)
    call()
    nodes = ttnn.graph.end_graph_capture()
    asked = sum(int(n["params"]["size"]) for n in nodes if n["node_type"] in ("dataflow_buffer_allocate", "circular_buffer_allocate"))
    before = ttnn.get_memory_view(device, ttnn.BufferType.L1).total_bytes_allocated_per_bank
    out = call()
    most = max(most, asked + ttnn.get_memory_view(device, ttnn.BufferType.L1).total_bytes_allocated_per_bank)
    with open("truth.json", "w") as f:
        json.dump(most, f)
"""
        with open(self.dir + "/truth.py", "w") as f:
            f.write(program.replace("def step", truth + "def step"))
        env = {**self.env, **{name: os.environ[name] for name in MOCK}}
        subprocess.run([sys.executable, "truth.py"], cwd=self.dir, env=env, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=PATIENCE)
        with open(self.dir + "/truth.json") as f:
            truth = json.load(f)
        found, _ = self.run_it("", head=program.replace("    TRUTH(lambda: ttnn.matmul(a, b, memory_config=L1))\n", ""))
        use = found["recording"]["l1_per_core"]
        self.assertEqual((use["fullest_B"], use["programs_without_buffers"]), (truth, 0))

    def test_threads(self):
        """Three side by side, and a model that runs in a worker of a pool."""
        found, _ = self.run_it("""
import threading
from concurrent.futures import ThreadPoolExecutor
kept = []
def work():
    for i in range(8):
        kept.append(new(1, 1, 1024, 1024))
        ttnn.relu(kept[-1])
threads = [threading.Thread(target=work) for i in range(3)]
for t in threads: t.start()
for t in threads: t.join()
look()
kept.clear()
with ThreadPoolExecutor(1) as pool:
    for i in range(3): pool.submit(lambda: [block(x, w) for i in range(3)]).result()
large = new(1, 1, 16384, 1024)
kept.append(ttnn.relu(large))
look()
""")
        self.check_peaks(found)
        self.assertEqual(found["recording"]["operations_elsewhere"], 0)

    def test_without_a_board_option(self):
        """As on a real board: here ttnn is told of the mock one by hand."""
        for name in MOCK:
            self.env[name] = os.environ[name]
        found, _ = self.run_it(board=None)
        self.check_peaks(found)
        self.assertIsNone(found["recording"]["board"])
        use = found["recording"]["l1_per_core"]  # nothing is asked, but programs from the cache are those that told their buffers before
        self.assertGreater(use["programs_completed"], 0)
        self.assertGreater(use["programs_without_buffers"], 0)

    def test_calls_that_bring_nothing_new_are_brief(self):
        """They are written as their addresses, and say the same as whole ones."""
        found, _ = self.run_it("for i in range(40):\n    x = block(x, w)\n    look()\n")
        self.check_peaks(found)
        with open(max(glob.glob(self.dir + "/logs/*/model_recording.json"))) as f:
            kinds = [n["node_type"] for n in json.load(f)["graph"]]
        self.assertGreater(kinds.count("again"), 100)
        self.assertLess(kinds.count("function_start"), 150)
        self.assertEqual(found["recording"]["l1_per_core"]["programs_without_buffers"], 0)
        shutil.rmtree(self.dir + "/logs")
        self.env["TTMEM_BRIEF"] = "0"
        whole, _ = self.run_it("for i in range(40):\n    x = block(x, w)\n    look()\n")
        for one in (found, whole):
            for name in ("pieces", "memory_views", "host"):
                one["recording"].pop(name)
            one["statements"] = [s for s in one["statements"] if s["topic"] != "host"]  # its memory differs from run to run
        same = lambda o: {k: v for k, v in o.items() if not k.endswith(("line", "lines")) and k not in ("bytes", "fingerprint", "path")}  # noqa: E731
        self.assertEqual(*(json.loads(json.dumps(one), object_hook=same) for one in (found, whole)))

    def test_a_descriptor_of_ones_own(self):
        found, _ = self.run_it(board=str(SOURCE / "boards" / (BOARD + ".yaml")))
        self.check_peaks(found)


class Devices(Case):
    """Of functions and of workers, destroyed while the program goes on: ttnn crashes when a capture runs then that has not seen them."""

    WORK = """import importlib.util, json, multiprocessing, sys
assert importlib.util.find_spec("ttnn")  # no import yet
import ttnn
def work(size):
    device = ttnn.open_device(device_id=0)
    x = ttnn.empty((1, 1, size, size), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    y = ttnn.add(x, x)
    with open("peaks.json", "w") as f:
        json.dump({"DRAM": ttnn.get_memory_view(device, ttnn.BufferType.DRAM).total_bytes_allocated_per_bank}, f)
    ttnn.close_device(device)
"""

    def check(self, tail):
        found, _ = self.run_it(tail, head=self.WORK)
        self.check_peaks(found)
        self.assertTrue(found["recording"]["ended"])
        return found

    def test_of_a_function(self):
        found = self.check("for size in (256, 512, 1024):\n    work(size)\nprint('went on')\n")
        self.assertEqual(found["operations"]["distribution"], {"empty": 3, "add": 3})

    def test_of_spawned_workers(self):
        """The second one holds more."""
        tail = "if __name__ == '__main__':\n    for size in (256, 1024):\n" \
               "        p = multiprocessing.get_context('spawn').Process(target=work, args=(size,))\n        p.start()\n        p.join()\n        assert p.exitcode == 0\n"
        found = self.check(tail)
        self.assertEqual((found["operations"]["distribution"], found["recording"]["processes"]), ({"empty": 2, "add": 2}, 2))

    def test_of_two_sizes(self):
        """Each opening is judged by its own capacity."""
        found = self.check("work(1024)\nttnn.open_device, real = lambda **k: real(trace_region_size=100_000_000, **k), ttnn.open_device\nwork(512)\n"
                           "with open('peaks.json', 'w') as f:\n    json.dump({}, f)\n")
        self.assertEqual(len(found["peak"]["DRAM"]["devices"]), 2)

    def test_of_a_forked_worker(self):
        tail = "p = multiprocessing.get_context('fork').Process(target=work, args=(512,))\np.start()\np.join()\nsys.exit(p.exitcode)\n"
        self.assertEqual(self.check(tail)["operations"]["distribution"], {"empty": 1, "add": 1})


class Ends(Case):
    def test_out_of_memory(self):
        tail = "kept = []\nwhile True:\n    kept.append(new(1, 1, 16384, 16384))\n    look()\n"
        found, err = self.run_it(tail, status=1)
        incident = found["incidents"][0]
        self.assertEqual((incident["kind"], incident["memory"]), ("oom", "DRAM"))
        self.assertEqual((incident["operation"]["mlir_op"], incident["operation"]["loc"]), ("ttnn.empty", "model.py:%d" % LINE["ttnn.empty"]))
        self.assertEqual(incident["allocated_per_bank_B"], found["recording"]["memories"]["DRAM"]["peak_per_bank_B"])
        self.check_peaks(found)
        self.assertIn("ttnn.empty at model.py:%d" % LINE["ttnn.empty"], err)

    def test_a_clash(self):
        """L1 tensors down to where a program's buffers want to be."""
        tail = "kept = []\nfor i in range(1000):\n    kept.append(new(1, 1, 2048, 1024, memory=L1))\n    look()\n    ttnn.softmax(new(1, 1, 32, 4096), dim=-1)\n"
        found, _ = self.run_it(tail, status=1)
        incident = found["incidents"][0]
        self.assertEqual((incident["kind"], incident["operation"]["mlir_op"]), ("l1_clash", "ttnn.softmax"))
        self.assertEqual(incident["operation"]["loc"], "model.py:%d" % (len(HEAD.splitlines()) + 1 + tail[: tail.index("ttnn.softmax")].count("\n")))

    def test_killed(self):
        found, err = self.run_it("import os, signal\nnew(1, 1, 32, 32)\nos.kill(os.getpid(), signal.SIGKILL)\n", status=128 + 9)
        self.assertFalse(found["recording"]["ended"])
        self.assertEqual(found["recording"]["last_operation"]["loc"], "model.py:%d" % LINE["ttnn.empty"])
        self.assertIn("the recording has no end", err)

    def test_interrupted(self):
        p = self.start("import time\nprint('ready', flush=True)\ntime.sleep(600)\n")
        lines = iter(p.stdout.readline, "")
        self.assertTrue(any(line == "ready\n" for line in lines))
        p.send_signal(signal.SIGINT)
        _, err = p.communicate(timeout=PATIENCE)
        self.assertEqual(p.returncode, 128 + signal.SIGINT, err)
        self.assertTrue(self.findings()["recording"]["ended"])
        self.check_peaks(self.findings())


class Neighbours(Case):
    def test_the_installation_is_not_written_to(self):
        package = pathlib.Path(sysconfig.get_path("purelib")) / "ttnn"
        state = lambda: {p: (p.lstat().st_mtime_ns, p.lstat().st_size) for p in package.rglob("*")}
        before = state()
        self.run_it()
        self.assertEqual(before, state())
        self.assertEqual(glob.glob(self.dir + "/ttmem-run-*"), [])

    def test_the_users_sitecustomize_runs(self):
        os.mkdir(self.dir + "/site")
        with open(self.dir + "/site/sitecustomize.py", "w") as f:
            f.write("import builtins\nbuiltins.mine = 1\n")
        self.env["PYTHONPATH"] = self.dir + "/site"
        self.run_it("assert mine == 1\n")


class Boards(Case):
    @unittest.skipIf(BOARD != "n150", "once is enough")
    def test_dispatch_from_the_cores_that_the_program_names(self):
        """n300 dispatches from Ethernet cores, unless it is told otherwise: the grids are those of ttnn without us, also one after the other."""
        head = """import ttnn
T, A = ttnn.DispatchCoreType, ttnn.DispatchCoreAxis
for config in (ttnn.DispatchCoreConfig(), ttnn.DispatchCoreConfig(axis=A.COL), ttnn.DispatchCoreConfig(T.WORKER, A.ROW), ttnn.DispatchCoreConfig(T.ETH)):
    device = ttnn.open_mesh_device(ttnn.MeshShape(1, 2), dispatch_core_config=config)
    grid = device.compute_with_storage_grid_size()
    print("GRID%dx%d" % (grid.x, grid.y), flush=True)
    ttnn.close_mesh_device(device)
"""
        p = self.start("", board="n300", head=head)
        out, err = p.communicate(timeout=PATIENCE)
        self.assertEqual(p.returncode, 0, out + err)
        self.assertEqual(re.findall(r"GRID(\dx\d)", out), ["8x8", "7x8", "8x7", "8x8"])

    @unittest.skipIf(BOARD != "n150", "once is enough")
    def test_every_board_opens_and_computes(self):
        tail = "print('banks', ttnn.get_memory_view(device, ttnn.BufferType.DRAM).num_banks, flush=True)\n"
        for board, banks in (("n300", 12), ("t3k", 12), ("galaxy", 12), ("p100", 7), ("p300", 8)):
            with self.subTest(board=board):
                found, _ = self.run_it(tail, board=board)
                self.check_peaks(found)
                self.assertEqual(found["recording"]["memories"]["DRAM"]["banks"], banks)
                shutil.rmtree(self.dir + "/logs")


if __name__ == "__main__":
    unittest.main()
