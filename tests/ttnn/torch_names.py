# SPDX-License-Identifier: Apache-2.0
"""Takes the place of torch (5 GB): ttnn only asks whether something is one of its types, and nothing here is."""


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


Tensor = _class("Tensor")


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return _class(name)
