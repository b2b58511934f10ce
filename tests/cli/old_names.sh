#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The Python scripts of old, called as their documents say, do what the commands do that took their place.
. "$(dirname "$0")/lib.bash"
scripts=$TTMEM_SOURCE/scripts
profiler=$TTMEM_SOURCE/memory_profiler
export PATH="$work/bin:$PATH" PYTHONDONTWRITEBYTECODE=1
mkdir bin
ln -s "$TTMEM" bin/ttmem

# old NAME.py ARGS...: runs a copy of the link from a place without a build, so that the ttmem under test is the one found.
old() {
  local name=$1
  shift
  cp "$scripts/old_name.py" "bin/$name"
  python3 "bin/$name" "$@"
}

# alike COMMAND... -- NAME.py ARGS...: both print the same and end the same.
alike() {
  local command=() status=0
  while [ "$1" != -- ]; do command+=("$1"); shift; done
  shift
  "$TTMEM" "${command[@]}" >wanted 2>&1 </dev/null || status=$?
  echo "exit $status" >>wanted
  status=0
  old "$@" >got 2>&1 </dev/null || status=$?
  echo "exit $status" >>got
  diff wanted got || fail "$*"
}

alike cb simulate 16 16 -- memory_analysis_tool.py 16 16
alike cb all 16 16 -- run_memory_analysis.py 16 16
alike cb all --multi -- run_memory_analysis.py --multi
alike cb all --help -- run_memory_analysis.py --help
alike cb log -- runtime_memory_profiler.py
alike cb log "$TTMEM_SOURCE/demo/metal_cb.log" -- runtime_memory_profiler.py "$TTMEM_SOURCE/demo/metal_cb.log"
alike train --logs tinyllama_train.log --visualize_peak --title T --output a.svg -- \
  analyze_memory.py --logs tinyllama_train.log --visualize_peak --title T --output a.svg
alike train -- analyze_memory.py
mkdir sources
echo 'void f() { auto c = CircularBufferConfig(4 * 2048, {{0, tt::DataFormat::Float16_b}}).set_page_size(0, 2048); }' >sources/host.cpp
(cd sources && "$TTMEM" cb scan . >../wanted && PATH="$work/bin:$PATH" && cp "$scripts/old_name.py" ../bin/code_memory_analyzer.py &&
  python3 ../bin/code_memory_analyzer.py >../got) || fail "code_memory_analyzer.py"
cmp wanted got || fail "code_memory_analyzer.py differs"

log=two_runs_oom_profile.log
cp $log before
old extract_last_run.py $log >said 2>&1
cmp $log before || fail "the log was changed"
"$TTMEM" last-run -q $log | cmp - two_runs_oom_last_run_profile.log || fail "extract_last_run.py"
grep -qx two_runs_oom_last_run_profile.log said || fail "extract_last_run.py does not say where: $(cat said)"
status 2 old extract_last_run.py nowhere.log >said
[ ! -s said ] || fail "extract_last_run.py names a file that it did not write: $(cat said)"

"$TTMEM" analyze $log -q --no-html -d report
old generate_viz.py report/ >said
[ -s report/two-runs-oom_report.html ] || fail "generate_viz.py"

status 1 old other_name.py
links=("$scripts"/{analyze_memory,code_memory_analyzer,memory_analysis_tool,run_memory_analysis,runtime_memory_profiler}.py
  "$profiler"/{extract_last_run,generate_viz}.py)
for link in "${links[@]}"; do
  [ "$(readlink -f "$link")" = "$(readlink -f "$scripts/old_name.py")" ] || fail "$link"
done

# `make install` brings the names too, and each starts the ttmem that was installed beside it.
build=$(dirname "$(dirname "$TTMEM")")
if [ -f "$build/cmake_install.cmake" ] && command -v cmake >/dev/null; then
  cmake --install "$build" --prefix "$work/prefix" >said 2>&1 || fail "install: $(tail -3 said)"
  for link in "${links[@]}"; do [ -x "prefix/bin/$(basename "$link")" ] || fail "not installed: $(basename "$link")"; done
  "$TTMEM" cb simulate 16 16 >wanted
  PATH=${PATH#"$work/bin:"} prefix/bin/memory_analysis_tool.py 16 16 | cmp - wanted || fail "the installed memory_analysis_tool.py"
fi
