#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The console blocks of the tutorials are what the programs really print, run in the top folder of the project.
. "$(dirname "$0")/lib.bash"

ln -s "$TTMEM_SOURCE/demo" demo
ln -s "$TTMEM_SOURCE/tests" tests
for tutorial in "$TTMEM_SOURCE"/docs/tutorials/*.md; do
  same_document "docs/tutorials/$(basename "$tutorial")"
done
