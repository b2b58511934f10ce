#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ttmem predict: a module, a log that holds nothing else, boards, both ways to run it, what cannot be asked.
. "$(dirname "$0")/lib.bash"

cp "$TTMEM_SOURCE/tests/data/program.mlir" .
show ttmem predict program.mlir
show ttmem predict program.mlir --runner compiled --board n150
show ttmem predict program.mlir --json --board p150
{ echo "2026-01-12 10:24:06.290 (   1.854s) [        4A7FC640]      module_builder.cc:1279     1| MLIR Module ttnn:"
  cat program.mlir
  echo "------------------ END OF MLIR MODULE ------------------"; } >modules_only.log
show ttmem predict modules_only.log --board n150
show ttmem analyze modules_only.log
show ttmem fit program.mlir --board n150
sed 's/"ttnn.gelu"(%2) :/%2 is odd/' program.mlir >odd.mlir
show ttmem predict odd.mlir --board n150
# The second lowering keeps the product until the end.
grep -v 'deallocate"(%2)' program.mlir >later.mlir
show ttmem diff program.mlir later.mlir
# A run of it that dies in the matmul: its first state says what was there before.
state() {
  echo "                 Always |     INFO | Device memory state before operation $1"
  echo "                 Always |     INFO | Device DRAM memory state: MemoryView{numBanks: 12, totalBytesPerBank: 1023.000 MB, totalBytesAllocatedPerBank: $2 MB, totalBytesFreePerBank: $3 MB, largestContiguousBytesFreePerBank: $3 MB}"
  local memory mb=1.329
  for memory in L1 L1_SMALL TRACE; do
    echo "                 Always |     INFO | Device $memory memory state: MemoryView{numBanks: 64, totalBytesPerBank: $mb MB, totalBytesAllocatedPerBank: 0.000 MB, totalBytesFreePerBank: $mb MB, largestContiguousBytesFreePerBank: $mb MB}"
    mb=0.000
  done
}
operation() { echo "            RuntimeTTNN |    DEBUG | Executing operation: $(sed -n "s/^ *\($1\)/\1/p" program.mlir | head -1)"; }
{ cat modules_only.log
  echo "            RuntimeTTNN |    DEBUG | Starting execution of program: main"
  operation '%0 = ttcore.load_cached'; state LoadCachedOp 1018.000 5.000
  operation '"ttnn.deallocate"(%arg1)'; state DeallocateOp 1020.668 2.332
  operation '%1 = "ttnn.matmul"'; state MatmulOp 1020.668 2.332
  echo "2026-06-19 09:32:58.266 | critical |          Always | TT_FATAL: Out of Memory: Not enough space to allocate 33554432 B DRAM buffer across 12 banks, where each bank needs to store 2797568 B, but bank size is 1072693184 B (allocated: 1070247936 B, free: 2445248 B, largest free block: 2445248 B) (assert.hpp:104)"
} >died.log
show ttmem predict died.log --board n150
show ttmem explain died.log
# The same without states of operations: filled in, from the states around programs where there are some.
cp "$TTMEM_SOURCE"/tests/data/{ops,submit}.log .
show ttmem analyze ops.log
show ttmem analyze submit.log
show ttmem ask submit.log --op 6
show ttmem doctor ops.log
# A second program of the same weights finds them cached, beside what the first one left.
{ cat modules_only.log; sed 's/@Program/@Decode/' modules_only.log; } >two_modules.log
show ttmem predict two_modules.log --board n150
show ttmem predict two_runs_oom_profile.log
# A weight that comes to eight chips in parts, printed whole: real ttnn takes 704,512 B per bank for its rows.
cp "$TTMEM_SOURCE/tests/data/mesh_parts.mlir" .
show ttmem predict mesh_parts.mlir --board t3k,n300
show ttmem ask mesh_parts.mlir --at-peak
show ttmem predict program.mlir --board n151
show ttmem predict
same_transcript

# As logs of 2025 name the stage and the dialect: the same answer.
mkdir old
sed -e 's/MLIR Module ttnn:/TTNN Module:/' -e '/END OF MLIR MODULE/d' -e 's/ttcore\.\(device_module\|cpu_module\|load_cached\)/tt.\1/' -e 's/!ttcore\.tile/!tt.tile/g' ops.log >old/ops.log
grep -q 'TTNN Module:' old/ops.log || fail "no old header"
"$TTMEM" predict ops.log --json | grep -v '"source"' >new.json
(cd old && "$TTMEM" predict ops.log --json) | grep -v '"source"' >old.json
grep -q per_bank_B old.json || fail "an old log holds no module"
diff new.json old.json || fail "an old log needs something else"

# A module compiled by TT-XLA, and what its emitted Python took on real ttnn.
needs_shared
clip=$TTMEM_SHARED/samples/compiled/clip_resampler/ttnn.mlir
for board in "n150 149642649" "p150 223891947"; do
  set -- $board
  "$TTMEM" predict "$clip" --board "$1" --json | python3 -c '
import json, sys
dram = json.load(sys.stdin)["whole_need"]["DRAM"]
want = int(sys.argv[1])
assert abs(dram["per_bank_B"] - want) < want / 100, (dram, want)
assert dram["operation"] == "ttnn.where" and not dram["lower_bound"], dram' "$2" || fail "$1"
done

# A log of May 2025: operation lines without states, its arguments deallocated in vain.
"$TTMEM" analyze "$TTMEM_SHARED/samples/xla/05_all_gather_new_with_fix_y_x.log" --no-json --no-html >old.txt
grep -q 'memory predicted' old.txt || fail "nothing is predicted for a log of 2025"
grep -q '100.0 % attributed' old.txt || fail "its arguments are not known"
