#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ttmem cb log and cb all: the demonstration, old and coloured logs, CSV reports, real samples with their numbers.
. "$(dirname "$0")/lib.bash"
cp "$TTMEM_SOURCE"/fuzz/corpus/metal_log/* .

show ttmem cb log
show ttmem cb log old.log
show ttmem cb log old.log --arch wormhole --version 0.58 --dtype bfloat8_b --md
show ttmem cb log detailed.csv
show ttmem cb log summary.csv
show ttmem cb log --json
show ttmem cb log summary.csv --json
show ttmem cb all 16 16 --log old.log
show ttmem cb all
cat >add.cpp <<'END'
void make(Program &program, CoreCoord core) {
  constexpr uint32_t tile = 2 * 1024;
  CircularBufferConfig config = CircularBufferConfig(4 * tile, {{0, tt::DataFormat::Float16_b}}).set_page_size(0, tile);
  CreateCircularBuffer(program, core, config);
}
END
show ttmem cb all 8 8 --source add.cpp --log summary.csv

note what is refused
printf 'hello\n' >foreign.log
printf '\033[31m2026-09-01 10:00:00.431 | critical |          Always | TT_THROW: <script>|`\033[2J evil (a.hpp:1)\n' >evil.log
show ttmem cb log foreign.log
show ttmem cb log missing.log
show ttmem cb all 16
show ttmem cb all --source nowhere
show ttmem cb all --multi 16 16
show ttmem cb log --svg
note harmless
show ttmem cb log evil.log
show ttmem cb log evil.log --html
same_transcript

cat demo.log | "$TTMEM" cb log - --json | python3 -c '
import json, sys
log = json.load(sys.stdin)["log"]
clash = log["incidents"][0]
assert (clash["clash"]["overlap_bytes"], clash["copies"], clash["operation"]) == (7520, 2, "distributed_elementwise_add")
assert log["partitions"][0]["base"] == 105824 and sum(k["bytes"] for k in log["kernels"]) == 8392
assert log["buffers"]["L1"] == {"allocations": 3, "bytes": 84410368, "largest": 33554432}'
"$TTMEM" cb all --log demo.log --html -o all.html
gzip -k demo.log
"$TTMEM" cb log demo.log.gz | diff - <("$TTMEM" cb log demo.log | sed 's/demo.log/demo.log.gz/') >&2 || fail "compressed differs"

samples="$TTMEM_SHARED/samples/metal"
[ -d "$samples" ] || { echo "no samples in $samples: the rest is skipped"; exit 0; }
"$TTMEM" cb log "$samples"/ci_log_2025-02_old_logger_ansi_cb_clash_oom.log --json >ci.json
"$TTMEM" cb log "$samples"/ttnn-0.81.1/failures_n150.log --json >failures.json
"$TTMEM" cb log "$samples"/ttnn-0.81.1/pre_memory_usage_summary.csv --json >summary.json
"$TTMEM" cb log "$samples"/ttnn-0.81.1/pre_detailed_memory_usage.csv --json >detailed.json
python3 - <<'END'
import json
ci, failures, summary, detailed = (json.load(open(n + ".json"))["log"] for n in ("ci", "failures", "summary", "detailed"))
clash = [i for i in ci["incidents"] if i["kind"] == "l1_clash"]
assert [(c["program"], c["line"], c["clash"]["overlap_bytes"]) for c in clash] == [(119, 15, 821280 - 786432)]
assert ci["index_gap_warnings"] == 3 and ci["lines_until_0_58"] == 113
assert sum(bool(i["cure"]) for i in ci["incidents"]) == 4, [i["text"] for i in ci["incidents"] if i["cure"]]
kinds = [(i["kind"], i["verdict"], i["copies"], (i["clash"] or {}).get("overlap_bytes")) for i in failures["incidents"]]
assert kinds == [("oom", "impossible", 2, None), ("oom", "exhausted", 2, None), ("oom", "fragmented", 2, None),
                 ("oom", "exhausted", 2, None), ("l1_clash", None, 2, 929120), ("l1_overflow", None, 2, 11189600),
                 ("l1_clash", None, 2, 3424), ("oom", "impossible", 2, None)], kinds
assert [(u["memory"], u["allocated"]) for u in summary["memory"]] == [("DRAM", 700416), ("L1", 32768), ("L1_SMALL", 0)]
assert [(u["memory"], u["allocated"]) for u in detailed["memory"]] == [("DRAM", 8404992), ("L1", 2097152), ("L1_SMALL", 0)]
END
