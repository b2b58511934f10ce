# SPDX-License-Identifier: Apache-2.0
"""What the parts of make bench share: where things are, a measured run, a file made once, a row of the table."""
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WORK = os.path.join(ROOT, "build", "bench")
TTMEM = os.environ.get("TTMEM", os.path.join(ROOT, "build", "bin", "ttmem"))
GEN_LOG = os.environ.get("GEN_LOG", os.path.join(ROOT, "build", "release", "bench", "gen_log"))
MEASURE = os.path.join(ROOT, "build", "release", "bench", "measure")
READ_LOG = os.path.join(ROOT, "build", "release", "bench", "read_log")
# The old tool knows no TTMEM_HOME: its reports go below HOME.
ENV = dict(os.environ, LC_ALL="C", TTMEM_HOME=os.path.join(WORK, "home"), HOME=os.path.join(WORK, "home"))


class Run:
    """The best of several runs of one command: least seconds, largest resident set."""

    def __init__(self, *command):
        self.command = command
        self.seconds = float("inf")
        self.rss = 0

    def once(self):
        errors, result = os.path.join(WORK, "stderr"), os.path.join(WORK, "measured")
        with open(errors, "wb") as err:
            done = subprocess.run([MEASURE, result, *self.command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err,
                                  env=ENV)
        if done.returncode != 0:
            with open(errors, errors="replace") as err:
                sys.exit(f"bench: {' '.join(self.command)}: exit {done.returncode}\n{err.read()[-2000:]}")
        with open(result) as file:
            seconds, rss = file.read().split()
        self.seconds = min(self.seconds, float(seconds))
        self.rss = max(self.rss, int(rss))


def measure(rounds, *runs):
    """Round by round rather than one after the other, so that a noisy minute does not fall on one command alone."""
    for _ in range(rounds):
        for run in runs:
            run.once()


def kept_file(name, command, *inputs):
    """What a command prints, kept for the next bench run unless the command or a file it comes from has changed since. Under its name
    stands only what was made to the end."""
    path, partial = os.path.join(WORK, name), os.path.join(WORK, name + ".partial")
    stamp = " ".join([*command, *(f"{os.stat(file).st_mtime_ns}" for file in inputs)])
    try:
        with open(path + ".made-by") as file:
            if file.read() == stamp and os.path.exists(path):
                return path
    except OSError:
        pass
    print(f"making {os.path.relpath(path, ROOT)} ...", file=sys.stderr)
    with open(partial, "wb") as out:
        subprocess.run(command, stdout=out, check=True)
        os.fsync(out.fileno())  # or the disk would still be at it while others are measured
    os.replace(partial, path)
    with open(path + ".made-by", "w") as file:
        file.write(stamp)
    return path


def row(what, value, goal, met):
    print(f"| {what} | {value} | {goal} | {'yes' if met else '**no**'} |", flush=True)


def ratio_row(what, run, base, goal):
    ratio = run.seconds / base.seconds
    row(what, f"{ratio:.2f}", f"<= {goal}", ratio <= goal)
