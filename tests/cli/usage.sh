#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Help, version, and every way to get the command line or the input wrong.
. "$(dirname "$0")/lib.bash"

show ttmem
show ttmem --help
show ttmem help analyze
show ttmem help --llm
show ttmem analyze --help
show ttmem help nonsense
show ttmem help live extra
show tt-memory-profiler
show tt-memory-profiler --help
"$TTMEM" --help | sed -n '/^Commands/,/^$/s/^  \(cb [a-z]*\|[a-z-]\+\) .*/\1/p' >commands
[ "$(wc -l <commands)" -gt 15 ] || fail "the commands of the help: $(cat commands)"
while read -r command; do
  # shellcheck disable=SC2086 # two words
  "$TTMEM" help $command >.out || fail "no help on $command"
  ! grep -E '.{81}' .out || fail "the help on $command is wider than 80 columns"
done <commands

show ttmem --lgofile x
show ttmem --llm --logfile two_runs_oom_profile.log --frobnicate
show ttmem analyse two_runs_oom_profile.log
show ttmem two_runs_oom_profile.log
show ttmem --llm
show ttmem --llm --logfile
show ttmem analyze
show ttmem analyze a b
show ttmem analyze --threads 0 two_runs_oom_profile.log
show ttmem analyze --color=green two_runs_oom_profile.log
show ttmem analyze --name ../x two_runs_oom_profile.log
show ttmem --llm two_runs_oom_profile.log --output-dir d
show tt-memory-profiler model.py
show tt-memory-profiler --log missing.py
show ttmem run
show ttmem help run
show ttmem run -- no-such-program
show ttmem run -- ./no-such-program
show ttmem run -- ./two_runs_oom_profile.log
show ttmem run --name a/b -- true
show tt-memory-profiler --analyze two_runs_oom_profile.log model.py

: >empty.log
mkdir folder
head -c 4096 /dev/zero >zeros.log
printf 'hello\nworld\n' >foreign.log
printf 'Executing operation: cut' >cut.log
show ttmem --llm --logfile missing.log
show ttmem --llm --logfile folder
show ttmem --llm --logfile empty.log
show ttmem --llm --logfile zeros.log
printf "\xfd7zXZ\0rest" >packed.log.xz
show ttmem --llm --logfile packed.log.xz
show ttmem --llm --logfile foreign.log
show ttmem analyze missing.log
show ttmem foreign.log
cp two_runs_oom_profile.log log
show ttmem log
show ttmem graph foreign.log
show ttmem graph folder
show ttmem cb simulate 4 4 --strategy folder
show ttmem explain foreign.log
show ttmem explain
show ttmem train --logs two_runs_oom_profile.log
show ttmem ask two_runs_oom_profile.log --op 99999999999
note "names that a shell would not take as they are: what to do next can be pasted"
cp two_runs_oom_profile.log ./-x.log
cp two_runs_oom_profile.log "it's a \$log"
cp two_runs_oom_profile.log "$(printf 'two\nlines\033[31m')"
for name in -x.log "it's a \$log" "$(printf 'two\nlines\033[31m')"; do
  "$TTMEM" analyze --no-json -- "$name" | sed -n 's/^Next *//p' >next
  cat next >>"$transcript"
  PATH="$(dirname "$TTMEM"):$PATH" bash next >.out 2>.err || fail "what comes next for '$name': $(cat next .err)"
done
show ttmem analyze "$(printf 'evil\033[31m.log')"
same_transcript

[ ! -e home ] || fail "a failed command left files"
for program in "$TTMEM" "$TT_MEMORY_PROFILER"; do
  "$program" --version >version
  grep -qxE '(ttmem|tt-memory-profiler) [0-9]+\.[0-9]+\.[0-9]+' version || fail "odd version: $(cat version)"
done
status 2 "$TTMEM" --llm --logfile cut.log
if [ "$(cat /proc/sys/net/ipv4/ip_nonlocal_bind 2>/dev/null)" = 0 ]; then
  timeout 60 "$TTMEM" serve --host 192.0.2.1 folder >.out 2>.err && fail "served on an address of another machine"
  grep -q -- '--host takes an address of this machine' .err || fail "an address of another machine: $(cat .err)"
fi
