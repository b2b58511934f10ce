# SPDX-License-Identifier: Apache-2.0
"""What the program calls the result of a call: the assignment that receives it. `self.w1 = load(...)` in a method of MLP is "MLP.w1", also when
`load` makes the tensor and returns it; a local is "MLP.forward.x", an argument "Model.forward.tokens".

The bytecode around the call tells, so the answer is there before the call is made, nothing is held and nothing is run twice. A function is
read once: which instruction's result may be stored where (Flow). What is left per call is a look-up for each frame up to the assignment.
"""

import ctypes
import dis
import sys
from heapq import heappop, heappush
from types import ModuleType

MOST_FRAMES = 32
MOST_STEPS = 10000  # instructions of one function, loops counted; a longer one gives no names
LONGEST = 200  # of a name

EMPTY = frozenset()
NOTHING = (None, EMPTY)  # an entry of the stack: the expression that made it, and the results it may hold
LOADS = ("LOAD_FAST", "LOAD_NAME", "LOAD_GLOBAL", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FAST_CHECK", "LOAD_FAST_AND_CLEAR", "LOAD_FAST_BORROW")
STORES = ("STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF", "STORE_FAST_MAYBE_NULL")
INTO_CONTAINER = ("append", "add", "appendleft", "insert", "setdefault", "extend", "update", "put")
PASS = ("NOP", "RESUME", "CACHE", "EXTENDED_ARG", "PRECALL", "KW_NAMES", "MAKE_CELL", "COPY_FREE_VARS", "NOT_TAKEN")
ENDS = ("RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE")
ALWAYS = ("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_ABSOLUTE", "JUMP_BACKWARD_NO_INTERRUPT", "JUMP")
CALLS = ("CALL", "CALL_KW", "CALL_FUNCTION", "CALL_METHOD", "CALL_FUNCTION_KW")
# Best first: what outlives the function, what leaves it, what stays in it.
ATTRIBUTE, ITEM, RETURN, LOCAL, ARGUMENT = range(5)


class Flow:
    """Of a function: `sinks`, by instruction, who may receive which part of its result. (2, 0) is the first part of its third part, () all of it."""

    def __init__(self, code):
        self.instructions = list(dis.get_instructions(code))
        self.at_offset = {i.offset: n for n, i in enumerate(self.instructions)}
        self.sinks = {}
        self.states = {0: ((), {})}
        self.keywords = ()
        waiting, steps = [0], 0
        while waiting and steps < MOST_STEPS:
            n = heappop(waiting)  # in the order of the program, so that ways meet before they go on together
            steps += 1
            for to, stack, names in self.step(n, *self.states[n]):
                if to < len(self.instructions) and self.join(to, stack, names) and to not in waiting:
                    heappush(waiting, to)
        del self.instructions, self.states

    def join(self, n, stack, names):
        """Another way to instruction `n`; True when it brings something new."""
        known = self.states.get(n)
        if known is None:
            self.states[n] = (tuple(stack), dict(names))
            return True
        if len(known[0]) != len(stack):  # not what we think it is
            return False
        merged = tuple((a[0] if a[0] == b[0] else None, a[1] | b[1]) for a, b in zip(known[0], stack))
        together = dict(known[1])
        for name, held in names.items():
            together[name] = together.get(name, EMPTY) | held
        if merged == known[0] and together == known[1]:
            return False
        self.states[n] = (merged, together)
        return True

    def sink(self, held, kind, *what):
        for origin, output, path in held:
            found = self.sinks.setdefault(origin, [])
            entry = (kind, output, path, what)
            if entry not in found:
                found.append(entry)

    def target_of(self, instruction):
        return self.at_offset.get(instruction.argval, len(self.instructions))

    def step(self, n, stack, names):
        """What may follow instruction `n`: (instruction, stack, what local names hold)."""
        i = self.instructions[n]
        op, stack, names = i.opname, list(stack), dict(names)
        if i.opcode in dis.hasjrel or i.opcode in dis.hasjabs or op in ALWAYS:
            return self.jump(n, i, stack, names)
        if op == "KW_NAMES":
            self.keywords = i.argval if isinstance(i.argval, tuple) else ()
        if op == "RETURN_VALUE" and stack:
            self.sink(stack[-1][1], RETURN)
        if op in ENDS:
            return ()
        if op not in PASS:
            self.act(n, i, op, stack, names)
        return ((n + 1, stack, names),)

    def jump(self, n, i, stack, names):
        op, ways = i.opname, []
        for to, taken in ((self.target_of(i), True), (n + 1, False)):
            if op in ALWAYS and not taken:
                continue
            after = list(stack)
            effect = dis.stack_effect(i.opcode, i.arg, jump=taken)
            if effect < 0:
                del after[effect:]
            else:
                after += [NOTHING] * effect
            ways.append((to, after, names))
        return ways

    def act(self, n, i, op, stack, names):
        """An instruction that is no jump."""
        effect = dis.stack_effect(i.opcode, i.arg if i.opcode >= dis.HAVE_ARGUMENT else None)
        if op in LOADS:
            stack += [NOTHING] * (effect - 1) + [(("name", i.argval), names.get(i.argval, EMPTY))]
            if op == "LOAD_GLOBAL" and effect == 2 and sys.version_info >= (3, 13):
                stack[-1], stack[-2] = stack[-2], stack[-1]
        elif op == "LOAD_CONST":
            stack.append((("const", i.argval), EMPTY))
        elif op in STORES:
            expression, held = stack.pop()
            self.sink(held, LOCAL, i.argval)
            names[i.argval] = held
        elif op == "STORE_ATTR":
            (owner, _), (_, held) = stack.pop(), stack.pop()
            self.sink(held, ATTRIBUTE, owner, ("const", i.argval))
        elif op == "STORE_SUBSCR":
            (key, _), (owner, _), (_, held) = stack.pop(), stack.pop(), stack.pop()
            self.put_into(owner, held, key, names)
        elif op in ("LOAD_ATTR", "LOAD_METHOD"):
            owner = stack.pop()[0]
            stack.append((("attr", owner, i.argval) if owner else None, EMPTY))
            stack += [NOTHING] * effect
        elif op in ("LIST_APPEND", "SET_ADD", "LIST_EXTEND", "SET_UPDATE", "MAP_ADD"):
            held = stack.pop()[1]
            if op == "MAP_ADD":
                stack.pop()
            into = stack[-i.arg]
            stack[-i.arg] = (into[0], into[1] | deeper(held, "*"))
        elif op in ("BUILD_LIST", "BUILD_TUPLE", "BUILD_SET"):
            items = [stack.pop() for _ in range(i.arg)][::-1]
            stack.append((None, EMPTY.union(*(deeper(held, at) for at, (_, held) in enumerate(items)))))
        elif op in ("BUILD_MAP", "BUILD_CONST_KEY_MAP"):
            self.build_map(op, i, stack)
        elif op == "UNPACK_SEQUENCE":
            held = stack.pop()[1]
            stack += [(None, part_of(held, at)) for at in reversed(range(i.arg))]
        elif op in CALLS:
            self.call(n, i, op, stack, names)
        elif op == "COPY":
            stack.append(stack[-i.arg])
        elif op == "SWAP":
            stack[-1], stack[-i.arg] = stack[-i.arg], stack[-1]
        elif op == "DUP_TOP":
            stack.append(stack[-1])
        elif op == "DUP_TOP_TWO":
            stack += stack[-2:]
        elif op.startswith("ROT_"):
            count = {"ROT_TWO": 2, "ROT_THREE": 3, "ROT_FOUR": 4}.get(op, i.arg or 2)
            stack.insert(len(stack) - count, stack.pop())
        elif op == "BINARY_SUBSCR":
            (key, _), (owner, held) = stack.pop(), stack.pop()
            part = part_of(held, key[1]) if key and key[0] == "const" else EMPTY
            stack.append((("item", owner, key) if owner else None, part | {(n, (), ())}))
        else:
            self.other(n, op, effect, stack)

    def build_map(self, op, i, stack):
        if op == "BUILD_MAP":
            pairs = [stack.pop() for _ in range(2 * i.arg)][::-1]
            keys, values = [key[0] for key in pairs[::2]], pairs[1::2]
        else:
            keys = [("const", key) for key in stack.pop()[0][1]]
            values = [stack.pop() for _ in range(i.arg)][::-1]
        held = (deeper(held, key[1] if key and key[0] == "const" else "*") for key, (_, held) in zip(keys, values))
        stack.append((None, EMPTY.union(*held)))

    def call(self, n, i, op, stack, names):
        words = ()
        if op in ("CALL_KW", "CALL_FUNCTION_KW"):
            words = stack.pop()[0]
            words = words[1] if words and words[0] == "const" else ()
        elif op == "CALL":
            words, self.keywords = self.keywords, ()
        arguments = [stack.pop() for _ in range(i.arg)][::-1]
        callee = stack.pop()[0]
        if op in ("CALL", "CALL_KW", "CALL_METHOD"):
            callee = stack.pop()[0] or callee
        for at, (_, held) in enumerate(arguments):
            word = at - len(arguments) + len(words)
            if not held or not callee:
                continue
            self.sink(held, ARGUMENT, callee, words[word] if word >= 0 else at)
            if callee == ("name", "setattr") and at == 2:
                self.sink(held, ATTRIBUTE, arguments[0][0], arguments[1][0])
            if callee[0] == "attr" and callee[2] in INTO_CONTAINER:
                self.put_into(callee[1], held, None, names)
        stack.append((None, frozenset(((n, (), ()),))))

    def put_into(self, owner, held, key, names):
        """Of a container that is a local nobody knows yet whether it leaves the function."""
        if not held or not owner:
            return
        inside = deeper(held, key[1] if key and key[0] == "const" else key or "*")
        if owner[0] == "name":
            names[owner[1]] = names.get(owner[1], EMPTY) | inside
            self.sink(inside, LOCAL, owner[1])
        else:
            self.sink(inside, ITEM, owner)

    def other(self, n, op, effect, stack):
        stores = op.startswith(("STORE_", "DELETE_", "POP_", "END_", "PRINT_"))
        pops = -effect if stores else max(0, 1 - effect)
        if op in ("PUSH_NULL", "LOAD_BUILD_CLASS", "LOAD_CLOSURE", "LOAD_ASSERTION_ERROR", "BEFORE_WITH", "GET_LEN", "PUSH_EXC_INFO"):
            pops = 0
        pushes = effect + pops
        if pops:
            del stack[-pops:]
        computes = op.startswith(("BINARY_", "INPLACE_", "UNARY_", "CALL_"))
        stack += [(None, frozenset(((n, (), ()),)) if computes else EMPTY)] * pushes


def deeper(held, at):
    """In a container, under `at`."""
    return frozenset((origin, output, (at, *path)[:3]) for origin, output, path in held)


def part_of(held, at):
    """What is at place `at` of what is held."""
    parts = set()
    for origin, output, path in held:
        if path and path[0] in (at, "*"):
            parts.add((origin, output, path[1:]))
        elif not path and len(output) < 3 and isinstance(at, int):
            parts.add((origin, (*output, at), ()))
    return frozenset(parts)


def make_local():
    """A function that reads a local of a frame. Not by f_locals before Python 3.13: that keeps a reference to every local, so that a tensor
    would live longer."""
    if sys.version_info >= (3, 13):
        return lambda frame, name: frame.f_locals.get(name)
    get = getattr(ctypes.pythonapi, "PyFrame_GetVar", None)
    if get is None:
        return lambda frame, name: None
    get.restype, get.argtypes = ctypes.py_object, (ctypes.py_object, ctypes.py_object)

    def local(frame, name):
        try:
            return get(frame, name)
        except Exception:
            return None

    return local


local_of = make_local()


class Looked:
    at_values = False  # of the program, which may be others at the next call; those of a module stay


def value_of(frame, expression):
    """Of names and attributes, without calling anything of the program's; None."""
    if not expression:
        return None
    if expression[0] == "name":
        name = expression[1]
        value = local_of(frame, name) if name in frame.f_code.co_varnames else None
        value = frame.f_globals.get(name) if value is None else value
        Looked.at_values |= not isinstance(value, ModuleType)
        return value
    if expression[0] != "attr":
        Looked.at_values = True
        return None
    owner, name = value_of(frame, expression[1]), expression[2]
    Looked.at_values |= not isinstance(owner, ModuleType)
    if owner is None:
        return None
    found = getattr(owner, "__dict__", {}).get(name)
    return next((c.__dict__[name] for c in type(owner).__mro__ if name in c.__dict__), None) if found is None else found


def parameter_of(frame, callee, at):
    """The name that a called function has for its argument number `at`: "Model.forward.tokens"; "" when it cannot be told."""
    called = value_of(frame, callee)
    bound = callee[0] == "attr"
    if isinstance(called, type):
        called, bound = called.__dict__.get("__init__"), True
    elif called is not None and not hasattr(called, "__code__") and not hasattr(called, "__func__"):
        called, bound = getattr(type(called), "forward", None) or getattr(type(called), "__call__", None), True
    called = getattr(called, "__func__", called)
    code = getattr(called, "__code__", None)
    if code is None:
        return ""
    names = code.co_varnames[: code.co_argcount]
    if isinstance(at, int):
        at += bool(bound and names[:1] == ("self",))
        at = names[at] if at < len(names) else ""
    return at and scope_of(code, called) + at


def scope_of(code, function=None):
    """"MLP.forward.", or "" for a module."""
    name = getattr(function, "__qualname__", None) or getattr(code, "co_qualname", code.co_name)
    name = ".".join(part for part in name.split(".") if part[0] != "<")
    return name + "." if name else ""


def class_of(frame):
    """Of the object whose method this is; "" in a function."""
    Looked.at_values = True
    code = frame.f_code
    owner = local_of(frame, code.co_varnames[0])
    if owner is not None:
        return (owner if isinstance(owner, type) else type(owner)).__name__
    scope = scope_of(code).split(".")
    if len(scope) > 2:
        return scope[-3]
    for name, value in frame.f_globals.items():  # before Python 3.11
        if isinstance(value, type) and getattr(value.__dict__.get(code.co_name), "__code__", None) is code:
            return name
    return ""


def text_of(frame, expression):
    """As the program writes it, with the class for `self`; "" for what has no name."""
    kind = expression[0] if expression else ""
    if kind == "name":
        name, code = expression[1], frame.f_code
        if code.co_argcount and name == code.co_varnames[0] and name in ("self", "cls"):
            return class_of(frame) or name
        return name
    if kind in ("attr", "item"):
        owner = text_of(frame, expression[1])
        return owner and owner + ("." + expression[2] if kind == "attr" else "[%s]" % key_of(frame, expression[2]))
    return ""


def torch_parameter(frame):
    """The parameter of a torch module that ttnn.model_preprocessing converts or puts on the device: "encoder.layers.0.fc1.weight"; "" elsewhere."""
    parts = []
    while frame is not None and frame.f_globals.get("__name__") == "ttnn.model_preprocessing":
        Looked.at_values = True
        has = frame.f_code.co_varnames
        part = local_of(frame, "name") if "name" in has else None
        if frame.f_code.co_name == "convert_torch_model_to_ttnn_model":  # which counts from the root
            return part if isinstance(part, str) else ""
        if frame.f_code.co_name == "move_to_device":
            part = local_of(frame, "index") if part is None and "index" in has else part
            parts[:0] = [] if part is None else [str(part)]
        frame = frame.f_back
    return ".".join(parts)


def key_of(frame, expression):
    value = expression[1] if expression and expression[0] == "const" else value_of(frame, expression)
    return str(value)[:60] if isinstance(value, (int, str)) else "*"


def parts_of(frame, path):
    return "".join("[%s]" % (key_of(frame, at) if isinstance(at, tuple) else at) for at in path if at != "*")


class Names:
    def __init__(self):
        self.flows = {}  # id of a code object -> (itself, its sinks)
        self.known = {}  # id of a code object, instruction -> {output: its sinks, best first}
        self.at_site = {}  # where the calls that led there tell the names: number of the site -> names

    def sinks_at(self, frame):
        """{output: its sinks, best first} of the instruction that a frame stands at."""
        code, at = frame.f_code, frame.f_lasti
        found = self.known.get((id(code), at))
        if found is None:
            if id(code) not in self.flows:
                self.flows[id(code)] = (code, Flow(code))
            flow, found = self.flows[id(code)][1], {}
            while at > 0 and at not in flow.at_offset:  # in a call it may stand at the call's cache
                at -= 2
            for kind, output, path, what in sorted(flow.sinks.get(flow.at_offset.get(at), ()), key=lambda sink: sink[0]):
                found.setdefault(output, []).append((kind, path, what))
            self.known[id(code), frame.f_lasti] = found
        return found

    def outputs_of(self, frame, depth=0):
        """{output: (name, whether an object keeps it)} of the call that a frame is in."""
        names, parameter = {}, torch_parameter(frame)
        if parameter:
            return {(): (parameter[:LONGEST], True)}
        for output, sinks in self.sinks_at(frame).items() if frame is not None and depth < MOST_FRAMES else ():
            outer = None
            for kind, path, what in sinks:
                if kind != RETURN:
                    name = self.name_of(frame, kind, path, what)
                    if name:
                        names.setdefault(output, (name[:LONGEST], kind <= ITEM))
                        break
                    continue
                outer = self.outputs_of(frame.f_back, depth + 1) if outer is None else outer
                found = {received[len(path) :]: name for received, name in outer.items() if received[: len(path)] == path}
                if not found and () in outer:
                    found = {(): (outer[()][0] + parts_of(frame, path), outer[()][1])}
                for part, name in found.items():
                    names.setdefault(output + part, name)
                if found:
                    break
        return names

    def name_of(self, frame, kind, path, what):
        if kind == LOCAL:
            name = scope_of(frame.f_code) + what[0]
        elif kind == ARGUMENT:
            name = parameter_of(frame, *what)
        else:
            name = text_of(frame, what[0])
            name = name and kind == ATTRIBUTE and "%s.%s" % (name, key_of(frame, what[1])) or name
        return name and name + parts_of(frame, path)

    def of_call(self, frame, site=0):
        """{output: (name, whether an object keeps it)} of the call that `frame` is about to make. Calls with the same `site` come by the same calls."""
        names = self.at_site.get(site)
        if names is not None:
            return names
        try:
            Looked.at_values = False
            names = self.outputs_of(frame)
            if site and not Looked.at_values:
                self.at_site[site] = names
            return names
        except Exception:  # bytecode of another Python
            return {}


def address_of(tensor):
    """Where a tensor lies on its device; None of one on the host, of one that was freed, and of one with an address per core: asked for theirs, ttnn complains
    aloud."""
    try:
        if tensor.device() is None or (hasattr(tensor, "is_per_core_allocated") and tensor.is_per_core_allocated()):
            return None
        return tensor.buffer_address()
    except Exception:
        return None


def tensors_in(result, path=()):
    """(path, address on the device) of each tensor in a list of results."""
    if isinstance(result, (list, tuple)):
        for at, part in enumerate(result if len(path) < 3 else ()):
            yield from tensors_in(part, (*path, at))
    elif hasattr(result, "buffer_address"):
        address = address_of(result)
        if address is not None:
            yield path, address


def name_at(names, path):
    """Of the tensor at `path` of the results; the name of the list it is in, with its place."""
    for n in range(len(path), -1, -1):
        if path[:n] in names:
            return names[path[:n]][0] + "".join("[%d]" % at for at in path[n:])
    return ""
