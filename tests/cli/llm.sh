#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The LLM report, exactly; the same whatever way the log comes in and the report goes out.
. "$(dirname "$0")/lib.bash"

log=two_runs_oom_profile.log
"$TTMEM" --llm --logfile $log >report.md 2>err || fail "exit $?"
[ ! -s err ] || fail "standard error is not empty: $(cat err)"
same report.md llm_two_runs.md
"$TTMEM" --llm --logfile hostile.log >hostile.md
same hostile.md llm_hostile.md
if LC_ALL=C grep -q $'[\001-\010\013-\037\177]' hostile.md; then fail "a control character got through"; fi

# The sections of the seed, in their order.
grep '^#' report.md | sed 's/(.* MB total)/(W MB total)/' >headings
printf '%s\n' '# Memory Profile: two-runs-oom' '## Configuration' '## Peak Memory' '## Top 10 Memory Consumers (DRAM)' \
  '## Top 10 Padding Overhead' '## Model Weights (W MB total)' '## Operation Distribution' >wanted
grep -Fx -f wanted headings | diff wanted - || fail "sections"

# Every way in.
gzip -k $log
"$TTMEM" --llm --logfile $log.gz | sed "s/$log.gz/$log/" | cmp - report.md || fail ".gz"
if command -v zstd >/dev/null; then
  zstd -q -k $log
  "$TTMEM" --llm --logfile $log.zst | sed "s/$log.zst/$log/" | cmp - report.md || fail ".zst"
else
  echo "note: no zstd command, .zst not tried"
fi
mv $log.gz renamed.log # told by content, not by name
"$TTMEM" --llm --logfile renamed.log | sed "s/renamed.log/$log/; s/: renamed/: two-runs-oom/" | cmp - report.md || fail "gz by content"
"$TTMEM" --llm --logfile - <$log | sed "s/Log: standard input,/Log: $log,/; s/: stdin/: two-runs-oom/" | cmp - report.md || fail "stdin"
cat $log | "$TTMEM" --llm --logfile=- | sed "s/Log: standard input,/Log: $log,/; s/: stdin/: two-runs-oom/" | cmp - report.md || fail "pipe"
for threads in 1 2 7; do
  "$TTMEM" --llm $log --threads $threads | cmp - report.md || fail "$threads threads"
done

# The report that analyze kept: the same text, as long as the log is the same and nobody asks for another one.
"$TTMEM" analyze $log -q
kept=$TTMEM_HOME/reports/two-runs-oom/two-runs-oom_report.md
sed -i 's/^# Memory Profile/# Kept/' "$kept"
"$TTMEM" --llm $log | sed 's/^# Kept/# Memory Profile/' | cmp - report.md || fail "the kept report is another one"
"$TTMEM" --llm $log | grep -q '^# Kept' || fail "the kept report was not used"
for other in "--per chip" --json --csv; do
  "$TTMEM" --llm $log $other | grep -q Kept && fail "the kept report stands for $other"
done
cp $log elsewhere.log
echo more >>$log
"$TTMEM" --llm $log | grep -q '^# Kept' && fail "of a log that has changed"
mv elsewhere.log $log
"$TTMEM" analyze $log -q
sed -i 's/^# Memory Profile/# Kept/; $s/[0-9a-f]\{16\} -->/0123456789abcdef -->/' "$kept"
"$TTMEM" --llm $log | cmp - report.md || fail "of another program"
rm -r "$TTMEM_HOME/reports"

# Every way out.
"$TTMEM" --llm --logfile $log -o out.md >stdout || fail "-o"
cmp out.md report.md || fail "-o writes the same report"
[ ! -s stdout ] || fail "-o prints on standard output"
"$TTMEM" --llm --logfile $log --output=/dev/stdout | cmp - report.md || fail "-o /dev/stdout"
cp $log keep.log
ln $log alias.log
ln -s $log link.log
for target in $log ./$log alias.log link.log; do
  show ttmem --llm --logfile $log -o $target
done
"$TTMEM" --llm --logfile - -o $log <$log 2>/dev/null && fail "-o onto the redirected log"
cmp $log keep.log || fail "the log was written over"
show ttmem --llm --logfile $log -o missing/out.md
if [ "$(ls -A | grep -c '\.out\.md\|tmp')" -ne 0 ]; then fail "a temporary file is left: $(ls -A)"; fi
same_transcript

# A reader that goes away, and a full disk.
set +o pipefail
(trap '' PIPE; "$TTMEM" --llm --logfile $log; echo $? >code) | head -1 >/dev/null
read -r code <code
[ "$code" -eq 0 ] || fail "closed pipe: exit $code"
{ sleep 0.2; "$TTMEM" --llm --logfile $log 2>pipe_err; echo $? >code; } | true
read -r code <code
[ "$code" -eq 0 ] && [ ! -s pipe_err ] || fail "closed pipe: exit $code, $(cat pipe_err)"
set -o pipefail
if [ -w /dev/full ]; then
  code=0
  "$TTMEM" --llm --logfile $log >/dev/full 2>full_err || code=$?
  [ $code -eq 2 ] && grep -q 'No space left' full_err || fail "full disk: exit $code, $(cat full_err)"
fi
