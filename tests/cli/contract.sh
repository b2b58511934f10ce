#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What every command promises: its exit status (as help and manual tell it), JSON with a schema_version, and options that are taken
# where they do something.
. "$(dirname "$0")/lib.bash"
log=two_runs_oom_profile.log
capture="$TTMEM_SOURCE/tests/data/capture_small.json"
export TTMEM_SHM_DIR="$work/shm"
mkdir shm
unset TTMLIR_RUNTIME_LOGGER_LEVEL TT_RUNTIME_MEMORY_LOG_LEVEL TTXLA_LOGGER_LEVEL

# ---- Exit status ------------------------------------------------------------------------------------------------------------
# 0 done, 2 could not: every command that does not judge.
head -n 100 $log | grep -v 'Executing operation' >calm.log
for command in "--llm --logfile" "analyze" "explain" "ask --at-peak" "html -o page.html" "graph" "cb log" "last-run" "cb scan"; do
  case $command in
    graph) input=$capture ;;
    "cb log") input=$TTMEM_SOURCE/demo/metal_cb.log ;;
    "cb scan") input=$TTMEM_SOURCE/tests/data/cb/customer ;;
    *) input=$log ;;
  esac
  # shellcheck disable=SC2086
  status 0 "$TTMEM" $command "$input"
  # shellcheck disable=SC2086
  status 2 "$TTMEM" $command nowhere
done
status 2 "$TTMEM" explain calm.log # no error message to explain
status 0 "$TTMEM" cb simulate 16 16
status 2 "$TTMEM" cb simulate 16
status 0 "$TTMEM" cb all 16 16
status 2 "$TTMEM" cb all 16
status 2 "$TTMEM" serve nowhere
# 1 with --check.
status 1 "$TTMEM" analyze $log --no-json --check
status 1 "$TTMEM" analyze $log --no-json --budget dram:90%
status 0 "$TTMEM" analyze $log --no-json --budget dram:99%
status 0 "$TTMEM" train --logs tinyllama_train.log --device_memory 1000GB --check
status 0 "$TTMEM" train --logs tinyllama_train.log --device_memory 1MB
status 1 "$TTMEM" train --logs tinyllama_train.log --device_memory 1MB --check
mkdir source
printf 'void f() {\n  uint32_t bytes = 9000000;\n  CircularBufferConfig c = CircularBufferConfig(bytes, {{0, fmt}}).set_page_size(0, 2048);\n  CreateCircularBuffer(program, core, c);\n}\n' >source/a.cpp
status 0 "$TTMEM" cb scan source
status 1 "$TTMEM" cb scan source --check
# What could not be read is no proof that all is well.
mkdir part
echo 'void f() {}' >part/calm.cpp
status 0 "$TTMEM" cb scan part --check
truncate -s 65M part/large.cpp # more than is read
status 0 "$TTMEM" cb scan part
status 2 "$TTMEM" cb scan part --check
status 2 "$TTMEM" cb scan part/large.cpp
status 2 "$TTMEM" cb scan <(cat source/a.cpp)
# fit: 1 only when a board was asked for; 2 without an answer.
printf '%s\n' 'echo no >&2; exit 1' >no_answer.sh
status 0 "$TTMEM" fit $log
status 1 "$TTMEM" fit $log --board n150
status 2 "$TTMEM" fit $log --board p150 # the log died: what comes after that is unknown
status 2 "$TTMEM" fit $log --board n151
status 2 "$TTMEM" fit -q --board n150 -- sh no_answer.sh
# live: 2 without a device; the rest is in tests/live.
status 2 "$TTMEM" live --once
status 2 "$TTMEM" live --once --interval 1
# doctor: 1 when something was found.
status 1 "$TTMEM" doctor
status 1 "$TTMEM" doctor calm.log
status 2 "$TTMEM" doctor nowhere
status 0 env TTMLIR_RUNTIME_LOGGER_LEVEL=DEBUG TT_RUNTIME_MEMORY_LOG_LEVEL=operation TTXLA_LOGGER_LEVEL=DEBUG "$TTMEM" doctor
# run: the program's own, and 2 when there is none or nothing to report.
status 7 "$TTMEM" run -- sh -c 'cat "$0"; exit 7' $log
status 143 "$TTMEM" run --log -- sh -c 'kill -TERM $$'
status 0 "$TTMEM" run --log -- true
status 2 "$TTMEM" run -- true
status 2 "$TTMEM" run -- ./nowhere
# Help says so, per command.
for command in fit live run doctor train "cb scan"; do
  # shellcheck disable=SC2086
  "$TTMEM" help $command >.out
  grep -q '^Exit status: ' .out || fail "help $command tells no exit status"
  ! grep -q '^Exit status: 0 done; 2' .out || fail "help $command tells the exit status of others"
done

# ---- JSON -------------------------------------------------------------------------------------------------------------------
json() {
  local got=0
  "$TTMEM" "$@" >.json 2>/dev/null </dev/null || got=$?
  python3 -c 'import json, sys; sys.exit(json.load(open(".json"))["schema_version"] != 1)' || fail "no schema_version (exit $got): $*"
}
json graph "$capture" --json
json train --logs tinyllama_train.log --json
json fit $log --json
json fit -q --json --board n150 -- sh no_answer.sh
json live --once --json
json cb simulate 16 16 --json
json cb all --json
json cb log --json
json cb scan source --json
"$TTMEM" analyze $log --quiet --output-dir report
python3 -c 'import json; assert json.load(open("report/two-runs-oom_findings.json"))["schema_version"] == 1' || fail "findings"

# ---- Options ------------------------------------------------------------------------------------------------------------------
for command in "--llm --logfile $log" "analyze $log --no-json" "explain $log" "ask $log --at-peak" "fit $log" "html $log -o -" "last-run $log" \
  "doctor $log" "cb scan source" "cb all --source source"; do
  got=0 one=0
  # shellcheck disable=SC2086
  "$TTMEM" $command --threads 2 >.out 2>.err </dev/null || got=$?
  ! grep -q 'does not go with' .err || fail "--threads: $command"
  # shellcheck disable=SC2086
  "$TTMEM" $command --threads 1 >.one 2>.err </dev/null || one=$?
  [ "$got" -eq "$one" ] || fail "exit $got with two threads, $one with one: $command"
  cmp .out .one || fail "one thread and two tell different things: $command"
done
for command in "analyze $log --no-json" "explain $log" "ask $log --findings" "fit $log" "doctor $log" "train --logs tinyllama_train.log" "graph $capture" \
  "cb simulate 16 16" "cb scan source"; do
  # shellcheck disable=SC2086
  "$TTMEM" $command --color=always >.out 2>.err </dev/null || true
  grep -q $'\e\[' .out || fail "--color=always shows none: $command: $(cat .err)"
  # shellcheck disable=SC2086
  "$TTMEM" $command --color=never >.out 2>.err </dev/null || true
  ! grep -q $'\e\[' .out || fail "--color=never shows some: $command"
done
for command in "--llm --logfile $log" "explain $log" "ask $log --at-peak"; do
  # shellcheck disable=SC2086
  status 0 "$TTMEM" $command --quiet
done
status 2 "$TTMEM" ask $log --tensor a --tensor b
# Numbers that leave nothing of L1 are refused by every command that takes them, also when their sum is beyond 2^64.
for command in "cb simulate 16 16" "cb scan part/calm.cpp" "cb all --source part/calm.cpp"; do
  # shellcheck disable=SC2086
  status 2 "$TTMEM" $command --l1-base 18446744073709551615 --l1-small 65536
  # shellcheck disable=SC2086
  status 2 "$TTMEM" $command --l1-small 1TB
  # shellcheck disable=SC2086
  status 0 "$TTMEM" $command --l1-base 100000 --l1-small 65536
done
# More files than one thinks of: what a shell makes of *.cpp.
mkdir many
for i in $(seq 300); do cp source/a.cpp "many/$i.cpp"; done
status 0 "$TTMEM" cb scan many/*.cpp
got=0
# shellcheck disable=SC2046
"$TTMEM" cb scan $(seq 5000) >.out 2>.err || got=$?
[ "$got" -eq 2 ] && grep -q 'more than 1024 files' .err || fail "5000 files: exit $got: $(cat .err)"

# ---- doctor -------------------------------------------------------------------------------------------------------------------
# A capture needs neither the switches nor the build, whatever stands beside it.
mkdir build
printf 'TT_RUNTIME_DEBUG:BOOL=OFF\n' >build/CMakeCache.txt
status 1 "$TTMEM" doctor
status 0 env TTMLIR_RUNTIME_LOGGER_LEVEL=NONE TT_METAL_LOGGER_LEVEL=FATAL "$TTMEM" doctor "$capture"
# Whatever the alphabet and the length, no character is cut.
for n in 40 41 42 43 44 45 46 47 48 49 150; do
  long=$(printf 'ä%.0s' $(seq $n))
  TTMLIR_RUNTIME_LOGGER_LEVEL="x$long" TTXLA_LOGGER_LEVEL="$long $long" "$TTMEM" doctor >.out || true
  grep -q 'ää' .out || fail "the value is not shown"
  ! grep -q $'\xEF\xBF\xBD' .out || fail "a character was cut: $(cat .out)"
done

# ---- -o -----------------------------------------------------------------------------------------------------------------------
# '-' is standard output, and what is read is never written over.
cp "$capture" mine.json
cp "$TTMEM_SOURCE/demo/metal_cb.log" metal.log
for command in "--llm --logfile $log" "html $log" "graph mine.json --json" "cb log metal.log" "cb simulate 16 16" "cb scan source/a.cpp" "last-run $log"; do
  # shellcheck disable=SC2086
  "$TTMEM" $command -o - >.out 2>/dev/null
  [ -s .out ] && [ ! -e - ] || fail "-o -: $command"
done
for command in "cb simulate 16 16" "diff $log $log" "graph mine.json"; do # as without -o: coloured when that was asked for
  # shellcheck disable=SC2086
  "$TTMEM" $command --color=always -o - >.out
  # shellcheck disable=SC2086
  "$TTMEM" $command --color=always | cmp - .out || fail "-o - is not standard output: $command"
done
cp $log ./- # a file of that name is another thing
"$TTMEM" --llm --logfile ./- -o - >.out || fail "a file called -"
rm ./-
printf 'strategy mine\ncb0 = r_tiles\n' >mine.strategy
"$TTMEM" run --quiet --output-dir kept --name run -- cat $log >/dev/null
run=$(echo kept/*)
inputs="$log mine.json metal.log source/a.cpp tinyllama_train.log mine.strategy $run/run_profile.log $run/run_memory.json"
# shellcheck disable=SC2086
before=$(cksum $inputs)
for command in "--llm --logfile $log -o $log" "html $log -o $log" "graph mine.json -o mine.json" "graph $capture mine.json -o mine.json" \
  "cb log metal.log -o metal.log" "cb all 16 16 --log metal.log -o metal.log" "cb scan source/a.cpp -o source/a.cpp" \
  "cb all 16 16 --source source/a.cpp -o source/a.cpp" "last-run $log -o $log" \
  "cb simulate 16 16 --strategy mine.strategy -o mine.strategy" "html $run -o $run/run_profile.log" "html $run -o $run/run_memory.json"; do
  got=0
  # shellcheck disable=SC2086
  "$TTMEM" $command >.out 2>.err || got=$?
  # shellcheck disable=SC2086
  [ "$before" = "$(cksum $inputs)" ] || fail "what was read is lost: $command"
  [ "$got" -eq 2 ] && grep -q 'is the input; choose' .err || fail "exit $got: $command: $(cat .err)"
done
