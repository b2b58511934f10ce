#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ttmem plan: the largest KV cache on each board, of a recording (caches.py 2 1000 32 on a mock n150: tests/ttnn/once_plan.py has the truth) and of a
# log, with a trace region, and of inputs that have no cache.
. "$(dirname "$0")/lib.bash"
cp "$TTMEM_SOURCE"/tests/data/recording_clash.json "$TTMEM_SOURCE"/tests/data/recording_trace_dram.json .

show ttmem plan recording_caches.json
show ttmem plan recording_caches.json --json --board n150,p150
show ttmem plan recording_caches.json --csv --board p150,n300
note "beside a trace region; one that leaves nothing"
show ttmem plan recording_caches.json --board n150 --trace-region 50000000
show ttmem plan recording_caches.json --board n150 --trace-region 12GB
note "traces in DRAM: trace_region_size was 0 (tests/ttnn/programs/trace_storage.py 0 3)"
show ttmem plan recording_trace_dram.json --board n150
show ttmem ask recording_trace_dram.json --findings
note "no cache"
show ttmem plan recording_clash.json --board n150
show ttmem plan two_runs_oom_profile.log
note "wrong usage, and what tells no allocations"
show ttmem plan
show ttmem plan recording_caches.json --board n151
show ttmem plan recording_caches.json --trace-region many
show ttmem plan tinyllama_train.log
show ttmem plan no_such_file.json
same_transcript

# Cut off inside: what follows is unknown, so the figures are upper bounds.
head -c 15000 recording_caches.json >cut.json
"$TTMEM" plan cut.json --json >cut.out
grep -q '"is_upper_bound": true' cut.out || fail "a cut recording has exact figures"

# A log has its caches as arguments: the sum of all else and the caches fills DRAM, and a tile more does not fit.
[ -n "${GEN_LOG:-}" ] || exit 0
"$GEN_LOG" --runs 3 --layers 4 --hidden 1024 --seq 128 --kv-cache marked --trace-region 1000000 --trace --out kv.log
"$TTMEM" plan kv.log --json >kv.json
python3 - <<'PYTHON'
import json

plan = json.load(open("kv.json"))
cache = plan["cache"]
assert (cache["paged"], cache["tensors"], cache["shape"], cache["tokens_per_block"]) == (False, 4, "1x8x256x128", 32), cache
assert cache["block_B"] == 4 * 8 * 4 * 2048, cache
for b in plan["boards"]:
    banks = {"p100": 7, "p150": 8, "p300": 8}.get(b["board"], 12)
    assert b["basis"] == "estimated" and b["fits"] and b["statement"] == "plan.cache-fits", b
    assert b["peak_dram_per_bank_B"] <= b["capacity_dram_per_bank_B"] < b["peak_dram_per_bank_B"] + cache["block_B"] / banks + 4 * 2048, b
assert plan["trace_region_size"]["needed_B"] > 0 and not plan["trace_region_size"]["is_lower_bound"], plan["trace_region_size"]
PYTHON
