#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make bench: how long ttmem takes, as ratios to `wc -l` on the same warm file, as a markdown table.

Ratios and not seconds, because they travel from machine to machine. Nothing here asserts a time: a missed goal is printed, and
the exit code is 1 only when a program could not be run.
usage: bench/run.py [--bytes N] [--rounds N] [--operations N]
Environment: GEN_LOG, TTMEM: other programs than those of the release build; TTMEM_OLD_TOOL: the `ttmem` of the Python tool before
this one, to be measured beside it (once, on a tenth of the log: it takes its time).
"""
import argparse
import os
import shutil
import subprocess
import sys

import captures
import live
import recorder
from table import ENV, GEN_LOG, MEASURE, READ_LOG, TTMEM, WORK, Run, kept_file, measure, ratio_row, row

OLD_TOOL = os.environ.get("TTMEM_OLD_TOOL")


def log_file(name, *options):
    return kept_file(name, [GEN_LOG, *options, "--out", "-"], GEN_LOG)


def warm(path):
    """Into the page cache, and how many operations it holds."""
    found = subprocess.run(["grep", "-acF", "Executing operation:", path], stdout=subprocess.PIPE, env=ENV)
    return int(found.stdout)


def distinct_operations(path):
    seen = set()
    with open(path, "rb") as file:
        for line in file:
            mark = line.find(b"Executing operation:")
            if mark >= 0:
                seen.add(hash(line[mark:]))
    return len(seen)


def llm(path, threads):
    return Run(TTMEM, "--llm", "--logfile", path, "-o", os.path.join(WORK, "report.md"), "--threads", str(threads))


def analyze(path):
    out = os.path.join(WORK, "out")
    shutil.rmtree(out, ignore_errors=True)
    return Run(TTMEM, "analyze", path, "--output-dir", out, "--threads", "2", "--quiet")


def packed_file(name, command, large):
    packed = kept_file(name, [*command, large], large)
    with open(packed, "rb") as file:  # into the page cache
        while file.read(1 << 20):
            pass
    return packed


def zstd_rows(large, rounds):
    if not shutil.which("zstd"):
        print("bench: zstd is not installed, the rows of compressed input are left out", file=sys.stderr)
        return
    one = packed_file("large.log.zst", ["zstd", "-q", "-3", "-c"], large)
    many = packed_file("frames.log.zst", ["split", "-b", "8M", "--filter", "zstd -q -3 -c"], large)  # as pzstd packs
    pipe, alone, ours = Run("sh", "-c", 'zstd -dc "$0" | wc -l', one), Run("zstd", "-tq", one), llm(one, 2)
    frames_alone, frames = Run("zstd", "-tq", many), llm(many, 2)
    measure(rounds, pipe, alone, ours, frames_alone, frames)
    ratio_row("`ttmem --llm` of the log as .zst / `zstd -dc FILE \\| wc -l`", ours, pipe, 1.5)
    ratio_row("the same / `zstd -t FILE`, which only decompresses", ours, alone, 1.0)
    ratio_row("the same of frames of 8 MB", frames, frames_alone, 1.0)


def other_row(bytes, rounds):
    """Lines that are neither operation nor memory: loguru, tt-metal, Python."""
    other = log_file("other.log", "--bytes", str(bytes), "--seed", "5", "--noise", "980")
    warm(other)
    wc, ours = Run("wc", "-l", other), llm(other, 1)
    measure(rounds, wc, ours)
    ratio_row("of 100 lines 98 are of other writers: `ttmem --llm --threads 1` / `wc -l`", ours, wc, 3)


def stored_row(large, rounds):
    """The report goes where reports are kept, and away again: it must answer in no other row."""
    measure(1, Run(TTMEM, "analyze", large, "--quiet"))
    stored = llm(large, 1)
    measure(rounds, stored)
    shutil.rmtree(os.path.join(ENV["TTMEM_HOME"], "reports"))
    row("`ttmem --llm` of the log once its report is stored", f"{stored.seconds * 1e3:.1f} ms", "<= 20 ms", stored.seconds <= 0.02)


def module_file(name, operations):
    """The module of a program of so many operations, out of its log."""
    log = log_file(name + ".log", "--operations", str(operations), "--seed", "3", "--one-run", "--modules", "--kind", "ops", "--ansi", "never")
    return kept_file(name, ["sed", "-n", "/MLIR Module ttnn_runtime:/,/END OF MLIR/{//!p}", log], log)


def predict_rows(rounds):
    operations = 100000
    small, large = (Run(TTMEM, "predict", module_file(f"module{n}.mlir", n * operations), "--board", "n150") for n in (1, 2))
    measure(rounds, small, large)
    row(f"`ttmem predict` of a module of {operations} operations", f"{small.seconds:.2f} s", "< 1 s", small.seconds < 1)
    row("time for twice the module", f"{large.seconds / small.seconds:.2f}", "<= 2.2", large.seconds <= 2.2 * small.seconds)


def start_row(rounds):
    start = Run(TTMEM, "--help")
    measure(4 * rounds, start)
    row("start-up: `ttmem --help`", f"{start.seconds * 1e3:.1f} ms", "< 5 ms", start.seconds < 0.005)


def old_tool_row(path, ours):
    """One run: it is slower by so much that noise does not matter."""
    if not OLD_TOOL:
        return
    old = Run(OLD_TOOL, "--llm", "--logfile", path, "-o", os.path.join(WORK, "old.md"))
    measure(1, old)
    row(f"the Python tool's `ttmem --llm` / ours on one thread, {os.path.getsize(path) / 1e6:.0f} MB of log", f"{old.seconds / ours.seconds:.0f}",
        "> 1", old.seconds > ours.seconds)
    row("its peak RSS / ours", f"{old.rss / ours.rss:.1f}", "> 1", old.rss > ours.rss)


def rss_row(what, run, operations):
    limit = 64e6 + 64 * operations
    row(f"peak RSS of {what}", f"{run.rss / 1e6:.1f} MB", f"<= {limit / 1e6:.1f} MB (64 MB + 64 B per operation)", run.rss <= limit)


def cpu_name():
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return "unknown processor"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bytes", type=int, default=1 << 30, help="size of the large log (default 1 GiB)")
    parser.add_argument("--rounds", type=int, default=15, help="runs of each command, in turn; the best counts, so that a busy host does not")
    parser.add_argument("--operations", type=int, default=200000, help="operations in the logs where nothing, or something, is freed")
    args = parser.parse_args()
    for program in (TTMEM, GEN_LOG, MEASURE, READ_LOG):
        if not os.access(program, os.X_OK):
            sys.exit(f"bench: {program} is not there; run `make` first")
    os.makedirs(WORK, exist_ok=True)

    large = log_file("large.log", "--bytes", str(args.bytes), "--seed", "1")
    tenth = log_file("tenth.log", "--bytes", str(args.bytes // 10), "--seed", "1")
    freed = log_file("freed.log", "--operations", str(args.operations), "--seed", "2", "--one-run")
    kept = log_file("kept.log", "--operations", str(args.operations), "--seed", "2", "--no-free")
    fewer = log_file("fewer.log", "--operations", str(args.operations // 10), "--seed", "2", "--no-free")

    operations = warm(large)
    size = os.path.getsize(large)
    print(f"{cpu_name()}, {os.cpu_count()} cores; {size / 2**30:.2f} GiB of log, {operations} operations, page cache warm, "
          f"best of {args.rounds}\n")
    print("| what | measured | goal | met |\n|---|---|---|---|")

    wc = Run("wc", "-l", large)
    one, two, full = llm(large, 1), llm(large, 2), analyze(large)
    read, judged = Run(READ_LOG, large), Run(READ_LOG, "--analyze", large)
    measure(args.rounds, wc, one, two, full, read, judged)
    row("`wc -l`", f"{wc.seconds:.3f} s, {size / wc.seconds / 1e9:.1f} GB/s", "the measure", True)
    ratio_row("`ttmem --llm --threads 1` / `wc -l`", one, wc, 1.6)
    ratio_row("`ttmem --llm --threads 2` / `wc -l`", two, wc, 1.0)
    ratio_row("`ttmem analyze --threads 2`, all JSON and HTML / `wc -l`", full, wc, 4)
    ratio_row("reading and all analyses / reading alone, one thread", judged, read, 1.5)
    rss_row("`--llm --threads 1`", one, operations)
    rss_row("`--llm --threads 2`", two, operations)
    rss_row("`analyze`", full, operations)

    warm(tenth)
    small = llm(tenth, 1)
    measure(args.rounds, small)
    # The generator ends on a whole operation, so "ten times" is a little off: scaled to exactly ten.
    growth = one.seconds / small.seconds * 10 / (size / os.path.getsize(tenth))
    row("time for ten times the log (`--llm --threads 1`)", f"{growth:.2f}", "<= 10.5", growth <= 10.5)
    other_row(args.bytes // 4, args.rounds)
    stored_row(large, args.rounds)
    zstd_rows(large, args.rounds)
    start_row(args.rounds)
    old_tool_row(tenth, small)

    # The live set grows tenfold and everything else stays alike: this row alone shows whether cost depends on what is alive.
    fewer_count, kept_count = warm(fewer), warm(kept)
    few, many = llm(fewer, 1), llm(kept, 1)
    measure(args.rounds, few, many)
    growth = (many.seconds / kept_count) / (few.seconds / fewer_count)
    row(f"nothing freed: cost per operation with {kept_count} operations / with {fewer_count}", f"{growth:.2f}", "about 1 (<= 1.2)",
        growth <= 1.2)

    # The same program with its deallocations: half of its lines free something and are shorter, so a byte of log is the fair unit.
    warm(freed)
    for what, make in (("`--llm --threads 1`", lambda path: llm(path, 1)), ("`analyze`", analyze)):
        frees, never = make(freed), make(kept)
        measure(args.rounds, frees, never)
        ratio = (never.seconds / os.path.getsize(kept)) / (frees.seconds / os.path.getsize(freed))
        row(f"{kept_count} operations, nothing freed / the same program freeing, per byte, {what}", f"{ratio:.2f}", "about 1 (<= 1.2)",
            ratio <= 1.2)
    predict_rows(args.rounds)
    captures.rows(args.rounds)
    live.rows()
    recorder.rows(min(args.rounds, 5))
    print(f"\n{distinct_operations(kept)} of the {kept_count} operation lines in the rows about freeing are distinct (one run of one program); "
          f"of the large log's {operations} only {distinct_operations(large)} are, as in any log of repeated runs. A distinct line is parsed, "
          "a repeated one only hashed.")


if __name__ == "__main__":
    main()
