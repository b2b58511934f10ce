#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The last run of a log as a log of its own: by program runs and by a marker, from files, compressed files and a pipe.
. "$(dirname "$0")/lib.bash"

log=two_runs_oom_profile.log
cp $log before
show ttmem last-run
show ttmem last-run missing.log
show ttmem last-run $log -o $log
show ttmem last-run $log -o last.log
show ttmem last-run $log --runs 5 -o both.log
show ttmem last-run $log --marker 'never printed'
printf 'nothing\n' >foreign.log
show ttmem last-run foreign.log
note "the last run: its module dump, then the run itself to the end of the log"
cut -c1-100 last.log >>"$transcript"
show ttmem analyze last.log --no-json
same_transcript

cmp $log before || fail "the log was changed"
tail -n +2 $log | cmp both.log - || fail "more runs than there are" # its first line is of neither
"$TTMEM" last-run -q - <$log | cmp - last.log || fail "standard input"
# What can be read only once is kept for the second reading, whatever its name is.
"$TTMEM" last-run -q <(cat $log) | cmp - last.log || fail "a pipe with a name"
"$TTMEM" last-run -q /dev/stdin < <(cat $log) | cmp - last.log || fail "/dev/stdin"
gzip -k $log
"$TTMEM" last-run -q $log.gz | cmp - last.log || fail "gzip"
"$TTMEM" last-run -q $log | head -1 >/dev/null || fail "closed pipe"
[ -z "$(find . -name '.ttmem*.tmp')" ] || fail "a temporary file was left"

# A marker at the end of each run, as people print it: what stands behind the last one is no run.
{ cat $log; echo 'Got output shape: x'; cat $log; echo 'Got output shape: x'; echo bye; } >marked.log
{ cat $log; echo 'Got output shape: x'; echo bye; } >wanted.log
"$TTMEM" last-run -q --marker 'Got output shape:' marked.log >got.log
tail -n "$(wc -l <wanted.log)" got.log | cmp - wanted.log || fail "marker"
{ cat $log; echo 'Got output shape: x'; } >once.log
"$TTMEM" last-run -q --marker 'Got output shape:' once.log | cmp - once.log || fail "one run, one marker"

# A generated log of many runs: what is left tells the same of its last run.
"$GEN_LOG" --layers 2 --hidden 64 --vocab 100 --seq 32 --runs 4 --seed 5 --out gen.log
"$TTMEM" last-run gen.log -o gen_last.log 2>said
grep -q '^ttmem: kept 1 of 4 runs: log lines ' said || fail "$(cat said)"
for name in gen gen_last; do "$TTMEM" analyze $name.log -q --no-html --output-dir . --name $name; done
python3 - <<'P' || fail "the last run differs"
import json
whole, last = (json.load(open(f"{n}_operations.json")) for n in ("gen", "gen_last"))
states = [json.load(open(f"{n}_memory.json"))["operations"] for n in ("gen", "gen_last")]
n = len(last)
assert 0 < n < len(whole)
for a, b in zip(whole[-n:], last):
    assert [a[k] for k in ("mlir_op", "loc", "result", "output_type", "weights")] == [b[k] for k in ("mlir_op", "loc", "result", "output_type", "weights")], (a, b)
for a, b in zip(states[0][-n:], states[1]):
    assert a["memory"] == b["memory"] and a["effect_MB"] == b["effect_MB"]
registries = [json.load(open(f"{n}_inputs_registry.json"))["entries"] for n in ("gen", "gen_last")]
assert registries[0] == registries[1]
P
