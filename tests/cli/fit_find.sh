#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ttmem fit --find: the largest value that fits, what refuses the next one, and what is said where there is no such boundary. The program writes
# its recording itself, as in fit_run.sh.
. "$(dirname "$0")/lib.bash"
mv fit_model.sh model.sh

show ttmem fit -q --find N=1..200 -- sh model.sh '{N}'
note "steps, powers, lists; the value inside a word"
show ttmem fit -q --board n150 --find N=10..200+10 -- sh -c 'sh model.sh $(echo {N})'
show ttmem fit -q --board n150 --find N=1..1000*2 -- sh model.sh '{N}'
show ttmem fit -q --board n150 --find N=7,40,50,51 -- sh model.sh '{N}'
note "several variables"
show ttmem fit -q --board n150,p150 --find N=1..200 --find END=well,caught -- sh model.sh '{N}' '{END}'
show ttmem fit -q --csv --board n150,p150 --find N=1..200 --find END=well,caught -- sh model.sh '{N}' '{END}'
note "the ends: all fit, none fits; JSON"
show ttmem fit -q --board n150 --find N=1..40 -- sh model.sh '{N}'
show ttmem fit -q --board n150 --find N=60..240*2 -- sh model.sh '{N}'
show ttmem fit -q --find N=60..240*2 --json --board p150,n150 -- sh model.sh '{N}'
show ttmem fit -q --board n150 --find N=5..5 -- sh model.sh '{N}'
note "memory use that does not grow with the value"
cat >odd.sh <<'ODD'
if [ "$1" -ge 4 ]; then exec sh model.sh $((10 - $1 / 40)); else exec sh model.sh 60; fi
ODD
show ttmem fit -q --board n150 --find N=1..200 -- sh odd.sh '{N}'
cat >falling.sh <<'FALLING'
sh model.sh $((40 - $1 / 10))
FALLING
show ttmem fit -q --board n150 --find N=1..200 -- sh falling.sh '{N}'
note "another reason than memory: at some values, at all"
cat >divisible.sh <<'DIVISIBLE'
if [ $(($1 % 16)) -eq 0 ]; then exec sh model.sh $1; else exec sh model.sh 1 three; fi
DIVISIBLE
show ttmem fit -q --board n150 --find N=16..160 -- sh divisible.sh '{N}'
show ttmem fit -q --board n150 --find N=16..160+16 -- sh divisible.sh '{N}'
show ttmem fit -q --board n150 --find N=1..160 -- sh model.sh 1 three '{N}'
show ttmem fit -q --board n150,p150 --find N=1..160 -- sh model.sh '{N}' early
note "wrong usage"
show ttmem fit --find N=1..200 -- sh model.sh 3
show ttmem fit --find N=9..2 -- sh model.sh '{N}'
show ttmem fit --find N=a,b -- sh model.sh '{N}'
show ttmem fit --find N=1..2 --find N=3..4 -- sh model.sh '{N}'
show ttmem fit --find N=1..2 --find A=1..9999 -- sh model.sh '{N}' '{A}'
show ttmem fit --find N=1..2 --board n151 -- sh model.sh '{N}'
show ttmem fit --find N=1..2 --json --csv -- sh model.sh '{N}'
show ttmem fit --find N=1..2 plain_profile.log
show ttmem fit --no-cache -- sh model.sh 1
show ttmem fit --find
show ttmem fit --find N=1..2
same_transcript

# Progress: how many runs there are at most is said before each, and how long that takes once one is over. Boards with the same chip run once.
"$TTMEM" fit --board n150,n300 --find N=1..200 -- sh model.sh '{N}' >out 2>err
grep -qx 'ttmem: n150, N=1: run 1 of about [0-9]*, at most [0-9]*' err || fail "no first line: $(cat err)"
grep -qx 'ttmem: n150, N=48: run 5 of about [0-9]*, at most [0-9]*; about [0-9]* s left' err || fail "no last line: $(cat err)"
[ "$(wc -l <err)" -eq 5 ] || fail "not five runs: $(cat err)"

# Stopped by Ctrl-C: what is known is printed.
cat >slow.sh <<'SLOW'
[ "$1" -eq 1 ] && exec sh model.sh 1
echo $$ >>pids
while :; do sleep 0.1; done
SLOW
TTMEM=$TTMEM python3 - <<'PYTHON'
import json, os, signal, subprocess, time

signal.signal(signal.SIGINT, signal.default_int_handler)
series = subprocess.Popen([os.environ["TTMEM"], "fit", "--json", "--jobs", "1", "--find", "N=1..9", "--", "sh", "slow.sh", "{N}"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
pids = []
try:
    end = time.monotonic() + 120  # only bounds a hang
    while not pids and time.monotonic() < end and series.poll() is None:
        pids = open("pids").read().split("\n")[:-1] if os.path.exists("pids") else []
        time.sleep(0.05)
    assert pids, "the second run did not start: %s" % series.poll()
    series.send_signal(signal.SIGINT)
    out, err = series.communicate(timeout=120)
    assert series.returncode == 130, (series.returncode, err)
    found, = json.loads(out)["results"]
    assert (found["board"], found["largest"], found["refused"], found["statement"]) == ("n150", 1, None, "find.open"), found
    assert "stopped" in found["headline"] and "stopped" in err, (found, err)
    pids = []
finally:
    if series.poll() is None:
        series.kill()
        series.wait()
    for pid in pids:
        os.kill(int(pid), signal.SIGKILL)
PYTHON

[ -z "$(ls -A "$TTMEM_HOME/cache/tmp")" ] || fail "left behind: $(ls "$TTMEM_HOME/cache/tmp")"
