#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The console blocks of docs/manual.md are what the programs really print.
. "$(dirname "$0")/lib.bash"

ln -s "$TTMEM_SOURCE/demo/llama_small.log.zst" .
same_document docs/manual.md
