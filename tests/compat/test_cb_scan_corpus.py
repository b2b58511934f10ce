# SPDX-License-Identifier: Apache-2.0
"""ttmem cb scan over a checkout of tt-metal, where there is one (TT_METAL_CHECKOUT): every buffer of the hand-counted files is found and
nothing else, most sizes of the examples become numbers, nothing crashes. docs/l1-scan.md has the figures."""
import json
import os
import subprocess
import sys

root = os.environ.get("TT_METAL_CHECKOUT", "")
ttmem, source = os.environ["TTMEM"], os.environ["TTMEM_SOURCE"]
if not os.path.isdir(os.path.join(root, "tt_metal/programming_examples")):
    print("skipped: set TT_METAL_CHECKOUT to a checkout of tt-metal")
    sys.exit(77)

run = subprocess.run([ttmem, "cb", "scan", "tt_metal/programming_examples", "ttnn/cpp/ttnn/operations", "--json"],
                     cwd=root, stdout=subprocess.PIPE, check=True)
scan = json.loads(run.stdout)["scan"]
forms = ["CircularBufferConfig", "create_cb", "CBDescriptor", "DataflowBuffer"]
found = {}
for program in scan["programs"]:
    for buffer in program["buffers"]:
        if buffer["created"]:
            found.setdefault(program["file"], set()).add((buffer["form"], buffer["line"]))

wanted_all = found_all = both = files = 0
for line in open(os.path.join(source, "tests/data/cb_scan_corpus.tsv"), encoding="utf-8"):
    if line.startswith("#"):
        continue
    path, *counts = line.rstrip("\n").split("\t")
    files += 1
    for form, count in zip(forms, map(int, counts), strict=True):
        have = sum(1 for f, _ in found.get(path, ()) if f == form)
        wanted_all += count
        found_all += have
        both += min(count, have)
        if have != count:
            print(f"{path}: {form}: {have} found, {count} counted")
examples = [b for p in scan["programs"] if p["file"].startswith("tt_metal/") for b in p["buffers"]]
known = sum(b["total_size"]["complete"] for b in examples)
print(f"{files} files, {wanted_all} buffers counted: precision {both / found_all:.3f}, recall {both / wanted_all:.3f}")
print(f"examples: {known} of {len(examples)} sizes known")
errors = [f for f in scan["findings"] if f["level"] == "error"]
assert files >= 40 and both == wanted_all == found_all
assert known >= 0.6 * len(examples)
assert not errors, errors  # released code has none of them
