#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ttmem cb scan: two versions of a program, every form of a buffer, -D, --compare, --check, and what is refused.
. "$(dirname "$0")/lib.bash"

cp -r "$TTMEM_SOURCE/tests/data/cb/." .
show ttmem cb scan customer
show ttmem cb scan fixed
show ttmem cb scan fixed -D r_tiles=8 -D tiles_per_shard=16 --md
show ttmem cb scan --compare customer fixed
show ttmem cb scan forms.cpp
show ttmem cb scan forms.cpp --arch blackhole --version 0.78 --define 'all.num_cores()=9' -j 1
show ttmem cb scan broken.cpp
show ttmem cb scan customer --json

note judging
show ttmem cb scan fixed --check --md
"$TTMEM" cb scan customer --check >/dev/null && fail "a deadlock, and exit 0"
[ $? -le 1 ] || fail "a finding must exit 1"

note a size that is written through a pointer
mkdir -p written/kernels
cat >written/host.cpp <<'END'
void pick_depth(uint32_t* pages, uint32_t* tiles) { *pages = 8; *tiles = 4; }
void build(Program& program, CoreCoord core) {
    uint32_t pages = 1, tiles = 0;
    pick_depth(&pages, &tiles);
    CreateCircularBuffer(program, core, CircularBufferConfig(pages * 2048, {{tt::CBIndex::c_0, tt::DataFormat::Float16_b}}).set_page_size(tt::CBIndex::c_0, 2048));
    CreateKernel(program, "kernels/reader.cpp", core, DataMovementConfig{});
}
END
echo 'void kernel_main() { cb_reserve_back(tt::CBIndex::c_0, 4); cb_push_back(tt::CBIndex::c_0, 4); }' >written/kernels/reader.cpp
"$TTMEM" cb scan written --check >.out || fail "a finding about a size that is not known"
grep -q 'deadlock' .out && fail "a deadlock on a size that is not known"
grep -q 'give them with -D NAME=VALUE: pages' .out || fail "the unknown name is not told"
"$TTMEM" cb scan written --check -D pages=1 >/dev/null && fail "no deadlock with the size that was given"
if [ -d "$TTMEM_SHARED/samples/answers/D1" ]; then
  "$TTMEM" cb scan "$TTMEM_SHARED/samples/answers/D1" --check >/dev/null || fail "D1: certain of what is written through a pointer"
else
  echo "D1 left out: the samples are not here"
fi

note what is refused
mkdir empty
show ttmem cb scan
show ttmem cb scan missing.cpp
show ttmem cb scan empty
show ttmem cb scan fixed -D r_tiles
show ttmem cb scan fixed -D =3
show ttmem cb scan fixed -D x=three
show ttmem cb scan --compare fixed
show ttmem cb scan fixed --json --md
show ttmem help cb scan
same_transcript

# The JSON holds what the table says, and nothing depends on the number of threads.
for threads in 1 2 8; do "$TTMEM" cb scan . --json -j "$threads" >"scan$threads.json"; done
cmp scan1.json scan2.json || fail "two threads see something else than one"
cmp scan1.json scan8.json || fail "eight threads see something else than one"
python3 - scan1.json <<'END'
import json, sys
scan = json.load(open(sys.argv[1]))["scan"]
programs = {(p["file"].split("/")[-1], p["function"]): p for p in scan["programs"]}
def sizes(p): return {b["indices"][0]["index"]["values"][0]: b["total_size"] for b in p["buffers"] if b["created"]}
classic = sizes(programs["forms.cpp", "classic"])
assert classic[0]["values"] == [4096] and classic[1]["values"] == [6144] and classic[4]["values"] == [8192], classic
assert classic[5]["values"] == [8 * 2048, 16 * 2048] and classic[5]["complete"], classic[5]
assert classic[6]["values"] == [4096] and not classic[6]["complete"] and classic[7]["at_most"] == 16 * 1088, classic
assert classic[8]["values"] == [6 * 1088], classic[8]
described = sizes(programs["forms.cpp", "described"])
assert {k: v["values"] for k, v in described.items()} == {0: [8192], 16: [8192], 24: [2048], 25: [6144]}, described
rules = {(f["rule"], f["level"]) for f in scan["findings"]}
assert {("deadlock", "error"), ("does-not-divide", "error"), ("over-l1", "error"), ("index-too-large", "error")} <= rules, rules
assert [f["path"] for f in scan["files"] if "not_parsed_line" in f] == ["./broken.cpp"], scan["files"]
END
