#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a hostile input costs grows with its length: four times the input takes no more than eight times the processor time."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.environ["TTMEM_SOURCE"] + "/tests")
from small_logs import Log, join

TTMEM = os.environ["TTMEM"]


def cut_runs(n):
    """Programs that neither end nor do anything, before one that does."""
    log = Log()
    log.lines += ["RuntimeTTNN |    DEBUG | Starting execution of program: main"] * n
    last = Log()
    last.start()
    last.make(1.0)
    last.finish()
    return log, last


DUMP = """2026-06-19 09:00:00.013 (   0.013s) [        8C291140]      module_builder.cc:1279     1| MLIR Module shlo_frontend:
module @M.%d {
  func.func @main(%%arg0: tensor<64x100xbf16> {ttcore.argument_type = #ttcore.argument_type<parameter>, ttir.name = "w"} loc("p")) -> tensor<1xbf16> {
    %%0 = "shlo.add"(%%arg0, %%arg0) : (tensor<64x100xbf16>, tensor<64x100xbf16>) -> tensor<64x100xbf16> loc("a")
  }
}
------------------ END OF MLIR MODULE ------------------"""


def woven_ranks(n, dump=""):
    """Ranks that write in turns: a program that ends, and one that does not, of which it did everything."""
    ranks = []
    for rank in range(n // 16):
        log = Log(prefix="[1,%d]<stdout>: " % rank)
        log.states = False
        log.lines += ["[1,%d]<stdout>: " % rank + line for line in (dump % rank).split("\n")] if dump else []
        log.start()
        log.make(0.01)
        log.make(0.01)
        log.finish()
        log.start()
        log.make(0.01)
        log.make(0.01)
        ranks.append(log)
    woven = Log()
    woven.lines = [line for lines in zip(*(log.lines for log in ranks)) for line in lines]
    return (woven,)


def woven_graphs(n):
    """Ranks that print their modules, too."""
    return woven_ranks(n, DUMP)


def processor_time(command, log):
    before = os.times()
    subprocess.run([TTMEM, *(word.replace("LOG", log) for word in command.split())], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    os.environ["TTMEM_HOME"] = folder + "/home"
    for make, command, n in ((cut_runs, "fit LOG -q", 40000), (woven_ranks, "fit LOG -q", 160000), (woven_ranks, "diff LOG LOG -q", 40000),
                             (woven_graphs, "ask LOG --findings -q", 80000)):
        join("one.log", *make(n))
        join("four.log", *make(4 * n))
        one, four = (min(processor_time(command, name) for _ in range(2)) for name in ("one.log", "four.log"))
        print("%-12s %s: %.2f s, four times as long %.2f s" % (make.__name__, command, one, four))
        assert four < 8 * max(one, 0.02), (make.__name__, command, one, four)
