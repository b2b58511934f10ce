# SPDX-License-Identifier: Apache-2.0
"""What decides how an operation works on its arguments, as something that can be looked up."""

import enum
import itertools

UNKNOWN, BY_IDENTITY, BY_HASH, BY_ID, BY_CONFIGURATION, BY_TEXT = range(1, 7)  # ways to find a kind, as ttmem_calls.c has them
PLAIN = {type(None), bool, int, float, str}
MOST_KNOWN = 4096


def members_of(value):
    """(name, value) of a configuration of ttnn, which says in its repr only where it lies."""
    members = ((name, getattr(value, name)) for name in dir(value) if name[0] != "_")
    return [(name, member) for name, member in members if not callable(member)]


class Kinds:
    """Reading a configuration takes longer than most operations. It is read once, and again when an attribute of one was set."""

    def __init__(self, tensor):
        self.tensor = tensor
        self.known = {}  # id of a configuration -> (itself, its kind)
        self.ways = {}  # type -> how its kind is found
        self.followed = set()  # types whose changes are seen
        self.numbers = {}  # kind of a configuration -> number
        self.next = itertools.count(1)
        self.changed = lambda: None  # called when `known` is forgotten

    def of(self, value, tensors):
        """The kind of an argument; tensors of ttnn in it are added to `tensors`."""
        kind = type(value)
        if kind is self.tensor:
            tensors.append(value)
            return (str(value.shape), id(value.dtype), id(value.layout), hash(value.memory_config()))  # enumerations have one object for each value
        if kind in PLAIN:
            return (kind, value)  # True == 1 == 1.0, but not to an operation
        if kind is list or kind is tuple:
            return tuple([self.of(v, tensors) for v in value])
        if kind is dict:
            return tuple([(name, self.of(v, tensors)) for name, v in value.items()])
        found = self.known.get(id(value))
        if found is not None and found[0] is value:
            return found[1]
        way = self.ways.get(kind)
        if way is None:
            way = self.ways[kind] = self.way_of(value, kind)
        return way(value)

    def way_of(self, value, kind):
        if isinstance(value, self.tensor):
            return self.shape_of
        if kind.__module__.startswith("ttnn"):
            if hasattr(value, "arch"):  # a device
                return self.id_of
            if isinstance(value, enum.Enum) or kind.__hash__ not in (None, object.__hash__):  # of what it says
                return self.hash_of
            return self.configuration
        return self.shape_of if hasattr(value, "shape") and hasattr(value, "dtype") else repr

    def id_of(self, device):
        return (type(device), device.id())

    def hash_of(self, value):
        try:
            return (type(value), hash(value))
        except TypeError:
            return str(value)

    def shape_of(self, value):
        config = getattr(value, "memory_config", None)
        return (str(value.shape), str(value.dtype), str(getattr(value, "layout", "")), str(config()) if callable(config) else "")

    def configuration(self, value):
        text = repr(value)
        if " object at 0x" in text:
            text = (type(value).__name__, *((name, self.of(member, [])) for name, member in members_of(value)))
        if self.follow(type(value)):
            if len(self.known) >= MOST_KNOWN:
                self.forget()
            self.known[id(value)] = (value, text)
        return text

    def follow(self, kind):
        """True when setting an attribute of such a configuration is seen from now on."""
        if kind in self.followed:
            return True
        real = kind.__setattr__

        def changing(value, name, to):
            self.forget()
            real(value, name, to)

        try:
            kind.__setattr__ = changing
        except TypeError:
            return False
        self.followed.add(kind)
        return True

    def forget(self):
        self.known.clear()
        self.changed()

    # ---- For ttmem_calls.c, which finds the kinds of arguments again by itself -------------------------------------------

    def way_number(self, value):
        kind = type(value)
        if isinstance(value, enum.Enum) and kind.__module__.startswith("ttnn"):
            return BY_IDENTITY  # there is one object for each value
        way = self.ways.get(kind)
        if way is None:
            way = self.ways[kind] = self.way_of(value, kind)
        return {self.id_of: BY_ID, self.hash_of: BY_HASH, self.configuration: BY_CONFIGURATION, repr: BY_TEXT}.get(way, UNKNOWN)

    def number_of(self, value):
        """Of a configuration, valid until `changed` is called; 0: that could not be seen."""
        kind = self.of(value, [])
        return self.numbers.get(kind) or self.numbers.setdefault(kind, next(self.next)) if id(value) in self.known else 0
