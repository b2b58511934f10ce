#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every real sample gives the right counts or the right diagnosis. The numbers were counted by hand:
#   op_lines       grep -c 'Executing operation: '; of a module: operations of its two predicted runs
#   blocks         grep -c 'memory state before operation' plus submit blocks
#   deallocations  grep -c 'Executing operation: "ttnn.deallocate"', or 'before operation DeallocateOp' without operation lines
#   operations     op_lines (or blocks) less deallocations and get_device
. "$(dirname "$0")/lib.bash"
needs_shared

samples=$TTMEM_SHARED/samples
find "$samples/xla" -type f -printf '%f\n' | LC_ALL=C sort >files
sed -n '/^# file/,$p' "$here/data/samples.table" | grep -v '^#' | awk '{print $1}' | LC_ALL=C sort >listed
diff files listed || fail "a sample is missing in the table, or gone"

while read -r file code rest; do
  case $file in '' | '#'*) continue ;; esac
  got=0
  "$TTMEM" analyze "$samples/xla/$file" --name s --quiet >.out 2>.err || got=$?
  [ "$got" -eq "$code" ] || fail "$file: exit $got instead of $code: $(cat .err)"
  [ ! -s .out ] || fail "$file: --quiet prints"
  if [ "$code" -eq 2 ]; then
    grep -qF -- "${rest//\"/}" .err || fail "$file: the diagnosis lacks '${rest//\"/}': $(cat .err)"
    continue
  fi
  [ ! -s .err ] || fail "$file: $(cat .err)"
  python3 "$here/check_findings.py" home/reports/s/s "$rest" || fail "$file"
  "$TTMEM" --llm --logfile "$samples/xla/$file" >.out || fail "$file: --llm"
done <"$here/data/samples.table"

for name in 21_llama8b_oom 22_llama_small_two_runs; do
  "$TTMEM" analyze "$samples/xla/${name}_real_allocator.log" --name s --quiet
  python3 "$here/check_findings.py" home/reports/s/s "" "$samples/xla/${name}_real_allocator.truth.json" || fail "$name: truth"
done

# failures_n150.log: eight failures, each once although each is printed twice.
"$TTMEM" analyze "$samples/metal/ttnn-0.81.1/failures_n150.log" --name s --quiet
python3 "$here/check_findings.py" --incidents home/reports/s/s "$here/data/failures_n150.incidents" || fail "failures_n150.log"
echo "$(wc -l <files) samples"
