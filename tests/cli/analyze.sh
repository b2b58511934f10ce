#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The summary and the report folder.
. "$(dirname "$0")/lib.bash"

log=two_runs_oom_profile.log
show ttmem analyze $log
note "the folder"
find home/reports -type f | LC_ALL=C sort >>"$transcript"
show ttmem analyze $log --no-json --color=always
show ttmem analyze hostile.log --no-json
show ttmem analyze $log --quiet --name other --output-dir there
find there -type f | LC_ALL=C sort >>"$transcript"
show tt-memory-profiler --analyze $log --output-dir there2 --quiet
find there2 -type f | LC_ALL=C sort >>"$transcript"
LC_ALL=C show ttmem analyze $log --no-json
same_transcript

"$TTMEM" analyze $log --no-json >plain
if grep -q $'\033' plain; then fail "colour in a pipe"; fi
CLICOLOR_FORCE=1 "$TTMEM" analyze $log --no-json | grep -q $'\033\[31m' || fail "CLICOLOR_FORCE"
NO_COLOR=1 CLICOLOR_FORCE=1 "$TTMEM" analyze $log --no-json | cmp - plain || fail "NO_COLOR"
NO_COLOR=1 "$TTMEM" analyze $log --no-json --color always | grep -q $'\033\[31m' || fail "--color always"
CLICOLOR_FORCE=1 "$TTMEM" analyze $log --no-json --color never | cmp - plain || fail "--color never"
"$TTMEM" analyze $log --no-json --color always | sed $'s/\033\\[[0-9;]*m//g' | cmp - plain || fail "colour changes the text"
[ "$(wc -l <plain)" -le 24 ] || fail "more than one screen: $(wc -l <plain) lines"
columns=$(wc -L <plain)
[ "$columns" -le 80 ] || fail "$columns columns"

# The summary of tt-memory-profiler is the one of ttmem analyze.
"$TTMEM" analyze $log >a
"$TT_MEMORY_PROFILER" --analyze $log >b
cmp a b || fail "the two programs differ"

# JSON, standard input, and that --no-json leaves nothing.
for file in home/reports/two-runs-oom/*.json; do
  python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$file" || fail "$file is no JSON"
done
"$TTMEM" analyze - --name piped --quiet <$log
[ -f home/reports/piped/piped_findings.json ] || fail "standard input"
rm -r home
"$TTMEM" analyze $log --no-json >/dev/null
[ ! -e home ] || fail "--no-json wrote something"
"$TTMEM" analyze $log --no-json | head -1 >/dev/null || fail "closed pipe"

# A packed log that was cut is used as far as it goes, and the summary says so.
gzip -c $log >whole.log.gz
head -c $(($(wc -c <whole.log.gz) / 2)) whole.log.gz >cut.log.gz
"$TTMEM" analyze cut.log.gz --no-json >.out || fail "a cut .gz"
grep -q 'the input ends early: the compressed data ends early' .out || fail "nobody says that the log is cut"

# Nowhere to write: what was found is shown all the same.
touch not_a_folder
got=0
TTMEM_HOME=$PWD/not_a_folder "$TTMEM" analyze $log >.out 2>.err || got=$?
[ $got = 2 ] || fail "exit $got without a place for the report"
grep -q '^Peak ' .out || fail "no summary without a place for the report"
! grep -q '^Report ' .out || fail "the summary names a report that is not there"
grep -q 'the report was not written; --output-dir DIR' .err || fail "$(cat .err)"

# Another log of the same name takes the report's place, and that is said; the same log again is not another one.
mkdir elsewhere
cp $log elsewhere/
"$TTMEM" analyze $log >/dev/null 2>.err
"$TTMEM" analyze ./$log >/dev/null 2>.err
[ ! -s .err ] || fail "the same log: $(cat .err)"
"$TTMEM" analyze elsewhere/$log >/dev/null 2>.err
grep -q "^ttmem: note: replaced the report of ./$log; --name keeps both" .err || fail "another log: $(cat .err)"
"$TT_MEMORY_PROFILER" --analyze $log >/dev/null 2>.err
grep -q "^tt-memory-profiler: note: replaced the report of elsewhere/$log; 'ttmem analyze LOG --name NAME' keeps both" .err || fail "$(cat .err)"
