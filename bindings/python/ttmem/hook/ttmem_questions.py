# SPDX-License-Identifier: Apache-2.0
"""Questions for the buffers of programs. NORMAL captures leave out dataflow buffers, and the circular buffers of cached programs. On a mock board an
operation is called before in run mode NO_DISPATCH, which allocates and runs nothing and tells them.

Environment: TTMEM_BOARD, the mock board; TTMEM_REPEATS=0, no questions.
"""

from _ttmem_environment import setting
from _ttmem_nodes import PROGRAM_BUFFERS, NothingCollected, lean, node

# They run no program.
NEVER_ASKED = {
    "ttnn." + name
    for name in "deallocate empty empty_like to_device from_device to_dtype copy_host_to_device_tensor copy_device_to_host_tensor "
    "allocate_tensor_on_device synchronize_device".split()
}
# One in Python may do more than compute. These do not; the first two run programs only when they are given a device.
ASKED_IN_PYTHON = {
    "ttnn." + name
    for name in "from_torch as_tensor Tensor.__getitem__ Tensor.to Tensor.pad Tensor.unpad Tensor.reshape Tensor.pad_to_tile "
    "Tensor.unpad_from_tile unsqueeze_to_4D reallocate".split()
}
NEED_A_DEVICE = ("ttnn.from_torch", "ttnn.as_tensor")


def can_ask(name, kwargs, native):
    if name in NEED_A_DEVICE:
        return kwargs.get("device") is not None and not kwargs.get("cache_file_name")
    return name in ASKED_IN_PYTHON or (native and name not in NEVER_ASKED)


class Questions:
    def __init__(self, recorder):
        self.recorder = recorder
        self.ttnn = recorder.ttnn
        self.asks = bool(setting("TTMEM_BOARD")) and setting("TTMEM_REPEATS") != "0"
        allocate = getattr(self.ttnn, "allocate_tensor_on_device", None)
        self.allocate = getattr(allocate, "function", allocate)  # unseen by others who wrap operations
        self.start_over()

    def start_over(self):
        self.asked = set()  # keys

    def is_due(self, key, name, kwargs, native):
        return bool(key) and self.asks and key not in self.asked and can_ask(name, kwargs, native)

    def stand_in(self, value, made):
        """An argument with a tensor of its kind in the place of every one on a device, so that nothing is done to those of the program."""
        if isinstance(value, self.ttnn.Tensor):
            if value.storage_type() == self.ttnn.StorageType.HOST or not value.is_allocated():
                return value
            if id(value) not in made:
                made[id(value)] = self.allocate(value.spec, value.device())
                if hasattr(value, "update_tensor_topology"):
                    made[id(value)].update_tensor_topology(value.tensor_topology())
            return made[id(value)]
        if type(value) in (list, tuple):
            return type(value)(self.stand_in(v, made) for v in value)
        if type(value) is dict:
            return {name: self.stand_in(v, made) for name, v in value.items()}
        return value

    def ask(self, lane, key, function, args, kwargs):
        """The call that is about to be made, without anything happening: for the buffers of its programs. Before its result is there, since
        programs depend on what L1 has room for. Everything that is made meanwhile has to go meanwhile: it has no memory."""
        pieces, made = self.recorder.pieces, {}
        self.asked.add(key)
        pieces.roll(lane, again=False)
        with NothingCollected():
            pieces.begin(pieces.modes.NO_DISPATCH)
            try:
                function(*self.stand_in(args, made), **self.stand_in(kwargs, made))
            except Exception as error:  # then they are not known
                error.__traceback__ = None
            finally:
                made.clear()
                nodes = pieces.end()
                pieces.start(lane)
        nodes = [n for n in lean(nodes, pieces.programs, lambda _: key, asked=True) if n["node_type"] in PROGRAM_BUFFERS]
        self.recorder.put(lane, [node("piece", mode="REPEAT", key=key)] + nodes)
