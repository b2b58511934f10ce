# SPDX-License-Identifier: Apache-2.0
"""Writes small TT-XLA logs by hand, with a DRAM allocator of sums only: enough for tests whose truth is a sum. Sizes are MB per bank."""
import math


class Device:
    """Banks as a memory state prints them."""

    def __init__(self, banks=12, total=1021.169, l1_total=1.268):
        self.banks, self.total, self.l1_total = banks, total, l1_total

    def rows(self, mb):
        """Rows of 1024 bf16 values that take `mb` in each bank: 32 rows are 32 tiles of 2048 bytes."""
        return round(mb * self.banks * 2**20 / 2048 / 32) * 32

    def mb(self, rows):
        return math.ceil(rows / self.banks) * 2048 / 2**20


def dram(rows):
    return ("tensor<1x%dx1024xbf16, #ttnn.ttnn_layout<(d0, d1, d2) -> (d0 * %d + d1, d2), <1x1>, memref<%dx32x!ttcore.tile<32x32, bf16>, "
            "#ttnn.buffer_type<dram>>, <interleaved>>>" % (rows, rows, rows // 32))


def l1(rows, shard=None):
    """In L1: interleaved, or a block of tiles on each of 8x8 cores."""
    place = "<1x1>, memref<%dx32x" % (rows // 32) if not shard else "<8x8>, memref<%dx%dx" % shard
    return ("tensor<1x%dx1024xbf16, #ttnn.ttnn_layout<(d0, d1, d2) -> (d0 * %d + d1, d2), %s!ttcore.tile<32x32, bf16>, "
            "#ttnn.buffer_type<l1>>, <%s>>>" % (rows, rows, place, "block_sharded" if shard else "interleaved"))


class Log:
    def __init__(self, device=None, prefix=""):
        self.lines, self.prefix = [], prefix
        self.states = True  # a memory state before each operation
        self.submits = False
        self.open(device or Device())

    def open(self, device):
        """Opens the device anew: it is empty."""
        self.device, self.held, self.values, self.next = device, 0.0, {}, 0

    def say(self, channel, level, text):
        self.lines.append("%s%23s | %8s | %s" % (self.prefix, channel, level, text))

    def debug(self, text):
        self.say("RuntimeTTNN", "DEBUG", text)

    def state(self, head):
        d = self.device
        self.say("Always", "INFO", "Device memory state %s" % head)
        for name, banks, total, used in (("DRAM", d.banks, d.total, self.held), ("L1", 64, d.l1_total, 0), ("L1_SMALL", 64, 0.062, 0), ("TRACE", d.banks, 0, 0)):
            self.say("Always", "INFO", "Device %s memory state: MemoryView{numBanks: %d, totalBytesPerBank: %.3f MB, totalBytesAllocatedPerBank: %.3f MB, "
                     "totalBytesFreePerBank: %.3f MB, largestContiguousBytesFreePerBank: %.3f MB}" % (name, banks, total, used, total - used, total - used))

    def operation(self, text, kind):
        self.debug("Executing operation: " + text)
        if self.states:
            self.state("before operation " + kind)
        return len(self.lines) - 5 * self.states  # its log line

    def start(self, name="main"):
        if self.submits:
            self.state("before submit")
        self.debug("Starting execution of program: " + name)
        self.values, self.next = {}, 0

    def finish(self, name="main", keep=0.0):
        """The program ends; the device keeps `keep` MB per bank more than what its tensors still hold."""
        self.operation('%%%d = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>}> : () -> !ttnn.device loc(unknown)' % self.next, "GetDeviceOp")
        self.held += keep
        self.debug("Finished execution of program: " + name)
        if self.submits:
            self.state("after submit")

    def make(self, mb, name="ttnn.relu", loc="a", of=()):
        """An operation with one result of `mb` per bank; returns its value."""
        rows = self.device.rows(mb)
        value = "%%%d" % self.next
        self.next += 1
        types = ", ".join(dram(self.values[v]) for v in of)
        self.operation('%s = "%s"(%s) : (%s) -> %s loc("%s")' % (value, name, ", ".join(of), types, dram(rows), loc), "EltwiseUnaryOp")
        self.values[value] = rows
        self.held += self.device.mb(rows)
        return value

    def make_typed(self, kind, name="ttnn.to_memory_config", loc="l1"):
        """An operation with one result of a type, which takes nothing of DRAM; it is freed at once."""
        value = "%%%d" % self.next
        self.next += 1
        self.operation('%s = "%s"() : () -> %s loc("%s")' % (value, name, kind, loc), "ToMemoryConfigOp")
        self.operation('"ttnn.deallocate"(%s) <{force = false}> : (%s) -> () loc(unknown)' % (value, kind), "DeallocateOp")

    def free(self, value):
        rows = self.values.pop(value)
        self.operation('"ttnn.deallocate"(%s) <{force = false}> : (%s) -> () loc(unknown)' % (value, dram(rows)), "DeallocateOp")
        self.held -= self.device.mb(rows)

    def write(self, path):
        with open(path, "w") as out:
            out.write("\n".join(self.lines) + "\n")
        return str(path)


def join(path, *logs):
    """One log after the other in one file."""
    with open(path, "w") as out:
        for log in logs:
            out.write("\n".join(log.lines) + "\n")
    return str(path)
