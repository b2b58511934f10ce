#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real programs under `ttmem run`: fast ones, failing ones, stubborn ones, and ttmem itself being killed."""
import json
import os
import pty
import random
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

TTMEM = os.environ.get("TTMEM", "build/bin/ttmem")
PROFILER = os.environ.get("TT_MEMORY_PROFILER", "build/bin/tt-memory-profiler")
GEN_LOG = os.environ.get("GEN_LOG", "build/release/bench/gen_log")
SOURCE = os.environ.get("TTMEM_SOURCE", os.getcwd())
LOG = os.path.join(SOURCE, "tests/cli/data/two_runs_oom_profile.log")
SWITCHES = ("TTMLIR_RUNTIME_LOGGER_LEVEL", "TT_RUNTIME_MEMORY_LOG_LEVEL", "TTXLA_LOGGER_LEVEL", "PYTHONUNBUFFERED", "VIRTUAL_ENV")
PATIENCE = 300  # only bounds a hang: a machine may be busy; nothing here asserts a time


def gone(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


def wait_for(what, condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"waited in vain for {what}")
        time.sleep(0.02)


def content(*path):
    with open(os.path.join(*path), "rb") as f:
        return f.read()


def end(child):
    """Whatever became of the test, nothing of it runs on: asked to end, `ttmem run` ends its program too."""
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            child.kill()
    for stream in (child.stdout, child.stderr):
        if stream:
            stream.close()
    child.wait()


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="ttmem-launch-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.env = {k: v for k, v in os.environ.items() if k not in SWITCHES}
        self.env.update(TTMEM_HOME=os.path.join(self.dir, "home"), LC_ALL="C.UTF-8", TERM="xterm")

    def path(self, name):
        return os.path.join(self.dir, name)

    def script(self, name, text):
        with open(self.path(name), "w") as f:
            f.write(text)
        return name

    def start(self, *words, program=TTMEM, **more):
        more.setdefault("stdout", subprocess.PIPE)
        p = subprocess.Popen([program, *words], cwd=self.dir, env=self.env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, **more)
        self.addCleanup(end, p)
        return p

    def run_it(self, *words, program=TTMEM, **more):
        p = self.start(*words, program=program, **more)
        out, err = p.communicate(timeout=PATIENCE)
        return p.returncode, out, err.decode()

    def folders(self, base="logs"):
        return sorted(os.path.join(self.path(base), f) for f in os.listdir(self.path(base)))

    def only_folder(self):
        self.assertEqual(len(self.folders()), 1)
        return self.folders()[0]

    def logged(self):
        folder = self.only_folder()
        logs = [f for f in os.listdir(folder) if f.endswith("_profile.log")]
        self.assertEqual(len(logs), 1)
        with open(os.path.join(folder, logs[0]), "rb") as f:
            return f.read()

    def findings(self):
        folder = self.only_folder()
        names = [f for f in os.listdir(folder) if f.endswith("_findings.json")]
        self.assertEqual(len(names), 1, os.listdir(folder))
        with open(os.path.join(folder, names[0])) as f:
            return json.load(f)


class Modes(Case):
    def test_script_with_arguments(self):
        self.script("my_model.py", f"""
import os, sys
print("out", sys.argv[1:])
print("err", file=sys.stderr)
for name in {SWITCHES[:3]!r}: print(name, os.environ[name])
os.write(1, open({LOG!r}, "rb").read())
print("end")
""")
        self.env["TTXLA_LOGGER_LEVEL"] = "VERBOSE"
        status, out, err = self.run_it("my_model.py", "--log", "-x", program=PROFILER)
        self.assertEqual(status, 0, err)
        head = b"out ['--log', '-x']\nerr\nTTMLIR_RUNTIME_LOGGER_LEVEL DEBUG\nTT_RUNTIME_MEMORY_LOG_LEVEL operation\n" \
               b"TTXLA_LOGGER_LEVEL VERBOSE\n"
        with open(LOG, "rb") as f:
            self.assertEqual(out, head + f.read() + b"end\n")
        self.assertEqual(self.logged(), out)
        self.assertIn("set for the program: TTMLIR_RUNTIME_LOGGER_LEVEL=DEBUG TT_RUNTIME_MEMORY_LOG_LEVEL=operation\n", err)
        folder = self.only_folder()
        self.assertRegex(os.path.basename(folder), r"^my_model_\d{8}_\d{6}$")
        wanted = ["findings.json", "inputs_registry.json", "ir.json", "memory.json", "operations.json", "profile.log", "report.html"]
        self.assertEqual(sorted(os.listdir(folder)), [f"my_model_{w}" for w in wanted])
        self.assertEqual(len(self.findings()["incidents"]), 1)
        self.assertIn("Failure   Out of memory in DRAM", err)

    def test_log_only(self):
        self.script("m.py", "print('hi')")
        status, out, err = self.run_it("--log", "--output-dir", "there", "m.py", program=PROFILER)
        self.assertEqual((status, out), (0, b"hi\n"))
        folder, = self.folders("there")
        self.assertEqual(os.listdir(folder), ["m_profile.log"])
        near = os.path.relpath(folder, self.dir)
        self.assertIn(f"  tt-memory-profiler --analyze {near}/m_profile.log\n", err)
        self.assertIn(f"  tt-memory-profiler --visualize {near}\n", err)

    def test_any_command_and_its_name(self):
        status, out, err = self.run_it("run", "--", "sh", "-c", f"cat {LOG}; echo $PYTHONUNBUFFERED")
        self.assertEqual(status, 0, err)
        self.assertTrue(out.endswith(b"\n1\n"))
        self.assertRegex(self.only_folder(), r"/sh_\d{8}_\d{6}$")
        self.run_it("run", "--log", "-q", "--", "echo", "tests/test_it.py")
        self.run_it("run", "--log", "-q", "--name", "mine", "--", "true")
        self.assertEqual([re.sub(r"_\d.*", "", os.path.basename(f)) for f in self.folders()], ["mine", "sh", "test_it"])

    def test_quiet_is_quiet(self):
        status, out, err = self.run_it("run", "-q", "--", "cat", LOG)
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(self.logged(), out)

    def test_nothing_to_report_on(self):
        status, out, err = self.run_it("run", "-q", "--", "echo", "hello")
        self.assertEqual(status, 2)
        self.assertIn("is no TT-XLA / TT-MLIR runtime log", err)
        self.assertEqual(self.logged(), b"hello\n")

    def test_a_folder_is_never_used_twice(self):
        for _ in range(6):
            self.run_it("run", "--log", "-q", "--", "true")
        self.assertEqual(len(self.folders()), 6)

    def test_virtual_environment(self):
        os.makedirs(self.path("venv/bin"))
        with open(self.path("venv/bin/python3"), "w") as f:
            f.write("#!/bin/sh\necho venv \"$@\"\n")
        os.chmod(self.path("venv/bin/python3"), 0o755)
        self.script("m.py", "")
        self.env["VIRTUAL_ENV"] = self.path("venv")
        self.assertEqual(self.run_it("run", "--log", "-q", "m.py", "a")[1], b"venv -u m.py a\n")
        self.env["VIRTUAL_ENV"] = self.path("nowhere")
        status, _, err = self.run_it("run", "m.py")
        self.assertEqual(status, 2)
        self.assertIn("the active virtual environment has no Python", err)
        del self.env["VIRTUAL_ENV"]
        self.env["PATH"] = self.path("venv")
        status, _, err = self.run_it("run", "m.py", executable=os.path.abspath(TTMEM))
        self.assertEqual(status, 2)
        self.assertIn("there is no program 'python3' in PATH", err)
        self.assertEqual(len(self.folders()), 1)

    def test_variables_that_cost_lines(self):
        self.env.update(TTMLIR_RUNTIME_LOGGER_LEVEL="INFO", TTMLIR_RUNTIME_LOGGER_FILE="x")
        _, _, err = self.run_it("run", "--log", "--", "true")
        self.assertIn("kept TTMLIR_RUNTIME_LOGGER_LEVEL=INFO from your environment: operation lines are printed at DEBUG level only", err)
        self.assertIn("TTMLIR_RUNTIME_LOGGER_FILE is set.", err)


class Endings(Case):
    def test_exit_status(self):
        self.assertEqual(self.run_it("run", "--", "sh", "-c", f"cat {LOG}; exit 42")[0], 42)
        self.assertEqual(len(self.findings()["incidents"]), 1)

    def test_crash(self):
        status, _, err = self.run_it("run", "--", "sh", "-c", f"cat {LOG}; kill -SEGV $$")
        self.assertEqual(status, 128 + signal.SIGSEGV)
        self.assertIn("the program was ended by signal 11", err)
        self.assertEqual(self.findings()["input"]["blocks"], 15)

    def stubborn(self, signals):
        self.script("stubborn.py", f"""
import os, signal, time
for s in {[int(n) for n in signals]!r}: signal.signal(s, lambda n, f: print("got", signal.Signals(n).name))
os.write(1, open({LOG!r}, "rb").read())
print("ready")
while True: time.sleep(60)
""")
        p = self.start("run", "stubborn.py")
        os.set_blocking(p.stdout.fileno(), False)
        seen = b""

        def ready():
            nonlocal seen
            seen += p.stdout.read() or b""
            return b"ready" in seen
        wait_for("the script", ready)
        os.set_blocking(p.stdout.fileno(), True)
        return p

    def test_ignores_sigterm(self):
        p = self.stubborn([signal.SIGTERM])
        for n in (1, 2):
            p.send_signal(signal.SIGTERM)
            wait_for("the signal", lambda: self.logged().count(b"got SIGTERM") == n)
        p.send_signal(signal.SIGTERM)
        _, err = p.communicate(timeout=PATIENCE)
        self.assertEqual(p.returncode, 128 + signal.SIGKILL)
        self.assertIn("after the third request to end", err.decode())
        self.assertEqual(len(self.findings()["incidents"]), 1)

    def test_reminder(self):
        p = self.stubborn([signal.SIGTERM])
        p.send_signal(signal.SIGTERM)
        os.set_blocking(p.stderr.fileno(), False)
        seen = b""

        def reminded():
            nonlocal seen
            seen += p.stderr.read() or b""
            return b"is still running; a third request kills it" in seen
        wait_for("the reminder", reminded)
        p.send_signal(signal.SIGTERM)
        wait_for("the signal", lambda: self.logged().count(b"got SIGTERM") == 2)
        p.send_signal(signal.SIGTERM)
        p.communicate(timeout=PATIENCE)
        self.assertEqual(p.returncode, 137)

    def test_signals_are_passed_on(self):
        p = self.stubborn([signal.SIGUSR1])
        p.send_signal(signal.SIGUSR1)
        wait_for("the signal", lambda: b"got SIGUSR1" in self.logged())
        p.send_signal(signal.SIGHUP)
        p.communicate(timeout=PATIENCE)
        self.assertEqual(p.returncode, 128 + signal.SIGHUP)
        self.findings()

    def test_stop_and_go(self):
        # A group of its own: the kernel never stops an orphaned group, and a CI run is often one.
        p = self.start("run", "-q", "--log", "--", "sh", "-c", "echo $$; sleep 1000 & wait", preexec_fn=lambda: os.setpgid(0, 0))
        child = int(p.stdout.readline())

        def state(pid):
            with open(f"/proc/{pid}/stat") as f:
                return f.read().rsplit(")", 1)[1].split()[0]
        p.send_signal(signal.SIGTSTP)
        wait_for("both to stop", lambda: state(p.pid) == "T" and state(child) == "T")
        p.send_signal(signal.SIGCONT)
        wait_for("both to go on", lambda: state(p.pid) != "T" and state(child) != "T")
        subprocess.run(["sh", "-c", f"kill {child} $(cat /proc/{child}/task/{child}/children)"], check=False)
        p.communicate(timeout=PATIENCE)
        self.assertEqual(p.returncode, 128 + signal.SIGTERM)

    def test_a_process_left_behind(self):
        status, out, err = self.run_it("run", "--", "sh", "-c", f"cat {LOG}; sleep 1000 & echo $!")
        left = int(out.split()[-1])
        self.assertFalse(gone(left))
        os.kill(left, signal.SIGKILL)
        self.assertEqual(status, 0, err)
        self.assertIn("a process it started keeps its output open", err)
        self.findings()

    def test_a_chatterer_left_behind(self):
        status, out, err = self.run_it("run", "-q", "--", "sh", "-c", f"cat {LOG}; while :; do echo again; sleep 0.05; done & echo $!")
        try:
            os.kill(int(re.search(rb"^(\d+)$", out, re.M).group(1)), signal.SIGKILL)
        except ProcessLookupError:
            pass  # nobody reads it any more: it may have noticed
        self.assertEqual(status, 0, err)
        self.assertEqual(self.logged(), out)

    def test_closed_output(self):
        p = self.start("run", "-q", "--", "sh", "-c", f"for i in 1 2 3 4 5 6 7 8 9; do cat {LOG}; done; exit 5", stdout=subprocess.PIPE)
        p.stdout.close()
        self.assertEqual(p.wait(timeout=PATIENCE), 5)
        with open(LOG, "rb") as f:
            self.assertEqual(self.logged(), f.read() * 9)

    def test_full_disk(self):
        status, out, err = self.run_it("-c", f"ulimit -f 8; exec {os.path.abspath(TTMEM)} run -- cat {LOG}", program="/bin/sh")
        with open(LOG, "rb") as f:
            whole = f.read()
        self.assertEqual(out, whole)  # shown to the end
        self.assertEqual(self.logged(), whole[:len(self.logged())])
        self.assertGreater(len(self.logged()), 0)
        self.assertIn("the log written so far is kept, the program continues", err)
        self.assertIn("Failure   Out of memory in DRAM", err)  # parsed to the end
        self.assertEqual(status, 2)

    def test_no_place_for_the_log(self):
        self.script("logs", "a file, not a folder")
        status, _, err = self.run_it("run", "--", "touch", "ran")
        self.assertEqual(status, 2)
        self.assertFalse(os.path.exists(self.path("ran")))
        self.assertIn("logs", err)

    def test_killed_at_random(self):
        with open(LOG, "rb") as f:
            whole = f.read()
        self.script("slow.py", f"""
import os, time
data = open({LOG!r}, "rb").read()
for i in range(0, len(data), 300): os.write(1, data[i:i + 300]); time.sleep(0.002)
""")
        self.run_it("run", "-q", "--name", "first", "slow.py")
        before = {f: content(self.folders()[0], f) for f in os.listdir(self.folders()[0])}
        random.seed(7)
        for i in range(8):
            p = self.start("run", "-q", "--name", f"n{i}", "slow.py", stdout=subprocess.DEVNULL)
            time.sleep(random.uniform(0, 0.5))
            p.kill()
            p.communicate(timeout=PATIENCE)
        for folder in self.folders():
            if "/first_" in folder:
                after = {f: content(folder, f) for f in os.listdir(folder)}
                self.assertEqual(after, before)
                continue
            if not os.listdir(folder):
                continue  # killed before the log was opened
            name = re.sub(r"_\d{8}_.*", "", os.path.basename(folder))
            with open(os.path.join(folder, f"{name}_profile.log"), "rb") as f:
                kept = f.read()
            self.assertEqual(kept, whole[:len(kept)])
            for f in os.listdir(folder):
                if f.endswith(".json"):
                    json.loads(content(folder, f))


class Speed(Case):
    def test_a_generated_log_at_full_speed(self):
        with open(self.path("truth.log"), "wb") as f:
            subprocess.run([GEN_LOG, "--bytes", "24M", "--seed", "3", "--out", "-"], stdout=f, check=True)
        with open(self.path("shown"), "wb") as f:
            status, _, err = self.run_it("run", "-q", "--no-html", "--name", "gen", "--", GEN_LOG, "--bytes", "24M", "--seed", "3",
                                         "--out", "-", stdout=f)
        self.assertEqual(status, 0, err)
        wanted = content(self.path("truth.log"))
        self.assertTrue(content(self.path("shown")) == wanted)
        self.assertTrue(self.logged() == wanted)
        self.run_it("analyze", "truth.log", "-q", "--no-html", "--name", "gen", "--output-dir", "again")
        for kind in ("memory", "operations", "inputs_registry", "ir"):
            self.assertTrue(content(self.only_folder(), f"gen_{kind}.json") == content(self.path(f"again/gen_{kind}.json")), kind)
        ours, theirs = self.findings(), json.loads(content(self.path("again/gen_findings.json")))
        ours["input"].pop("path"), theirs["input"].pop("path")
        for findings in (ours, theirs):
            del findings["input"]["fingerprint"]  # has the time of the file
        self.assertEqual(ours, theirs)


class Terminal(Case):
    """ttmem on a terminal of its own."""

    def on_terminal(self, *words):
        pid, fd = pty.fork()
        if pid == 0:
            os.chdir(self.dir)
            os.execvpe(TTMEM if os.sep not in TTMEM else os.path.abspath(TTMEM), [TTMEM, *words], self.env)
        self.addCleanup(os.close, fd)  # ends it, should the test have failed
        return pid, fd

    def read_until(self, fd, text, seen=b""):
        end = time.monotonic() + PATIENCE
        while text is None or text not in seen:
            ready, _, _ = select.select([fd], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise AssertionError(f"{text!r} never came: {seen!r}")
            try:
                more = os.read(fd, 65536)
            except OSError:
                more = b""
            if not more:
                if text is None:
                    return seen
                raise AssertionError(f"ended before {text!r}: {seen!r}")
            seen += more
        return seen

    def test_status_line_and_warning(self):
        self.script("m.py", f"""
import os, sys, time
os.write(1, open({LOG!r}, "rb").read())
sys.stdin.readline()
""")
        pid, fd = self.on_terminal("run", "m.py")
        line = "9 ops │ DRAM 1006.3 of 1021.2 MB, peak 1006.3 │ ".encode()
        seen = self.read_until(fd, line, b"")
        seen = self.read_until(fd, b"largest free ", seen)
        self.assertIn(b"warning: largest free block in DRAM: ", seen)
        os.write(fd, b"go on\n")  # the program reads from the terminal
        seen = self.read_until(fd, None, seen)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        self.assertIn(b"Failure", seen.replace(b"\x1b[1m", b""))

    def test_interrupt_key(self):
        self.script("m.py", f"""
import os, sys, time
os.write(1, open({LOG!r}, "rb").read())
try:
    print("waiting")
    while True: time.sleep(60)
except KeyboardInterrupt:
    print("interrupted")
    sys.exit(9)
""")
        pid, fd = self.on_terminal("run", "m.py")
        seen = self.read_until(fd, b"waiting")
        os.write(fd, b"\x03")
        self.read_until(fd, None, seen)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 9)
        self.assertEqual(self.logged().count(b"interrupted"), 1)
        self.assertEqual(len(self.findings()["incidents"]), 1)


if __name__ == "__main__":
    unittest.main(warnings="ignore")
