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

# A capture is a window: without a buffer from before it, and in both modes, its peaks are a lower bound.
python3 - <<'P'
import json
nodes = [{"counter": 0, "node_type": "capture_start", "params": {}, "connections": [1]},
         {"counter": 1, "node_type": "function_start", "params": {"name": "ttnn.empty"}, "connections": [2]},
         {"counter": 2, "node_type": "buffer", "params": {"size": "65536", "type": "L1", "device_id": "0"}, "connections": [3]},
         {"counter": 3, "node_type": "buffer_allocate", "params": {"size": "65536", "address": "0", "type": "L1", "page_size": "2048",
          "num_cores": "0", "device_id": "0", "max_size_per_bank": "2048"}, "connections": [2]},
         {"counter": 4, "node_type": "function_end", "params": {"name": "ttnn.empty"}, "connections": []},
         {"counter": 5, "node_type": "capture_end", "params": {}, "connections": []}]
json.dump(nodes, open("no_dispatch.json", "w"))
nodes[3]["params"]["address"] = "1497088"
json.dump(nodes, open("normal.json", "w"))
P
for capture in no_dispatch.json normal.json; do
  "$TTMEM" graph "$capture" --json | grep -q '"lower_bound": true' || fail "$capture: no lower bound"
  "$TTMEM" graph "$capture" | grep -q '^peak_memory_usage *2,048 *≥ 2,048 ' || fail "$capture: the table"
  "$TTMEM" analyze "$capture" --no-json | grep -q '^L1 .* ≥ ' || fail "$capture: the summary"
  "$TTMEM" --llm "$capture" | grep -q 'Peak L1: ≥ 0.00 MB' || fail "$capture: the LLM report"
  "$TTMEM" ask "$capture" --findings | grep -q 'L1 peak ≥ ' || fail "$capture: ask"
done
if [ -d "$TTMEM_SHARED/samples/answers/E1" ]; then
  "$TTMEM" graph "$TTMEM_SHARED/samples/answers/E1/p_mm_NO_DISPATCH_0.json" --json | grep -q '"lower_bound": true' || fail "E1: no lower bound"
else
  echo "E1 left out: the samples are not here"
fi
