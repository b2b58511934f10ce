#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Nothing fails open: a verdict of yes needs a whole input. One that is cut, damaged or not understood exits with 2, says so under --quiet too,
# and is judged with --allow-partial. A no stands.
. "$(dirname "$0")/lib.bash"
data=$TTMEM_SOURCE/tests/data
"$GEN_LOG" --runs 4 --modules --out ok.log
zstd -q19 ok.log -o ok.log.zst
gzip -k ok.log

# The verdicts of a log, each a yes.
questions=("analyze LOG --check -q --no-json" "analyze LOG --budget 99% -q --no-json" "fit LOG --board p150 -q"
  "diff ok.log LOG --check -q" "diff LOG ok.log --check -q" "verify LOG --change dtype=bfp8:weights -q" "baseline update b.json LOG -q")

# verdicts WANTED INPUT [OPTION]: the exit status of all of them; below 1 a word about it.
verdicts() {
  local wanted=$1 input=$2 got q
  for q in "${questions[@]}"; do
    got=0
    # shellcheck disable=SC2086
    "$TTMEM" ${q//LOG/$input} ${3:-} >out 2>said || got=$?
    [ -z "${3:-}" ] || [ "${q#diff LOG}" = "$q" ] || [ $got != 1 ] || got=0 # more than a part is worse
    [ $got = "$wanted" ] || fail "exit $got instead of $wanted: ${q//LOG/$input} ${3:-}: $(cat said)"
    [ "$wanted" != 2 ] || grep -q "not judged\|Cannot read" said || fail "no word: ${q//LOG/$input}: $(cat said)"
    [ -z "${3:-}" ] || grep -q "a part of the run was judged" said || fail "not marked: ${q//LOG/$input}: $(cat said)"
  done
}
# damage FILE OUT AT: OUT is FILE with another byte there.
damage() { python3 -c 'import sys; b = bytearray(open(sys.argv[1], "rb").read()); b[int(len(b) * float(sys.argv[3]))] ^= 0x55
open(sys.argv[2], "wb").write(b)' "$@"; }

for whole in ok.log ok.log.zst ok.log.gz; do verdicts 0 $whole; done
rm -f b.json

# Packed logs: a byte of the middle, and the end.
for form in zst gz; do
  damage ok.log.$form bad.log.$form 0.6
  head -c "$(($(stat -c %s ok.log.$form) * 2 / 3))" ok.log.$form >cut.log.$form
  for bad in bad.log.$form cut.log.$form; do
    verdicts 2 $bad
    [ ! -e b.json ] || fail "a baseline of a part"
    verdicts 0 $bad --allow-partial
    rm -f b.json
  done
done
# What only tells says so too: the peak is a lower bound, a message may be missing.
for words in "analyze LOG --no-json" "--llm --logfile LOG" "ask LOG --findings"; do
  # shellcheck disable=SC2086
  "$TTMEM" ${words//LOG/bad.log.gz} >out
  grep -q "damaged" out || fail "not said: $words"
  grep -q "DRAM.*≥" out || fail "not marked: $words"
done
"$TTMEM" ask bad.log.gz --findings | grep -q "one may have stood" || fail "a failure may be missing"

# Plain ones: cut inside a line, cut behind one inside a run, a memory line and an operation line that nobody understands.
head -c 1500001 ok.log >torn.log
head -n "$(($(wc -l <ok.log) - 300))" ok.log >killed.log
awk '/Device DRAM memory state/ && ++n == 40 {sub(/AllocatedPerBank: [0-9]/, "AllocatedPerBank: x")} 1' ok.log >memory.log
awk '/Executing operation/ && ++n == 40 {sub(/ : [(].*/, "")} 1' ok.log >operation.log
# Lines that are lost: known by what is left. A memory of a state, a figure that does not add up with the others, a state, an operation whose
# result is used, the start of a program.
awk '/Device DRAM memory state/ && ++n == 40 {sub(/DRAM/, "D\0AM")} 1' ok.log >mark.log
awk '/Device DRAM memory state/ && ++n == 40 {sub(/AllocatedPerBank: [1-9]/, "AllocatedPerBank: 0")} 1' ok.log >figure.log
awk '/Device memory state before operation/ && ++n == 40 {left = 5} left-- <= 0' ok.log >state.log
awk '/Executing operation.*ttnn.matmul/ && ++n == 3 {left = 6} left-- <= 0' ok.log >lost.log
awk '/Starting execution of program: main$/ && ++n == 2 {next} 1' ok.log >start.log
{ cat ok.log; printf '2026-01-12 10:24:08.936 (   4.500s) [        E2DEE000] execut'; } >head.log
for bad in torn head killed memory operation mark figure state lost start; do
  cmp -s ok.log $bad.log && fail "$bad.log is to differ"
  verdicts 2 $bad.log
  verdicts 0 $bad.log --allow-partial
  rm -f b.json
done
# At level "program": a submit without its end, and logs that end inside a module and behind one.
data=$TTMEM_SOURCE/tests/data
sed '/^2026-06-19.*TT_FATAL/d' "$data/submit.log" >submitted.log
head -n 40 "$data/submit.log" >module.log
head -n 47 "$data/submit.log" >behind.log
sed '/before submit/,$d' "$data/submit.log" >compiled.log
for bad in submitted module behind; do
  status 2 "$TTMEM" analyze $bad.log --check -q --no-json
  status 0 "$TTMEM" analyze $bad.log --check -q --no-json --allow-partial
done
status 2 "$TTMEM" fit submitted.log --board n150 -q
status 0 "$TTMEM" analyze compiled.log --check -q --no-json
# A report says what its log lacked, also when the log is gone.
"$TTMEM" analyze killed.log -q --name killed
python3 -c 'import json; i = json.load(open("home/reports/killed/killed_findings.json"))["input"]; assert "without an end" in i["partial"], i'

# A no stands: the failure that ends a run is told, whatever is missing behind it; so is a peak above its budget.
"$GEN_LOG" --runs 4 --fail exhausted --fail-run 3 --out died.log
head -c -40 died.log >died_torn.log
for log in died.log died_torn.log; do status 1 "$TTMEM" analyze $log --check -q --no-json; done
zstd -q19 died.log -o died.log.zst
for log in bad.log.zst torn.log; do
  got=0
  "$TTMEM" analyze $log --budget 0.1% -q --no-json 2>said || got=$?
  [ $got = 1 ] && grep -q "a part of the run was judged" said || fail "a no of a part: $log: exit $got: $(cat said)"
done

# A window larger than ours has a name.
zstd -q --ultra --long=31 ok.log -o long.log.zst --no-check
printf '\x28\xb5\x2f\xfd\x00\xa8' >wide.log.zst # the head of a frame with a window of 2 GB
for file in wide.log.zst; do
  got=0
  "$TTMEM" analyze $file --check -q --no-json 2>said || got=$?
  [ $got = 2 ] && grep -q "window is larger than 128 MB" said || fail "a large window: exit $got: $(cat said)"
done
"$TTMEM" fit long.log.zst -q >/dev/null || fail "a small file packed with --long"

# Ranks: a damaged file, a cut archive, a damaged member.
mkdir ranks
for r in 0 1 2; do cp ok.log ranks/rank$r.log; done
tar cf ranks.tar -C ranks . && (cd ranks && python3 -m zipfile -c ../ranks.zip rank0.log rank1.log rank2.log)
gzip -k ranks.tar
for set in ranks ranks.tar ranks.tar.gz ranks.zip; do status 0 "$TTMEM" analyze $set --check -q --no-json; done
head -c 3000000 ranks.tar >cut.tar
head -c -2048 ranks.tar.gz >cut.tar.gz
head -c "$(($(stat -c %s ok.log) + 2048))" ranks.tar >between.tar
damage ranks.zip bad.zip 0.4
mkdir some && cp -r ranks/* some && head -c 900000 ok.log.zst >some/rank1.log.zst && rm some/rank1.log
damage ok.log.zst some/rank1.log.zst 0.5
for set in cut.tar cut.tar.gz between.tar bad.zip some; do
  got=0
  "$TTMEM" analyze $set --check -q --no-json 2>said || got=$?
  [ $got = 2 ] && [ -s said ] || fail "$set: exit $got: $(cat said)"
done
for set in cut.tar cut.tar.gz some; do status 0 "$TTMEM" analyze $set --check -q --no-json --allow-partial; done

# Recordings, graph captures, modules, databases, training logs.
judged=("plan RECORDING --board n150" "analyze RECORDING --check -q --no-json")
for q in "${judged[@]}"; do
  # shellcheck disable=SC2086
  status 0 "$TTMEM" ${q//RECORDING/recording_caches.json}
  for part in 0.5 0.9; do
    python3 -c 'import sys; b = open("recording_caches.json", "rb").read(); open("part.json", "wb").write(b[:int(len(b) * float(sys.argv[1]))])' $part
    # shellcheck disable=SC2086
    status 2 "$TTMEM" ${q//RECORDING/part.json}
  done
done
"$TTMEM" export --visualizer shown recording_caches.json >/dev/null
status 0 "$TTMEM" analyze shown/db.sqlite --check -q --no-json
for bytes in 60000 2000; do
  head -c -$bytes shown/db.sqlite >cut.sqlite
  status 2 "$TTMEM" analyze cut.sqlite --check -q --no-json
done
head -c "$(($(stat -c %s "$data/capture_small.json") * 3 / 4))" "$data/capture_small.json" >capture.json
status 0 "$TTMEM" analyze "$data/capture_small.json" --check -q --no-json
status 2 "$TTMEM" analyze capture.json --check -q --no-json
status 0 "$TTMEM" analyze capture.json --check -q --no-json --allow-partial
python3 - "$data/capture_small.json" >nodes.json <<'END'
import json, sys
capture = json.load(open(sys.argv[1]))
del capture["graph"][20:26]
print(json.dumps(capture))
END
status 2 "$TTMEM" analyze nodes.json --check -q --no-json
status 0 "$TTMEM" predict "$data/program.mlir" --board p150
for part in 2 3 4; do
  head -c "$(($(stat -c %s "$data/program.mlir") * part / 5))" "$data/program.mlir" >module.mlir
  status 2 "$TTMEM" predict module.mlir --board p150
done
# Lost lines of a module: a value that nothing made, a type or a const-eval program that is not defined, a part that was never written, the end of a function.
sed '/"ttnn.matmul"/d' "$data/program.mlir" >value.mlir
sed 's/^#tiles = .*//' "$data/program.mlir" >type.mlir
sed 's/@main_const_eval_0(/@main_const_eval_9(/' "$data/program.mlir" >function.mlir
tr '@' '\0' <"$data/program.mlir" >zeros.mlir
sed '0,/ return /{/ return /d}' "$data/program.mlir" >return.mlir # of the const-eval program
sed '0,/func.func private/s/.*func.func private.*/&\n&/' "$data/program.mlir" >head.mlir
for module in value type function zeros return head; do
  cmp -s "$data/program.mlir" $module.mlir && fail "$module.mlir is to differ"
  for q in "predict LOG --board p150" "fit LOG --board p150 -q" "analyze LOG --check -q --no-json" "analyze LOG --budget 99% -q --no-json"; do
    # shellcheck disable=SC2086
    status 2 "$TTMEM" ${q//LOG/$module.mlir}
  done
done
status 0 "$TTMEM" predict value.mlir --board p150 --allow-partial
status 2 "$TTMEM" predict "$data/mesh_parts.mlir" --board n150 # for eight chips: unknown is no yes
train="train --logs LOG --check --device_memory 900GB"
# shellcheck disable=SC2086
status 0 "$TTMEM" ${train//LOG/tinyllama_train.log}
sed '0,/=== Memory Usage Summary/s/=== Memory/=== Mem/' tinyllama_train.log >head.log # of the first of two runs
grep -v 'Overall DRAM Peak: 15666' tinyllama_train.log >totals.log
sed 's/Overall DRAM Peak: 15666.65/Overall DRAM Peak: 156/' tinyllama_train.log >sum.log # below its phases
# shellcheck disable=SC2086
for log in head totals sum; do status 2 "$TTMEM" ${train//LOG/$log.log}; done
gzip -k tinyllama_train.log
head -c "$(($(stat -c %s tinyllama_train.log.gz) - 30))" tinyllama_train.log.gz >train.log.gz
# shellcheck disable=SC2086
status 2 "$TTMEM" ${train//LOG/train.log.gz}
# shellcheck disable=SC2086
status 0 "$TTMEM" ${train//LOG/train.log.gz} --allow-partial

# Sources: what is not parsed may have had the error.
cp -r "$data/cb/fixed" customer
status 0 "$TTMEM" cb scan customer --check
head -c "$(($(stat -c %s customer/elementwise_add.cpp) - 400))" "$data/cb/fixed/elementwise_add.cpp" >customer/elementwise_add.cpp
status 2 "$TTMEM" cb scan customer --check
status 0 "$TTMEM" cb scan customer --check --allow-partial
