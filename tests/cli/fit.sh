#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ttmem fit: the table, one board and its exit status, what cannot be asked.
. "$(dirname "$0")/lib.bash"

show ttmem fit two_runs_oom_profile.log
show ttmem fit two_runs_oom_profile.log --board p150
show ttmem fit two_runs_oom_profile.log --board n150 --scale-batch 2 --weights-dtype bfp8
show ttmem fit two_runs_oom_profile.log --board n150,p300
show ttmem fit two_runs_oom_profile.log --board n150,p300 --per chip
show ttmem fit two_runs_oom_profile.log --json --board n150,p150
show ttmem fit two_runs_oom_profile.log --board n151
show ttmem fit two_runs_oom_profile.log --scale-batch 0
show ttmem fit two_runs_oom_profile.log --weights-dtype int8
show ttmem fit
grep -v 'Executing operation' two_runs_oom_profile.log >blocks.log
show ttmem fit blocks.log
same_transcript
