#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make soak-serve: two hours (SOAK_SCALE=0.1: twelve minutes) of `serve`, `live --record` and the history under load: good, wrong and slow clients, reports and runs
that come and go, programs that come and go. Between two rounds nothing is asked and what is held is counted; it fails when memory, descriptors, threads or files
of the last quarter are more than those of the second one."""
import concurrent.futures
import http.client
import json
import os
import random
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

from table import TTMEM as BUILT

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(SOURCE, "tests/live"))
from segments import Segment  # noqa: E402

SECONDS = 7200 * float(os.environ.get("SOAK_SCALE", "1"))
LOG = os.path.join(SOURCE, "tests/cli/data/two_runs_oom_profile.log")
KEPT = 40  # reports, and runs of the history
ROUND = 200  # requests
ALLOWED_KB = 1024  # of growth: the allocator's own ups and downs
LOG_KB = "its log KB"
WAL_KB = 8192  # twice the 1,000 pages


class Site:
    def __init__(self, work):
        self.work, self.shm, self.home = work, work + "/shm", work + "/home"
        os.mkdir(self.shm)
        self.ttmem = shutil.copy(BUILT, work + "/ttmem")  # which no build replaces meanwhile
        self.env = {**os.environ, "TTMEM_HOME": self.home, "TTMEM_SHM_DIR": self.shm, "TTMEM_TOKEN": "soak-0123456789abcdef", "TTMEM_NO_HISTORY": ""}
        self.chips = [Segment(self.shm, i + 1, i) for i in range(8)]
        self.programs, self.number = [], 0
        for _ in range(KEPT):
            self.add_report()
        self.serve = subprocess.Popen([self.ttmem, "serve", "--port", "0", "--metrics"], env=self.env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.port = int(self.serve.stdout.readline().split(":")[2].split("/")[0])
        self.live = subprocess.Popen([self.ttmem, "live", "--record", work + "/live.jsonl", "--interval", "0.1"], env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def call(self, *words):
        done = subprocess.run([self.ttmem, *words], env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode not in (0, 1):
            raise SystemExit("ttmem %s: %d\n%s" % (" ".join(words), done.returncode, done.stderr))
        return done.stdout

    def add_report(self):
        self.number += 1
        self.call("analyze", LOG, "-q", "--name", "r%d" % self.number)

    def change_reports(self):
        self.add_report()
        oldest = "r%d" % (self.number - KEPT)
        runs = [run["run"] for series in json.loads(self.call("history", "--json"))["series"] for run in series["runs"] if run["name"] == oldest]
        self.call("rm", oldest, *runs)
        self.call("ls", "--json")

    def change_programs(self):
        """A program begins on every chip, the oldest is killed without cleaning up."""
        self.programs.append(subprocess.Popen(["sleep", "100000"]))
        for chip in self.chips:
            chip.hold(self.number % 60, self.programs[-1].pid, dram=random.randrange(1 << 33), l1=random.randrange(1 << 26))
        if len(self.programs) > 3:
            oldest = self.programs.pop(0)
            oldest.kill()
            oldest.wait()

    def ask(self, i):
        good = {"Authorization": "Bearer soak-0123456789abcdef", "Accept-Encoding": random.choice(("gzip", "identity"))}
        name = "r%d" % (self.number - random.randrange(KEPT + 1))
        path, headers = random.choice((("/", good), ("/reports", good), ("/models", good), ("/live", good), ("/metrics", good), ("/%s/" % name, good), ("/%s/%s_findings.json" % (name, name), good),
                                       ("/compare?a=%s&b=r%d" % (name, self.number), good), ("/none/", good), ("/../x", good), ("/", {}), ("/", {"Host": "evil.com"})))
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            if i % 10:
                answer.read()
            connection.close()  # sometimes in the middle
            return answer.status
        except (OSError, http.client.HTTPException):
            return 0

    def dawdle(self):
        """Clients that ask for nothing, or not to the end."""
        for begin in (b"", b"GET / HT", b"\x16\x03\x01", b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 100000):
            with socket.create_connection(("127.0.0.1", self.port)) as s:
                try:
                    s.sendall(begin)
                except OSError:
                    pass

    def round(self):
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            answers = list(pool.map(self.ask, range(ROUND)))
        self.dawdle()
        self.change_reports()
        self.change_programs()
        return answers

    def held(self):
        """What is held now that nobody asks."""
        end = time.monotonic() + 30
        while connections(self.serve.pid) and time.monotonic() < end:
            time.sleep(0.1)
        out = {}
        for name, process in (("serve", self.serve), ("live", self.live)):
            if process.poll() is not None:
                raise SystemExit("%s ended with %d" % (name, process.returncode))
            out[name + " KB"] = field(process.pid, "VmRSS")
            out[name + " threads"] = field(process.pid, "Threads")
            out[name + " descriptors"] = len(os.listdir("/proc/%d/fd" % process.pid))
        out["files"] = sum(len(files) + len(folders) for _, folders, files in os.walk(self.work))
        for name, file in (("history KB", "history.sqlite"), (LOG_KB, "history.sqlite-wal")):
            path = os.path.join(self.home, file)
            out[name] = os.path.getsize(path) // 1024 if os.path.exists(path) else 0
        return out

    def end(self):
        for process in (*self.programs, self.serve, self.live):
            process.send_signal(signal.SIGINT if process in (self.serve, self.live) else signal.SIGKILL)
            process.wait()
        return self.serve.returncode, self.live.returncode


def field(pid, name):
    with open("/proc/%d/status" % pid) as f:
        return next(int(line.split()[1]) for line in f if line.startswith(name + ":"))


def connections(pid):
    """Sockets beyond the one that listens."""
    links = []
    for fd in os.listdir("/proc/%d/fd" % pid):
        try:
            links.append(os.readlink("/proc/%d/fd/%s" % (pid, fd)))
        except OSError:
            pass
    return sum(link.startswith("socket:") for link in links) - 1


def judge(samples):
    quarter = len(samples) // 4
    second, last = samples[quarter:2 * quarter], samples[-quarter:]
    wrong = []
    for name in samples[0]:
        before, after = statistics.median(s[name] for s in second), statistics.median(s[name] for s in last)
        # SQLite begins its write-ahead log again after 1,000 pages: below that its length tells when somebody looked, not that it grows.
        allowed = {"serve KB": ALLOWED_KB, "live KB": ALLOWED_KB, "history KB": before * 0.05, LOG_KB: WAL_KB - before}.get(name, 0)
        grown = after > before + allowed
        print("%-20s first %8d  second quarter %8d  last %8d%s" % (name, samples[0][name], before, after, "  GROWS" if grown else ""))
        wrong += [name] * grown
    return wrong


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # by way of finally
    work = tempfile.mkdtemp(prefix="ttmem-soak-")
    site = None
    try:
        site = Site(work)
        samples, answers, end = [], {}, time.monotonic() + SECONDS
        while time.monotonic() < end or len(samples) < 8:
            for status in site.round():
                answers[status] = answers.get(status, 0) + 1
            samples.append(site.held())
        print("%d rounds, answers %s" % (len(samples), dict(sorted(answers.items()))))
        wrong = judge(samples)
        if answers.get(0, 0) > ROUND * len(samples) // 100:
            wrong.append("unanswered requests")
        if site.end() != (0, 0):
            wrong.append("ends")
        print("soak-serve:", "GROWTH or failure: " + ", ".join(wrong) if wrong else "no growth")
        return 1 if wrong else 0
    finally:
        if site:
            for process in (site.serve, site.live, *site.programs):
                process.kill()
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
