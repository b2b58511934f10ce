# SPDX-License-Identifier: Apache-2.0
"""Modules of one or a few operations: what `ttmem predict` says they need, and what ttnn's allocator gives them. Run by scripts/test-ttnn, on a mock board."""

import json
import os
import subprocess
import tempfile
import unittest

import ttnn

PROGRAM = os.environ.get("TTMEM") or __import__("ttmem").program()
BOARD = os.environ["TTMEM_BOARD"]
PATIENCE = 120  # only bounds a hang
NAMES = {ttnn.bfloat16: "bf16", ttnn.float32: "f32", ttnn.uint32: "ui32", ttnn.bfloat8_b: "bfp_bf8"}
BF, F32, U32, B8 = ttnn.bfloat16, ttnn.float32, ttnn.uint32, ttnn.bfloat8_b
DRAM = ttnn.DRAM_MEMORY_CONFIG
ALIGN = {"n150": 32, "p150": 64}[BOARD]


class Type:
    """A tensor in DRAM."""

    def __init__(self, shape, dtype=BF, rows=False):
        self.shape, self.dtype, self.rows = shape, dtype, rows

    def __str__(self):
        dtype, dims = NAMES[self.dtype], "x".join(map(str, self.shape))
        rank = len(self.shape)
        element = f"{dims}x{dtype}" if self.rows else f"1x1x!ttcore.tile<32x32, {dtype}>"  # a memref of tiles is completed from the shape
        return (f"tensor<{dims}x{'bf16' if self.dtype == B8 else dtype}, #ttnn.ttnn_layout<({', '.join(f'd{i}' for i in range(rank))}) -> (d0, d{rank - 1}), <1x1>, "
                f"memref<{element}, #ttnn.buffer_type<dram>>, <interleaved>>>")

    def make(self, device):
        layout = ttnn.ROW_MAJOR_LAYOUT if self.rows else ttnn.TILE_LAYOUT
        return ttnn.allocate_tensor_on_device(ttnn.Shape(self.shape), self.dtype, layout, device, DRAM)


def conv(height, width, channels, slices):
    return (f'<{{batch_size = 1 : i32, conv2d_slice_config = #ttnn.conv2d_slice_config<{slices}, 0>, dilation = array<i32: 1, 1>, groups = 1 : i32, '
            f'in_channels = {channels} : i32, input_height = {height} : i32, input_width = {width} : i32, kernel_size = array<i32: 3, 3>, '
            f'out_channels = {channels} : i32, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 1, 1>}}>')


# operation with attributes, operands, result, the call
CASES = [
    ("reshape", [Type([1, 257, 1280])], Type([1, 257, 20, 64]), lambda x: ttnn.reshape(x, [1, 257, 20, 64], memory_config=DRAM)),
    ("reshape", [Type([2, 50, 1], F32)], Type([2, 50], F32), lambda x: ttnn.reshape(x, [2, 50], memory_config=DRAM)),
    ("reshape", [Type([64, 90, 512])], Type([1, 1, 5760, 512]), lambda x: ttnn.reshape(x, [1, 1, 5760, 512], memory_config=DRAM)),
    ("reshape", [Type([64, 96, 512])], Type([1, 1, 6144, 512]), lambda x: ttnn.reshape(x, [1, 1, 6144, 512], memory_config=DRAM)),
    ("reshape", [Type([193, 1280], B8)], Type([193, 20, 64], B8), lambda x: ttnn.reshape(x, [193, 20, 64], memory_config=DRAM)),
    ("concat <{dim = 0 : si32}>", [Type([257, 1280]), Type([16, 1280])], Type([273, 1280]), lambda x, y: ttnn.concat([x, y], 0, memory_config=DRAM)),
    ("concat <{dim = 1 : si32}>", [Type([1280, 1]), Type([1280, 256])], Type([1280, 257]), lambda x, y: ttnn.concat([x, y], 1, memory_config=DRAM)),
    ('matmul <{activation = "gelu"}>', [Type([32, 1280]), Type([1280, 5120])], Type([32, 5120]),
     lambda x, y: ttnn.matmul(x, y, activation="gelu", memory_config=DRAM)),
    ("linear", [Type([64, 1280]), Type([1280, 2560]), Type([64, 2560])], Type([64, 2560]), lambda x, y, b: ttnn.linear(x, y, bias=b, memory_config=DRAM)),
    ("embedding", [Type([1, 257], U32, rows=True), Type([1000, 1280])], Type([1, 257, 1280]),
     lambda x, y: ttnn.embedding(x, y, layout=ttnn.TILE_LAYOUT, memory_config=DRAM)),
    ("embedding", [Type([2, 256], U32, rows=True), Type([1000, 1280], rows=True)], Type([2, 256, 1280]),
     lambda x, y: ttnn.embedding(x, y, layout=ttnn.TILE_LAYOUT, memory_config=DRAM)),
    ("sum <{dim_arg = [2 : i32], keep_dim = false}>", [Type([2, 50, 768])], Type([2, 50]), lambda x: ttnn.sum(x, [2], False, memory_config=DRAM)),
    ("sum <{dim_arg = [2 : i32, 3 : i32], keep_dim = true}>", [Type([2, 8, 50, 768])], Type([2, 8, 1, 1]), lambda x: ttnn.sum(x, [2, 3], True, memory_config=DRAM)),
    ("sum <{dim_arg = [1 : i32], keep_dim = true}>", [Type([2, 8, 50, 768])], Type([2, 1, 50, 768]), lambda x: ttnn.sum(x, [1], True, memory_config=DRAM)),
    ("mean <{dim_arg = [1 : i32], keep_dim = true}>", [Type([2, 8, 50, 768])], Type([2, 1, 50, 768]), lambda x: ttnn.mean(x, [1], True, memory_config=DRAM)),
    ("permute <{permutation = array<i64: 0, 2, 1, 3>}>", [Type([2, 8, 50, 768], B8)], Type([2, 50, 8, 768], B8),
     lambda x: ttnn.permute(x, [0, 2, 1, 3], memory_config=DRAM)),
    ("slice_static <{begins = [0 : i32, 1 : i32], ends = [64 : i32, 33 : i32], step = [1 : i32, 1 : i32]}>", [Type([64, 768])], Type([64, 32]),
     lambda x: ttnn.slice(x, [0, 1], [64, 33], [1, 1], memory_config=DRAM)),
    ("repeat <{repeat_dims = #ttnn.shape<1x1x50x1>}>", [Type([1, 1, 1, 768])], Type([1, 1, 50, 768]), lambda x: ttnn.repeat(x, ttnn.Shape([1, 1, 50, 1]))),
    ("softmax", [Type([2, 8, 50, 768])], Type([2, 8, 50, 768]), lambda x: ttnn.softmax(x, -1, memory_config=DRAM)),
    ("typecast", [Type([2, 8, 50, 768])], Type([2, 8, 50, 768], F32), lambda x: ttnn.typecast(x, F32, memory_config=DRAM)),
]


class Predict(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.device = ttnn.open_mesh_device(mesh_shape=ttnn.MeshShape(1, 1), l1_small_size=1 << 15)
        cls.banks = ttnn.get_memory_view(cls.device, ttnn.BufferType.DRAM).num_banks
        cls.here = tempfile.TemporaryDirectory(prefix="ttmem-check-predict-")

    @classmethod
    def tearDownClass(cls):
        cls.here.cleanup()
        ttnn.close_mesh_device(cls.device)

    def given(self, types):
        """Tensors of these types, for one test, and what they hold."""
        before = ttnn.get_memory_view(self.device, ttnn.BufferType.DRAM).total_bytes_allocated_per_bank
        made = [t.make(self.device) for t in types]
        after = ttnn.get_memory_view(self.device, ttnn.BufferType.DRAM).total_bytes_allocated_per_bank
        return made, after - before

    def need(self, arguments, lines):
        module = os.path.join(self.here.name, "ttnn.mlir")
        given = ", ".join(f"%arg{i}: {a}" for i, a in enumerate(arguments))
        with open(module, "w") as f:
            f.write("module {\n  func.func @main(" + given + ") {\n" + "".join(f"    {line}\n" for line in lines) + "    return\n  }\n}\n")
        run = subprocess.run([PROGRAM, "predict", module, "--runner", "python", "--board", BOARD, "--json"], capture_output=True, text=True, timeout=PATIENCE)
        self.assertIn(run.returncode, (0, 1), run.stderr)
        need = json.loads(run.stdout)["whole_need"]
        self.assertEqual(need["not_understood"], 0)
        return need["DRAM"]

    def peak(self, call):
        """What `call` holds at most beyond what was there: every buffer that ttnn's own graph capture tells of."""
        ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
        result = call()
        captured = ttnn.graph.end_graph_capture()
        held = most = 0
        for node in captured:
            what = node["params"]
            if node["node_type"] not in ("buffer_allocate", "buffer_deallocate") or what["type"] != "DRAM":
                continue
            page = int(what["page_size"])
            size = -(-int(what["size"]) // page // self.banks) * (-(-page // ALIGN) * ALIGN)
            held += size if node["node_type"] == "buffer_allocate" else -size
            most = max(most, held)
        del result
        return most

    def test_operations(self):
        for operation, operands, result, call in CASES:
            name, _, attributes = operation.partition(" ")
            with self.subTest(operation=operation, operands=[o.shape for o in operands]):
                values = ", ".join(f"%arg{i}" for i in range(len(operands)))
                line = f'%0 = "ttnn.{name}"({values}) {attributes} : ({", ".join(map(str, operands))}) -> {result}'
                need = self.need(operands, [line])
                made, arguments = self.given(operands)
                real = self.peak(lambda: call(*made))
                for tensor in made:
                    ttnn.deallocate(tensor)
                self.assertEqual(need["warm_up_per_bank_B"] - arguments, real)
                self.assertFalse(need["lower_bound"])

    def test_slices_of_a_convolution(self):
        x, w = Type([1, 1, 57600, 128]), Type([1, 1, 1152, 128])
        need = self.need([x, w], [f'%0 = "ttnn.conv2d"(%arg0, %arg1) {conv(320, 180, 128, "dram_height")} : ({x}, {w}) -> {x}'])
        made, arguments = self.given([x, w])
        slices = ttnn.Conv2dSliceConfig(slice_type=ttnn.Conv2dDRAMSliceHeight, num_slices=4)
        real = self.peak(lambda: ttnn.conv2d(
            input_tensor=made[0], weight_tensor=made[1], device=self.device, in_channels=128, out_channels=128, batch_size=1, input_height=320, input_width=180,
            kernel_size=[3, 3], stride=[1, 1], padding=[1, 1, 1, 1], dilation=[1, 1], groups=1, slice_config=slices,
            conv_config=ttnn.Conv2dConfig(weights_dtype=BF, config_tensors_in_dram=True)))
        self.assertAlmostEqual((need["warm_up_per_bank_B"] - arguments) / real, 1, delta=0.01)

    def test_views_stay_in_python(self):
        """The product lives as long as its view; what is not freed lives to the end."""
        a, b = Type([1024, 1024]), Type([1, 1024, 1024])
        need = self.need([a], [
            f'%0 = "ttnn.matmul"(%arg0, %arg0) : ({a}, {a}) -> {a}',
            f'%1 = "ttnn.reshape"(%0) : ({a}) -> {b}',
            f'"ttnn.deallocate"(%0) <{{force = false}}> : ({a}) -> ()',
            f'%2 = "ttnn.relu"(%1) : ({b}) -> {b}',
            f'"ttnn.deallocate"(%1) <{{force = false}}> : ({b}) -> ()',
            f'%3 = "ttnn.exp"(%2) : ({b}) -> {b}'])

        def run(x):
            product = ttnn.matmul(x, x, memory_config=DRAM)
            view = ttnn.reshape(product, [1, 1024, 1024], memory_config=DRAM)
            ttnn.deallocate(product, False)
            relu = ttnn.relu(view, memory_config=DRAM)
            ttnn.deallocate(view, False)
            return ttnn.exp(relu, memory_config=DRAM)

        made, arguments = self.given([a])
        self.assertEqual(need["warm_up_per_bank_B"] - arguments, self.peak(lambda: run(*made)))
        self.assertEqual(need["operation"], "ttnn.exp")


if __name__ == "__main__":
    unittest.main()
