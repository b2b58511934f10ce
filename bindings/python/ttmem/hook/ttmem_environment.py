# SPDX-License-Identifier: Apache-2.0
"""The environment as the program would have it without ttmem. What `ttmem run` set stays in libc's environment, where ttnn reads it and where
children inherit it, and is taken out of os.environ; a child that is given an environment of its own gets ours beside it.

Still to be seen by who looks for it: /proc/self/environ, getenv in C, the modules _ttmem_* and the Finder in sys.meta_path.

Environment: TTMEM_BEFORE, the variables that were changed, with the value that they had if any, separated by a control character.
"""

import os

OURS = (b"TTMEM_RECORDING", b"TTMEM_BOARD", b"TTMEM_ROOT", b"TTMEM_COMPILER", b"TTMEM_FILES")
PATH, BEFORE, SEPARATOR = b"PYTHONPATH", b"TTMEM_BEFORE", b"\x1f"
HERE = os.fsencode(os.path.dirname(os.path.abspath(__file__)))

ours = {}  # as `ttmem run` set them; None: taken away
before = {}  # as the program has them; None: not set
program = os.environ._data  # what os.environ shows, in bytes; libc's environment does not change with it
putenv, unsetenv = os.putenv, os.unsetenv


def setting(name):
    """The value that `ttmem run` gave to a variable, else the user's; "": none."""
    value = ours.get(os.fsencode(name))
    return os.fsdecode(value) if value is not None else os.environ.get(name, "")


def changes(values):
    return SEPARATOR.join(name if value is None else name + b"=" + value for name, value in values.items())


def our_value(name, mine):
    return (HERE + b":" + mine if mine else HERE) if name == PATH else ours[name]


def hide():
    """Called when Python starts, before the program."""
    for entry in program.pop(BEFORE, b"").split(SEPARATOR):
        name, was_set, value = entry.partition(b"=")
        if name:
            ours[name] = program.pop(name, None)
            before[name] = value if was_set else None
            if was_set:
                program[name] = value
    for name in OURS:
        if name in program:
            ours[name] = program.pop(name)
    follow_changes()
    follow_children()


def set_unseen(name, value):
    """For ttnn and for children, not for the program."""
    name = os.fsencode(name)
    before[name], ours[name] = program.get(name), os.fsencode(value)
    putenv(BEFORE, changes(before))
    putenv(name, value)


def follow_changes():
    """os.environ calls these when the program changes it. What we set stays set, but is its own to see; what we took away it may set."""

    def put(name, value):
        name, value = os.fsencode(name), os.fsencode(value)
        if name not in before:
            return putenv(name, value)
        if ours[name] is None:
            del before[name], ours[name]
            putenv(name, value)
        else:
            before[name] = value
            putenv(name, our_value(name, value))
        putenv(BEFORE, changes(before))

    def unset(name):
        name = os.fsencode(name)
        if name not in before:
            return unsetenv(name)
        before[name] = None
        if ours[name] is not None:
            putenv(name, our_value(name, None))
        putenv(BEFORE, changes(before))

    os.putenv, os.unsetenv = put, unset
    for environ in (os.environ, os.environb):
        if hasattr(environ, "putenv"):  # Python 3.8
            environ.putenv, environ.unsetenv = put, unset


def for_child(env):
    """An environment that the program made for a child, with ours."""
    env = {os.fsencode(name): os.fsencode(value) for name, value in env.items()}
    changed = {}
    for name, value in ours.items():
        mine = env.get(name)
        if name in OURS:
            env[name] = value
        elif value is not None:
            changed[name], env[name] = mine, our_value(name, mine)
        elif mine is not None and mine == before[name]:
            changed[name] = env.pop(name)
    env[BEFORE] = changes(changed)
    return env


def follow_children():
    """Every way in which Python starts a program with an environment passes here; the others inherit libc's."""
    import _posixsubprocess

    def replace(owner, name, at, wrap):
        real = getattr(owner, name, None)

        def start(*args, **kwargs):
            given = len(args) > at and args[at] is not None
            return real(*args[:at], wrap(args[at]), *args[at + 1 :], **kwargs) if given else real(*args, **kwargs)

        if real is not None:
            setattr(owner, name, start)

    def of_list(entries):
        return [name + b"=" + value for name, value in for_child(dict(entry.split(b"=", 1) for entry in entries)).items()]

    replace(_posixsubprocess, "fork_exec", 5, of_list)
    for name in ("posix_spawn", "posix_spawnp", "execve"):
        replace(os, name, 2, for_child)
