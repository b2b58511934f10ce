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


def woven_ranks(n):
    """Ranks that write in turns: a program that ends, and one that does not, of which it did everything."""
    ranks = []
    for rank in range(n // 16):
        log = Log(prefix="[1,%d]<stdout>: " % rank)
        log.states = False
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


def processor_time(*words):
    before = os.times()
    subprocess.run([TTMEM, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    os.environ["TTMEM_HOME"] = folder + "/home"
    for make, command, n in ((cut_runs, ("fit", "-q"), 40000), (woven_ranks, ("fit", "-q"), 160000)):
        join("one.log", *make(n))
        join("four.log", *make(4 * n))
        one, four = (min(processor_time(command[0], name, *command[1:]) for _ in range(2)) for name in ("one.log", "four.log"))
        print("%-12s %.2f s, four times as long %.2f s" % (make.__name__, one, four))
        assert four < 8 * max(one, 0.02), (make.__name__, one, four)
