#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the doctor says of logs that lack something, of the environment and of builds.
. "$(dirname "$0")/lib.bash"
unset TTMLIR_RUNTIME_LOGGER_LEVEL TT_RUNTIME_MEMORY_LOG_LEVEL TTXLA_LOGGER_LEVEL LOGGER_LEVEL TTMLIR_RUNTIME_LOGGER_FILE \
  TTMLIR_RUNTIME_LOGGER_TYPES TT_METAL_MEMORY_REPORT TT_METAL_LOGGER_LEVEL TT_LOGGER_FILE TT_METAL_LOGGER_FILE

# The machine of the test: a Python with nothing of ours, and no board.
unset TT_METAL_SHM_TRACKING_DISABLED TTNN_CONFIG_OVERRIDES TT_LOGGER_LEVEL TT_METAL_ALLOCATOR_MODE_HYBRID TT_METAL_TRACE_ALLOC_TRACKING \
  TT_METAL_DEVICE_PROFILER TT_METAL_MEM_PROFILER TT_METAL_SLOW_DISPATCH_MODE TT_METAL_SIMULATOR TT_VISIBLE_DEVICES TT_METAL_HOME \
  TT_METAL_MOCK_CLUSTER_DESC_PATH
mkdir -p bin devices
found='python\t3.12.1\t/usr/bin/python3\n'
printf '#!/bin/sh\nprintf "$FOUND"\n' >bin/python3
chmod +x bin/python3
export PATH=$PWD/bin:$PATH FOUND=$found TTMEM_DEVICE_DIR=devices

log=two_runs_oom_profile.log
show ttmem doctor $log
show ttmem doctor
show ttmem doctor missing.log
show ttmem doctor a b
note "memory states only, standard error not captured"
grep -v 'Executing operation\|DEBUG\|2026-01' $log | grep 'Always' >blocks.log
show ttmem doctor blocks.log
note "operation lines only"
grep -v 'INFO' $log >ops.log
show ttmem doctor ops.log
note "states around programs only"
awk 'sub(/before operation [A-Za-z]*/, n % 2 ? "after submit" : "before submit") {n++} n < 15' blocks.log >submit.log
show ttmem doctor submit.log
note "cut, with a trace"
{ head -60 $log; echo '            RuntimeTTNN |    DEBUG | Trace cache hit, executing trace directly'; printf '            RuntimeTTNN |    DEBUG | Executing operation: "ttnn.de'; } >cut.log
show ttmem doctor cut.log
note "standard error behind standard output"
{ tail -n +10 $log; head -9 $log; } >apart.log
show ttmem doctor apart.log
printf 'hello\n' >foreign.log
show ttmem doctor foreign.log
note "an environment full of traps"
export TTMLIR_RUNTIME_LOGGER_LEVEL=INFO TT_RUNTIME_MEMORY_LOG_LEVEL=ops TTXLA_LOGGER_LEVEL=verbose LOGGER_LEVEL=DEBUG \
  TT_METAL_MEMORY_REPORT=1 TT_METAL_LOGGER_LEVEL=Debug TTMLIR_RUNTIME_LOGGER_FILE=x.log TTMLIR_RUNTIME_LOGGER_TYPES=RuntimeTTNN
show ttmem doctor
unset LOGGER_LEVEL TT_METAL_MEMORY_REPORT TT_METAL_LOGGER_LEVEL TTMLIR_RUNTIME_LOGGER_FILE
export TTMLIR_RUNTIME_LOGGER_LEVEL=debug TT_RUNTIME_MEMORY_LOG_LEVEL=ALL TTMLIR_RUNTIME_LOGGER_TYPES=Always,RuntimeTTNN
note "builds"
mkdir -p build venv/lib/python3.11/site-packages/pjrt_plugin_tt/lib
echo 'TT_RUNTIME_DEBUG:BOOL=OFF' >build/CMakeCache.txt
printf 'ELF..Executing operation: ..' >venv/lib/python3.11/site-packages/pjrt_plugin_tt/lib/libTTMLIRRuntime.so
export VIRTUAL_ENV=venv
show ttmem doctor
echo 'TT_RUNTIME_DEBUG:BOOL=ON' >build/CMakeCache.txt
show ttmem doctor
unset VIRTUAL_ENV TTMLIR_RUNTIME_LOGGER_LEVEL TT_RUNTIME_MEMORY_LOG_LEVEL TTMLIR_RUNTIME_LOGGER_TYPES TTXLA_LOGGER_LEVEL
rm -r build
note "a machine for ttnn programs"
export FOUND=$found'ttnn\t0.81.1\t/venv/ttnn/__init__.py\n'
show ttmem doctor
show ttmem doctor --json
touch devices/0 devices/1 devices/by-id
TT_METAL_ALLOCATOR_MODE_HYBRID=1 TT_LOGGER_LEVEL=info TT_VISIBLE_DEVICES=0 show ttmem doctor
note "with what hinders"
ln -sf nowhere devices/1
TTNN_CONFIG_OVERRIDES=enable_logging TT_LOGGER_LEVEL=OFF TT_METAL_SHM_TRACKING_DISABLED=1 TT_METAL_MOCK_CLUSTER_DESC_PATH=n150.yaml show ttmem doctor
note "with both"
export FOUND=$FOUND'pjrt_plugin_tt\t\t/venv/pjrt_plugin_tt/__init__.py\n'
rm -r devices
show ttmem doctor
note "without Python"
printf '#!/bin/sh\nexit 1\n' >bin/python3
cp bin/python3 bin/python
show ttmem doctor
# Nothing of the current folder is run, where others may have put something.
mkdir shared
for module in csv email importlib json zipfile; do echo "open('$work/ran', 'w')" >shared/$module.py; done
(cd shared && PATH=${PATH#"$work/bin:"} "$TTMEM" doctor >/dev/null) || true
[ ! -e "$work/ran" ] || fail "doctor ran code of the current folder"
same_transcript
