#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes recordings of random programs that capture and replay traces, and compares the hazards that ttmem finds with those of a model that keeps,
for every byte of every core, who wrote it last.

TTMEM names the program. TTMEM_SEEDS=1-200 runs these seeds instead of the usual ones.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

TTMEM = os.environ.get("TTMEM", "build/bin/ttmem")
BASE, BANK, STEP = 1024, 4096, 32
L1_BASE, L1_BANK = 2048, 4096
CORES = ("{[0-0 - 3-7]}", "{[4-0 - 7-7]}")
DRAM, L1 = 0, 1


class Tensor:
    def __init__(self, line, memory, start, size, cores):
        self.line, self.memory, self.start, self.size, self.cores = line, memory, start, size, cores
        self.tag = None  # what its bytes hold when nobody else wrote them
        self.alive = True
        self.left = None  # what its bytes held when it was freed


class Trace:
    def __init__(self, number):
        self.number = number
        self.made, self.steps = [], []  # tensors; (reads, writes) of each operation
        self.released = False
        self.empty = []  # allocated in the capture, and not written there
        self.left = {}  # of freed tensors that it writes: what it left there


class Model:
    """Bytes, and what a program sees of them."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.bytes = {}  # (memory, core group, address) -> tag
        self.tensors, self.traces, self.capture = [], [], None
        self.nodes, self.operations, self.tags = [], 0, 0
        self.hazards = set()  # (kind, line of the tensor, trace) whose content is used
        self.touched = set()  # (line, trace): overwritten, used or not
        self.freed = set()  # (line, trace): freed, used by the trace, and no longer there
        self.culprit = {}  # tensor -> trace that overwrote it last
        self.wrote = {}  # tag -> tensor

    # ---- Bytes

    def cells(self, tensor):
        groups = (0, 1) if tensor.memory == DRAM or tensor.cores is None else (tensor.cores,)
        return [(tensor.memory, g, a) for g in groups for a in range(tensor.start, tensor.start + tensor.size, STEP)]

    def write(self, tensor):
        self.tags += 1
        tensor.tag = self.tags
        self.wrote[tensor.tag] = tensor
        for cell in self.cells(tensor):
            self.bytes[cell] = tensor.tag
        self.culprit.pop(tensor, None)

    def is_whole(self, tensor):
        return all(self.bytes[cell] == tensor.tag for cell in self.cells(tensor))

    def read(self, tensor):
        if not self.is_whole(tensor):
            self.hazards.add(("overwrites", tensor.line, self.culprit[tensor].number))

    # ---- The allocator: lock step, first fit, DRAM from below and L1 from above

    def find(self, memory, size):
        taken = sorted((t.start, t.start + t.size) for t in self.tensors if t.alive and t.memory == memory)
        low, high = (BASE, BASE + BANK) if memory == DRAM else (L1_BASE, L1_BASE + L1_BANK)
        if memory == DRAM:
            for start, end in taken + [(high, high)]:
                if start - low >= size:
                    return low
                low = max(low, end)
        else:
            for start, end in reversed([(low, low)] + taken):
                if high - end >= size:
                    return high - size
                high = min(high, start)
        return None

    # ---- The recording

    def begin(self, name, extra=None):
        self.operations += 1
        at = "p.py:%d" % self.operations
        self.nodes.append({"node_type": "operation", "params": {"id": self.operations, "name": name, "at": at, **(extra or {})}})
        self.nodes.append({"node_type": "piece", "params": {}})
        self.counter = 0
        self.node("function_start", {"name": name})
        return self.operations

    def node(self, kind, params, **more):
        self.counter += 1
        self.nodes.append({"counter": self.counter, "node_type": kind, "params": params, **more})
        return self.counter

    def tensor_node(self, tensor):
        params = {"shape": "Shape([1, 32])", "dtype": "DataType::BFLOAT16", "layout": "Layout::ROW_MAJOR", "address": tensor.start}
        params.update(buffer_type=tensor.memory, device_id=1)
        if tensor.cores is not None:
            params["core_range_set"] = CORES[tensor.cores]
        self.node("tensor", params)

    def function(self, inputs, made, output, buffers):
        first = self.counter + 2
        self.node("function_start", {"name": "SomeDeviceOperation"}, input_tensors=list(range(first, first + len(inputs))))
        for tensor in inputs:
            self.tensor_node(tensor)
        if made:
            params = dict(size=made.size, type=("DRAM", "L1")[made.memory], buffer_type=made.memory, device_id=1)
            node = self.node("buffer", params, connections=[])
            params = dict(params, address=made.start, page_size=STEP, max_size_per_bank=made.size, num_cores=32 if made.cores is not None else 0)
            self.node("buffer_allocate", params, connections=[node])
        if buffers:
            self.node("circular_buffer_deallocate_all", {"device_id": 1})
            for address, size, cores in buffers:
                params = dict(size=size, address=address, core_range_set=CORES[cores], globally_allocated=0, device_id=1)
                self.node("circular_buffer_allocate", params)
        self.node("function_end", {})
        if output:
            self.tensor_node(output)
        self.node("function_end", {})

    # ---- What a program does

    def alive(self):
        return [t for t in self.tensors if t.alive]

    def readable(self):
        """Nobody reads in a capture what the capture allocated and did not write."""
        return [t for t in self.alive() if not self.capture or t not in self.capture.empty]

    def run(self, reads, output, buffers=()):
        """An operation: in a capture it is only written down."""
        if self.capture:
            self.capture.steps.append((list(reads), output, list(buffers)))
            self.tags += 1
            if output.tag is None:  # one tag, so that what nobody overwrote stays whole
                self.write(output)
            return
        for tensor in reads:
            self.read(tensor)
        self.write(output)

    def make(self):
        memory = self.random.choice((DRAM, DRAM, L1))
        size = STEP * self.random.randint(1, 24)
        start = self.find(memory, size)
        if start is None:
            return
        cores = self.random.choice((None, 0, 1)) if memory == L1 else None
        inputs = self.random.sample(self.readable(), min(len(self.readable()), self.random.randint(0, 2)))
        line = self.begin("ttnn.make")
        tensor = Tensor(line, memory, start, size, cores)
        buffers = []
        if self.random.random() < 0.3:  # they go up from the base, and the tensors of now are above them
            lowest = min([t.start for t in self.alive() + [tensor] if t.memory == L1], default=L1_BASE + L1_BANK)
            size = STEP * self.random.randint(1, 40)
            if L1_BASE + size <= lowest:
                buffers.append((L1_BASE, size, self.random.choice((0, 1))))
        self.function(inputs, tensor, tensor, buffers)
        self.tensors.append(tensor)
        if self.capture:
            self.capture.made.append(tensor)
        self.run(inputs, tensor, buffers)

    def make_empty(self):
        """Memory that no program writes: in a capture it is none of the trace's business."""
        memory, size = DRAM, STEP * self.random.randint(1, 24)
        start = self.find(memory, size)
        if start is None:
            return
        line = self.begin("ttnn.empty")
        tensor = Tensor(line, memory, start, size, None)
        self.function([], tensor, tensor, ())
        self.tensors.append(tensor)
        if self.capture:
            self.capture.empty.append(tensor)
        self.write(tensor)

    def write_into(self):
        if len(self.readable()) < 2:
            return
        source, target = self.random.sample(self.readable(), 2)
        self.begin("ttnn.copy")
        self.function([source, target], None, target, ())
        self.run([source], target)

    def use(self):
        if not self.readable():
            return
        tensor = self.random.choice(self.readable())
        self.begin("ttnn.look")
        self.function([tensor], None, None, ())
        if self.capture:
            self.capture.steps.append(([tensor], None, []))
        else:
            self.read(tensor)

    def free(self):
        if not self.alive():
            return
        tensor = self.random.choice(self.alive())
        self.begin("ttnn.deallocate")
        params = dict(size=tensor.size, address=tensor.start, type=("DRAM", "L1")[tensor.memory], buffer_type=tensor.memory, device_id=1)
        self.node("buffer_deallocate", params, connections=[])
        self.node("function_end", {})
        tensor.alive = False
        tensor.left = [self.bytes[cell] for cell in self.cells(tensor)]
        for trace in self.live_traces():  # of what takes a freed one's place the program knows, so also of what it leaves
            for old in {t for reads, _, _ in trace.steps for t in reads if not t.alive and t is not tensor}:
                if self.is_heir(tensor, old, trace):
                    trace.left[old] = [self.bytes[cell] for cell in self.cells(old)]

    def trace_call(self, name, extra=None):
        line = self.begin("ttnn." + name, {"device_id": 1, **(extra or {})})
        self.node("function_end", {})
        return line

    def begin_capture(self):
        if self.capture:
            return
        self.trace_call("begin_trace_capture")
        self.capture = Trace(len(self.traces) + 1)

    def end_capture(self):
        if not self.capture:
            return
        self.trace_call("end_trace_capture", {"trace": self.capture.number})
        self.traces.append(self.capture)
        self.capture = None

    def live_traces(self):
        return [t for t in self.traces if not t.released]

    def release(self):
        if self.live_traces():
            trace = self.random.choice(self.live_traces())
            self.trace_call("release_trace", {"trace": trace.number})
            trace.released = True

    def replay(self):
        if self.capture or not self.live_traces():
            return
        trace = self.random.choice(self.live_traces())
        self.trace_call("execute_trace", {"trace": trace.number})
        before = {t for t in self.alive() if self.is_whole(t)}
        self.replay_reads(trace)
        cells = set()
        for _, output, buffers in trace.steps:
            cells.update(self.cells(output) if output else ())
            for address, size, cores in buffers:
                cells.update((L1, cores, a) for a in range(address, address + size, STEP))
        self.tags += 1
        for cell in cells:
            self.bytes[cell] = self.tags
        written = {output for _, output, _ in trace.steps}
        for tensor in written:
            if tensor and not tensor.alive:  # the trace's own, as far as it minds
                trace.left[tensor] = [self.bytes[cell] for cell in self.cells(tensor)]
        for tensor in self.alive():
            if tensor in written:  # it holds what it should
                self.write(tensor)
            elif cells.intersection(self.cells(tensor)):
                self.touched.add((tensor.line, trace.number))
                if tensor in before:
                    self.culprit[tensor] = trace

    def replay_reads(self, trace):
        """Tensors from before the capture that it takes before it writes them."""
        written = set(trace.made)
        for reads, output, _ in trace.steps:
            for tensor in reads:
                if tensor in written:
                    continue
                heir = tensor if tensor.alive else self.heir(tensor, trace)
                if heir:
                    self.read(heir)
                elif tensor.memory == DRAM and not self.is_left(tensor, trace):
                    self.freed.add((tensor.line, trace.number))
            written.add(output)

    def is_heir(self, other, tensor, trace):
        same = (other.memory, other.start, other.size) == (tensor.memory, tensor.start, tensor.size)
        return same and other not in trace.made and (None in (other.cores, tensor.cores) or other.cores == tensor.cores)

    def heir(self, tensor, trace):
        """A live tensor at the very place of one that was freed."""
        return next((t for t in self.alive() if self.is_heir(t, tensor, trace)), None)

    def is_left(self, tensor, trace):
        """The bytes of a freed one are as it left them, or another's that was allocated at its very place."""
        for cell, left in zip(self.cells(tensor), trace.left.get(tensor, tensor.left)):
            writer = self.wrote.get(self.bytes[cell])
            if self.bytes[cell] != left and not (writer and self.is_heir(writer, tensor, trace)):
                return False
        return True

    def play(self, steps):
        actions = (self.make,) * 7 + (self.make_empty,) + (self.free,) * 5 + (self.use,) * 4 + (self.write_into,) * 3 + (self.replay,) * 3
        actions += (self.begin_capture,) * 2 + (self.end_capture,) * 3 + (self.release,)
        for _ in range(steps):
            self.random.choice(actions)()
        self.end_capture()

    def recording(self):
        views = []
        for number, base, bank, banks in ((DRAM, BASE, BANK, 12), (L1, L1_BASE, L1_BANK, 64)):
            params = dict(device_id=1, buffer_type=number, num_banks=banks, total_bytes_per_bank=bank, allocated_per_bank=0)
            views.append({"node_type": "memory_view", "params": dict(params, largest_free_per_bank=bank, base_address=base)})
        device = dict(device_id=1, arch="WORMHOLE_B0", chips=1, worker_l1_size=1499136, l1_num_banks=64, l1_bank_size=L1_BANK)
        device.update(address_at_first_l1_cb_buffer=L1_BASE, num_x_compute_cores=8, num_y_compute_cores=8)
        head = [{"node_type": "recording_begin", "params": {}}, {"node_type": "device_open", "params": {"device_id": 1, "chips": 1}}]
        end = [{"node_type": "recording_end", "params": {"reason": "exit", "operations": self.operations, "traces": 0}}]
        return {"ttmem_recording": 1, "devices": [device], "graph": head + views + self.nodes + end}


def found(path):
    run = subprocess.run([TTMEM, "analyze", path, "--json", "--check"], capture_output=True, text=True)
    if run.returncode not in (0, 1):
        sys.exit("ttmem failed on %s: %s" % (path, run.stderr))
    return json.loads(run.stdout), run.returncode


def line_of(operation):
    return int(operation["loc"].split(":")[1])


def compare(seed, folder):
    model = Model(seed)
    model.play(60 + seed % 5 * 60)
    path = os.path.join(folder, "seed%d.json" % seed)
    with open(path, "w") as f:
        json.dump(model.recording(), f)
    findings, status = found(path)
    traces = findings["recording"].get("traces", {"hazards": [], "safe": True, "captured": []})
    told = [h for h in traces["hazards"] if h["kind"] == "overwrites"]
    used = {("overwrites", line_of(h["operation"]), h["trace"]) for h in told if h["used_by"]}
    touched = {(line_of(h["operation"]), h["trace"]) for h in told}
    wrong = []
    if used != model.hazards:
        wrong.append("used: missing %s, wrong %s" % (sorted(model.hazards - used), sorted(used - model.hazards)))
    if touched != model.touched:
        wrong.append("overwritten: missing %s, wrong %s" % (sorted(model.touched - touched), sorted(touched - model.touched)))
    freed = {(line_of(h["operation"]), h["trace"]) for h in traces["hazards"] if h["kind"] == "uses_freed" and h["memory"] == "DRAM"}
    if freed != model.freed:
        wrong.append("freed: missing %s, wrong %s" % (sorted(model.freed - freed), sorted(freed - model.freed)))
    if len(traces["captured"]) != len(model.traces):
        wrong.append("%d traces, not %d" % (len(traces["captured"]), len(model.traces)))
    if bool(status) == traces["safe"]:
        wrong.append("--check exits with %d, safe is %s" % (status, traces["safe"]))
    return wrong, len(model.hazards), len(model.touched)


def main():
    seeds = os.environ.get("TTMEM_SEEDS", "1-120")
    first, _, last = seeds.partition("-")
    failed = hazards = touched = 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TTMEM_HOME"] = folder
        for seed in range(int(first), int(last or first) + 1):
            wrong, some, more = compare(seed, folder)
            hazards, touched, failed = hazards + some, touched + more, failed + bool(wrong)
            for sentence in wrong:
                print("seed %d: %s" % (seed, sentence))
    print("%d tensors overwritten, %d of them used, %d seeds differ" % (touched, hazards, failed))
    sys.exit(1 if failed or not hazards else 0)


if __name__ == "__main__":
    main()
