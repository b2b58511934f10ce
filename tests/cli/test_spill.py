#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A ttmem that keeps its tables in temporary files (tests/spill) writes the same bytes as one that keeps them in memory."""
import os
import re
import subprocess
import sys
import tempfile

TTMEM, GEN_LOG = os.environ["TTMEM"], os.environ["GEN_LOG"]
SPILLING = os.path.join(os.path.dirname(GEN_LOG), "..", "tests", "ttmem_spilling")
if not os.path.exists(SPILLING):
    print("skipped: no ttmem_spilling")
    sys.exit(77)
os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"  # it does not look for pointers in files
MADE_BY = re.compile(rb"<!-- \d+-\d+-\w+ -->")  # which program wrote a report
LOGS = {
    "full": ["--runs", "3"],
    "dead": ["--fail", "fragmented", "--runs", "2"],
    "ranks": ["--ranks", "3", "--runs", "2"],
    "dirty": ["--zoo", "--noise", "200", "--bad-bytes", "--tqdm", "--crlf", "--runs", "2"],
    "long": ["--operations", "8000", "--leak", "--late", "--upcast", "--waste"],
}
COMMANDS = (
    ["analyze", "{log}", "--name", "x", "--output-dir", "{out}", "--no-sync"],
    ["--llm", "--logfile", "{log}", "-o", "{out}/llm.md"],
    ["export", "--perfetto", "{log}", "--quiet", "-o", "{out}/trace"],
    ["export", "--parquet", "{log}", "--quiet", "-o", "{out}/tables"],
)


def run(program, words, out):
    os.makedirs(out)
    words = [word.replace("{out}", out) for word in words]
    done = subprocess.run([program, *words], stdin=subprocess.DEVNULL, capture_output=True)
    files = {}
    for folder, _, names in os.walk(out):
        for name in names:
            with open(os.path.join(folder, name), "rb") as f:
                files[os.path.relpath(os.path.join(folder, name), out)] = MADE_BY.sub(b"", f.read().replace(out.encode(), b""))
    return done.returncode, done.stdout.replace(out.encode(), b""), files


with tempfile.TemporaryDirectory(prefix="ttmem-spill-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
    for kind, options in LOGS.items():
        log = f"{folder}/{kind}.log"
        subprocess.run([GEN_LOG, "--seed", "7", "--out", log, *options], check=True)
        for i, words in enumerate(COMMANDS):
            words = [word.replace("{log}", log) for word in words]
            wanted = run(TTMEM, words, f"{folder}/{kind}{i}m")
            got = run(SPILLING, words, f"{folder}/{kind}{i}s")
            assert got[:2] == wanted[:2], (kind, words, got[:2], wanted[:2])
            assert sorted(got[2]) == sorted(wanted[2]), (kind, words)
            for name in wanted[2]:
                assert got[2][name] == wanted[2][name], (kind, words, name)
    # It does spill: into files whose names are gone.
    child = subprocess.Popen([SPILLING, "analyze", "-", "--quiet", "--no-json", "--output-dir", folder + "/held"], stdin=subprocess.PIPE)
    with open(folder + "/long.log", "rb") as f:
        child.stdin.write(f.read())
    with open(f"/proc/{child.pid}/maps") as f:
        maps = f.read()
    child.communicate()
    assert re.search(r"rw-s.*/ttmem-\w{6} \(deleted\)", maps), maps
