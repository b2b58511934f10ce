# SPDX-License-Identifier: Apache-2.0
"""Takes the place of torch (5 GB) where ttnn is tested: `torch.randn` and the like give tensors that `ttnn.from_torch` takes (float32, backed by numpy,
handed over as torch's are); everything else of torch is a name and no more, which is all that ttnn's recorder asks for."""

import numpy


class _Missing(type):
    """A class whose attributes are such classes too."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _class(name)


def _class(name):
    def refuse(self, *args, **kwargs):
        raise RuntimeError(f"torch.{name}: torch is not installed in this test environment")

    return _Missing(name, (), {"__init__": refuse})


float32 = _class("float32")


class Tensor:
    def __init__(self, array):
        self._array = numpy.ascontiguousarray(array, dtype=numpy.float32)

    shape = property(lambda self: self._array.shape)
    ndim = property(lambda self: self._array.ndim)
    dtype = property(lambda self: float32)

    def __dlpack__(self, **kwargs):
        return self._array.__dlpack__()

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def zeros(*shape):
    return Tensor(numpy.zeros(shape, dtype=numpy.float32))


randn = rand = zeros  # no kernel runs on a mock board: values mean nothing


def from_numpy(array):
    return Tensor(array)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return _class(name)
