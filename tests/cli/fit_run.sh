#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ttmem fit -- COMMAND: the table, JSON and exit status of programs that fit, do not, or fail for another reason; nothing is left behind.
# The programs here write the recording themselves, as the recorder in Python would: no ttnn is needed.
. "$(dirname "$0")/lib.bash"
export TMPDIR="$work/tmp"
mkdir "$TMPDIR"

# model.sh BUFFERS [END]: keeps BUFFERS tensors of 256 MiB, and ends as END says.
cat >model.sh <<'MODEL'
wanted=$1 end=${2:-well}
case $TTMEM_BOARD in
  n150|n300|t3k|galaxy) arch=WORMHOLE_B0 banks=12 bank=1072693184 l1=1499136 base=105824 cores=8 ;;
  p100) arch=BLACKHOLE banks=7 bank=4277141376 l1=1572864 base=111744 cores=11 ;;
  *) arch=BLACKHOLE banks=8 bank=4277141376 l1=1572864 base=111744 cores=11 ;;
esac
size=268435456
each=$(((size / 2048 + banks - 1) / banks * 2048))
echo "loading on $TTMEM_BOARD"
[ "$end" != two ] || [ $TTMEM_BOARD != n150 ] || { mkdir "$TTMEM_ROOT"; echo "RuntimeError: 2 devices are needed"; exit 1; } # as importing ttnn does
[ "$end" != later ] || [ $TTMEM_BOARD != n300 ] || { echo "ModuleNotFoundError: No module named 'mesh'" >&2; exit 1; }
[ "$end" != early ] || { echo "ModuleNotFoundError: No module named 'weights'" >&2; exit 1; }
{
  l1_bank=$((l1 - base))
  printf '{"ttmem_recording":1,"metadata":{"version":"0.81.1"},"devices":[{"device_id":0,"arch":"%s","chips":1,"worker_l1_size":%d,"l1_num_banks":64,' $arch $l1
  printf '"l1_bank_size":%d,"address_at_first_l1_cb_buffer":%d,"cb_limit":%d,"num_x_compute_cores":%d,"num_y_compute_cores":8}],' $l1_bank $base $l1_bank $cores
  printf '"program":["model.py"],"board":"%s",\n"graph":[\n{"node_type":"recording_begin","params":{}}' $TTMEM_BOARD
  printf ',\n{"node_type":"device_open","params":{"device_id":0,"chips":%d}}' $([ "$end" = mesh ] && echo 3 || echo 1)
  printf ',\n{"node_type":"memory_view","params":{"device_id":0,"buffer_type":0,"num_banks":%d,"total_bytes_per_bank":%d,"allocated_per_bank":0,"largest_free_per_bank":%d}}' $banks $bank $bank
  i=0 used=0 failed=
  while [ $i -lt $wanted ]; do
    i=$((i + 1))
    printf ',\n{"node_type":"operation","params":{"id":%d,"name":"ttnn.empty","at":"model.py:%d","function":"load"}}' $i $((10 + i))
    if [ $((used + each)) -gt $bank ]; then
      failed="Out of Memory: Not enough space to allocate $size B DRAM buffer across $banks banks, where each bank needs to store $each B, but bank size is $bank B (allocated: $used B, free: $((bank - used)) B, largest free block: $((bank - used)) B)."
      break
    fi
    printf ',\n{"node_type":"piece","params":{}}'
    printf ',\n{"counter":1,"node_type":"function_start","params":{"name":"ttnn.empty"}}'
    printf ',\n{"counter":2,"node_type":"buffer","params":{"size":%d,"type":"DRAM","buffer_type":0,"device_id":0},"connections":[3]}' $size
    printf ',\n{"counter":3,"node_type":"buffer_allocate","params":{"size":%d,"address":%d,"type":"DRAM","buffer_type":0,"page_size":2048,"num_cores":0,"device_id":0,"max_size_per_bank":%d},"connections":[2]}' $size $((1048640 + used)) $each
    printf ',\n{"counter":4,"node_type":"function_end","params":{}}'
    used=$((used + each))
  done
  [ "$end" != clash ] || failed="Statically allocated circular buffers in program 3 clash with L1 buffers on core range [0-0 - 7-7]. L1 buffer allocated at 300032 and static circular buffer region ends at 310272"
  [ -z "$failed" ] || printf ',\n{"node_type":"failure","params":{"id":%d,"name":"ttnn.empty","type":"RuntimeError","message":"%s"}}' $i "$failed"
  asked=0 traces=0 reason=exit
  case $end in
    two|later) asked=1 ;;
    trace) traces=1 ;;
    thread|gave_up) reason="ValueError: the recorder failed" ;;
    assert)
      for i in 90 91 92; do printf ',\n{"node_type":"operation","params":{"id":%d,"name":"ttnn.relu","at":"model.py:%d","function":"load"}}' $i $i; done
      printf ',\n{"node_type":"uncaught","params":{"type":"AssertionError","failure":0,"in_thread":0}}' ;;
    died) printf ',\n{"node_type":"uncaught","params":{"type":"RuntimeError","failure":%d,"in_thread":1}}' $i ;;
  esac
  printf ',\n{"node_type":"recording_end","params":{"reason":"%s","operations":%d,"traces":%d,"asked_chips":%d}}' "$reason" $i $traces $asked
} >"$TTMEM_RECORDING"
[ -z "$failed" ] || [ "$end" = caught ] || [ "$end" = assert ] || [ "$end" = died ] || { printf 'RuntimeError: TT_FATAL @ bank_manager.cpp:514: false\ninfo:\n%s\n' "$failed"; exit 1; }
case $end in
  three) echo "ValueError: no such layer"; exit 3 ;;
  assert) echo "AssertionError: PCC too low"; exit 1 ;;
  printed) echo "yesterday: $(sed -n 's/.*(\(Out of Memory: .*\))/\1/p' yesterday)"; echo "AssertionError: PCC too low"; exit 1 ;;
  killed) kill -9 $$ ;;
  thread) # memory ended where the recorder does not look
    printf 'Traceback (most recent call last):\n  File "model.py", line 77, in <module>\n  File "/lib/python3/site-packages/ttnn/x.py", line 3, in y\n'
    printf 'RuntimeError: TT_FATAL @ bank_manager.cpp:514: false\ninfo:\nOut of Memory: Not enough space to allocate 1024 B L1 buffer across 64 banks, where each bank needs to store 32 B, but bank size is 16 B\n'
    exit 1 ;;
esac
exit 0
MODEL

echo "(Out of Memory: Not enough space to allocate 1024 B L1 buffer across 64 banks, where each bank needs to store 32 B, but bank size is 16 B)" >yesterday
show ttmem fit -- sh model.sh 60
show ttmem fit --json --board n150,p150 -- sh model.sh 60
note "one board's verdict is the exit status; any case, said once"
show ttmem fit -q --board P150,p150 -- sh model.sh 60
show ttmem fit -q --board n150 -- sh model.sh 60
show ttmem fit -q --board p100,p150 -- sh model.sh 118
note "memory of a core"
show ttmem fit -q --board n150 -- sh model.sh 1 clash
note "refused, and the program went on"
show ttmem fit -q --board n150 -- sh model.sh 60 caught
show ttmem fit -q --board n150 -- sh model.sh 60 assert
note "refused in a thread, which died of it"
show ttmem fit -q --board n150 -- sh model.sh 60 died
note "an old message that is only printed"
show ttmem fit -q --board n150 -- sh model.sh 1 printed
note "the recorder gave up"
show ttmem fit -q --board n150 -- sh model.sh 1 gave_up
show ttmem fit -q --board n150 -- sh model.sh 1 thread
note "a trace; two chips of a mesh, which every board has to run"
show ttmem fit -q --board n150 -- sh model.sh 1 trace
show ttmem fit -q --board n300,t3k -- sh model.sh 1 mesh
note "not for lack of memory"
show ttmem fit -q -- sh model.sh 1 early
show ttmem fit --board n150,n300,t3k -- sh model.sh 3 later
show ttmem fit -q --board n150,n300 -- sh model.sh 1 two
show ttmem fit -q --board n150,p150 -- sh model.sh 1 three
show ttmem fit -q --json --board n150 -- sh model.sh 1 three
show ttmem fit -q --board n150 -- sh model.sh 1 killed
show ttmem fit -q --board n150 -- true
note "wrong usage"
show ttmem fit -q --board n150 -- ./no-such-program
show ttmem fit -q --board n151 -- sh model.sh 1
show ttmem fit -q --board n150, -- sh model.sh 1
show ttmem fit --scale-batch 2 -- sh model.sh 1
show ttmem fit model.sh -- sh model.sh 1
same_transcript

# Figures as a script reads them, and what the boards really have.
"$TTMEM" fit -q --json -- sh model.sh 60 >all.json
python3 - <<'PYTHON'
import json

boards = {b["board"]: b for b in json.load(open("all.json"))["boards"]}
assert list(boards) == ["n150", "n300", "t3k", "galaxy", "p100", "p150", "p300"], list(boards)
per_bank = lambda banks: -(-131072 // banks) * 2048
for name, b in boards.items():
    banks = {"p100": 7, "p150": 8, "p300": 8}.get(name, 12)
    assert b["dram_banks"] == banks, b
    room = b["capacity_dram_per_bank_B"] // per_bank(banks)
    assert b["fits"] == (room >= 60), b
    assert b["peak_dram_per_bank_B"] == min(room, 60) * per_bank(banks), b
    assert b["peak_dram_B"] == b["peak_dram_per_bank_B"] * banks, b
    assert (b["incident"] is None) == b["fits"], b
    if not b["fits"]:
        assert b["incident"]["at"] == "model.py:%d" % (10 + room + 1), b
        assert b["incident"]["needed_per_bank_B"] == per_bank(banks), b
PYTHON

# Ctrl-C ends the whole series, and the program with it.
cat >slow.sh <<'SLOW'
echo $$ >>pids
while :; do sleep 0.1; done
SLOW
TTMEM=$TTMEM python3 - <<'PYTHON'
import os, signal, subprocess, time

signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job of a shell ignores it, and so would its children
series = subprocess.Popen([os.environ["TTMEM"], "fit", "--", "sh", "slow.sh"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
pids = []
try:
    end = time.monotonic() + 120  # only bounds a hang
    while not pids and time.monotonic() < end and series.poll() is None:
        pids = open("pids").read().split("\n")[:-1] if os.path.exists("pids") else []
        time.sleep(0.05)
    assert pids, "the program did not start: %s" % series.poll()
    series.send_signal(signal.SIGINT)
    out, err = series.communicate(timeout=120)
    pids = open("pids").read().split()
    assert series.returncode == 130, (series.returncode, err)
    assert len(pids) == 1, pids
    assert "stopped after 0 of 7 boards" in err and out == "", (out, err)
    try:
        os.kill(int(pids[0]), 0)
        raise AssertionError("the program still runs")
    except ProcessLookupError:
        pids = []
finally:  # whatever became of the test, nothing of it runs on
    if series.poll() is None:
        series.kill()
        series.wait()
    for pid in pids:
        os.kill(int(pid), signal.SIGKILL)
PYTHON

[ -z "$(ls -A "$TMPDIR")" ] || fail "left behind: $(ls "$TMPDIR")"
