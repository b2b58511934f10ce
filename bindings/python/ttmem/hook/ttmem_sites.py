# SPDX-License-Identifier: Apache-2.0
"""Where in the program a call is made: the line, the function, and the calls that led there."""

import itertools
import os

MOST_CALLS = 32  # of a stack
MOST_SITES = 100000
HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class Sites:
    """Every place has a number. What it is stands in the recording once."""

    def __init__(self, home):
        self.home = home  # of ttnn
        libraries = {os.path.dirname(os.__file__) + os.sep, home, os.path.dirname(home[:-1]) + os.sep}
        self.foreign = ("<frozen", HERE, *libraries)
        self.folder = os.getcwd() + os.sep
        self.paths = {}
        self.forget()

    def forget(self):
        """Nothing is in the recording yet."""
        self.known = {}  # ids of code objects and instructions, outwards -> number
        self.numbers = itertools.count(1)
        self.told = set()  # numbers whose place is written: until then every thread that comes by has to say it
        self.codes = []  # theirs, so that the ids stay theirs

    def number_of(self, frame):
        """(number, what is to be written about it: None when that is known)"""
        steps, outer = [], frame
        while outer is not None:
            steps.append(id(outer.f_code))
            steps.append(outer.f_lasti)
            outer = outer.f_back
        steps = tuple(steps)
        number = self.known.get(steps)
        if number in self.told:
            return number, None
        if number is None and len(self.known) < MOST_SITES:
            self.codes.append(self.codes_of(frame))
            number = self.known.setdefault(steps, next(self.numbers))
        return number or 0, self.place(frame)

    def codes_of(self, frame):
        codes = []
        while frame is not None:
            codes.append(frame.f_code)
            frame = frame.f_back
        return codes

    def is_users(self, name):
        return not name.startswith(self.foreign) and "-packages" + os.sep not in name

    def place(self, frame):
        """file:line, function and calls in the user's program that led here; a library's own when there is none of the user's."""
        nearest = None
        while frame is not None:
            name = frame.f_code.co_filename
            if not name.startswith((HERE, self.home, "<frozen")):
                nearest = nearest or frame
                if self.is_users(name):
                    break
            frame = frame.f_back
        frame = frame or nearest
        if frame is None:
            return {"at": "", "function": ""}
        calls = [self.line_of(frame)]
        outer = frame.f_back
        while outer is not None and len(calls) < MOST_CALLS:
            if self.is_users(outer.f_code.co_filename):
                calls.append(self.line_of(outer))
            outer = outer.f_back
        place = {"at": calls[0], "function": frame.f_code.co_name}
        if len(calls) > 1:
            place["stack"] = "|".join(reversed(calls))
        return place

    def line_of(self, frame):
        name = frame.f_code.co_filename
        path = self.paths.get(name)
        if path is None:
            path = os.path.abspath(name) if name[:1] != "<" else name
            path = path[len(self.folder) :] if path.startswith(self.folder) else path
            self.paths[name] = path
        return "%s:%d" % (path, frame.f_lineno)
