#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ttmem cb simulate: the guide's example, clashes, custom strategies, every form of output, and what is refused.
. "$(dirname "$0")/lib.bash"

cat >deep.txt <<'END'
# everything that is needed, two tiles for what streams
strategy deep
let pair = 2
cb0 = pair      streams tiles_per_shard
cb1 = r_tiles   needs r_tiles  dtype bfloat16
cb16 = pair     streams tiles_per_shard
END
printf 'strategy <b>|`x`\ncb0 = 1 streams 4\ncb40 = 0\n' >odd.txt
printf 'cb0 = tilez\n' >wrong.txt

show ttmem cb simulate 16 16
show ttmem cb simulate 64 64 --arch blackhole --version 0.78 --dtype bfloat16 --strategy deep.txt
show ttmem cb simulate 8 8 --tensor x=1300000 --tensor y=32768 --l1-small 16384 --cb cb0=20/20 --cb cb1=300000B@0-0:3-3 --cb cb2=4@0-0:7-7
show ttmem cb simulate 8 8 --strategy odd.txt --md
show ttmem cb simulate 16 16 --json
show ttmem cb simulate 4 4 --cb cb0=500 --arch grayskull
LC_ALL=C show ttmem cb simulate 4 4 --l1-base 200000 --kernel-bytes 80000

note what is refused
show ttmem cb
show ttmem cb simulat 1 1
show ttmem cb --help
show ttmem cb simulate
show ttmem cb simulate 16
show ttmem cb simulate 0 16
show ttmem cb simulate 16 sixteen
show ttmem cb simulate 1 1 1
show ttmem cb simulate 1 1 --json --md
show ttmem cb simulate 1 1 --cb cb0
show ttmem cb simulate 1 1 --tensor x=1k
show ttmem cb simulate 1 1 --dtype float12
show ttmem cb simulate 1 1 --version 0.1
show ttmem cb simulate 1 1 --l1-base 2000000
show ttmem cb simulate 1 1 --l1-base many
show ttmem cb simulate 1 1 --strategy wrong.txt
show ttmem cb simulate 1 1 --strategy missing.txt
same_transcript

"$TTMEM" cb simulate 8 8 --tensor x=1300000 --cb cb0=40 --svg -o clash.svg
same clash.svg cb_clash.svg
"$TTMEM" cb simulate 16 16 --strategy odd.txt --html >page.html
same page.html cb_simulate.html
python3 - clash.svg page.html <<'END'
import json, subprocess, sys, xml.dom.minidom, html.parser
xml.dom.minidom.parse(sys.argv[1])
page = open(sys.argv[2], encoding="utf-8").read()
html.parser.HTMLParser().feed(page)
assert "<b>" not in page and "http://" not in page.replace('xmlns="http://www.w3.org/2000/svg"', ""), "not self-contained"
END
"$TTMEM" cb simulate 16 16 --json | python3 -c '
import json, sys
d = json.load(sys.stdin)
fixed, adaptive = d["simulation"]["workloads"][0]["strategies"]
assert fixed["miss_rate_pct"] == 75.0 and fixed["buffer_bytes"] == 65536 and adaptive["miss_rate_pct"] == 62.5
assert d["simulation"]["machine"]["base"] + fixed["buffer_bytes"] == fixed["buffers_end"]'
