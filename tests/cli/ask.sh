#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ttmem ask: one detail; and the LLM report within a budget.
. "$(dirname "$0")/lib.bash"

show ttmem ask two_runs_oom_profile.log --op 0
show ttmem ask two_runs_oom_profile.log --op 3
show ttmem ask two_runs_oom_profile.log --op '#8'
show ttmem ask two_runs_oom_profile.log --tensor model.proj.weight
show ttmem ask two_runs_oom_profile.log --tensor softmax
show ttmem ask two_runs_oom_profile.log --range 0-2
show ttmem ask two_runs_oom_profile.log --range 2-4
show ttmem ask two_runs_oom_profile.log --range 7-99
show ttmem ask two_runs_oom_profile.log --ops matmul
show ttmem ask two_runs_oom_profile.log --ops 'layers.*|Attn|*' --csv
show ttmem ask two_runs_oom_profile.log --ops nothing
show ttmem ask two_runs_oom_profile.log --at-peak
show ttmem ask two_runs_oom_profile.log --at-peak l1
show ttmem ask two_runs_oom_profile.log --at 0
show ttmem ask two_runs_oom_profile.log --at '#4'
show ttmem ask two_runs_oom_profile.log --at 4 --per chip
show ttmem ask two_runs_oom_profile.log --at line:61
show ttmem ask two_runs_oom_profile.log --at peak
show ttmem ask two_runs_oom_profile.log --findings
note "what cannot be asked"
show ttmem ask two_runs_oom_profile.log
show ttmem ask two_runs_oom_profile.log --op 9
show ttmem ask two_runs_oom_profile.log --op three
show ttmem ask two_runs_oom_profile.log --range 4-2
show ttmem ask two_runs_oom_profile.log --range 4
show ttmem ask two_runs_oom_profile.log --tensor no.such.thing
show ttmem ask two_runs_oom_profile.log --op 1 --at-peak
show ttmem ask two_runs_oom_profile.log --at-peak=trace
show ttmem ask two_runs_oom_profile.log --at 9
show ttmem ask two_runs_oom_profile.log --at line:
show ttmem ask two_runs_oom_profile.log --at somewhere
grep -v 'Executing operation' two_runs_oom_profile.log >blocks.log
show ttmem ask blocks.log --at-peak
show ttmem ask blocks.log --at 1
show ttmem ask hostile.log --at-peak
show ttmem ask hostile.log --findings
show ttmem ask blocks.log --findings
same_transcript

for tokens in 100 300 1000 3000; do
  "$TTMEM" --llm --logfile two_runs_oom_profile.log --max-tokens $tokens >.out
  [ "$(wc -c <.out)" -le $((tokens * 3)) ] || fail "--max-tokens $tokens: $(wc -c <.out) bytes"
  head -1 .out | grep -q '^# Memory Profile' || fail "--max-tokens $tokens: no title"
done
"$TTMEM" --llm --logfile two_runs_oom_profile.log --max-tokens 1000 | grep -q '^## Failures' || fail "what matters most went first"
"$TTMEM" --llm --logfile two_runs_oom_profile.log --max-tokens 100000 | diff - <("$TTMEM" --llm --logfile two_runs_oom_profile.log) || fail "cut without need"
status 2 "$TTMEM" --llm --logfile two_runs_oom_profile.log --max-tokens 5
