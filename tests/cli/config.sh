#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The configuration file: defaults where a command takes them, the command line first, mistakes named with file and line.
. "$(dirname "$0")/lib.bash"
export TTMEM_HOME=$PWD/home
mkdir -p home
log=two_runs_oom_profile.log
"$TTMEM" ask $log --at-peak >bank.txt
"$TTMEM" ask $log --at-peak --per=chip >chip.txt
cmp -s bank.txt chip.txt && fail "--per changes nothing here: the test is none"

note "what it says counts, what the command line says counts more"
printf '# mine\n\n per = chip  # of all banks\r\ncolor=never\nport = 0\n' >home/config
"$TTMEM" ask $log --at-peak | cmp - chip.txt || fail "per = chip is not used"
"$TTMEM" ask $log --at-peak --per=bank | cmp - bank.txt || fail "--per=bank does not win"
CLICOLOR_FORCE=1 "$TTMEM" explain $log | grep -q $'\033' && fail "color = never is not used"
"$TTMEM" last-run $log -o last.log || fail "a command without these options"

note "a store that all commands use, unless the environment or the command line names another"
"$TTMEM" analyze $log -q --no-html --model here --store a.sqlite
printf 'store = %s/a.sqlite\n' "$PWD" >home/config
"$TTMEM" history here --json >/dev/null || fail "store is not used"
TTMEM_STORE=none.sqlite "$TTMEM" history here 2>/dev/null && fail "TTMEM_STORE does not win"
"$TTMEM" history here --store none.sqlite 2>/dev/null && fail "--store does not win"
"$TTMEM" analyze $log -q --no-html --model there
"$TTMEM" history there --json --store a.sqlite >/dev/null || fail "store is not written"
printf 'store = ~/b.sqlite\n' >home/config
HOME=$PWD "$TTMEM" analyze $log -q --no-html --model there && [ -s b.sqlite ] || fail "~ is not the home"

note "no store from a file that others can write to: runs would go to them"
chmod 666 home/config
HOME=$PWD show ttmem history there
chmod 644 home/config

note "mistakes"
for line in 'per = core' 'colour = never' 'per' 'port = 70000' '= chip' 'per =' 'store ='; do
  printf '\n%s\n' "$line" >home/config
  show ttmem ask $log --at-peak
done
head -c 70000 /dev/zero >home/config
show ttmem ask $log --at-peak
"$TTMEM" --help >/dev/null || fail "help needs no configuration"
"$TTMEM" --version >/dev/null || fail "version needs no configuration"
rm home/config
mkdir home/config
show ttmem ask $log --at-peak
rmdir home/config
env -u TTMEM_HOME -u HOME "$TTMEM" ask $log --at-peak | cmp - bank.txt || fail "without a home"
same_transcript
