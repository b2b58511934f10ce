#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Names of files and texts of logs that mean harm: escapes for terminals, markup, quotes, letters that turn the line around. On no
# output of any command may they arrive as they are.
. "$(dirname "$0")/lib.bash"

name=$'evil\e[31m\e]0;title\a<script>alert(1)<\u002fscript>"`$(id)`\u202e\u009b31m\r;'
name=${name//\//_}
mkdir "$name"
cp hostile.log "$name/$name.log"
cp "$TTMEM_SOURCE/tests/data/capture_small.json" "$name/$name.json"
cp tinyllama_train.log "$name/$name.train"
cp -r "$TTMEM_SOURCE/tests/data/cb/customer" "$name/source"
mv "$name/source/elementwise_add.cpp" "$name/source/$name.cpp"
sed -i "s/elementwise_add/x/" "$name/source/$name.cpp"
sed "s/\"ttnn.add\"/\"<script>alert(2)<\\/script>\\\\u001b[31m\"/" "$name/$name.json" >"$name/2$name.json"

# harmless FILE WHAT: no control byte but the line end, nothing that turns the line around.
harmless() {
  if LC_ALL=C grep -qP '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]' "$1"; then
    LC_ALL=C grep -nP '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]' "$1" | head -3 | cat -v >&2
    fail "raw control characters: $2"
  fi
}
# no_markup FILE WHAT: as a page, no element of theirs.
no_markup() { ! grep -qiE '(^|[^\\])<script>alert' "$1" || fail "markup of theirs: $2"; }

# try STATUS WORDS...: ttmem ends so, and nothing of theirs arrives as it is.
try() {
  local wanted=$1 got=0
  shift
  "$TTMEM" "$@" >.out 2>.err </dev/null || got=$?
  [ "$got" -eq "$wanted" ] || fail "exit $got instead of $wanted: $(printf '%q ' "$@"): $(cat -v .err)"
  harmless .out "$*"
  harmless .err "$*"
}
log="$name/$name.log"
for file in "$log" "$name/$name.json" "$name/2$name.json"; do
  log_only=2 found=0 # a capture tells less, and needs no doctor
  [ "$file" != "$log" ] || log_only=0 found=1
  try 0 --llm --logfile "$file"
  no_markup .out "llm"
  try 0 analyze "$file" --color never
  try 0 analyze "$file" --no-json --color never
  try 2 explain "$file" # it holds no error message: the name is told
  try $log_only fit "$file"
  try 0 ask "$file" --op 1
  try 0 ask "$file" --range 1-9
  try 0 ask "$file" --at-peak
  try 0 ask "$file" --findings
  try 2 ask "$file" --tensor "$name"
  try $found doctor "$file"
  try 0 html "$file" -o -
  no_markup .out "html"
done
try 0 explain "$name TT_FATAL: Out of Memory: Not enough space to allocate 8192 B DRAM buffer across 12 banks $name"
# TT-Metal's own log, with operations and kernels of such names, and a buffer called so (40 bytes at most).
short=$'\e<b>alert(3)"`'
sed "s/reader_add_interleaved/$short/g; s/ttnn::full/$short/g" "$TTMEM_SOURCE/demo/metal_cb.log" >"$name/metal.log"
for form in "" --json --md --html; do
  try 0 graph "$name/2$name.json" $form
  [ "$form" != --html ] || no_markup .out graph
  try 0 cb scan "$name/source" $form
  [ "$form" != --html ] || no_markup .out "cb scan"
  try 0 cb log "$name/metal.log" $form
  grep -q 'alert(3)' .out || fail "cb log $form does not show the kernel at all"
  [ "$form" != --html ] || no_markup .out "cb log"
  try 0 cb simulate 16 24 --cb "$short=4" $form
  grep -q 'alert(3)' .out || fail "cb simulate $form does not show the buffer at all"
  [ "$form" != --html ] || no_markup .out "cb simulate"
done
for form in "" --json --md; do try 0 train --logs "$name/$name.train" $form; done
# What is not there, or not what it should be: the messages carry the name.
try 2 cb log "$log"
try 2 cb simulate 16 24 --cb "$name=4"
try 2 analyze "$name/nowhere.log"
try 2 html "$name"
try 2 html "$name/nowhere"
try 2 cb scan "$name/nowhere"
try 2 graph "$log"
try 2 train --logs "$log"
try 2 serve "$name/nowhere"
try 2 help "$name"
try 2 "$name"
try 2 --"$name"
try 2 live --once --board "$name"
try 2 cb simulate 16 24 --strategy "$name/$name.train"
# The JSON files of such a report can be read, and their names are tame.
find home/reports -type f >.names
harmless .names "names of report files"
find home/reports -name '*.json' -print0 | xargs -0 -n 1 python3 -c 'import json, sys; json.load(open(sys.argv[1]))' || fail "no JSON"
while IFS= read -r page; do no_markup "$page" "$page"; done < <(find home/reports -name '*.html')
# A pipe that somebody put where git keeps its files, above the log: nobody waits for its other end.
mkdir -p shared/.git shared/mine
mkfifo shared/.git/HEAD shared/.git/packed-refs
cp "$log" shared/mine/own.log
(cd shared/mine && timeout 60 "$TTMEM" analyze own.log -q --no-html) || fail "analyze waits for a pipe ($?)"
