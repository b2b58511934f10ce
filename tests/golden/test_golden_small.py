#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""All JSON files of small.log, byte for byte: a nested const-eval program, bfp8, a multi-result operation, shards, a
scalar, a retained tensor, an out-of-memory end and a cut last line. `make golden-update` rewrites expected/;
what a person checked in there stands in FACTS, which an update cannot change."""
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
EXPECTED = os.path.join(HERE, "expected")
SUFFIXES = ("memory", "operations", "inputs_registry", "ir", "findings")

# (file, where, value), each worked out by hand from the log.
FACTS = (
    ("findings", "input.truncated", True),
    ("findings", "input.blocks", 14),
    ("findings", "peak.DRAM.allocated_per_bank_MB", 0.133),
    ("findings", "peak.DRAM.line", 62),  # printed before a deallocation
    ("findings", "peak.DRAM.caused_by.line", 54),
    ("findings", "peak.DRAM.in_operation_peak.allocated_per_bank_B", 561000000),
    ("findings", "incidents.0.copies", 2),
    ("findings", "incidents.0.verdict", "exhausted"),
    ("findings", "incidents.0.shortfall_per_bank_B", 512000000 - 509773152),
    ("findings", "incidents.0.operation.loc", "repeat.0"),
    ("findings", "diagnostics.notes.0.line", 118),
    ("memory", "operations.2.unpadded_memory.DRAM.padded_bytes", 256 * 512 * 2 + 8 * 16 * 1088),
    ("memory", "operations.6.unpadded_memory.DRAM.num_tensors", 4),  # cached weight, %2, %3#1, %5
    ("memory", "operations.7.effect_MB", None),
    ("operations", "0.output_layout_info.bytes_per_bank", 11 * 1088),
    ("operations", "4.results", 2),
    ("operations", "4.attributes", "sizes = {a = 128 : i32, b = [1, 2]}"),
    ("operations", "5.output_layout_info.padded_bytes", 1 * 2 * 2048 * (1 * 2)),
    ("operations", "6.output_shapes", [None]),
    ("operations", "3.loc", 'x|é"q"'),
    ("inputs_registry", "entries.1.name", 'args_0, "x"'),
    ("inputs_registry", "metadata.total_weight_bytes", 256 * 512 * 2 + 4),
    ("ir", "ttnn.loc_index", {"fc.0": 4, "p0.1": 3, "p1.2": 3, "p2.3": 3}),
)


def look_up(value, where):
    for part in where.split("."):
        if isinstance(value, list):
            value = value[int(part)]
        else:  # location names hold dots themselves, but none is looked up
            value = value[part]
    return value


def check_bytes(folder):
    for suffix in SUFFIXES:
        got = open(os.path.join(folder, f"small_{suffix}.json"), "rb").read()
        got = re.sub(rb'("fingerprint":"\d+)-\d+-', rb"\1-0-", got)  # the file's time is that of the checkout
        path = os.path.join(EXPECTED, f"small_{suffix}.json")
        if os.environ.get("TTMEM_UPDATE_GOLDEN") == "1":
            os.makedirs(EXPECTED, exist_ok=True)
            with open(path, "wb") as file:
                file.write(got)
        want = open(path, "rb").read()
        if got == want:
            continue
        at = next((i for i, (a, b) in enumerate(zip(want, got)) if a != b), min(len(want), len(got)))
        yield (f"small_{suffix}.json differs at byte {at} (make golden-update when that is meant):\n"
               f"  want ...{want[max(0, at - 60):at + 60]!r}\n  got  ...{got[max(0, at - 60):at + 60]!r}")


def check_facts(folder):
    files = {s: json.load(open(os.path.join(folder, f"small_{s}.json"), encoding="utf-8")) for s in SUFFIXES}
    for suffix, where, want in FACTS:
        got = look_up(files[suffix], where)
        if got != want:
            yield f"{suffix} {where}: want {want!r}, got {got!r}"


def main():
    with tempfile.TemporaryDirectory() as folder:
        # From its own folder, so that the path inside the report is the same everywhere.
        command = [os.environ["TTMEM"], "analyze", "small.log", "--output-dir", folder, "--name", "small", "--quiet"]
        subprocess.run(command, check=True, cwd=HERE)
        problems = list(check_facts(folder)) + list(check_bytes(folder))
    print("\n".join(problems) or f"{len(SUFFIXES)} files as expected, {len(FACTS)} facts hold")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
