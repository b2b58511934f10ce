# SPDX-License-Identifier: Apache-2.0
"""Random tensors in L1 with TT_METAL_ALLOCATOR_MODE_HYBRID=1: in lock step, in lock step on their own cores, and with an address on each core. Every
address is compared with the rule that ttmem replays; what the fullest bank held is written to truth.json. Arguments: seed, steps."""

import json
import random
import sys

import ttnn

seed, steps = int(sys.argv[1]), int(sys.argv[2])
dice = random.Random(seed)
device = ttnn.open_device(device_id=0)
view = ttnn.get_memory_view(device, ttnn.BufferType.L1)
SIZE, BASE = view.total_bytes_per_bank, ttnn.get_allocator_base_address(device, ttnn.BufferType.L1)
GRID = device.compute_with_storage_grid_size()
lock_step, on_core = [], {}  # [(start, end)], core -> [(start, end)]
alive = []
truth = {"differences": [], "peak": 0, "refused": 0}


def highest(taken, size):
    """Where a top-down allocation goes; None: nowhere."""
    top = SIZE
    for start, end in sorted(taken, key=lambda block: -block[1]):
        if top - end >= size:
            break
        top = min(top, start)
    return top - size if top >= size else None


def expected(kind, cores, size):
    if kind == "core":
        return {core: highest(lock_step + on_core.get(core, []), size) for core in cores}
    beside = cores if kind == "range" else list(on_core)
    return highest(lock_step + [block for core in beside for block in on_core.get(core, [])], size)


def new(kind, corners, width):
    (x0, y0), (x1, y1) = corners
    if kind == "interleaved":
        return ttnn.empty([1, 1, 32, 32 * GRID.x * GRID.y * width], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=ttnn.L1_MEMORY_CONFIG)
    cores = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(x0, y0), ttnn.CoreCoord(x1, y1))])
    shards = ttnn.ShardSpec(cores, [32, 32 * width], ttnn.ShardOrientation.ROW_MAJOR)
    config = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, shards)
    if kind == "core":
        config.experimental_set_per_core_allocation(True)
    if kind == "range":
        config.experimental_set_range_lockstep_allocation(True)
    height = 32 * (x1 - x0 + 1) * (y1 - y0 + 1)
    return ttnn.empty([1, 1, height, 32 * width], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=config)


def held(core):
    """Bytes of a bank: addresses in lock step that another core's tensors share count once."""
    bytes_held, at = 0, 0
    for start, end in sorted(lock_step + on_core.get(core, [])):
        bytes_held += max(0, end - max(at, start))
        at = max(at, end)
    return bytes_held


def allocate(step):
    kind = dice.choice(["lock step", "interleaved", "range", "core", "core"])
    width = dice.choice([1, 2, 3, 5, 8, 13, 21])
    x0, y0 = dice.randrange(GRID.x), dice.randrange(GRID.y)
    x1, y1 = dice.randrange(x0, GRID.x), dice.randrange(y0, min(GRID.y, y0 + 3))
    cores = [(x, y) for y in range(y0, y1 + 1) for x in range(x0, x1 + 1)]
    size = 2048 * width
    wanted = expected(kind, cores, size)
    tensor = new(kind, ((x0, y0), (x1, y1)), width)
    if kind == "core":
        (place,) = tensor.device_coords()
        got = {core: tensor.experimental_per_core_buffer_address(place, ttnn.CoreCoord(*core)) - BASE for core in cores}
        for core in cores:
            on_core.setdefault(core, []).append((got[core], got[core] + size))
    else:
        got = tensor.buffer_address() - BASE
        lock_step.append((got, got + size))
    if got != wanted:
        truth["differences"].append([step, kind, str(wanted), str(got)])
    alive.append((tensor, kind, got, size))


def free():
    tensor, kind, got, size = alive.pop(dice.randrange(len(alive)))
    if dice.random() < 0.5:
        ttnn.deallocate(tensor)
    if kind == "core":
        for core, at in got.items():
            on_core[core].remove((at, at + size))
    else:
        lock_step.remove((got, got + size))


for step in range(steps):
    free() if alive and dice.random() < 0.42 else allocate(step)
    truth["peak"] = max(truth["peak"], max([held(core) for core in on_core] or [0]), held(None))
try:
    new("interleaved", ((0, 0), (0, 0)), (SIZE - held(None)) // 2048)
except RuntimeError as error:
    truth["refused"] = str(error).count("after considering dependencies")
with open("truth.json", "w") as file:
    json.dump(truth, file)
ttnn.close_device(device)
