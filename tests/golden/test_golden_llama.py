#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Our JSON files against those the Python tool wrote for the same log (llama-tiny): every key of every element.

Where the old value is wrong, a correction below replaces it by the right one, worked out here from the log by other
means than the program's. A correction names the sentence of the specification that allows it, and must change
something."""
import copy
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "llama-tiny")
LOG = os.path.join(GOLDEN, "tiny_profile.log")
FILES = ("memory", "operations", "inputs_registry", "ir")
MEMORIES = ("DRAM", "L1", "L1_SMALL", "TRACE")


# ---- The log, read once more in the plainest way ---------------------------------------------------------------------

def split_top(text):
    """Pieces between commas outside all brackets; `->` is no bracket."""
    pieces, depth, start = [], 0, 0
    for i, c in enumerate(text):
        if c in "<([{":
            depth += 1
        elif c in ">)]}" and text[i - 1:i + 1] != "->":
            depth -= 1
        elif c == "," and depth == 0:
            pieces.append(text[start:i].strip())
            start = i + 1
    return [p for p in pieces + [text[start:].strip()] if p]


class Tensor:
    """What one type text costs: 32x32 tiles, shards times their grid, rows of whole 32 bytes (all rows here are)."""
    SIZES = {"bf16": 2, "f32": 4, "si32": 4, "i32": 4, "u32": 4, "ui32": 4}

    def __init__(self, text):
        dims = re.match(r"tensor<((?:\d+x)*)(\w+)", text)
        shape = [int(d) for d in dims.group(1).split("x") if d]
        self.logical = self.SIZES[dims.group(2)]
        for d in shape:
            self.logical *= d
        memref = re.search(r"<(\d+)x(\d+)>, memref<((?:\d+x)+)(!ttcore\.tile<32x32, (\w+)>|\w+), "
                           r"#ttnn\.buffer_type<(\w+)>", text)
        self.grid = [int(memref.group(1)), int(memref.group(2))]
        self.shard = [int(d) for d in memref.group(3).split("x") if d]
        tile = memref.group(5)
        self.place = memref.group(6)
        self.sharded = "_sharded>" in text
        self.stored = 1024 * self.SIZES[tile] if tile else self.SIZES[memref.group(4)]
        for d in self.shard:
            self.stored *= d
        if self.sharded:
            self.stored *= self.grid[0] * self.grid[1]
        self.padded_shape = [d * 32 * g for d, g in zip(self.shard, self.grid)] if tile and self.sharded else None


class Op:
    pass


def read_log():
    """The operations in order, each with its line, program, state before it, operands, result types."""
    ops, states, frames = [], [], []
    run, frame_count = -1, 0
    lines = open(LOG, encoding="utf-8", errors="replace").read().split("\n")
    for number, line in enumerate(lines, 1):
        message = re.sub("\x1b\\[[0-9;]*m", "", line).split(" | ", 2)[-1]
        if message.startswith("Starting execution of program: "):
            name = message.split(": ")[1]
            run += not frames
            frames.append((frame_count, name))
            frame_count += 1
        elif message.startswith("Finished execution of program: "):
            frames.pop()
        elif message.startswith("Tensor is retained"):
            ops[-1].retained = True
        elif message.startswith("Device DRAM memory state"):
            states.append({})
            ops[-1].state = len(states) - 1
        if " memory state: MemoryView" in message:
            allocated = re.search(r"AllocatedPerBank: ([\d.]+)", message).group(1)
            states[-1][message.split()[1]] = round(1000 * float(allocated))
        if not message.startswith("Executing operation: "):
            continue
        op = Op()
        text = message[len("Executing operation: "):]
        op.line, op.run, op.frame, op.retained = number, run, frames[-1], False
        op.stack = list(frames)
        op.name = re.search(r'(ttnn\.\w+|ttcore\.\w+)', text).group(1)
        op.results = re.match(r"(%\d+)(?::\d+)? = ", text)
        op.results = op.results.group(1) if op.results else None
        op.operands = re.findall(r"[%@][\w#]+", text[:text.index(" : (")].split("(", 1)[1])
        signature = text[text.index(" : (") + 3:text.rindex(" loc(")]
        outputs = signature[find_arrow(signature) + 4:]
        op.outputs = split_top(outputs[1:-1] if outputs.startswith("(") else outputs)
        ops.append(op)
    return ops, states


def find_arrow(signature):
    """Where the arrow of the function type stands: after the parenthesis that closes its first one."""
    depth = 0
    for i, c in enumerate(signature):
        depth += (c == "(") - (c == ")")
        if depth == 0 and c == ")":
            return i + 1
    raise ValueError(signature)


def is_element(op):
    return "deallocate" not in op.name and "get_device" not in op.name


# ---- Corrections -----------------------------------------------------------------------------------------------------

def live_sums(old, ops):
    """"Live tensors keyed by SSA name over all programs: names restart in each program run; retained tensors stay
    allocated." Also "sharded totals" and "multi-result operations": every result is alive, with all of its shards."""
    cached = {}  # const-eval program -> its results, alive for good
    passing = {}  # (frame, ssa) -> Tensor, of the current run
    sums, run = [], -1
    for i, op in enumerate(ops):
        if op.run != run:
            run = op.run
            passing = {k: v for k, v in passing.items() if k[0] in cached.values()}
        foreseen = []
        if op.name == "ttnn.deallocate":
            if not op.retained:
                passing.pop((op.frame[0], op.operands[0]), None)
        elif op.name == "ttcore.load_cached":
            callee = op.operands[0][1:]
            if callee not in cached:  # its program runs now, in the next frame, and leaves this tensor behind
                cached[callee] = next(o.frame[0] for o in ops[i + 1:] if o.frame[1] == callee)
                foreseen = [Tensor(t) for t in op.outputs]
        elif op.results:
            for k, text in enumerate(op.outputs):
                if text.startswith("tensor"):
                    passing[op.frame[0], op.results + (f"#{k}" if len(op.outputs) > 1 else "")] = Tensor(text)
        if is_element(op):
            sums.append([t for t in list(passing.values()) + foreseen])
    for element, alive in zip(old["memory"]["operations"], sums, strict=True):
        for memory in ("DRAM", "L1"):
            there = [t for t in alive if t.place == memory.lower()]
            logical, stored = sum(t.logical for t in there), sum(t.stored for t in there)
            element["unpadded_memory"][memory] = {
                "unpadded_bytes": logical, "padded_bytes": stored, "num_tensors": len(there),
                "unpadded_MB": logical / 1048576, "padded_MB": stored / 1048576,
                "overhead_MB": (stored - logical) / 1048576,
                "overhead_pct": (stored - logical) / logical * 100 if logical else 0}


def weights_by_argument(old, ops):
    """"Weights matched by shape only: match by the argument that load_cached / the operation really takes."""
    entries = old["inputs_registry"]["entries"]
    values = {}  # (frame, ssa) -> argument numbers behind it
    for op, element in elements(old["operations"], ops):
        inner = len(op.stack) > 1
        if op.name == "ttcore.load_cached":
            taken = [int(a[4:]) for a in op.operands[1:]]
            values[op.frame[0], op.results] = taken
            values[op.operands[0][1:]] = taken
        else:
            caller = values.get(op.frame[1], [])
            taken = []
            for operand in op.operands:
                number = int(operand[4:]) if operand.startswith("%arg") else None
                if inner and number is not None:
                    taken += [caller[number]]
                else:
                    taken += [number] if number is not None else values.get((op.frame[0], operand), [])
            if inner:
                values[op.frame[0], op.results] = taken
        weights = [entries[a] for a in dict.fromkeys(taken) if entries[a]["type"] in ("parameter", "constant")]
        element["weights"] = [{"registry_index": w["index"], **{k: w[k] for k in ("name", "shape", "dtype", "bytes")}}
                              for w in weights]
        element["is_weight_op"] = bool(weights) or element["const_eval_graph"] is not None


def load_cached_operands(old, ops):
    """tt-xla-log.md section 5.5: "load_cached operands come out as `[%arg0`, `%arg1]`". Brackets name nothing."""
    for op, element in elements(old["operations"], ops):
        if op.name == "ttcore.load_cached":
            element["inputs"] = op.operands


def results_of_several(old, ops):
    """"multi-result operations" (section 5.4: `%0:2 =` gives result None)."""
    for op, element in elements(old["operations"], ops):
        if len(op.outputs) > 1:
            element["result"] = op.results


def sharded_totals(old, ops):
    """"sharded totals": the memref is one shard, the tensor is all of them."""
    for op, element in elements(old["operations"], ops):
        tensor = Tensor(op.outputs[0])
        if tensor.sharded:
            element["output_layout_info"].update(
                padded_shape=tensor.padded_shape, padded_bytes=tensor.stored,
                overhead_pct=(tensor.stored - tensor.logical) / tensor.logical * 100)


CORRECTIONS = (live_sums, weights_by_argument, load_cached_operands, results_of_several, sharded_totals)


def elements(old, ops):
    return zip((op for op in ops if is_element(op)), old, strict=True)


# ---- Comparing -------------------------------------------------------------------------------------------------------

def differences(want, got, path=""):
    """Every key of `want` must be in `got` with the same value; further keys are ours to add."""
    if isinstance(want, dict) and isinstance(got, dict):
        for key, value in want.items():
            if key not in got:
                yield f"{path}.{key}: missing"
            else:
                yield from differences(value, got[key], f"{path}.{key}")
    elif isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
        for i, (a, b) in enumerate(zip(want, got)):
            yield from differences(a, b, f"{path}[{i}]")
    elif is_number(want) and is_number(got):
        if abs(want - got) > 1e-9 * max(abs(want), abs(got)):
            yield f"{path}: want {want}, got {got}"
    elif want != got:
        yield f"{path}: want {want!r}, got {got!r}"


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def added_keys(ours, ops, states):
    """The keys this project adds to memory.json, worked out from the log."""
    for op, element in elements(ours["memory"]["operations"], ops):
        want = {"line": op.line, "program": op.frame[1], "run": op.run, "rank": 0, "effect_MB": None}
        if op.state + 1 < len(states):
            before, after = states[op.state], states[op.state + 1]
            want["effect_MB"] = {m: (after[m] - before[m]) / 1000 for m in MEMORIES}
        got = {k: element.get(k, "missing") for k in want}
        yield from differences(want, got, f"memory.operations[{element['index']}]")
    for op, element in elements(ours["operations"], ops):
        yield from differences(op.line, element["line"], f"operations[{element['index']}].line")


def one_element_per_line(folder, count):
    """Files stay small and can be searched with grep: each element is a line of JSON."""
    for name in ("memory", "operations"):
        with open(os.path.join(folder, f"tiny_{name}.json"), encoding="utf-8") as file:
            rows = [json.loads(line.rstrip(",\n")) for line in file if line.startswith('{"index":')]
        if [row["index"] for row in rows] != list(range(count)):
            yield f"{name}: {len(rows)} lines for {count} elements"


def main():
    old = {f: json.load(open(os.path.join(GOLDEN, f"tiny_{f}.json"))) for f in FILES}
    ops, states = read_log()
    problems = []
    for correct in CORRECTIONS:
        before = copy.deepcopy(old)
        correct(old, ops)
        if before == old:
            problems.append(f"{correct.__name__}: changed nothing; the excuse is stale")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([os.environ["TTMEM"], "analyze", LOG, "--output-dir", folder, "--name", "tiny", "--quiet"],
                       check=True)
        ours = {f: json.load(open(os.path.join(folder, f"tiny_{f}.json"))) for f in FILES}
        problems += differences(old, ours)
        problems += added_keys(ours, ops, states)
        problems += one_element_per_line(folder, len(old["operations"]))
    for problem in problems[:40]:
        print(problem)
    print(f"{len(problems)} differences" if problems else
          f"{len(old['operations'])} operations agree in every key; {len(CORRECTIONS)} corrections hold")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
