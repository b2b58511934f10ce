#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ttmem fit against real ttnn: the same allocations on five boards give the same verdicts. Programs are recorded on a p150, in the runtime's own
format; some just fit a board and some just do not. Runs where the lab is set up (shared/lab/setup), and says so when it skips."""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

import lab

HERE = os.path.dirname(os.path.abspath(__file__))
TTMEM = os.environ["TTMEM"]
RECORDED = "p150"
BOARDS = ["n150", "n300", "galaxy", "p100", "p150"]
TILE = {"bf16": 2048, "f32": 4096, "bfp_bf8": 1088}
BANK = {"n150": (12, 1072693184), "p100": (7, 4277141376), "p150": (8, 4277141376)}


def per_bank(shape, dtype, banks):
    tiles = -(-shape[-1] // 32) * -(-shape[-2] // 32)
    for dim in shape[:-2]:
        tiles *= dim
    return -(-tiles // banks) * TILE[dtype]


def random_program(seed, board, share):
    """Allocations and frees whose highest level is about `share` of a board's bank."""
    rng = random.Random(seed)
    banks, size = BANK[board]
    live, events, level, number = {}, [], 0, 0
    while level < share * size and number < 400:
        if live and rng.random() < 0.3:
            name = rng.choice(sorted(live))
            level -= live.pop(name)
            events.append(["free", name])
            continue
        dtype = rng.choice(sorted(TILE))
        shape = [1, rng.choice([1, 2, 8]), rng.choice([32, 100, 4096, 8192]), rng.choice([64, 4096, 14336, 32768])]
        cost = per_bank(shape, dtype, banks)
        left = share * size - level
        if cost > left:  # the last ones fill up exactly
            shape = [1, 1, 32, max(32, int(left / TILE["bf16"]) * banks * 32 // 32)]
            dtype = "bf16"
            cost = per_bank(shape, dtype, banks)
            if left < 3 * TILE["bf16"]:
                break
        name = f"t{number}"
        number += 1
        live[name] = cost
        level += cost
        events.append(["alloc", name, shape, dtype])
    return events


def comb(board, block_share, ask_share):
    """Every other of many equal tensors freed, then one that only fits when the holes were one."""
    banks, size = BANK[board]
    rows = int(size * block_share / 2048) * 32
    count = int(0.97 / block_share)
    events = [["alloc", f"c{i}", [1, 1, rows, 32 * banks], "bf16"] for i in range(count)]
    events += [["free", f"c{i}"] for i in range(0, count, 2)]
    return events + [["alloc", "last", [1, 1, int(size * ask_share / 2048) * 32, 32 * banks], "bf16"]]


def type_text(shape, dtype):
    rows, columns = -(-shape[-2] // 32), -(-shape[-1] // 32)
    for dim in shape[:-2]:
        rows *= dim
    dims = "x".join(map(str, shape))
    scalar = "bf16" if dtype.startswith("bfp") else dtype
    return (f"tensor<{dims}x{scalar}, #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0, d1, d2, d3), <1x1>, "
            f"memref<{rows}x{columns}x!ttcore.tile<32x32, {dtype}>, #ttnn.buffer_type<dram>>, <interleaved>>>")


def block(state, op_type):
    mb = [f"{value / 2**20:.3f} MB" for value in state[1:]]
    view = ("MemoryView{numBanks: %d, totalBytesPerBank: %s, totalBytesAllocatedPerBank: %s, totalBytesFreePerBank: %s, "
            "largestContiguousBytesFreePerBank: %s}" % (state[0], *mb))
    zero = ("MemoryView{numBanks: 110, totalBytesPerBank: 1.393 MB, totalBytesAllocatedPerBank: 0.000 MB, totalBytesFreePerBank: 1.393 MB, "
            "largestContiguousBytesFreePerBank: 1.393 MB}")
    lines = [f"Device memory state before operation {op_type}", f"Device DRAM memory state: {view}", f"Device L1 memory state: {zero}",
             f"Device L1_SMALL memory state: {zero}", f"Device TRACE memory state: {zero}"]
    return "".join(f"                 Always |     INFO | {line}\n" for line in lines)


def write_log(path, events, states):
    types = {event[1]: type_text(event[2], event[3]) for event in events if event[0] == "alloc"}
    numbers = {event[1]: n for n, event in enumerate(events) if event[0] == "alloc"}
    with open(path, "w") as log:
        log.write("            RuntimeTTNN |    DEBUG | Starting execution of program: main\n")
        for event, state in zip(events, states):
            name = event[1]
            if event[0] == "alloc":
                text, kind = f'%{numbers[name]} = "ttnn.empty"() : () -> {types[name]} loc("{name}")', "EmptyOp"
            else:
                text, kind = f'"ttnn.deallocate"(%{numbers[name]}) <{{force = false}}> : ({types[name]}) -> () loc("{name}")', "DeallocateOp"
            log.write(f"            RuntimeTTNN |    DEBUG | Executing operation: {text}\n" + block(state, kind))
        log.write("            RuntimeTTNN |    DEBUG | Finished execution of program: main\n")


def verdicts(log):
    done = subprocess.run([TTMEM, "fit", log], capture_output=True, text=True, env=dict(os.environ, LC_ALL="C"))
    if done.returncode:
        sys.exit(f"FAIL: ttmem fit: {done.stderr}")
    return dict(re.findall(r"^(\w+) +(yes|no) ", done.stdout, re.M)), done.stdout


def main():
    lab.skip_unless_set_up()
    programs = [random_program(seed, board, share) for seed, (board, share) in enumerate(
        [("n150", 0.90), ("n150", 0.999), ("n150", 1.001), ("n150", 1.05), ("p100", 0.97), ("p100", 0.999), ("p100", 1.002), ("p100", 1.1)])]
    programs += [comb("n150", 0.02, 0.035), comb("n150", 0.02, 0.02), comb("p100", 0.03, 0.05), comb("p100", 0.03, 0.03)]
    with tempfile.TemporaryDirectory() as folder:
        source, results = os.path.join(folder, "programs.json"), {}
        with open(source, "w") as out:
            json.dump(programs, out)
        for board in BOARDS:
            out = os.path.join(folder, board + ".json")
            lab.on_board(board, os.path.join(HERE, "fit_program.py"), source, out, folder=folder)
            with open(out) as file:
                results[board] = json.load(file)
        wrong, seen = 0, {"yes": 0, "no": 0}
        for number, program in enumerate(programs):
            recorded = results[RECORDED][number]
            if recorded["refused"]:
                continue  # nothing to ask about: it does not even run where it was recorded
            log = os.path.join(folder, "program.log")
            write_log(log, program, recorded["states"])
            said, text = verdicts(log)
            for board in BOARDS:
                real = "no" if results[board][number]["refused"] else "yes"
                seen[real] += 1
                if said.get(board) != real:
                    wrong += 1
                    print(f"FAIL: program {number} on {board}: ttmem says {said.get(board)}, ttnn says {real} "
                          f"({results[board][number]['refused']})\n{text}")
        print(f"{seen['yes']} fit and {seen['no']} do not: {'all' if not wrong else 'not all'} as real ttnn has it")
        return 1 if wrong or min(seen.values()) < 5 else 0


sys.exit(main())
