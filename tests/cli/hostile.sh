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

tries=0
try() {
  local got=0
  "$TTMEM" "$@" >.out 2>.err </dev/null || got=$?
  [ "$got" -le 2 ] || fail "exit $got: $*"
  harmless .out "$*"
  harmless .err "$*"
  tries=$((tries + 1))
}
log="$name/$name.log"
for file in "$log" "$name/$name.json" "$name/2$name.json"; do
  try --llm --logfile "$file"
  no_markup .out "llm"
  try analyze "$file" --color never
  try analyze "$file" --no-json --color never
  try explain "$file"
  try fit "$file"
  try ask "$file" --op 1
  try ask "$file" --range 1-9
  try ask "$file" --at-peak
  try ask "$file" --tensor "$name"
  try doctor "$file"
  try html "$file" -o -
  no_markup .out "html"
done
try explain "$name TT_FATAL: Out of Memory: Not enough space to allocate 8192 B DRAM buffer across 12 banks $name"
for form in "" --json --md --html; do
  try graph "$name/2$name.json" $form
  [ "$form" != --html ] || no_markup .out graph
  try cb scan "$name/source" $form
  [ "$form" != --html ] || no_markup .out "cb scan"
  try cb log "$log" $form
  [ "$form" != --html ] || no_markup .out "cb log"
  try cb simulate 16 24 --cb "$name=4" $form
done
for form in "" --json --md; do try train --logs "$name/$name.train" $form; done
# What is not there, or not what it should be: the messages carry the name.
try analyze "$name/nowhere.log"
try html "$name"
try html "$name/nowhere"
try cb scan "$name/nowhere"
try graph "$log"
try train --logs "$log"
try serve "$name/nowhere"
try help "$name"
try "$name"
try --"$name"
try live --once --board "$name"
try cb simulate 16 24 --strategy "$name/$name.train"
# The JSON files of such a report can be read, and their names are tame.
find home/reports -type f >.names
harmless .names "names of report files"
find home/reports -name '*.json' -print0 | xargs -0 -n 1 python3 -c 'import json, sys; json.load(open(sys.argv[1]))' || fail "no JSON"
while IFS= read -r page; do no_markup "$page" "$page"; done < <(find home/reports -name '*.html')
[ "$tries" -ge 60 ] || fail "only $tries commands were tried"
