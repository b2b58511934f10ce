# SPDX-License-Identifier: Apache-2.0
# fit_model.sh BUFFERS [END]: writes the recording of a program that keeps BUFFERS tensors of 256 MiB, and ends as END says.
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
