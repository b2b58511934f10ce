#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ttmem cb simulate against addresses of real ttnn: graph captures among the samples, and fresh random programs where the lab is set up."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ttmem = os.environ.get("TTMEM", "build/bin/ttmem")
shared = pathlib.Path(os.environ.get("TTMEM_SHARED", "../shared"))
here = pathlib.Path(__file__).resolve().parent
lab = pathlib.Path(os.environ.get("LAB_DIR", pathlib.Path.home() / ".cache/ttmem-lab"))


def simulate(buffers, base, arch, tensors=()):
    """What the program says of buffers [(bytes, cores)] and tensors [bytes per core]."""
    words = [ttmem, "cb", "simulate", "1", "1", "--json", "--l1-base", str(base), "--arch", arch]
    for i, (size, cores) in enumerate(buffers):
        words += ["--cb", f"b{i}={size}B@{cores}"]
    for i, size in enumerate(tensors):
        words += ["--tensor", f"t{i}={size}"]
    answer = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    return answer["simulation"]["workloads"][0]["strategies"][-1]


def check(buffers, addresses, base, arch, tensors=(), error=None):
    got = simulate(buffers, base, arch, tensors)
    ours = [b["address"] for b in got["buffers"]]
    assert ours == addresses, (buffers, ours, addresses)
    wanted = "beyond_l1" if error and "beyond" in error else "clash" if error else "fits"
    assert got["fit"] == wanted, (buffers, tensors, got["fit"], error)


def captured_programs(path):
    """Each program's own buffers of a capture: [(bytes, cores)], [address]."""
    graph = json.load(open(path))
    nodes = graph if isinstance(graph, list) else graph["graph"]
    buffers, addresses = [], []
    for node in nodes:
        p = node["params"] or {}
        if node["node_type"] == "circular_buffer_deallocate_all" and buffers:
            yield buffers, addresses
            buffers, addresses = [], []
        if node["node_type"] == "circular_buffer_allocate" and p.get("globally_allocated") not in ("1", "true"):
            buffers.append((int(p["size"]), p["core_range_set"]))
            addresses.append(int(p["address"]))
    if buffers:
        yield buffers, addresses


def check_captures():
    n = 0
    samples = shared / "samples/metal"
    for path, base in [(samples / "graph_capture_concat_2024_strings.json", 107616)] + [
            (p, 105824) for p in sorted((samples / "ttnn-0.81.1").glob("*_normal.json"))]:
        for buffers, addresses in captured_programs(path):
            check(buffers, addresses, base, "wormhole")
            n += len(buffers)
    return n


def replay(path, arch):
    n, base, tensors, buffers, addresses = 0, 0, [], [], []
    for line in open(path):
        words = line.split()
        if line.startswith("#"):
            continue
        if words[0] == "base":
            base = int(words[1])
        elif words[0] == "tensor":
            tensors.append(int(words[1]))
        elif words[0] in ("runs", "error:"):
            check(buffers, addresses, base, arch, tensors, line if words[0] == "error:" else None)
            n, tensors, buffers, addresses = n + len(buffers), [], [], []
        else:
            ranges = ["[%s - %s]" % tuple(r.split(":")) for r in words[1].split("+")]
            buffers.append((int(words[0]), "{" + ", ".join(ranges) + "}"))
            addresses.append(int(words[2]))
    return n


def fresh():
    n = 0
    for board, arch, seed in (("n150", "wormhole", 101), ("p150", "blackhole", 102)):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "placements.txt"
            subprocess.run([shared / "lab/on-board", board, here / "real_placements.py", out, str(seed), "40"], check=True,
                           cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            n += replay(out, arch)
    return n


def fresh_dataflow():
    """Dataflow buffers follow the same rule: their end is in the clash message."""
    n = 0
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "dataflow.jsonl"
        subprocess.run([shared / "lab/on-board", "n150", here / "real_dataflow.py", out], check=True, cwd=folder,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for line in open(out):
            program = json.loads(line)
            got = simulate(program["buffers"], 105824, "wormhole")
            assert got["buffers_end"] == program["end"], (program, got["buffers_end"])
            n += len(program["buffers"])
    return n


n = sum(replay(here.parent / "data" / f"placement_{b}.txt", a) for b, a in (("n150", "wormhole"), ("p150", "blackhole")))
assert n > 800, n
print(f"{n} buffers of recorded programs at the addresses of ttnn")
if (shared / "samples/metal").is_dir():
    n = check_captures()
    assert n >= 14, n
    print(f"{n} buffers of graph captures at the addresses of ttnn")
else:
    print("no samples: captures skipped")
if (lab / "bin/python").exists():
    n = fresh()
    assert n > 200, n
    print(f"{n} buffers of fresh programs at the addresses of ttnn")
    n = fresh_dataflow()
    assert n > 10, n
    print(f"{n} dataflow buffers end where ttnn says")
else:
    print(f"no lab in {lab}: fresh programs skipped")
sys.exit(0)
