#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A file that is no runtime log, but one that another command reads: the error names that command, and it works.
. "$(dirname "$0")/lib.bash"

head -16 "$TTMEM_SOURCE/demo/metal_cb.log" >"metal debug.log" # before its clash
cat >x_l1_usage_summary.csv <<'CSV'
This report indicates available space for interleaving L1 buffers
, Largest Contiguous Free Block (B), Total Free L1 Space (B)
,1327776,84977664
CSV
unset TTMLIR_RUNTIME_LOGGER_LEVEL TT_RUNTIME_MEMORY_LOG_LEVEL TTXLA_LOGGER_LEVEL
for command in analyze --llm ask doctor last-run; do
  case $command in ask) more=--findings ;; *) more= ;; esac
  for file in tinyllama_train.log "metal debug.log" x_l1_usage_summary.csv; do
    # shellcheck disable=SC2086
    show ttmem $command "$file" $more
  done
done
same_transcript
"$TTMEM" train --logs tinyllama_train.log >/dev/null || fail train
"$TTMEM" cb log 'metal debug.log' >/dev/null || fail "cb log"
