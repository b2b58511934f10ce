#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What fixes may not say: cases in which real ttnn contradicted one. The logs are beside this tree and may be absent."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("TTMEM_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
SHARED = pathlib.Path(os.environ.get("TTMEM_SHARED", SOURCE.parent / "shared"))
TTMEM = os.path.abspath(os.environ.get("TTMEM", SOURCE / "build/bin/ttmem"))
ANSWERS = SHARED / "samples/answers"
PATIENCE = 120  # only bounds a hang
failures = []


def check(ok, *what):
    if not ok:
        failures.append(" ".join(str(w) for w in what))


def run(*words):
    done = subprocess.run([TTMEM, *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, timeout=PATIENCE, check=False)
    return done.stdout


def findings(log):
    return json.loads(run("analyze", "--json", log))


def message(needed, free, largest, bank=1072693184):
    return "Out of Memory: Not enough space to allocate %d B DRAM buffer across 12 banks, where each bank needs to store %d B, but bank size is %d B (allocated: %d B, free: %d B, largest free block: %d B)." % (12 * needed, needed, bank, bank - free, free, largest)


def free_one_block():
    """One block is needed: so much free anywhere else is not enough."""
    for needed, free, largest in ((83886080, 45088704, 45088704), (83886080, 60000000, 40000000)):
        text = " ".join(run("explain", message(needed, free, largest)).split())
        said = re.search(r"Free ([\d.]+) MB per bank beside the largest free block", text)
        check(said and abs(float(said[1]) - (needed - largest) / 2**20) < 0.01, text)
        check("of other tensors first" not in text, text)


def tables_stay_bf16():
    """ttnn.embedding converts a table of another form inside: 127.9 MB per bank as bfp8, 83.5 as bf16 rows."""
    found = findings(SOURCE / "demo/llama_small.log.zst")
    fix = next(f for f in found["fixes"] if f["kind"] == "weights_dtype")
    check('"model.lm_head.weight": "bfp_bf8"' in fix["paste"] and "embed" not in fix["paste"] + fix["text"], fix)
    check("norm" not in fix["paste"], fix)
    whole, but = (run("verify", SOURCE / "demo/llama_small.log.zst", "--change", "dtype=bfp8:weights" + more) for more in ("", ",!*embed*"))
    check(whole and whole == but.replace(",!*embed*", ""), whole, but)


def weights_are_not_freed():
    """A model that dies while its layers are made (tests/data: classes with weights and caches, on a mock n150): what it has brought is still to
    be used, though nothing shows it, and layers are no iterations."""
    found = findings(SOURCE / "tests/data/recording_layers.json.zst")
    check(found["incidents"][0]["kind"] == "oom", found["incidents"])
    check(not [f for f in found["fixes"] if f["kind"] in ("free_earlier", "stop_leak", "preallocate")], found["fixes"])
    check(not [s for s in found["statements"] if s["id"].startswith("growth") and s["id"] != "growth.none"], "growth")
    check("late.free" not in [s["id"] for s in found["statements"]], "late frees")


def caches_shrink():
    """Llama-3.1-8B with 131,072 tokens dies on an n150 while its layers are made: one tensor less is no help, the caches of all layers are. With half of the tokens
    64 caches (32 layers) have room, which is what the model has."""
    found = findings(SOURCE / "demo/llama_8b_n150.json.zst")
    kinds = [f["kind"] for f in found["fixes"]]
    check(kinds == ["cache", "mesh", "board"], kinds)
    fix = found["fixes"][0]
    check(fix["count"] == 2 and fix["bytes"] == 297105600, fix)
    check("Attention.layer_past ×50 with 2,048 blocks of 32 tokens instead of 4,096" in fix["text"], fix)
    check("room for about 72 of them" in fix["text"], fix)
    verified = json.loads(run("verify", "--json", SOURCE / "demo/llama_8b_n150.json.zst", "--change", fix["change"]))
    check(str(fix["peak_after_per_bank_B"]) in json.dumps(verified), fix)
    with tempfile.TemporaryDirectory() as folder:  # a report of ttnn-visualizer has no names; that several lines bring what stays tells a model that is loaded
        run("export", "--visualizer", folder + "/out", SOURCE / "demo/llama_8b_n150.json.zst")
        said = [s["id"] for s in findings(folder + "/out")["statements"]]
        check("oom.insufficient" in said and not [s for s in said if s.startswith("growth") and s != "growth.none"], said)


def samples():
    if not ANSWERS.is_dir():
        print("skipped: %s is absent" % ANSWERS)
        return
    fix = next(f for f in findings(ANSWERS / "F4/h1.log")["fixes"] if f["kind"] == "reshape")
    check(fix["bytes"] == 15.5 * 2**20, "F4", fix)
    for name in ("f2_3.log", "f2_6.log"):
        found = findings(ANSWERS / "F3" / name)
        failed = found["incidents"][0]["operation"]["index"]  # takes the result of the operation before it
        check(all(f.get("operation") != failed - 1 for f in found["fixes"]), "F3", name, found["fixes"])


free_one_block()
tables_stay_bf16()
weights_are_not_freed()
caches_shrink()
samples()
for failure in failures:
    print("FAIL:", failure)
sys.exit(bool(failures))
