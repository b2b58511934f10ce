# SPDX-License-Identifier: Apache-2.0
"""A matrix product on two chips at once: boards of one chip cannot run it, whatever memory they have."""

import ttnn
from own_view import View

SIZE = 4096


def main():
    device = ttnn.open_mesh_device(ttnn.MeshShape(1, 2))
    view = View(device)
    x = ttnn.empty((1, 1, SIZE, SIZE), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    view.after("empty")
    y = ttnn.matmul(x, x)
    view.after("matmul")
    ttnn.deallocate(y)
    view.after("deallocate")
    ttnn.close_mesh_device(device)


if __name__ == "__main__":
    main()
