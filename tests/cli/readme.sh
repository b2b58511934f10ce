#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The console blocks of README.md are what the programs really print, run in the top folder of the project.
. "$(dirname "$0")/lib.bash"

ln -s "$TTMEM_SOURCE/demo" demo
same_document README.md
