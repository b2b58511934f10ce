# SPDX-License-Identifier: Apache-2.0
"""Writes what tt-mlir (commit 19c86fca45ae, August 2026) writes about one small program, none of which can run here:

 - the runtime's log                                              (runtime/lib/ttnn/program_executor.cpp)
 - memory_report.json of the builder, memory_results.json of ttrt (tools/builder/base/builder_runtime.py, tools/ttrt/common/callback.py:
   create_memory_dictionary, memory; states stand BEHIND their operation)
 - FUNCTION_decision_trace.json, version 3                        (lib/Dialect/TTNN/Diagnostics/DecisionTrace.cpp: toJSON, spillManagementToJSON,
   layoutToString; llvm::json prints keys in order and indents by 2)

Sizes are whole tiles of bf16, so that every number is known."""
import json

TILE = 2048
DRAM_BANKS, DRAM_BYTES, L1_BANKS, L1_BYTES, BUDGET = 12, 1071821792, 64, 1329888, 1263393


class Memory:
    """First fit by address, as tt-metal's allocator: bottom-up, L1 top-down."""

    def __init__(self, banks, total, down=False):
        self.banks, self.total, self.down, self.blocks = banks, total, down, []

    def holes(self):
        at = 0
        for address, size in sorted(self.blocks):
            if address > at:
                yield at, address - at
            at = address + size
        if self.total > at:
            yield at, self.total - at

    def take(self, size):
        holes = [hole for hole in self.holes() if hole[1] >= size]
        at, room = holes[-1] if self.down else holes[0]
        block = (at + room - size if self.down else at, size)
        self.blocks.append(block)
        return block

    def used(self):
        return sum(size for _, size in self.blocks)

    def largest(self):
        return max([size for _, size in self.holes()] or [0])

    def view(self):
        """create_memory_dictionary: the block table has texts only, in the order of the allocator's own ids."""
        rows = sorted([(at, size, "yes") for at, size in self.blocks] + [(at, size, "no") for at, size in self.holes()] or [(0, 0, "no")])
        last = len(rows) - 1
        table = [{"allocated": held, "nextID": str(i + 1 if i < last else -1), "prevID": str(i - 1), "size": str(size), "address": str(at), "blockID": str(i)}
                 for i, (at, size, held) in enumerate(rows)]
        return {"num_banks": self.banks, "total_bytes_per_bank": self.total, "total_bytes_allocated_per_bank": self.used(),
                "total_bytes_free_per_bank": self.total - self.used(), "largest_contiguous_bytes_free_per_bank": self.largest(), "block_table": table}

    def line(self, name):
        mb = [n / 2**20 for n in (self.total, self.used(), self.total - self.used(), self.largest())]
        return "Device %s memory state: MemoryView{numBanks: %d, totalBytesPerBank: %.3f MB, totalBytesAllocatedPerBank: %.3f MB, totalBytesFreePerBank: " \
               "%.3f MB, largestContiguousBytesFreePerBank: %.3f MB}" % (name, self.banks, *mb)


class Place:
    """Where a result lies: (tiles, memory, layout, grid) with so many tiles in each bank or core."""

    def __init__(self, tiles, memory="dram", layout="interleaved", grid=(1, 1)):
        self.tiles, self.memory, self.layout, self.grid = tiles, memory, layout, grid

    def bank_bytes(self):
        return self.tiles * TILE

    def type(self):
        banks = DRAM_BANKS if self.memory == "dram" else self.grid[0] * self.grid[1]
        rows, shard = self.tiles * banks * 32, self.tiles if self.memory == "l1" else self.tiles * banks
        return ("tensor<%dx32xbf16, #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <%dx%d>, memref<%dx1x!ttcore.tile<32x32, bf16>, #ttnn.buffer_type<%s>>, <%s>>>"
                % (rows, *self.grid, shard, self.memory, self.layout))

    def string(self):
        """layoutToString: the layout is an attribute and prints as one."""
        return "%s/#ttnn.tensor_memory_layout<%s>/%dx%d" % (self.memory, self.layout, *self.grid)


class Program:
    """operations are (name, location, Place, operands) with a result each, or ("free", its place in the list)."""

    def __init__(self, operations, function="main"):
        self.function, self.operations = function, operations
        self.values = {}
        for i, step in enumerate(operations):
            if step[0] != "free":
                self.values[i] = "%%%d" % len(self.values)

    def text(self, i, location=True):
        """Operation::print; the runtime's own text has the location, the compiler's observers print without."""
        step = self.operations[i]
        if step[0] == "free":
            kind = self.operations[step[1]][2].type()
            return '"ttnn.deallocate"(%s) <{force = false}> : (%s) -> () loc("free")' % (self.values[step[1]], kind)
        name, loc, place, of = step
        text = '%s = "%s"(%s) : (%s) -> %s' % (self.values[i], name, ", ".join(self.values[v] for v in of), ", ".join(self.operations[v][2].type() for v in of),
                                              place.type())
        return text + ' loc("%s")' % loc if location else text

    def run(self):
        """(text, location, views before, views after) of every operation."""
        memories = {"dram": Memory(DRAM_BANKS, DRAM_BYTES), "l1": Memory(L1_BANKS, L1_BYTES, True), "l1_small": Memory(L1_BANKS, 65536),
                    "trace": Memory(DRAM_BANKS, 0)}
        held = {}

        def views():
            return {name: memory.view() for name, memory in memories.items()}, [m.line(n.upper()) for n, m in memories.items()]
        for i, step in enumerate(self.operations):
            before = views()
            if step[0] == "free":
                memories[self.operations[step[1]][2].memory].blocks.remove(held.pop(step[1]))
            else:
                held[i] = memories[step[2].memory].take(step[2].bank_bytes())
            yield self.text(i), "free" if step[0] == "free" else step[1], before, views()

    def report(self):
        return [dict({"loc": 'loc("%s")' % loc, "debug_str": text}, **after[0]) for text, loc, _, after in self.run()]

    def write_report(self, path, ttrt=False):
        """The builder writes a list, ttrt an object with a counter for its keys."""
        rows = self.report()
        with open(path, "w") as out:
            json.dump({str(i): row for i, row in enumerate(rows)} if ttrt else rows, out, indent=4)
        return str(path)

    def log(self, runs=1, prefix=""):
        lines = []
        for _ in range(runs):
            lines.append("%sRuntimeTTNN |    DEBUG | Starting execution of program: %s" % (prefix, self.function))
            for text, _, before, _ in self.run():
                kind = "DeallocateOp" if "ttnn.deallocate" in text else "EltwiseUnaryOp"
                lines.append("%sRuntimeTTNN |    DEBUG | Executing operation: %s" % (prefix, text))
                lines.append("%sAlways |     INFO | Device memory state before operation %s" % (prefix, kind))
                lines += ["%sAlways |     INFO | %s" % (prefix, line) for line in before[1]]
            lines.append("%sRuntimeTTNN |    DEBUG | Finished execution of program: %s" % (prefix, self.function))
        return lines

    def write_log(self, path, runs=1):
        with open(path, "w") as out:
            out.write("\n".join(self.log(runs)) + "\n")
        return str(path)

    # What the compiler decides --------------------------------------------------------------------------------------

    def score(self, place):
        l1 = place.memory == "l1"
        return {"isL1": l1, "isSharded": "sharded" in place.layout, "inputDramBytes": 0, "requiresReshard": False, "coreCount": place.grid[0] * place.grid[1],
                "outputL1Usage": place.bank_bytes() if l1 else 0}

    def decisions(self):
        forward, choices = [], []
        for i in self.values:
            name, loc, place, of = self.operations[i]
            forward.append({"opIndex": len(forward), "opName": name, "opLocation": 'loc("%s")' % loc, "crossProductSize": 1, "usedDramFallback": False,
                            "inputCandidateSets": [{"operandIndex": k, "fromProducerBeam": 1, "fromReshard": 0, "candidates": [self.operations[v][2].string()]}
                                                   for k, v in enumerate(of)],
                            "outputHints": {"primaryCount": 1, "fallbackCount": 0},
                            "evaluations": [{"hint": place.string(), "inputs": [], "valid": True, "score": self.score(place), "output": place.string()},
                                            {"hint": "null", "inputs": [], "valid": False, "failureReason": "out of L1"}],
                            "beam": [{"rank": 0, "outputLayout": place.string(), "score": self.score(place)}]})
            choices.append({"opIndex": len(choices), "opName": name, "chosenLayout": place.string()})
        return forward, choices

    def spills(self, evicted=()):
        """The sweep of L1SpillManagement: what is dead goes before the operation, its result is added behind it; `evicted` are places in the list whose
        results go to DRAM when the operation behind them is reached."""
        events, occupied, alive = [], 0, {}

        def event(position, i, action, after, usage=0, **more):
            nonlocal occupied
            events.append(dict({"position": position, "opName": self.text(i, False), "action": action, "occupiedL1Before": occupied, "occupiedL1After": after,
                                "opL1Usage": usage}, **more))
            occupied = after
        schedule = list(self.values)
        for position, i in enumerate(schedule):
            for dead in [v for v in alive if ("free", v) in self.operations[:i]]:
                event(position, dead, "dead_removal", occupied - alive.pop(dead))
            for victim in [v for v in alive if v in evicted]:
                event(position, victim, "eviction", occupied - alive[victim], alive.pop(victim), victimName=self.text(victim, False))
            place = self.operations[i][2]
            if place.memory == "l1":
                alive[i] = place.bank_bytes()
                event(position, i, "live_added", occupied + alive[i], alive[i], details="lastUse=%d" % position)
        return {"budget": BUDGET, "scheduleSize": len(schedule), "totalSpills": len(evicted), "finalOccupied": occupied, "finalLiveTensors": len(alive),
                "events": events}

    def trace(self, evicted=()):
        forward, choices = self.decisions()
        return {"version": 3, "functionName": self.function, "beamWidth": 8, "totalOps": len(forward), "forwardPass": forward, "edges": [],
                "backwardPass": {"forkResolutions": []}, "finalChoices": choices, "spillManagement": self.spills(evicted)}

    def write_trace(self, path, evicted=()):
        with open(path, "w") as out:
            out.write(json.dumps(self.trace(evicted), indent=2, sort_keys=True))
        return str(path)
