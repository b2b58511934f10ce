#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make soak: inputs far larger than life, made on the way into a pipe, in bounded memory and in time that grows with the input
and no faster. Each case runs at a quarter of its size and at its size, through `analyze`, `--llm` and `export`. A case fails when ttmem does,
when it takes more memory of its own than 64 MB, 144 B per operation (with its deallocation) up to 128 MB, since tables beyond that lie on the disk, and what the case is given for texts that differ,
or when four times the input takes more than eight times the processor time. SOAK_SCALE=0.1 makes all of them smaller (default 1: the 20 GB log)."""
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

from table import GEN_LOG, TTMEM

SCALE = float(os.environ.get("SOAK_SCALE", "1"))
MB = 1 << 20
GROWTH = 8.0  # of processor time when the input is four times as large
LEAST_SECONDS = 0.5  # shorter runs say nothing about growth


def generated(options):
    return [GEN_LOG, "--seed", "1", "--out", "-"] + options


def written(function, size):
    """This file again, as the program at the other end of the pipe."""
    return [sys.executable, os.path.abspath(__file__), "--write", function, str(size)]


# ---- Inputs that gen_log does not make ----------------------------------------------------------------------------------

OPERATION = 'Executing operation: %%%d = "ttnn.add"(%s) : (tensor<32x32xbf16>) -> tensor<32x32xbf16> loc("add.%d")\n'
PREFIX = "            RuntimeTTNN |    DEBUG | "


def write_long_line(out, size):
    """An operation, a line without end, an operation with operands without end, an operation."""
    out.write(PREFIX + OPERATION % (1, "%a, %b", 1))
    for _ in range(size // MB):
        out.write("x" * MB)
    out.write("\n")
    out.write(PREFIX + OPERATION % (2, ", ".join(("%%arg%d" if i % 2 else "%%a%d") % i for i in range(size // 11)), 2))
    out.write(PREFIX + OPERATION % (3, "%a, %b", 3))


def write_module(out, size):
    """The dumps of one module in two dialects, a fourth of the lines each for arguments, types, operations and locations; then a run."""
    quarter = size // 4
    layout = "#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<%dx1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>"
    for dialect in ("ttir", "ttnn"):
        out.write("2026-06-19 09:25:00.001 (   0.001s) [        8C291140]      module_builder.cc:1279     1| MLIR Module %s:\n" % dialect)
        for i in range(quarter):
            out.write("#ttnn_layout%d = %s\n" % (i, layout % (i + 1)))
        out.write("module @SyncTensorsGraph.5 {\n  func.func @main(\n")
        for i in range(quarter):
            out.write('    %%arg%d: tensor<%dx32xbf16, #ttnn_layout%d> {ttcore.argument_type = #ttcore.argument_type<parameter>, ttir.name = '
                      '"model.w%d"} loc("p%d.1")%s\n' % (i, 32 * (i + 1), i, i, i, "," if i + 1 < quarter else ") -> tensor<32x32xbf16> {"))
        for i in range(quarter):
            out.write('    %%%d = "%s.add"(%%arg%d, %%arg0) : (tensor<32x32xbf16>, tensor<32x32xbf16>) -> tensor<32x32xbf16> loc(#loc%d)\n'
                      % (i, dialect, i, i))
        out.write("  }\n}\n")
        for i in range(quarter):
            out.write('#loc%d = loc("add.%d")\n' % (i, i))
        out.write("------------------ END OF MLIR MODULE ------------------\n")
    out.write(PREFIX + "Starting execution of program: main\n")
    for i in range(0, quarter, 10):
        out.write(PREFIX + OPERATION % (i, "%%arg%d, %%arg0" % i, i))
    out.write(PREFIX + "Finished execution of program: main\n")


def write_many_texts(out, size):
    """Operations of which no two are alike: nothing repeats that could be kept once."""
    for i in range(size):
        out.write(PREFIX + OPERATION % (i, "%%x%d, %%y%d" % (i, i), i))


def write_many_incidents(out, size):
    for i in range(size):
        out.write(PREFIX + OPERATION % (i, "%a, %b", i % 1000))
        out.write("TT_FATAL: Out of Memory: Not enough space to allocate %d B DRAM buffer across 12 banks, where each bank needs to "
                  "store %d B, but bank size is only 1073741792 B\n" % (12 * (i + 1) * 1024, (i + 1) * 1024))


def write_many_ranks(out, size):
    """Line by line another rank, more than any machine has: what a broken or hostile tag could look like."""
    for i in range(3 * size):
        out.write("[1,%d]<stdout>:" % (i % size) + PREFIX + OPERATION % (i // size, "%a, %b", i // size))


# ---- Cases: name, a command per size, the size, words for it, bytes that one of it may take (what differs is kept) ------------

SMALL = "--layers 1 --hidden 32 --vocab 64 --seq 32".split()
CASES = [
    ("a log of 20 GB", lambda n: generated(["--bytes", str(n)]), 20 << 30, "bytes", 0),
    ("5 million operations", lambda n: generated(["--kind", "ops", "--operations", str(n)]), 5000000, "operations", 0),
    ("operations all different", lambda n: written("many_texts", n), 1000000, "operations", 256),
    ("a module of 200,000 lines", lambda n: written("module", n), 200000, "lines", 512),
    ("a model of 10,000 layers", lambda n: generated(["--layers", str(n), "--runs", "1"]), 10000, "layers", 12288),
    ("a line of 50 MB", lambda n: written("long_line", n), 50 * MB, "bytes", 8),
    # The lines of a program are kept as text, since only the text tells them apart: so in the last number here, and of layers.
    ("10,000 programs", lambda n: generated(["--graphs", str(n), "--runs", str(2 * n), "--continue"] + SMALL), 10000, "programs", 49152),
    ("64 ranks", lambda n: generated(["--ranks", "64", "--bytes", str(n)]), 1 << 30, "bytes", 0),
    ("20,000 ranks", lambda n: written("many_ranks", n), 20000, "ranks", 4096),
    ("20,000 incidents", lambda n: written("many_incidents", n), 20000, "incidents", 1024),
]
# analyze first: it says how many operations there are, on which the bound of memory of both depends.
COMMANDS = {
    "analyze": lambda folder: ["analyze", "-", "--quiet", "--name", "soak", "--output-dir", folder],
    "llm": lambda folder: ["--llm", "--logfile", "-", "-o", folder + "/report.md"],
    "trace": lambda folder: ["export", "--perfetto", "-", "--quiet", "-o", folder + "/trace"],
    "tables": lambda folder: ["export", "--parquet", "-", "--quiet", "-o", folder + "/tables"],
}


def watch_own(process, peak):
    """Its own memory at most, until it ends. Pages of temporary files are the system's to take back, and there for as long as ttmem is not
    given the processor to let go of them."""
    try:
        while True:
            with open("/proc/%d/status" % process.pid) as f:
                peak[0] = max(peak[0], next(int(line.split()[1]) for line in f if line.startswith("RssAnon")) / 1024)
            time.sleep(0.005)
    except (OSError, StopIteration):  # it has ended
        pass


class Run:
    """ttmem at the end of the pipe: exit status, seconds of processor time, MB of its own and in all at most, operations where the report says them."""

    def __init__(self, producer, command):
        with tempfile.TemporaryDirectory(prefix="ttmem-soak-") as folder:
            source = subprocess.Popen(producer, stdout=subprocess.PIPE)
            reader = subprocess.Popen([TTMEM] + COMMANDS[command](folder), stdin=source.stdout, stderr=subprocess.PIPE)
            source.stdout.close()
            peak = [0.0]
            watch = threading.Thread(target=watch_own, args=(reader, peak))
            watch.start()
            message = reader.stderr.read().decode(errors="replace")
            _, self.status, usage = os.wait4(reader.pid, 0)
            if source.wait() != 0 and self.status == 0:
                sys.exit("soak: the generator failed: " + " ".join(producer))
            if self.status:
                print(message, file=sys.stderr)
            self.seconds = usage.ru_utime + usage.ru_stime
            watch.join()
            self.own, self.megabytes = peak[0], usage.ru_maxrss / 1024
            self.operations = None
            if command == "analyze" and self.status == 0:
                with open(folder + "/soak_findings.json", encoding="utf-8", errors="replace") as f:
                    self.operations = json.load(f)["operations"]["total"]


def main():
    failed = []
    wanted = sys.argv[1:]
    print("| input | command | size | CPU s | MB of its own | at most | MB with mapped files | CPU s at a quarter | growth |\n|---|---|---:|---:|---:|---:|---:|---:|---:|", flush=True)
    for name, producer, size, unit, each in CASES:
        if wanted and not any(word in name for word in wanted):
            continue
        size = int(size * SCALE)
        operations = 0
        for command in COMMANDS:
            small = Run(producer(size // 4), command)
            large = Run(producer(size), command)
            growth = large.seconds / small.seconds if small.seconds else 0
            operations = large.operations or operations
            limit = 64 + min(128, 144 * operations / MB) + each * size / MB
            print("| %s | %s | %d %s | %.1f | %.0f | %.0f | %.0f | %.1f | %.1f |" % (name, command, size, unit, large.seconds, large.own, limit,
                                                                                     large.megabytes, small.seconds, growth), flush=True)
            if large.status or small.status:
                failed.append("%s, %s: exit status" % (name, command))
            if large.seconds > LEAST_SECONDS and growth > GROWTH:
                failed.append("%s, %s: four times the input took %.1f times as long" % (name, command, growth))
            if large.own > limit:
                failed.append("%s, %s: %.0f MB of its own, more than %.0f" % (name, command, large.own, limit))
    for line in failed:
        print("soak: " + line, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        globals()["write_" + sys.argv[2]](sys.stdout, int(sys.argv[3]))
    else:
        sys.exit(main())
