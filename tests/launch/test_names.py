#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a recording calls tensors: the assignments of the program, and the classes that follow from what operations do with them."""
import json
import sys
import types
import unittest

from test_record import TESTS, Case

sys.path.insert(0, str(TESTS.parent / "bindings/python/ttmem/hook"))
import ttmem_names  # noqa: E402

NAMES = ttmem_names.Names()
READS_LOCALS = sys.version_info >= (3, 12)  # before, a class is that of the method, and a key "*"
PROGRAM = """
class Linear:
    def __init__(self, load):
        self.weight = load("w")
        tmp = op()
        self.bias = tmp

class Model(Linear):
    def __init__(self, load):
        super().__init__(load)
        self.caches = [op() for _ in range(2)]
        self.parts = {"k": op(), "v": op()}
        self.list = []
        self.list.append(op())
        self.left, self.right = pair()
        self.by_layer = {}
        for layer in range(2):
            self.by_layer[layer] = op()
        setattr(self, "set", op())

    def forward(self, tokens, mask=None):
        q, k, v = op(parts=3)
        out, [height, width], [self.prepared, bias] = op(parts=3)
        h = op()
        for _ in range(2):
            h = h + op()
        if mask:
            chosen = op()
        else:
            chosen = op()
        return chosen

    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)

def pair():
    a = op()
    b = op()
    return a, b

def helper():
    made = op()
    made = op()
    return made

def main():
    model = Model(lambda name: op())
    result = model(op(), mask=op())
    model.extra = helper()
    with open("/dev/null") as f:
        inside = op()
    op()
    return result

answer = main()
table = {name: op() for name in ("a", "b")}
"""


PREPROCESSING = """
def convert_torch_model_to_ttnn_model(model, *, custom_preprocessor, name):
    if isinstance(model, list):
        return [convert_torch_model_to_ttnn_model(child, custom_preprocessor=custom_preprocessor, name="%s.%d" % (name, n)) for n, child in enumerate(model)]
    made = custom_preprocessor(model, name)
    return made

def move_to_device(object, device):
    if isinstance(object, dict):
        for name, value in list(object.items()):
            object[name] = move_to_device(value, device)
        return object
    elif isinstance(object, list):
        for index, element in enumerate(object):
            object[index] = move_to_device(element, device)
        return object
    return op()

def custom(model, name):
    parameters = {}
    parameters["weight"] = op()
    return parameters

model = {"encoder": convert_torch_model_to_ttnn_model([0, 1], custom_preprocessor=custom, name="encoder")}
model = move_to_device(model, None)
"""


def of_program(text, module="program"):
    """The names of every call of `op`, in order."""
    seen = []

    class Tensor:
        def __add__(self, other):
            return self

    def op(parts=0):
        seen.append({output: name for output, (name, _) in NAMES.of_call(sys._getframe(1)).items()})
        return [(Tensor(), Tensor()) if parts and n else Tensor() for n in range(parts)] if parts else Tensor()

    exec(compile(text, "program.py", "exec"), {"op": op, "__name__": module})
    return seen


def whole(names):
    return [name.get((), "") for name in names]


class Assignments(unittest.TestCase):
    def test_the_assignment_that_receives_a_result_names_it(self):
        seen = of_program(PROGRAM)
        names = whole(seen)
        if not READS_LOCALS:
            self.skipTest("Python %d.%d does not read locals" % sys.version_info[:2])
        wanted = ["Model.weight", "Model.bias", "Model.caches", "Model.caches", "Model.parts[k]", "Model.parts[v]", "Model.list", "Model.left",
                  "Model.right", "Model.by_layer[0]", "Model.by_layer[1]", "Model.set", "Model.forward.tokens", "Model.forward.mask"]
        self.assertEqual(names[: len(wanted)], wanted)
        self.assertEqual(seen[14], {(0,): "Model.forward.q", (1,): "Model.forward.k", (2,): "Model.forward.v"})
        self.assertEqual(seen[15][2, 0], "Model.prepared")
        self.assertEqual(seen[15][0,], "Model.forward.out")
        # What is returned goes by the outermost name; the first result of `helper` never leaves it.
        self.assertEqual(names[16:], ["Model.forward.h", "", "", "answer", "helper.made", "model.extra", "main.inside", "", "table", "table"])

    def test_parameters_that_ttnn_converts_have_the_names_of_torch(self):
        if not READS_LOCALS:
            self.skipTest("Python %d.%d does not read locals" % sys.version_info[:2])
        names = whole(of_program(PREPROCESSING, "ttnn.model_preprocessing"))
        self.assertEqual(names[2:], ["encoder.0.weight", "encoder.1.weight"])
        # A preprocessor of the program's own is another module; here it counts as ttnn's, whose frame around it tells.
        self.assertEqual(names[:2], ["encoder.0", "encoder.1"])

    def test_parts_of_what_is_returned_keep_their_place(self):
        names = whole(of_program("def make():\n    parts = {}\n    parts['w'] = op()\n    return parts\nmade = make()\n"))
        self.assertEqual(names, ["made[w]"])

    def test_older_pythons_say_the_class_of_the_method(self):
        real, ttmem_names.local_of = ttmem_names.local_of, lambda frame, name: None
        try:
            names = whole(of_program(PROGRAM))
        finally:
            ttmem_names.local_of = real
        if hasattr(types.CodeType, "co_qualname"):
            self.assertEqual(names[:4], ["Linear.weight", "Linear.bias", "Model.caches", "Model.caches"])
        self.assertIn("by_layer[*]", names[9])

    def test_a_frames_locals_are_not_kept(self):
        text = "import weakref\nclass Big: pass\ndef f():\n    big = Big()\n    gone = weakref.ref(big)\n    kept.x = op(big)\n    del big\n    return gone() is None\n"
        space = {"kept": types.SimpleNamespace(), "op": lambda big: NAMES.of_call(sys._getframe(1)) and None, "__name__": "p"}
        exec(compile(text, "program.py", "exec"), space)
        self.assertTrue(space["f"]())


MODEL = """import ttnn

class MLP:
    def __init__(self):
        self.w1 = ttnn.from_torch(8192, device)
        self.w2 = ttnn.from_torch(4096, device)
        self.cache = ttnn.from_torch(2048, device)
        self.table = ttnn.from_torch(256, device)

    def forward(self, x):
        h = ttnn.linear(x, self.w1)
        left, right = ttnn.split(h, 2)
        ttnn.fill_cache(self.cache, left)
        ttnn.tilize(self.table)
        h, [self.prepared] = ttnn.conv2d(h, 512)
        return ttnn.linear(h, self.w2)

device = ttnn.open_device(device_id=0)
layers = [MLP() for _ in range(3)]
x = ttnn.from_torch(1024, device)
for layer in layers:
    x = layer.forward(x)
ttnn.close_device(device)
"""


class Recorded(Case):
    def test_rows_have_the_programs_names_and_classes(self):
        self.model(text=MODEL)
        code, _, err = self.run_it()
        self.assertEqual(code, 0, err)
        live = self.findings()["live_at_peak"]["DRAM"]
        rows = {row["name"]: (row["class"], row["tensors"]) for row in live["groups"]}
        self.assertEqual(rows["MLP.w1"], ("weights", 3))
        self.assertEqual(rows["MLP.w2"], ("weights", 3))
        self.assertEqual(rows["MLP.cache"], ("kv_cache", 3))  # written into by fill_cache, whatever it is called
        self.assertEqual(rows["MLP.table"], ("weights", 3))  # kept, and only converted
        self.assertEqual(rows["MLP.prepared"][0], "weights")  # made by the operation that takes it as its weights
        self.assertEqual(rows["x"][0], "activations")
        self.assertEqual((rows["MLP.forward.left"], rows["MLP.forward.right"]), (("activations", 1), ("activations", 1)))
        self.assertEqual(live["classes"]["kv_cache_MB"], 3 * 2048 / (1 << 20))
        self.assertIn("weights", err)

    def test_tensors_of_one_name_need_not_be_one_weight(self):
        self.model(text=MODEL.replace("4096, device)", "4096 * (1 + len(sizes)), device)\n        sizes.append(1)").replace("import ttnn\n", "import ttnn\nsizes = []\n", 1))
        self.assertEqual(self.run_it()[0], 0)
        found = self.findings()
        rows = [row for row in found["live_at_peak"]["DRAM"]["rows"] if row["name"] == "MLP.w2"]
        self.assertEqual([row["tensors"] for row in rows], [1, 1, 1])
        self.assertEqual(len({row["group"] for row in rows}), 1)
        self.assertNotIn("one form of a weight", json.dumps(found["statements"]))

    def test_several_results_are_told_apart_by_their_addresses(self):
        """The fake allocates the last of them first."""
        self.model(text=MODEL.replace("ttnn.split(h, 2)", "ttnn.split(h, 2)\n        ttnn.deallocate(right)\n        top = ttnn.empty(65536, device)"))
        self.assertEqual(self.run_it()[0], 0)
        names = {row["name"] for row in self.findings()["live_at_peak"]["DRAM"]["groups"]}
        self.assertIn("MLP.forward.left", names)
        self.assertNotIn("MLP.forward.right", names)


if __name__ == "__main__":
    unittest.main()
