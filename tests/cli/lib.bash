# SPDX-License-Identifier: Apache-2.0
# Sourced by the command line tests. Each test runs in a folder of its own, writes a transcript of commands and their output,
# and compares it with tests/cli/expect/<test>.txt; TTMEM_UPDATE_GOLDEN=1 writes that file anew (read the diff before committing).
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
test_name=$(basename "$0" .sh)
: "${TTMEM_SOURCE:=$(cd "$here/../.." && pwd)}"
: "${TTMEM:=$TTMEM_SOURCE/build/bin/ttmem}"
: "${TT_MEMORY_PROFILER:=$TTMEM_SOURCE/build/bin/tt-memory-profiler}"
: "${TTMEM_SHARED:=$TTMEM_SOURCE/../shared}"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TTMEM_HOME="$work/home" LC_ALL=C.UTF-8 TERM=dumb
unset NO_COLOR CLICOLOR_FORCE COLUMNS VIRTUAL_ENV PYTHONUNBUFFERED
find -L "$here/data" -maxdepth 1 -type f -exec cp {} . \; # not what a stray folder there holds
chmod u+w ./*
transcript="$work/.transcript"
: >"$transcript"

fail() {
  echo "FAIL: $*" >&2
  exit 1
}

# show PROGRAM ARGS...: runs it and adds what it printed to the transcript. Temporary paths read WORK.
show() {
  local name=$1 exe status=0
  shift
  case $name in
    ttmem) exe=$TTMEM ;;
    tt-memory-profiler) exe=$TT_MEMORY_PROFILER ;;
    *) fail "no program '$name'" ;;
  esac
  "$exe" "$@" >.out 2>.err </dev/null || status=$?
  {
    printf '$ %s' "$name"
    [ $# -eq 0 ] || printf ' %q' "$@"
    printf '\n'
    cat .out
    sed 's/^/stderr: /' .err
    printf 'exit %d\n\n' "$status"
  } | sed "s|$work|WORK|g" >>"$transcript"
}

# note TEXT: a line of its own in the transcript.
note() { printf '# %s\n' "$*" >>"$transcript"; }

# same FILE WANTED: FILE is byte for byte tests/cli/expect/WANTED.
same() {
  if [ -n "${TTMEM_UPDATE_GOLDEN:-}" ]; then
    cp "$1" "$here/expect/$2"
    return
  fi
  diff -u "$here/expect/$2" "$1" >&2 || fail "$2 differs; TTMEM_UPDATE_GOLDEN=1 $0 accepts the new text"
}

same_transcript() { same "$transcript" "$test_name.txt"; }

# same_document FILE.md: what its console blocks show is what the programs print, run in this folder.
same_document() {
  mkdir -p bin
  ln -sf "$TTMEM" bin/ttmem
  ln -sf "$TT_MEMORY_PROFILER" bin/tt-memory-profiler
  python3 "$here/console_blocks.py" "$TTMEM_SOURCE/$1" "$work/bin" >.document || fail "$1 could not be run"
  if [ -n "${TTMEM_UPDATE_GOLDEN:-}" ]; then
    cp .document "$TTMEM_SOURCE/$1"
  else
    diff -u "$TTMEM_SOURCE/$1" .document >&2 || fail "$1 is out of date; TTMEM_UPDATE_GOLDEN=1 $0 renews it"
  fi
}

# status WANTED COMMAND...: runs it, output thrown away.
status() {
  local wanted=$1 got=0
  shift
  "$@" >/dev/null 2>&1 </dev/null || got=$?
  [ "$got" -eq "$wanted" ] || fail "exit $got instead of $wanted: $*"
}

needs_shared() {
  [ -d "$TTMEM_SHARED/samples" ] && return
  echo "skipped: the real samples are not here ($TTMEM_SHARED/samples)"
  exit 77
}
