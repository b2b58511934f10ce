# SPDX-License-Identifier: Apache-2.0
"""Tests as sections of the recording: where each begins and ends, its name and how it went. pytest and unittest run a test in one function
each, which is wrapped; nothing is registered with them, and neither shows anything."""

import os
import sys

from _ttmem_nodes import node

CURRENT = "PYTEST_CURRENT_TEST"
LONGEST = 500


def first_line(text):
    return next((line.strip() for line in str(text).splitlines() if line.strip()), "")[:LONGEST]


def of_reports(reports):
    """(outcome, why) by pytest's reports on setup, call and teardown."""
    for wanted in ("failed", "skipped"):
        for report in reports or ():
            if report.outcome == wanted:
                crash = getattr(report.longrepr, "reprcrash", None)
                return wanted, first_line(getattr(crash, "message", "" if wanted == "skipped" else report.longrepr))
    return ("passed", "") if reports else ("", "")


class Tests:
    def __init__(self, recorder):
        self.recorder = recorder
        self.waiting = []  # nodes from before the recording began
        self.running = False
        self.wrapped = set()

    def watch(self):
        """Where pytest or unittest are by now."""
        self.wrap("_pytest.runner", lambda module: (module, "runtestprotocol"), self.of_pytest)
        self.wrap("unittest.case", lambda module: (module.TestCase, "run"), self.of_unittest)

    def wrap(self, name, place_of, wrapper):
        module = sys.modules.get(name)
        if module is None or name in self.wrapped:
            return
        owner, function = place_of(module)
        real = getattr(owner, function, None)
        if real is not None:
            self.wrapped.add(name)
            wrapped = wrapper(real)
            wrapped.__wrapped__, wrapped.__name__, wrapped.__doc__ = real, real.__name__, real.__doc__
            setattr(owner, function, wrapped)

    def of_pytest(self, real):
        def runtestprotocol(item, *args, **kwargs):
            reports = None
            self.begins(item.nodeid)
            try:
                reports = real(item, *args, **kwargs)
                return reports
            finally:
                self.ends(lambda: of_reports(reports))

        return runtestprotocol

    def of_unittest(self, real):
        def run(case, result=None):
            if self.running:  # of pytest
                return real(case, result)
            found = [getattr(result, kind, []) for kind in ("failures", "errors", "skipped")]
            before = list(map(len, found))
            self.begins(case.id())
            try:
                return real(case, result)
            finally:
                self.ends(lambda: self.of_result(result, found, before))

        return run

    def of_result(self, result, found, before):
        for outcome, rows, n in zip(("failed", "failed", "skipped"), found, before):
            if len(rows) > n:
                return outcome, first_line(rows[n][1].strip().rpartition("\n")[2])
        return ("passed" if result is not None else ""), ""

    # ---- The recording ---------------------------------------------------------------------------------------------------

    def begins(self, name):
        self.running = True
        self.recorder.guarded(self.put, node("test", name=name[:LONGEST]))

    def ends(self, outcome_of):
        self.running = False
        self.recorder.guarded(lambda: self.put(node("test_end", **dict(zip(("outcome", "message"), outcome_of())))))

    def put(self, one):
        recorder = self.recorder
        if recorder.file is None:
            self.waiting.append(one)
        elif recorder.recording():
            lane = recorder.lane()
            recorder.pieces.roll(lane, again=lane.active and bool(recorder.devices.open))
            recorder.put(lane, [one])

    def opened(self):
        """The recording begins: what was before, and the test that runs though we did not see it begin."""
        self.watch()
        waiting, self.waiting = self.waiting, []
        if not self.running and os.environ.get(CURRENT):
            waiting.append(node("test", name=os.environ[CURRENT].rpartition(" (")[0][:LONGEST]))
            self.running = True
        self.recorder.put(self.recorder.lane(), waiting)
