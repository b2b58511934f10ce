#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# For scripts: analyze --json, --check and --budget, explain --json; what is printed, and the exit status.
. "$(dirname "$0")/lib.bash"
log=two_runs_oom_profile.log
head -84 $log >fine.log # the first run

for option in --check '--budget 99%' '--budget dram:98%' '--budget DRAM:1006MB' '--budget dram:1007MB --budget l1:50%' \
  '--budget l1_small:1%' '--check --budget 90%'; do
  for file in $log fine.log; do
    # shellcheck disable=SC2086
    show ttmem analyze $file -q --no-json $option
  done
done
for wrong in 99 90GB '%' dram: cb:90% 900MB -5% nan% 0%; do show ttmem analyze $log -q --no-json --budget=$wrong; done
grep -v INFO $log | sed '/Out of Memory/d' >no_states.log
show ttmem analyze no_states.log -q --no-json --budget 90%
note 'no state at all, only the message of the failure: what it had allocated is held to the budget'
sed -n '/Out of Memory/p' $log | head -1 >message
for budget in dram:90% dram:99% dram:1006MB 90%; do show ttmem analyze message -q --no-json --budget $budget; done
note 'what does not hold is told also when another budget has nothing to judge, or the report has no place'
show ttmem analyze message -q --no-json --check --budget l1:50%
show ttmem analyze message -q --no-json --budget l1:50% --budget dram:90%
show ttmem analyze $log -q --check --output-dir message/report
show ttmem analyze $log -q --check
show ttmem explain nothing --json
same_transcript

[ -s home/reports/two-runs-oom/two-runs-oom_findings.json ] || fail "a report that does not hold is still written"
"$TTMEM" analyze $log --json >all.json 2>said || fail "--json"
[ ! -s said ] || fail "--json says more: $(cat said)"
cmp all.json home/reports/two-runs-oom/two-runs-oom_findings.json || fail "--json is not findings.json"
"$TTMEM" explain "$(cat message)" --json |
  python3 -c 'import json, sys; i = json.load(sys.stdin)["incidents"][0]; print(i["verdict"], i["shortfall_per_bank_B"], bool(i["ways"]))' >got
echo 'exhausted 8915008 True' | cmp - got || fail "explain --json: $(cat got)"
