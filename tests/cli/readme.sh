#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The console blocks of README.md are what the programs really print, run in the top folder of the project.
. "$(dirname "$0")/lib.bash"

mkdir bin
ln -s "$TTMEM" bin/ttmem
ln -s "$TTMEM_SOURCE/demo" demo
python3 "$here/console_blocks.py" "$TTMEM_SOURCE/README.md" "$work/bin" >README.md || fail "README.md could not be run"
if [ -n "${TTMEM_UPDATE_GOLDEN:-}" ]; then
  cp README.md "$TTMEM_SOURCE/README.md"
else
  diff -u "$TTMEM_SOURCE/README.md" README.md >&2 || fail "README.md is out of date; TTMEM_UPDATE_GOLDEN=1 $0 renews it"
fi
