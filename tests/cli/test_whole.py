#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""After a failure the rest of the program is known by its module: fixes after which all of it fits come first.

Each program is a small model with its module, played by an allocator of its own (first fit by address) until it runs out of memory; the same
allocator tells whether the whole program fits with a change.
"""
import fnmatch
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("TTMEM_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
TTMEM = os.path.abspath(os.environ.get("TTMEM", SOURCE / "build/bin/ttmem"))
PATIENCE = 120  # only bounds a hang
sys.path.insert(0, str(SOURCE / "tests"))
from small_logs import Device, Log, dram  # noqa: E402

MB = 2**20
DUMP = "2026-01-12 10:24:06.290 (   1.854s) [        4A7FC640]      module_builder.cc:1279     1| MLIR Module ttnn:"
DUMP_END = "------------------ END OF MLIR MODULE ------------------"
FATAL = ("2026-06-19 09:32:58.266 | critical |          Always | TT_FATAL: Out of Memory: Not enough space to allocate %d B DRAM buffer across %d banks, "
         "where each bank needs to store %d B, but bank size is %d B (allocated: %d B, free: %d B, largest free block: %d B) (assert.hpp:104)")
failures = []


def check(ok, *what):
    if not ok:
        failures.append(" ".join(str(w) for w in what)[:1500])


class Bank:
    """First fit from the bottom, as ttnn allocates DRAM."""

    def __init__(self, size, blocks=()):
        self.size, self.blocks = size, dict(blocks)

    def holes(self):
        at = 0
        for start, size in sorted(self.blocks.items()):
            yield at, start - at
            at = start + size
        yield at, self.size - at

    def take(self, size):
        for at, room in self.holes():
            if room >= size:
                self.blocks[at] = size
                return at
        return None

    def held(self):
        return sum(self.blocks.values())


class Model:
    """Steps: ("weight", value, name, mb), ("make", value, operation, location, operands, mb), ("free", value). Sizes are MB per bank."""

    def __init__(self, inputs, steps):
        self.device, self.inputs, self.steps = Device(total=1023.0), inputs, steps
        self.there = {}  # blocks of other programs
        self.rows = {s[1]: self.device.rows(s[-1]) for s in steps if s[0] != "free"}
        self.rows.update((value, self.device.rows(mb)) for value, mb in inputs.items())

    def bytes(self, value, shrink=None):
        """Per bank; `shrink`: values that are stored as bfp8."""
        per_tile = 1088 if shrink and shrink(value) else 2048
        return -(-self.rows[value] // self.device.banks) * per_tile

    def last_use(self, value):
        return max((i for i, s in enumerate(self.steps) if s[0] == "make" and value in s[4]), default=0)

    def play(self, shrink=None, gone=None):
        """The step that finds no room, None when all do; values of `gone` are freed after that step. With what was there then."""
        bank, at, gone = Bank(1023 * MB, self.there), {}, gone or {}
        for value in self.inputs:
            at[value] = bank.take(self.bytes(value, shrink))
        for i, step in enumerate(self.steps):
            value = step[1]
            if step[0] == "free":
                bank.blocks.pop(at.pop(value), None) if value in at else None
            else:
                at[value] = bank.take(self.bytes(value, shrink))
                if at[value] is None:
                    return i, bank
            for other in [v for v, after in gone.items() if after == i and v in at]:
                bank.blocks.pop(at.pop(other))
        return None, bank

    # ---- As a module ----

    def weights(self):
        return [s for s in self.steps if s[0] == "weight"]

    def host(self, value):
        return "tensor<1x%dx1024xbf16, #ttnn.ttnn_layout<(d0, d1, d2) -> (d0 * %d + d1, d2), <1x1>, memref<%dx1024xbf16, #ttnn.buffer_type<system_memory>>>>" % ((self.rows[value],) * 3)

    def line(self, step):
        kind, value = step[:2]
        here = dram(self.rows[value])
        if kind == "weight":
            k = self.weights().index(step)
            return "%s = ttcore.load_cached(@main_const_eval_%d, [%%arg%d]) : (%s) -> %s loc(unknown)" % (value, k, k + len(self.inputs), self.host(value), here)
        if kind == "free":
            return '"ttnn.deallocate"(%s) <{force = false}> : (%s) -> () loc(unknown)' % (value, here)
        return '%s = "%s"(%s) : (%s) -> %s loc("%s")' % (value, step[2], ", ".join(step[4]), ", ".join(dram(self.rows[v]) for v in step[4]), here, step[3])

    def upload(self, value):
        return '%%0 = "ttnn.to_layout"(%%arg0) <{layout = #ttnn.layout<tile>}> : (%s) -> %s loc(unknown)' % (self.host(value), dram(self.rows[value]))

    def module(self):
        out = ["module @Planted {"]
        for k, (_, value, _, _) in enumerate(self.weights()):
            out += ["func.func private @main_const_eval_%d(%%arg0: %s) -> %s {" % (k, self.host(value), dram(self.rows[value])), self.upload(value),
                    "return %%0 : %s" % dram(self.rows[value]), "}"]
        args = ['%s: %s {ttcore.argument_type = #ttcore.argument_type<input>, ttir.name = "x%d"}' % (v, dram(self.rows[v]), i) for i, v in enumerate(self.inputs)]
        args += ['%%arg%d: %s {ttcore.argument_type = #ttcore.argument_type<parameter>, ttir.name = "%s"}' % (k + len(args), self.host(w[1]), w[2])
                 for k, w in enumerate(self.weights())]
        last = self.steps[-1][1]
        out += ["func.func @main(%s) -> %s {" % (", ".join(args), dram(self.rows[last]))]
        return "\n".join(out + [self.line(s) for s in self.steps] + ["return %s : %s" % (last, dram(self.rows[last])), "}", "}"]) + "\n"

    # ---- As a log ----

    def die(self, path):
        """Writes the log up to the refusal: the step that failed, the values by report index, what was missing."""
        failed, bank, at = self.play()[0], Bank(1023 * MB, self.there), {}
        log, index = Log(self.device), []
        log.lines = [DUMP] + self.module().splitlines() + [DUMP_END]

        def state(head):
            held, largest = bank.held(), max(room for _, room in bank.holes())
            log.say("Always", "INFO", "Device memory state %s" % head)
            for name, size, used, room in (("DRAM", bank.size, held, largest), ("L1", MB, 0, MB), ("L1_SMALL", 0, 0, 0), ("TRACE", 0, 0, 0)):
                log.say("Always", "INFO", "Device %s memory state: MemoryView{numBanks: %d, totalBytesPerBank: %.3f MB, totalBytesAllocatedPerBank: %.3f MB, "
                        "totalBytesFreePerBank: %.3f MB, largestContiguousBytesFreePerBank: %.3f MB}"
                        % (name, self.device.banks, size / MB, used / MB, (size - used) / MB, room / MB))

        log.state = state
        for value in self.inputs:
            at[value] = bank.take(self.bytes(value))
        log.start()
        for i, step in enumerate(self.steps[: failed + 1]):
            kind, value = step[:2]
            log.operation(self.line(step), {"free": "DeallocateOp", "weight": "LoadCachedOp"}.get(kind, "EltwiseUnaryOp"))
            if kind == "free":
                bank.blocks.pop(at[value])
                continue
            index += [value] * (1 + (kind == "weight"))
            if kind == "weight":
                name = "main_const_eval_%d" % self.weights().index(step)
                log.debug("Starting execution of program: " + name)
                log.operation(self.upload(value), "ToLayoutOp")
            if i == failed:
                break
            at[value] = bank.take(self.bytes(value))
            if kind == "weight":
                log.debug("Finished execution of program: " + name)
        held, largest = bank.held(), max(room for _, room in bank.holes())
        log.lines.append(FATAL % (self.rows[value] * 2048, self.device.banks, self.bytes(value), bank.size, held, bank.size - held, largest))
        log.write(path)
        self.cached = {at[w[1]]: self.bytes(w[1]) for w in self.weights() if w[1] in at}
        return failed, index, self.bytes(value) - largest


def run(*words):
    """What it prints, and its exit status."""
    done = subprocess.run([TTMEM, *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, timeout=PATIENCE, check=False)
    return done.stdout, done.returncode


def findings(path):
    return json.loads(run("analyze", "--json", path)[0])


# ---- Programs ----


def layers(count, weight, activation, names):
    """A mask that only layer 0 uses and that goes at the end, then layers of a product and a gelu."""
    steps, x = [("make", "%mask", "ttnn.relu", "mask", ["%arg0"], activation + 1)], "%arg0"
    for i in range(count):
        w, m, g = "%%w%d" % i, "%%m%d" % i, "%%g%d" % i
        steps += [("weight", w, names(i), weight), ("make", m, "ttnn.matmul", "layers.%d|dot" % i, [x, w], activation)]
        if i == 0:
            steps.append(("make", "%s", "ttnn.add", "layers.0|add", [m, "%mask"], activation))
            steps.append(("free", m))
            m = "%s"
        steps += [("make", g, "ttnn.gelu", "layers.%d|gelu" % i, [m], activation), ("free", m)]
        if x != "%arg0":
            steps.append(("free", x))
        x = g
    return Model({"%arg0": activation}, steps + [("free", "%mask"), ("make", "%out", "ttnn.softmax", "head|softmax", [x], activation)])


def truth(model, change, failed, index):
    """Whether the whole program fits with a change of a fix; None for changes that are not tried here."""
    name, patterns = change.split(":", 1) if ":" in change else (change, "")
    names = {w[1]: w[2] for w in model.weights()}
    if name == "dtype=bfp8" and not patterns.startswith("#"):
        meant = [v for v, n in names.items() if patterns == "weights" or any(fnmatch.fnmatchcase(n, p) for p in patterns.split(","))]
        return model.play(shrink=lambda value: value in meant)[0] is None
    if name in ("free=now", "free=last-use") and "@" not in patterns:
        values = [index[int(p[1:])] for p in patterns.split(",")]
        return model.play(gone={v: failed - 1 if name == "free=now" else model.last_use(v) for v in values})[0] is None
    return None


def check_order(fixes, what):
    known = [f["rest_fits"] for f in fixes if "change" in f]
    check(known == sorted(known, reverse=True), what, "order", fixes)


def many():
    """Programs of many sizes: what a fix says of the whole program is what the allocator says, and the order follows from it."""
    tried = 0
    for seed in range(30):
        rng = random.Random(seed)
        count, weight, activation = rng.randint(6, 14), rng.randint(120, 280) / 4, rng.randint(240, 480) / 4
        named = rng.choice((lambda i: "layers.%d.weight" % i, lambda i: "abcdefghijklmnop"[i] + ".weight"))
        model = layers(count, weight, activation, named)
        if model.play()[0] is None:
            continue
        with tempfile.TemporaryDirectory(prefix="ttmem-whole-") as folder:
            failed, index, _ = model.die(os.path.join(folder, "died.log"))
            found = findings(os.path.join(folder, "died.log"))
        for fix in found["statements"][0]["fixes"]:
            want = truth(model, fix["change"], failed, index) if "change" in fix else None
            tried += want is not None
            check(want is None or (fix["rest"], fix["rest_fits"]) == ("predicted", want), seed, want, fix)
        check_order(found["statements"][0]["fixes"], seed)
        check_order([f for f in found["fixes"] if f["kind"] != "stop_leak"], seed)
    check(tried > 30, "only %d fixes tried" % tried)


def half_a_megabyte():
    """Without the mask half a megabyte is there, and the program dies three layers later; with weights of half the size all of it fits."""
    model = layers(14, 55, 93.4375, lambda i: "layers.%d.weight" % i)
    with tempfile.TemporaryDirectory(prefix="ttmem-whole-") as folder:
        log = os.path.join(folder, "died.log")
        failed, _, missing = model.die(log)
        check(missing == MB // 2 and model.steps[failed][3] == "layers.7|gelu", missing, model.steps[failed])
        found = findings(log)
        by_kind = {f["kind"]: f for f in found["fixes"]}
        first, free = found["fixes"][0], by_kind["free"]
        check(first["kind"] in ("weights_dtype", "board") and first["rest_fits"] and "the whole program then fits" in first["text"], first)
        check(by_kind["weights_dtype"]["rest_fits"] and by_kind["weights_dtype"]["verified"] == "replayed", by_kind["weights_dtype"])
        check(free["fits"] and free["rest_fits"] is False and "ttnn.gelu layers.8|gelu" in free["text"] and "nothing uses it any more" in free["text"], free)
        verify(log)
        fit(log)
        surfaces(log, found)
        module = os.path.join(folder, "planted.mlir")
        with open(module, "w") as out:
            out.write(model.module())
        module_only(module)


def verify(log):
    whole, ok = run("verify", log, "--change", "dtype=bfp8:weights", "--json")
    whole = json.loads(whole)
    check(ok == 0 and whole["fits"] and whole["rest_fits"] and whole["rest"] == "predicted" and whole["changes"][0]["changed"] == 14, whole)
    part, not_ok = run("verify", log, "--change", "free=now:ttnn.relu", "--json")
    part = json.loads(part)
    check(not_ok == 1 and not part["fits"] and part["failures_after"] == 0 and part["rest_fits"] is False, part)
    check("layers.10|gelu" in part["statements"][0]["headline"] and part["statements"][0]["basis"] == "predicted", part["statements"][0])


def fit(log):
    boards = {b["board"]: b for b in json.loads(run("fit", log, "--json")[0])["boards"]}
    check(boards["n150"]["fits"] is False and boards["p150"]["fits"] is True, boards)
    packed = {b["board"]: b for b in json.loads(run("fit", log, "--weights-dtype", "bfp8", "--json")[0])["boards"]}
    check(packed["n150"]["fits"] is True, packed["n150"])


def surfaces(log, found):
    """Every report of the log says what the program needs to finish."""
    need = next(s for s in found["statements"] if s["id"] == "need.dram")["headline"]
    check(need.startswith("To finish, the program needs ") and " more than the n150 has; the peak would be at ttnn.gelu layers.13|gelu" in need, need)
    texts = {"summary": run("analyze", log)[0], "llm": run("--llm", log)[0], "explain": run("explain", log)[0], "predict": run("predict", log)[0],
             "findings": run("ask", log, "--findings")[0]}
    for name, text in texts.items():
        check(need in " ".join(text.replace("\\", "").split()), name, text)


def module_only(module):
    """The same program as a module that nobody ran."""
    found = findings(module)
    first = found["fixes"][0]
    check(found["input"]["kind"] == "predicted" and first["rest_fits"], found["fixes"])
    check(all(f["verified"] in ("predicted", "estimated") for f in found["fixes"]), found["fixes"])
    text, status = run("verify", module, "--change", "dtype=bfp8:weights")
    check(status == 0 and "So has the rest of the program" in text, text)


def one_after_the_other():
    """A process goes on after a failure, as pytest does, with another program that fails too: each fix is about its own program."""
    first, second = layers(7, 52, 143.75, lambda i: "layers.%d.weight" % i), layers(9, 44, 100, lambda i: "blocks.%d.weight" % i)
    with tempfile.TemporaryDirectory(prefix="ttmem-whole-") as folder:
        parts = [os.path.join(folder, name) for name in ("first.log", "second.log")]
        first.die(parts[0])
        second.there = first.cached  # weights stay
        second.die(parts[1])
        both = os.path.join(folder, "both.log")
        with open(both, "w") as out:
            for part in parts:
                out.write(pathlib.Path(part).read_text())
        found = findings(both)
    told = [s for s in found["statements"] if s["topic"] == "failure" and s["severity"] == "failure"]
    check(len(told) == 2, "failures", told)
    for statement in told:
        got = {f["kind"]: f.get("rest_fits") for f in statement["fixes"] if f.get("rest") == "predicted"}
        check(got.get("board") is True and got.get("weights_dtype") is True and got.get("free_earlier") is False, statement["headline"], statement["fixes"])
        check_order(statement["fixes"], statement["headline"])
        check("still does not fit" not in json.dumps(statement), statement["fixes"])


def long_name():
    """A long location is shortened, as everywhere."""
    place = "/usr/local/lib/python3/site-packages/transformers/models/llama/modeling_llama.py:1234|forward|dot"
    steps = [("make", "%a", "ttnn.relu", "a", ["%arg0"], 600), ("make", "%b", "ttnn.relu", "b", ["%a"], 500), ("make", "%c", "ttnn.relu", place, ["%b"], 9)]
    model = Model({"%arg0": 1}, steps)
    with tempfile.TemporaryDirectory(prefix="ttmem-whole-") as folder:
        model.die(os.path.join(folder, "died.log"))
        found = findings(os.path.join(folder, "died.log"))
    need = next(s for s in found["statements"] if s["id"] == "need.dram")["headline"]
    check(place not in need and "|dot (line" in need, need)


if __name__ == "__main__":
    half_a_megabyte()
    one_after_the_other()
    long_name()
    many()
    for line in failures:
        print("FAIL:", line)
    sys.exit(1 if failures else 0)
