#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two logs side by side: operations matched although they moved, the change of the peak, and the exit status of --check.
. "$(dirname "$0")/lib.bash"
log=two_runs_oom_profile.log
head -84 $log >fine.log # the first run

show ttmem diff
show ttmem diff $log
show ttmem diff - -
show ttmem diff $log nowhere.log
show ttmem diff $log fine.log -o fine.log
show ttmem diff $log $log
show ttmem diff fine.log $log --check
show ttmem diff $log fine.log --check
show ttmem diff fine.log $log --json --md
for wrong in x -1 5MB 1e3 1001 5%%; do show ttmem diff fine.log $log --check --tolerance=$wrong; done
show ttmem diff fine.log $log --md
same_transcript

gen() { "$GEN_LOG" --out - --layers 4 --hidden 256 --vocab 1000 --seq 64 --seed 5 "$@"; }
gen --runs 2 --out plain.log
gen --runs 2 --odd-layer 2 --odd-at middle --out odd.log # one operation more, in the middle
gen --runs 3 --out more_runs.log
gen --runs 2 --weights f32 --out f32.log
gen --runs 2 --fail exhausted --fail-run 1 --out dead.log

# of A B EXPRESSION: what Python says of the JSON `d`.
of() {
  "$TTMEM" diff "$1" "$2" --json >d.json || fail "diff $1 $2"
  python3 -c 'import json, sys; d = json.load(open("d.json")); assert eval(sys.argv[1]), d' "$3" || fail "diff $1 $2: $3"
}
of plain.log plain.log 'not d["worse"] and not d["changed"] and d["operations"]["only_after"] == 0'
of plain.log odd.log 'd["operations"]["only_before"] == 0 and d["operations"]["only_after"] == 1 == d["only_in_one"][0]["after"]'
of odd.log plain.log 'd["operations"]["only_before"] == 1 and d["operations"]["only_after"] == 0'
of plain.log more_runs.log 'not d["worse"] and not d["changed"] and d["operations"]["only_after"] == 0'
of plain.log f32.log 'd["worse"] and d["peak"]["DRAM"]["change_MB"] > 0 and all(r["change_MB"] > 0 for r in d["changed"])'
of f32.log plain.log 'not d["worse"] and d["peak"]["DRAM"]["change_MB"] < 0 and all(r["change_MB"] < 0 for r in d["changed"])'
of plain.log f32.log 'd["live_at_peak"]["DRAM"] and all(r["class"] == "weights" and abs(r["after"]["per_bank_MB"] - 2 * r["before"]["per_bank_MB"]) < 0.01 for r in d["live_at_peak"]["DRAM"])'
of plain.log f32.log 'any(s["id"] == "diff.alive" and "weights" in s["headline"] and "more" in s["headline"] for s in d["statements"])'
of plain.log plain.log 'not d["live_at_peak"]["DRAM"] and not any(s["id"] == "diff.alive" for s in d["statements"])'
of plain.log f32.log 'all(abs(r["after"]["effect_MB"] - 2 * r["before"]["effect_MB"]) < 0.01 for r in d["changed"])'
# Ranks woven line by line, and locations that tell nothing: the third add of one rank is the third add of the other.
gen --runs 2 --no-dumps | sed 's/loc("[^"]*"/loc("x"/g' >one.log
gen --runs 2 --no-dumps --ranks 2 | sed 's/loc("[^"]*"/loc("x"/g' >two.log
of one.log one.log 'd["operations"]["only_after"] == 0 and d["operations"]["in_both"] > 60'
of one.log two.log 'd["operations"]["only_before"] == d["operations"]["only_after"] == 0'
# A log that stops before the state behind an operation does not tell what that one did: nobody is blamed for it.
gen --runs 1 --out whole.log
last=$(grep -n 'Executing operation: .*= "ttnn' whole.log | tail -n 1 | cut -d: -f1)
head -n "$last" whole.log >cut.log
of cut.log whole.log 'not d["changed"]'
of whole.log cut.log 'not d["changed"]'
# An error in place of another one is worse, as many as there were; here and below no peak is held against it.
gen --runs 2 --fail clash --fail-run 1 --out other.log
status 1 "$TTMEM" diff dead.log other.log --check --tolerance 1000
# As many leaks, a larger one.
gen --runs 7 --leak --out leak.log
gen --runs 7 --leak --leak-more 2 --out larger.log
status 0 "$TTMEM" diff leak.log leak.log --check
status 1 "$TTMEM" diff leak.log larger.log --check --tolerance 1000
# A peak may grow by as much as --tolerance allows, to the tenth of a percent; a failure is one whatever it says.
growth=$("$TTMEM" diff plain.log f32.log --json | python3 -c 'import json, sys
d = json.load(sys.stdin)
assert d["tolerance_pct"] == 1, d
print(max(100 * (p["after_per_bank_MB"] / p["before_per_bank_MB"] - 1) for p in d["peak"].values() if p["before_per_bank_MB"]))')
above=$(python3 -c "print('%.1f' % ($growth + .1))") below=$(python3 -c "print('%.1f%%' % ($growth - .1))")
status 1 "$TTMEM" diff plain.log f32.log --check
status 1 "$TTMEM" diff plain.log f32.log --check --tolerance "$below"
status 0 "$TTMEM" diff plain.log f32.log --check --tolerance "$above"
status 0 "$TTMEM" diff plain.log plain.log --check --tolerance 0
status 1 "$TTMEM" diff plain.log dead.log --check --tolerance 1000
status 0 "$TTMEM" diff plain.log odd.log
status 1 "$TTMEM" diff plain.log dead.log --check
status 0 "$TTMEM" diff dead.log dead.log --check
mkdir run
cp plain.log run/x_profile.log
of run odd.log 'd["before"]["path"] == "run/x_profile.log"'
"$TTMEM" diff - odd.log --json <plain.log | python3 -c 'import json, sys; assert json.load(sys.stdin)["before"]["path"] == "standard input"' || fail "standard input"
"$TTMEM" diff plain.log odd.log --html -o page.html && grep -q 'id="data.diff"' page.html || fail "page"
