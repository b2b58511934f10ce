# SPDX-License-Identifier: Apache-2.0
"""The rows of make bench about graph captures: a generated one of 300 MB, against yyjson's own reading of it."""
import os
import shutil
import subprocess
import sys
import tarfile

from table import ROOT, TTMEM, WORK, Run, kept_file, measure, row

YYJSON = "4.0.6"  # of the PyPI archive that carries yyjson.c
READ = r"""
#include <stdio.h>
#include "yyjson.h"
int main(int argc, char **argv) { return argc != 2 || !yyjson_read_file(argv[1], 0, NULL, NULL); }
"""


def yyjson_program(work):
    """A program that does nothing but read a file with yyjson; None when yyjson cannot be had."""
    folder = os.path.join(work, "yyjson")
    program = os.path.join(folder, "yyjson_read")
    if os.access(program, os.X_OK):
        return program
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "read.c"), "w") as file:
        file.write(READ)
    cc = os.environ.get("CC", "cc")
    if subprocess.run([cc, "-O2", "read.c", "-lyyjson", "-o", program], cwd=folder, capture_output=True).returncode == 0:
        return program
    got = subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", "yyjson", f"yyjson=={YYJSON}"],
                         cwd=folder, capture_output=True)
    archive = os.path.join(folder, f"yyjson-{YYJSON}.tar.gz")
    if got.returncode or not os.path.exists(archive):
        return None
    with tarfile.open(archive) as tar:
        for name in ("yyjson.c", "yyjson.h"):
            with tar.extractfile(f"yyjson-{YYJSON}/yyjson/{name}") as source, open(os.path.join(folder, name), "wb") as target:
                shutil.copyfileobj(source, target)
    built = subprocess.run([cc, "-O2", "-I.", "read.c", "yyjson.c", "-o", program], cwd=folder, capture_output=True)
    return program if built.returncode == 0 else None


def rows(rounds):
    generator = os.path.join(ROOT, "build", "release", "bench", "gen_capture")
    path = kept_file("capture.json", [generator, str(300 << 20)], generator)
    ours = Run(TTMEM, "graph", "--md", path)
    program = yyjson_program(WORK)
    if not program:
        measure(rounds, ours)
        print("| `ttmem graph` / yyjson on a 300 MB capture | left out: yyjson could not be brought | | |")
    else:
        theirs = Run(program, path)
        measure(rounds, ours, theirs)
        ratio = theirs.seconds / ours.seconds
        row("speed of `ttmem graph` on a 300 MB capture, all of the report / yyjson only reading it", f"{ratio:.2f}", ">= 1", ratio >= 1)
    row("peak RSS of `ttmem graph` on it", f"{ours.rss / 1e6:.1f} MB", "<= 96 MB", ours.rss <= 96e6)
