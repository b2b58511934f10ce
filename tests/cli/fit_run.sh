#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ttmem fit -- COMMAND: the table, JSON and exit status of programs that fit, do not, or fail for another reason; nothing is left behind.
# The programs here write the recording themselves, as the recorder in Python would: no ttnn is needed.
. "$(dirname "$0")/lib.bash"

mv fit_model.sh model.sh

echo "(Out of Memory: Not enough space to allocate 1024 B L1 buffer across 64 banks, where each bank needs to store 32 B, but bank size is 16 B)" >yesterday
show ttmem fit --jobs 1 -- sh model.sh 60
show ttmem fit --jobs 1 --json --board n150,p150 -- sh model.sh 60
note "one board's verdict is the exit status; any case, said once"
show ttmem fit -q --board P150,p150 -- sh model.sh 60
show ttmem fit -q --board n150 -- sh model.sh 60
show ttmem fit -q --board p100,p150 -- sh model.sh 118
note "memory of a core"
show ttmem fit -q --board n150 -- sh model.sh 1 clash
note "refused, and the program went on"
show ttmem fit -q --board n150 -- sh model.sh 60 caught
show ttmem fit -q --board n150 -- sh model.sh 60 assert
note "refused in a thread, which died of it"
show ttmem fit -q --board n150 -- sh model.sh 60 died
note "an old message that is only printed"
show ttmem fit -q --board n150 -- sh model.sh 1 printed
note "the recorder gave up"
show ttmem fit -q --board n150 -- sh model.sh 1 gave_up
show ttmem fit -q --board n150 -- sh model.sh 1 thread
note "a trace; two chips of a mesh, which every board has to run"
show ttmem fit -q --board n150 -- sh model.sh 1 trace
show ttmem fit -q --board n300,t3k -- sh model.sh 1 mesh
note "not for lack of memory"
show ttmem fit -q -- sh model.sh 1 early
show ttmem fit --jobs 1 --board n150,n300,t3k -- sh model.sh 3 later
show ttmem fit -q --board n150,n300 -- sh model.sh 1 two
show ttmem fit -q --board n150,p150 -- sh model.sh 1 three
show ttmem fit -q --json --board n150 -- sh model.sh 1 three
show ttmem fit -q --board n150 -- sh model.sh 1 killed
show ttmem fit -q --board n150 -- true
note "wrong usage"
show ttmem fit -q --board n150 -- ./no-such-program
show ttmem fit -q --board n151 -- sh model.sh 1
show ttmem fit -q --board n150, -- sh model.sh 1
show ttmem fit --scale-batch 2 -- sh model.sh 1
show ttmem fit model.sh -- sh model.sh 1
same_transcript

# Figures as a script reads them, and what the boards really have.
"$TTMEM" fit -q --json -- sh model.sh 60 >all.json
python3 - <<'PYTHON'
import json

boards = {b["board"]: b for b in json.load(open("all.json"))["boards"]}
assert list(boards) == ["n150", "n300", "t3k", "galaxy", "p100", "p150", "p300"], list(boards)
per_bank = lambda banks: -(-131072 // banks) * 2048
for name, b in boards.items():
    banks = {"p100": 7, "p150": 8, "p300": 8}.get(name, 12)
    assert b["dram_banks"] == banks, b
    room = b["capacity_dram_per_bank_B"] // per_bank(banks)
    assert b["fits"] == (room >= 60), b
    assert b["peak_dram_per_bank_B"] == min(room, 60) * per_bank(banks), b
    assert b["peak_dram_B"] == b["peak_dram_per_bank_B"] * banks, b
    assert (b["incident"] is None) == b["fits"], b
    if not b["fits"]:
        assert b["incident"]["at"] == "model.py:%d" % (10 + room + 1), b
        assert b["incident"]["needed_per_bank_B"] == per_bank(banks), b
PYTHON

# Ctrl-C ends the whole series, and the program with it.
cat >slow.sh <<'SLOW'
echo $$ >>pids
while :; do sleep 0.1; done
SLOW
TTMEM=$TTMEM python3 - <<'PYTHON'
import os, signal, subprocess, time

signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job of a shell ignores it, and so would its children
series = subprocess.Popen([os.environ["TTMEM"], "fit", "--jobs", "1", "--", "sh", "slow.sh"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
pids = []
try:
    end = time.monotonic() + 120  # only bounds a hang
    while not pids and time.monotonic() < end and series.poll() is None:
        pids = open("pids").read().split("\n")[:-1] if os.path.exists("pids") else []
        time.sleep(0.05)
    assert pids, "the program did not start: %s" % series.poll()
    series.send_signal(signal.SIGINT)
    out, err = series.communicate(timeout=120)
    pids = open("pids").read().split()
    assert series.returncode == 130, (series.returncode, err)
    assert len(pids) == 1, pids
    assert "stopped after 0 of 7 boards" in err and out == "", (out, err)
    try:
        os.kill(int(pids[0]), 0)
        raise AssertionError("the program still runs")
    except ProcessLookupError:
        pids = []
finally:  # whatever became of the test, nothing of it runs on
    if series.poll() is None:
        series.kill()
        series.wait()
    for pid in pids:
        os.kill(int(pid), signal.SIGKILL)
PYTHON

[ -z "$(ls -A "$TTMEM_HOME/cache/tmp")" ] || fail "left behind: $(ls "$TTMEM_HOME/cache/tmp")"
