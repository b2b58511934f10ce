#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/fuzz tells a failing input from a run that was stopped; scripts/check-all keeps each verdict, and makes soak-serve beside the others; scripts/check-pins
# and check-hardening pass nothing that they did not look at.
. "$(dirname "$0")/lib.bash"

mkdir -p tree/scripts tree/docs tree/build/fuzz/fuzz
cp "$TTMEM_SOURCE"/scripts/{fuzz,check-all,check-pins} tree/scripts/
cd tree

mkdir -p tests/dist packaging
echo 'ziglang==1 --hash=sha256:00' | tee packaging/zig.txt >tests/fine.txt
echo ziglang | tee tests/fine.in >tests/dist/bad.in
echo 'ziglang==1' >tests/dist/bad.txt
for place in "$work" "$work/nowhere"; do
  ! TMPDIR=$place scripts/check-pins >said 2>&1 || fail "check-pins passes with TMPDIR=$place: $(cat said)"
  grep -q 'tests/dist/bad.txt: no hash of ziglang==1' said || fail "check-pins: $(cat said)"
done
cp packaging/zig.txt tests/dist/bad.txt
scripts/check-pins >said || fail "check-pins: $(cat said)"
! "$TTMEM_SOURCE/scripts/check-hardening" nowhere "$TTMEM" >said 2>&1 || fail "check-hardening passes what is not there"
grep -q 'nowhere: not there' said || fail "check-hardening: $(cat said)"

# target NAME LINES: a fuzz target that does as they say.
target() {
  printf '#!/usr/bin/env bash\n%s\n' "$2" >"build/fuzz/fuzz/fuzz_$1"
  chmod +x "build/fuzz/fuzz/fuzz_$1"
}
# fuzz STATUS TEXT NAME...: how scripts/fuzz ends, and a line of what it says.
fuzz() {
  local wanted=$1 text=$2 got=0
  shift 2
  FUZZ_SECONDS=1 scripts/fuzz "$@" >said 2>&1 || got=$?
  [ "$got" -eq "$wanted" ] || fail "fuzz $*: $got instead of $wanted: $(cat said)"
  grep -q "$text" said || fail "fuzz $*: no '$text' in: $(cat said)"
}
target good 'exit 0'
target bad 'exit 77'
target stopped 'exit 72'
target killed 'kill -KILL $$'
target late 'case "$*" in *timeout-x) exit 0 ;; esac; [ ! -e once ] || exit 0; touch once build/fuzz/late-timeout-x; exit 70'
target slow 'touch build/fuzz/slow-timeout-x; exit 70'
fuzz 0 '2 targets, no failure' good late
[ ! -e build/fuzz/late-timeout-x ] || fail "an input that is in time stays as a failing one"
fuzz 1 'failed: bad slow ' good bad slow
fuzz 130 'fuzz stopped: .* interrupted' stopped good
! grep -q good said || fail "it goes on after an interruption"
fuzz 130 'fuzz killed: .* interrupted' killed
JOBS=2 fuzz 1 'failed: bad ' good bad late

printf 'good: ; @echo fine\nbad: ; @echo broken; exit 1\nfuzz: ; @FUZZ_SECONDS=1 scripts/fuzz good late\nsoak-serve: ; @echo $$$$ >began; while [ ! -e ended ]; do sleep 0.1; done; echo "9 rounds, answers {}"\nlast: ; @touch ended\n' >Makefile
printf '| target |\n| bad | old |\n| kept | old |\n| fuzz | seconds in all: late 5, other 7 | 1 |\n' >docs/checks.md
status=0
SOAK_SCALE=0.5 timeout 60 scripts/check-all good bad soak-serve fuzz last >said 2>&1 || status=$?
[ $status -eq 1 ] || fail "check-all: $status instead of 1: $(cat said)"
for row in 'good | passed' 'bad | FAILED' 'kept | old' 'fuzz | passed: seconds in all: late [67], other 7, good 1' 'soak-serve | passed: SOAK_SCALE=0.5, 9 rounds' 'last | passed' 'check-all | FAILED: bad, 5 targets in one run | [0-9.]* | [0-9.]*'; do
  [ "$(grep -c "^| $row |" docs/checks.md)" -eq 1 ] || fail "no row '$row' in: $(cat docs/checks.md said)"
done

rm began ended
scripts/check-all soak-serve >said 2>&1 &
for _ in {1..100}; do [ ! -s began ] || break; sleep 0.1; done
kill $!
! wait $! || fail "a stopped check-all passes"
for _ in {1..100}; do kill -0 "$(cat began)" 2>/dev/null || exit 0; sleep 0.1; done
fail "soak-serve goes on after check-all was stopped"
