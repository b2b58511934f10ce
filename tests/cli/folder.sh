#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The folder of a run or of a report stands for its log, wherever a log is taken.
. "$(dirname "$0")/lib.bash"

log=two_runs_oom_profile.log
mkdir run empty
cp $log run/model_profile.log
"$TTMEM" analyze $log -q
report=$TTMEM_HOME/reports/two-runs-oom

# alike FOLDER LOG COMMAND...: COMMAND with the folder in place of LOG prints what it prints of the log.
alike() {
  local folder=$1 of=$2 wanted=0 got=0
  shift 2
  "$TTMEM" "${@//LOG/$of}" >wanted 2>&1 || wanted=$?
  "$TTMEM" "${@//LOG/$folder}" >got 2>&1 || got=$?
  diff wanted got || fail "$folder: $*"
  [ $wanted = $got ] || fail "$folder: exit $got: $*"
}
for folder in run run/; do
  alike $folder run/model_profile.log analyze LOG --no-json
  alike $folder run/model_profile.log --llm --logfile LOG
  alike $folder run/model_profile.log ask LOG --at-peak
  alike $folder run/model_profile.log fit LOG
  alike $folder run/model_profile.log explain LOG
  alike $folder run/model_profile.log doctor LOG
  alike $folder run/model_profile.log last-run LOG
done
alike "$report" $log --llm LOG
"$TT_MEMORY_PROFILER" --analyze run -q || fail "tt-memory-profiler --analyze FOLDER"
[ -s "$TTMEM_HOME/reports/model/model_findings.json" ] || fail "its report"

show ttmem analyze empty
mkdir several
cp $log several/b_profile.log
gzip -c $log >several/a_profile.log.gz
show ttmem analyze several
show ttmem html several -o -
mkdir beside
"$TTMEM" analyze several/b_profile.log -q --output-dir beside
cp several/* beside
alike beside beside/b_profile.log ask LOG --at-peak
cp -r "$report" report
mkdir here
echo "Another log of that name" >here/$log
(cd here && show ttmem fit ../report)

# Another log in the place of the report's, as long and of the same time, is not the report's.
"$TTMEM" ask "$report" --findings >said
cp -p $log kept.log
sed -i '0,/allocated: /s/\(allocated: *\)[0-9]/\19/' $log
touch -r kept.log $log
cmp -s $log kept.log && fail "the log is to differ"
"$TTMEM" ask "$report" --findings >now 2>note
diff said now || fail "ask answered from another log"
grep -q "answered from the report's files" note || fail "ask does not say what it answered from"
status 2 "$TTMEM" fit "$report"
cp -p kept.log $log

# What the report says stays said when its log has changed or is gone.
questions=("ask LOG --findings" "explain LOG" "explain LOG --json")
for i in 0 1 2; do "$TTMEM" ${questions[$i]//LOG/$report} >said.$i; done
for i in 0 1 2; do (cd here && "$TTMEM" ${questions[$i]//LOG/../report} -q >../now); diff said.$i now || fail "changed: ${questions[$i]}"; done
rm $log
show ttmem fit "$report"
show ttmem ask "$report" --at-peak -q
show ttmem ask "$report" --at 1 -q
for i in 0 1 2; do "$TTMEM" ${questions[$i]//LOG/$report} >now 2>note; diff said.$i now || fail "gone: ${questions[$i]}"; done
grep -q "answered from the report's files" note || fail "no word about it"
same_transcript
