#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The console blocks of docs/manual.md are what the programs really print.
. "$(dirname "$0")/lib.bash"

mkdir bin
ln -s "$TTMEM" bin/ttmem
ln -s "$TT_MEMORY_PROFILER" bin/tt-memory-profiler
python3 "$here/console_blocks.py" "$TTMEM_SOURCE/docs/manual.md" "$work/bin" >manual.md || fail "docs/manual.md could not be run"
if [ -n "${TTMEM_UPDATE_GOLDEN:-}" ]; then
  cp manual.md "$TTMEM_SOURCE/docs/manual.md"
else
  diff -u "$TTMEM_SOURCE/docs/manual.md" manual.md >&2 || fail "docs/manual.md is out of date; TTMEM_UPDATE_GOLDEN=1 $0 renews it"
fi
