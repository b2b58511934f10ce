#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A few megabytes that stand for gigabytes take no more memory than --max-memory allows, end with a sentence and can be stopped at any moment."""
import gzip
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TTMEM, GEN_LOG = os.environ["TTMEM"], os.environ["GEN_LOG"]
if not shutil.which("zstd"):
    print("skipped: no zstd")
    sys.exit(77)
SANITIZED = any(mark in pathlib.Path(TTMEM).read_bytes() for mark in (b"__asan_init", b"__tsan_init", b"__msan_init"))
if SANITIZED:
    print("skipped: a sanitizer's own memory cannot be limited")
    sys.exit(77)
LIMIT, ROOM = 120, 40  # MB: what is allowed, and what code and stacks may take beside it


def run(*words, wanted=2):
    started = time.monotonic()
    child = subprocess.Popen([TTMEM, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said = child.stderr.read()
    _, status, use = os.wait4(child.pid, 0)
    took = time.monotonic() - started
    status = os.waitstatus_to_exitcode(status)
    assert status == wanted, (words, status, said)
    assert use.ru_maxrss < (LIMIT + ROOM) * 1024, (words, use.ru_maxrss // 1024, "MB")
    assert status != 2 or ("--max-memory SIZE allows more" in said and said.count("\n") == 1), (words, said)
    print(f"{took:5.1f} s {use.ru_maxrss // 1024:5} MB", *words[:2])


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    os.environ["TTMEM_HOME"] = folder + "/home"
    limit = ("--max-memory", f"{LIMIT}MB")

    # Valid lines, without end.
    subprocess.run([GEN_LOG, "--bytes", "40M", "--out", "part.log"], check=True)
    part = subprocess.run(["zstd", "-q19", "-c", "part.log"], check=True, stdout=subprocess.PIPE).stdout
    with open("bomb.log.zst", "wb") as bomb:
        for _ in range(400):  # 16 GB
            bomb.write(part)
    with open("part.log", "rb") as log:
        frame = subprocess.run(["zstd", "-q19", "-c"], input=log.read(1 << 20), check=True, stdout=subprocess.PIPE).stdout
    with open("frames.log.zst", "wb") as bomb:
        for _ in range(16000):  # small enough to be decompressed side by side
            bomb.write(frame)
    packed = gzip.compress(open("part.log", "rb").read(), 1)
    with open("bomb.log.gz", "wb") as bomb:
        for _ in range(100):
            bomb.write(packed)
    for words in (["analyze", "bomb.log.zst", "-q", "--no-json"], ["ask", "bomb.log.zst", "--at-peak", "-q"], ["fit", "bomb.log.zst", "-q"],
                  ["analyze", "frames.log.zst", "-q", "--no-json", "--threads", "8"]):
        run(*words, *limit)
    run("analyze", "bomb.log.gz", "-q", "--no-json", "--max-memory", "60MB")
    run("analyze", "bomb.log.gz", "-q", "--no-json", *limit, wanted=0)  # its tables are larger, but as much again may lie on the disk

    # A line without end, a report's file without end.
    with subprocess.Popen(["zstd", "-q", "-o", "line.log.zst"], stdin=subprocess.PIPE) as packer:
        for _ in range(1000):
            packer.stdin.write(b"a" * 1000000)
    assert subprocess.run([TTMEM, "analyze", "line.log.zst", "-q", *limit], capture_output=True).returncode == 2
    subprocess.run([TTMEM, "analyze", "part.log", "-q", "--name", "r", "--output-dir", "report"], check=True)
    os.remove("part.log")
    memory = open("report/r_memory.json", "rb").read()
    with gzip.open("report/r_memory.json.new", "wb", 6) as bomb:
        row = json.dumps(json.loads(memory)["operations"][0]).encode()
        bomb.write(memory[:memory.index(b"[") + 1])
        for _ in range(1500):
            bomb.write((row + b",") * 600)
    os.replace("report/r_memory.json.new", "report/r_memory.json")
    print(os.path.getsize("report/r_memory.json") // 1024, "KB of a report")
    run("ask", "report", "--findings", "-q", "--max-memory", "25MB")

    # Stopped at once, whatever it does: by its processor time, which other programs of the machine do not lengthen. Whoever started
    # the tests in the background has them ignore SIGINT.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    for seconds, bomb in ((0.2, "bomb"), (1.0, "bomb"), (2.0, "bomb"), (1.0, "frames")):
        child = subprocess.Popen([TTMEM, "analyze", bomb + ".log.zst", "-q", "--no-json"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(seconds)
        before = sum(map(int, open(f"/proc/{child.pid}/stat").read().rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")
        child.send_signal(signal.SIGINT)
        _, status, use = os.wait4(child.pid, 0)
        after = use.ru_utime + use.ru_stime - before
        print(f"{after:5.2f} s of processor time after an interrupt at {before:.2f} s", bomb)
        assert os.waitstatus_to_exitcode(status) in (-signal.SIGINT, 128 + signal.SIGINT) and after < 1, (bomb, seconds, status, before, after)

    # The limit is no smaller than what ordinary inputs take.
    subprocess.run([GEN_LOG, "--runs", "3", "--out", "small.log"], check=True)
    run("analyze", "small.log", "-q", wanted=0)
