#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ttmem verify: what a change brings, its exit status, and what is no change.
. "$(dirname "$0")/lib.bash"

show ttmem verify two_runs_oom_profile.log --change dtype=bfp8:ttnn.softmax
show ttmem verify two_runs_oom_profile.log --change dtype=bfp8:weights --change 'free=last-use:layers.*'
show ttmem verify two_runs_oom_profile.log --change board=p150 --change batch=2 --json
show ttmem verify two_runs_oom_profile.log --change 'free=now:layers.0|MLP*' --json
show ttmem verify two_runs_oom_profile.log --change 'dtype=bfp8:layers.0|MPL*'
show ttmem verify two_runs_oom_profile.log --change dtype=int8:weights
show ttmem verify two_runs_oom_profile.log --change dtype=bfp8
show ttmem verify two_runs_oom_profile.log --change smaller
show ttmem verify two_runs_oom_profile.log
show ttmem verify
grep -v 'Executing operation' two_runs_oom_profile.log >blocks.log
show ttmem verify blocks.log --change batch=2
# A module that nobody ran, and that does not fit: the answer is about the whole program.
cp "$TTMEM_SOURCE/tests/data/too_large.mlir" .
show ttmem verify too_large.mlir --change dtype=bfp8:weights
show ttmem verify too_large.mlir --change free=now:ttnn.relu
same_transcript
