#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ttmem explain: one pasted line, a file, standard input; the seven messages of public issues (needed, free, largest, bank, per bank), every
# failure real ttnn printed, and what is no message at all.
. "$(dirname "$0")/lib.bash"

oom() { # banks needed free largest bank
  echo "TT_FATAL: Out of Memory: Not enough space to allocate $(($1 * $2)) B DRAM buffer across $1 banks, where each bank needs to store $2 B," \
    "but bank size is $5 B (allocated: $(($5 - $3)) B, free: $3 B, largest free block: $4 B) (assert.hpp:104)"
}

note "the messages of public issues"
while read -r issue verdict banks needed free largest bank; do
  note "$issue"
  "$TTMEM" explain "$(oom "$banks" "$needed" "$free" "$largest" "$bank")" >.out
  grep -q "in DRAM: .*$verdict" .out || fail "$issue is not $verdict: $(cat .out)"
  case $verdict in insufficient) had=$free ;; fragmented) had=$largest ;; exceeds) had=$bank ;; esac
  short=$(sed -n 's/^  short by *\([0-9,]*\) B.*/\1/p' .out | tr -d ,)
  [ "$short" = $((needed - had)) ] || fail "$issue is short by $((needed - had)) B per bank, not $short"
  sed -n '1p;/^  Fixes/,$p' .out >>"$transcript"
done <<'END'
tt-xla#4130 fragmented 12 4894720 183397344 3382944 1071821792
tt-xla#4760 fragmented 12 13983744 55185344 8713184 1071821792
tt-xla#4943 fragmented 12 18874368 25576320 17575008 1071821792
tt-xla#5355 fragmented 12 11796480 12661504 6266880 1070773184
tt-xla#5535 insufficient 12 89479168 67144640 67140352 1070773184
tt-xla#5535 insufficient 12 103723008 15924544 15475264 1070773184
tt-xla#4040 exceeds 7 5561647104 2009461696 2002774720 4273390016
END

note "pasted"
show ttmem explain 'E   RuntimeError: Statically allocated circular buffers in program 8 clash with L1 buffers on core range [(x=0,y=0) - (x=7,y=7)]. L1 buffer allocated at 1000448 and static circular buffer region ends at 1003936'
show ttmem explain 'Statically allocated dataflow buffers on core range {[0-0 - 10-8], [0-9 - 3-9]} grow to 1600000 B which is beyond max L1 size of 1572864 B'
show ttmem explain 'Out of Memory: Not enough space to allocate 117440512 B DRAM buffer across 12 banks, where each bank needs to store 9787392 B, but bank size is only 1046181792 B'
show ttmem explain 'TT_FATAL: Out of Memory: Not enough space after considering dependencies to allocate 1048576 B L1 across 64 banks (16384 B per bank), bank size is 1393312 B (allocated: 1380000 B, free: 13312 B, largest free block: 8192 B)'
show ttmem explain 'Program size (79760) too large for kernel config buffer (70656)'
show ttmem explain 'TT_FATAL: Creating trace buffers of size 9000000B on MeshDevice 1, but only 0B is allocated for trace region.'
show ttmem explain 'TT_FATAL: Tensor is not allocated on the device'
show ttmem explain 'Program size (576) too large for kernel config buffer (480) on TENSIX, 96 B over:
  runtime args                 128 B
  kernel text                  448 B'
show ttmem explain 'Out of Memory: Not enough space after considering dependencies to allocate 1048576 B L1 across 64 banks (16384 B per bank), bank size is 1393312 B (allocated: 1000000 B, free: 393312 B, largest free block: 393312 B). After subtracting 2 dependency range(s) and 3 additional occupied range(s), 20000 B remained placeable across 4 window(s), largest 8192 B.'
show ttmem explain 'Trace buffer at address 100 overlaps with buffers deallocated during trace capture (deletion high water mark: 5000). Avoid deallocating DRAM buffers during trace capture or set a non-zero trace_region_size.'
show ttmem explain 'Allocating device buffers is potentially unsafe due to the existence of an active trace. These buffers may be corrupted once a trace is executed if they are not released before then.'
show ttmem explain "terminate called after throwing an instance of 'std::bad_alloc'"
show ttmem explain 'RESOURCE_EXHAUSTED: Out of memory while trying to allocate 7406166528 bytes.'
show ttmem explain 'UMD: Mapping a hugepage failed. (device: 0, 0/1 errno: Cannot allocate memory).'
show ttmem explain 'Not enough space to allocate 100663296 B DRAM buffer …'
show ttmem explain 'Persistent L1 arena is out of memory: cannot place 4096 bytes aligned to 32 on cores {[0-0 - 7-7]} in [1024, 3072)'

note "a warning in a log is none of its failures"
{ cat "$here/../data/ops.log"; echo '2026-11-16 08:00:00.1 | warning  |  Metal | Allocating device buffers is potentially unsafe due to the existence of an active trace. (allocator.cpp:128)'; } >warned.log
"$TTMEM" analyze warned.log --output-dir warned --name w --check --quiet || fail "a warning fails the check"
show ttmem explain two_runs_oom_profile.log

note "buffers that cannot be, as bare sentences, behind loggers and broken into lines"
throw() { # prefix, message
  printf "$1%s\n" "RuntimeError: TT_THROW @ /project/tt_metal/impl/buffers/circular_buffer.cpp:120: tt::exception" info: "$2" backtrace: " --- x.so(+0x1)"
}
divisible='Total circular buffer size 5000 B must be divisible by page size 2048 B'
shard='Cannot set circular buffer size to 131072. This is larger than the associated dynamically allocated L1 buffer bank size of 65536 B'
show ttmem explain "$divisible"
show ttmem explain "$shard"
"$TTMEM" explain "$shard" >.whole
for prefix in '' 'E       ' '2025-02-13T16:40:22.1234567Z ' '(EngineCore_0 pid=12) ERROR 10-23 04:15:50 [core.py:708] ' 'worker-1  | ' \
  '2026-01-01 00:00:00,123 - app - ERROR - ' 'Nov 16 02:00:00 host prog[12]: ' '[1,0]<stderr>:'; do
  throw "$prefix" "$shard" >thrown.txt
  "$TTMEM" explain thrown.txt | sed 's/ Message in log line 3\.//' | tr -s ' \n' ' ' | cmp - <(tr -s ' \n' ' ' <.whole) || fail "behind '$prefix'"
  "$TTMEM" cb log thrown.txt | grep -q '^Circular buffer error: 64.0 KB too large' || fail "cb log behind '$prefix'"
done
echo "$divisible" >bare.txt
"$TTMEM" explain bare.txt | grep -q '^Circular buffer error' || fail "a bare sentence in a file"
clash='Statically allocated circular buffers in program 8 clash with L1 buffers on core range [0-0 - 7-7]. L1 buffer allocated at 1000448 and static circular buffer region ends at 1003936'
for how in 'fold -w 60' 'fold -s -w 60'; do
  throw '' "$(echo "$clash" | $how)" >broken.txt
  "$TTMEM" explain broken.txt | grep -q '^CB/tensor overlap in L1: 3.4 KB per core' || fail "broken by $how"
  "$TTMEM" explain "$(cat broken.txt)" | grep -q '^CB/tensor overlap in L1: 3.4 KB per core' || fail "pasted, broken by $how"
done

note "where in the program, by the traceback"
cat >traced.txt <<'END'
2026-11-15 07:05:51.098 | critical |          Always | TT_THROW: Statically allocated circular buffers in program 8 clash with L1 buffers on core range [0-0 - 7-7]. L1 buffer allocated at 1000448 and static circular buffer region ends at 1003936 (assert.hpp:104)
Traceback (most recent call last):
  File "/home/me/model.py", line 77, in <module>
    main()
  File "/home/me/model.py", line 50, in main
    y = ttnn.softmax(x, dim=-1)
        ^^^^^^^^^^^^^^^^^^^^^^^
  File "/opt/venv/lib/python3.12/site-packages/ttnn/decorators.py", line 1245, in __call__
    result = self.function(*function_args, **function_kwargs)
RuntimeError: TT_THROW @ /project/tt_metal/impl/program/program.cpp:2624: tt::exception
info:
Statically allocated circular buffers in program 8 clash with L1 buffers on core range [0-0 - 7-7]. L1 buffer allocated at 1000448 and static circular buffer region ends at 1003936
backtrace:
2026-11-15 07:05:52.098 | critical |          Always | TT_FATAL: Out of Memory: Not enough space to allocate 9 B DRAM buffer across 12 banks (assert.hpp:104)
END
"$TTMEM" explain traced.txt | tr -s ' \n' ' ' >.out
grep -q 'CB/tensor overlap in L1: 3.4 KB per core, in ttnn.softmax at model.py:50 ' .out || fail "the place of the failure: $(cat .out)"
[ "$(grep -o 'model.py' .out | wc -l)" = 1 ] || fail "a place that belongs to another failure: $(cat .out)"

note "not a message"
show ttmem explain 'something went wrong'
show ttmem explain
show ttmem explain a b
echo 'nothing here' >plain.txt
show ttmem explain plain.txt
same_transcript

oom 12 4894720 183397344 3382944 1071821792 | "$TTMEM" explain - >piped || fail "standard input"
"$TTMEM" explain "$(oom 12 4894720 183397344 3382944 1071821792)" | diff - piped || fail "a pipe tells another story than a pasted line"
LC_ALL=C "$TTMEM" explain two_runs_oom_profile.log | LC_ALL=C grep -q '[^ -~]' && fail "not plain ASCII without a UTF-8 locale"

if [ -d "$TTMEM_SHARED/samples" ]; then
  "$TTMEM" explain "$TTMEM_SHARED/samples/metal/ttnn-0.81.1/failures_n150.log" >.all
  grep -E '^(Out of memory in|Dataflow|Circular|CB)|^  (short by|overlap|exceeds|tensors|[0-9]\.|   )' .all >.out # our words, not the sample's
  same .out explain_failures.txt
else
  echo "failures_n150.log left out: the real samples are not here"
fi

# The sentence alone, without the words before it.
sentence='Not enough space to allocate 117440512 B DRAM buffer across 12 banks, where each bank needs to store 9787392 B, but bank size is 1072603072 B (allocated: 1016522752 B, free: 56080320 B, largest free block: 8388608 B)'
"$TTMEM" explain "Out of Memory: $sentence" >whole
"$TTMEM" explain "$sentence" >part || fail "a sentence without its first words"
cmp whole part || fail "a sentence without its first words differs"
status 2 "$TTMEM" explain "Not enough space for a joke"

# That the weights can never fit is said wherever the failure is told; the summary's lines stand in docs/tutorials/bring-up.md.
demo=$TTMEM_SOURCE/demo/llama_small.log.zst
for words in "explain $demo" "ask $demo --findings" "--llm --logfile $demo -o -"; do
  # shellcheck disable=SC2086 # two or three words
  "$TTMEM" $words | tr -s '\n ' ' ' | grep -qE 'The weights alone need about 14\.27 GB per chip, DRAM holds 11\.99 GB: freeing other tensors cannot help' || fail "$words"
done
