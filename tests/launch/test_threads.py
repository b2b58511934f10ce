#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What threads of a recorded program share: another comes in between wherever Python lets it."""
import gc
import sys
import types
import unittest

from test_record import TESTS

sys.path.insert(0, str(TESTS.parent / "bindings/python/ttmem/hook"))
import ttmem_nodes  # noqa: E402
import ttmem_sites  # noqa: E402
import ttmem_threads  # noqa: E402


def waits():
    yield


def waiting_frame():
    """It does not move, and nobody called it."""
    waiting = waits()
    next(waiting)
    return waiting.gi_frame


class Shared(unittest.TestCase):
    def test_a_thread_calls_its_first_operation_while_others_are_counted(self):
        threads = ttmem_threads.Threads(types.SimpleNamespace(brief=types.SimpleNamespace(interrupt_all=lambda: None)))

        def comes(_):
            threads.users.add(ttmem_threads.Lane(len(threads.users)))
            return 0

        class Busy(ttmem_threads.Lane):
            in_piece = depth = property(comes, lambda *_: None)

        threads.users.update(Busy(number) for number in range(3))
        self.assertFalse(threads.in_operations(None))
        self.assertTrue(threads.is_crowded(ttmem_threads.Lane(9)))
        self.assertEqual(len(threads.users), 3 + 3 + 3 + 1)

    def test_a_place_is_said_until_it_is_written(self):
        sites, frame = ttmem_sites.Sites("/nowhere/ttnn/"), waiting_frame()
        (first, said), (second, said_again) = [sites.number_of(frame) for _ in range(2)]
        self.assertEqual((first, said["function"]), (second, said_again["function"]))
        sites.told.add(first)
        self.assertEqual(sites.number_of(frame), (first, None))

    def test_places_beyond_the_limit_are_said_each_time(self):
        sites, frame = ttmem_sites.Sites("/nowhere/ttnn/"), waiting_frame()
        sites.known = dict.fromkeys(range(ttmem_sites.MOST_SITES), 1)
        for _ in range(2):
            number, place = sites.number_of(frame)
            self.assertEqual((number, place["function"]), (0, frame.f_code.co_name))
            sites.told.add(number)

    def test_another_thread_takes_the_last_answer(self):
        class Raced(list):
            def __bool__(self):
                return True  # as it was when this thread looked

            def __iter__(self):
                return iter([0] * 3)

        programs = ttmem_nodes.Programs()
        programs.answered = Raced([(1, "a"), (2, "b")])
        self.assertEqual([n["params"].get("program") for n in programs.answers()], [None, 1, 2])

    def test_nothing_is_collected_until_all_are_through(self):
        self.assertTrue(gc.isenabled())
        one, other = ttmem_nodes.NothingCollected(), ttmem_nodes.NothingCollected()
        with one:
            other.__enter__()
            self.assertFalse(gc.isenabled())
        self.assertFalse(gc.isenabled())
        other.__exit__()
        self.assertTrue(gc.isenabled())
        one.__enter__()
        ttmem_nodes.NothingCollected.forked()
        self.assertTrue(gc.isenabled())
        gc.disable()  # the program's own choice stays
        with one:
            pass
        self.assertFalse(gc.isenabled())
        gc.enable()


if __name__ == "__main__":
    unittest.main()
