#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ttmem train: every form, every option, every way to get it wrong.
. "$(dirname "$0")/lib.bash"
# fontconfig keeps its configuration until the process ends; that is not ours to free.
echo 'leak:libfontconfig' >lsan.supp
export LSAN_OPTIONS="suppressions=$PWD/lsan.supp:print_suppressions=0"

show ttmem train --logs tinyllama_train.log
show ttmem train --logs tinyllama_train.log --use_actual_sizes --device_memory 12GB --check
show ttmem train tinyllama_train.log --md --model_size 1938739200 --optimizer-size=3.8e9 --gradients_size 2GiB
show ttmem train --logs tinyllama_train.log --json
cat tinyllama_train.log - >with_footprint.log <<'END'
=== DRAM footprint ===
  peak usage: 15,702 MB/device (95.8% of 16,384 MB arena)
  reserved (outside arena): 45 MB/device
  largest allocatable block at the tightest point: 512 MB/device
END
show ttmem train --logs with_footprint.log --check
LC_ALL=C show ttmem train --logs tinyllama_train.log --color=always

show ttmem train --logs tinyllama_train.log --output bars.svg --title 'A <title> & more' --device_memory 12884901888
note bars.svg
cat bars.svg >>"$transcript"
printf '[1,3]<stdout>:=== Memory Usage Summary ===\n[1,3]<stdout>:--- \033[31mEVIL|`name` ---\n[1,3]<stdout>:  DRAM: Cumulative Peak 2.00 MB, Cumulative Current 1.00 MB\n' >evil.log
show ttmem train --logs evil.log
show ttmem train --logs evil.log --md
show ttmem help train
show ttmem train
show ttmem train --logs missing.log
show ttmem train --logs two_runs_oom_profile.log
show ttmem train --logs tinyllama_train.log --device_memory much
show ttmem train --logs tinyllama_train.log --output bars.jpg
show ttmem train --logs tinyllama_train.log --json --md
show ttmem train --logs tinyllama_train.log another.log
cp tinyllama_train.log log.svg
show ttmem train --logs log.svg --output log.svg
same_transcript

# The picture: a PNG of the promised size, or, without cairo, a message that says what to do.
if "$TTMEM" train --logs tinyllama_train.log --visualize_peak >.out 2>.err; then
  grep -q '^Visualization saved to: memory_peak_visualization.png$' .out || fail "the picture is not named"
  python3 - <<'PY' || fail "memory_peak_visualization.png is not the picture it should be"
import struct, sys, zlib
data = open("memory_peak_visualization.png", "rb").read()
assert data[:8] == b"\x89PNG\r\n\x1a\n"
width, height = struct.unpack(">II", data[16:24])
assert width > 800 and height > 800, (width, height)
at, pixels = 8, b""
while at < len(data):
    n, kind = struct.unpack(">I4s", data[at:at + 8])
    pixels += data[at + 8:at + 8 + n] if kind == b"IDAT" else b""
    at += 12 + n
raw, rows, before = zlib.decompress(pixels), [], None
depth = (len(raw) // height - 1) // width
for y in range(height):  # PNG's five row filters
    kind, row = raw[y * (width * depth + 1)], bytearray(raw[y * (width * depth + 1) + 1:(y + 1) * (width * depth + 1)])
    before = before or bytes(len(row))
    for i in range(len(row)) if kind != 2 or any(row) else (): # most rows are the one above
        if kind == 0: break
        a, b, c = (row[i - depth] if i >= depth else 0), before[i], (before[i - depth] if i >= depth else 0)
        p = a + b - c
        paeth = min(((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c)))[2]
        row[i] = row[i] + (0, a, b, (a + b) // 2, paeth)[kind] & 255
    if kind != 2 or any(row): before = bytes(row)
    rows.append(before)
rows = set(rows)
seen = {row[i:i + 3] for row in rows for i in range(0, len(row), depth)}
for color in ("4da6b8", "e789ab", "cec0fa", "e38a42", "cccccc", "ff0000"):
    assert bytes.fromhex(color) in seen, color
PY
else
  grep -q 'libcairo2' .err || fail "no picture, and no word why: $(cat .err)"
fi
gzip -k tinyllama_train.log
"$TTMEM" train --logs tinyllama_train.log.gz --json | diff - <("$TTMEM" train --logs - --json <tinyllama_train.log) || fail "compressed input differs"

sample="$TTMEM_SHARED/samples/metal/tt_train_memory_summary_pr50909.log"
if [ -f "$sample" ]; then
  "$TTMEM" train --logs "$sample" --json >real.json
  python3 - <<'PY' || fail "the sample of PR 50909 is not read whole"
import json
report = json.load(open("real.json"))
[s] = report["summaries"]
assert report["lines_not_read"] == 0
assert [p["name"] for p in s["phases"]] == ["ENTRY", "MODEL_CREATION", "OPTIMIZER_CREATION", "FORWARD_PASS_micro_0", "BACKWARD_PASS_micro_0"]
assert all(v is not None for p in s["phases"] for v in p.values())
last = s["phases"][-1]
assert (last["segment_change_mb"], last["cumulative_peak_mb"], last["l1_peak_cb_mb"]) == (-5537.07, 14453.88, 1.29)
assert s["peak_derived"] and s["fits"] is False
PY
else
  echo "left out: the sample of PR 50909 is not here"
fi
