#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ttmem graph: every form, several captures, the other reports on a capture, and every way to get it wrong.
source "$(dirname "$0")/lib.bash"
cp "$TTMEM_SOURCE/tests/data/capture_small.json" "$TTMEM_SOURCE/tests/data/small.log" .
chmod u+w ./*

show ttmem graph capture_small.json
show ttmem graph capture_small.json --json
show ttmem graph capture_small.json --md

# Standard input, compression and one line instead of many change nothing but the name.
python3 -c 'import json; json.dump(json.load(open("capture_small.json")), open("compact.json", "w"))'
gzip -k capture_small.json
strip_names() { sed 's/"file": "[^"]*"//'; }
"$TTMEM" graph --json capture_small.json | strip_names >plain.out
"$TTMEM" graph --json capture_small.json.gz | strip_names | cmp - plain.out || fail "gzip changes the result"
"$TTMEM" graph --json - <capture_small.json | strip_names | cmp - plain.out || fail "standard input changes the result"
"$TTMEM" graph --json compact.json | strip_names | cmp - plain.out || fail "one line changes the result"

# Several ranks.
python3 - <<'P'
import json
d = json.load(open("capture_small.json"))
d["metadata"].update(rank=1, world_size=2)
json.dump(d, open("graph_capture_1_of_2.json", "w"))
P
show ttmem graph capture_small.json graph_capture_1_of_2.json

# The array alone, as strings, cut in the middle: what was read is used, and the cut is said.
head -c 6000 capture_small.json >cut.json
show ttmem graph cut.json

# Captures are logs like any other to the other commands.
show ttmem analyze --no-json capture_small.json
show ttmem --llm capture_small.json

show ttmem graph
show ttmem graph nowhere.json
show ttmem graph small.log
echo '[]' >empty.json
show ttmem graph empty.json
echo '{"version": 1, "graph": [' >begun.json
show ttmem graph begun.json
show ttmem graph capture_small.json --json --md
same_transcript
