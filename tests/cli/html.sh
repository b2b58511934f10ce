#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ttmem html and tt-memory-profiler --visualize: every way in and out. What the page shows is tested in tests/web.
. "$(dirname "$0")/lib.bash"

log=two_runs_oom_profile.log
whole() { # FILE: a page from its first to its last line
  head -c 15 "$1" | grep -q '^<!doctype html>' && tail -n 1 "$1" | grep -q '^</html>$' || fail "$1 is no whole page"
  [ "$(grep -c 'id="data.facts"' "$1")" = 1 ] || fail "$1: facts"
}

# A log: beside us, where -o says, to a pipe; the same bytes each time.
"$TTMEM" html $log --quiet
whole two-runs-oom_report.html
"$TTMEM" html $log -o page.html --quiet
"$TTMEM" html $log -o - >piped.html
"$TTMEM" html - --name two-runs-oom -o stdin.html --quiet <$log
cmp two-runs-oom_report.html page.html || fail "-o"
cmp page.html piped.html || fail "standard output"
whole stdin.html
"$TTMEM" html $log --name other -o named.html --quiet
grep -q '<title>other — memory report</title>' named.html || fail "--name"

# A folder of ours: its page is made anew with the data it has.
"$TTMEM" analyze $log --quiet --output-dir ours
cmp ours/two-runs-oom_report.html page.html || fail "analyze and html write different pages"
cp ours/two-runs-oom_report.html before.html
"$TTMEM" html ours --quiet
cmp ours/two-runs-oom_report.html before.html || fail "renewed page"
"$TT_MEMORY_PROFILER" --visualize ours --quiet
cmp ours/two-runs-oom_report.html before.html || fail "--visualize"
"$TTMEM" html ours/ -o elsewhere.html --quiet
cmp elsewhere.html before.html || fail "-o with a folder"

# A page that somebody changed: only what can be data comes over.
sed -e 's|<div id="app">|<div id="app"><img src=x onerror=alert(1)><script type="text/plain" id="data.x">"</script>|' -e 's|id="data.types"|id="data.types" onclick="x"|' before.html >ours/two-runs-oom_report.html
"$TTMEM" html ours -o clean.html --quiet
if grep -qE 'onerror=alert|onclick="x"|<img' clean.html; then fail "foreign markup in a renewed page"; fi

# Without a page the JSON files tell, with the findings made when the log was there.
"$TTMEM" analyze $log --quiet --output-dir json --no-html
[ ! -e json/two-runs-oom_report.html ] || fail "--no-html"
"$TTMEM" html json --quiet
whole json/two-runs-oom_report.html
python3 - json/two-runs-oom_report.html page.html json/two-runs-oom_findings.json <<'PY' || fail "the rebuilt page"
import base64, json, re, sys, zlib
def load(path):
    text = open(path, encoding="utf-8").read()
    return {m[1]: zlib.decompress(base64.b64decode(m[2])) for m in re.finditer(r'id="data\.([^"]+)">([^<]*)<', text)}
rebuilt, page = load(sys.argv[1]), load(sys.argv[2])
assert json.loads(rebuilt["facts"])["rebuilt"] == "kept"
assert "rebuilt" not in json.loads(page["facts"])
assert rebuilt["findings"] == open(sys.argv[3], "rb").read()
for same in ("op.text", "op.line", "texts", "labels", "labels.length"):
    assert rebuilt[same] == page[same], same
assert json.loads(rebuilt["facts"])["elements"] == json.loads(page["facts"])["elements"]
PY

# A folder of the Python tool: no findings, no lines.
mkdir old
cp "$TTMEM_SOURCE"/tests/golden/llama-tiny/tiny_{memory,operations,inputs_registry,ir}.json old
"$TT_MEMORY_PROFILER" --visualize old --quiet
whole old/tiny_report.html
rm old/tiny_report.html old/tiny_operations.json old/tiny_ir.json # the least a report can be
"$TTMEM" html old --quiet
whole old/tiny_report.html

# A folder of a captured run keeps its log: that is what counts.
mkdir run
cp $log run/model_profile.log
"$TTMEM" html run --quiet
whole run/model_report.html

mkdir empty
: >empty/notes.txt
mkdir broken
printf '{"operations": [' >broken/x_memory.json
printf 'not a page' >broken/y_report.html
show ttmem html
show ttmem html empty
show ttmem html broken
show ttmem html missing.log
show ttmem html $log -o $log
show ttmem html $log extra
show ttmem html $log --name org/model
"$TTMEM" html $log --name org/model -o titled.html --quiet
grep -q "<title>org/model — memory report</title>" titled.html || fail "a title may hold a slash"
show tt-memory-profiler --visualize ours --analyze $log
show tt-memory-profiler --visualize nowhere
"$TTMEM" html $log -o out.html | grep -qxE 'page: out.html \([0-9.]+ KB\)' || fail "what it says"
[ -z "$(find . -name '.ttmem*')" ] || fail "left behind: $(find . -name '.ttmem*')"
same_transcript
