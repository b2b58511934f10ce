# SPDX-License-Identifier: Apache-2.0
"""Programs with traces, safe and unsafe ones: traces.py CASE. Run by check_traces.py."""

import sys

import ttnn

device = ttnn.open_device(device_id=0, trace_region_size=1 << 20)


def new(memory=ttnn.DRAM_MEMORY_CONFIG, rows=512):
    return ttnn.zeros((1, 1, rows, 512), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=memory)


def forward(x):
    y = ttnn.multiply(x, x)
    z = ttnn.add(y, x)
    ttnn.deallocate(y)
    return z


def square(x):
    return ttnn.multiply(x, x)


def capture(x, run=forward):
    ttnn.deallocate(run(x))  # compiles
    trace = ttnn.begin_trace_capture(device, cq_id=0)
    out = run(x)
    ttnn.end_trace_capture(device, trace, cq_id=0)
    return trace, out


def replay(trace):
    ttnn.execute_trace(device, trace, cq_id=0, blocking=True)


def late():
    x = new()
    trace, out = capture(x)
    mask = new()
    replay(trace)
    ttnn.add(out, mask)


def before():
    x, mask = new(), new()
    trace, out = capture(x)
    replay(trace)
    ttnn.add(out, mask)


def unused():
    x = new()
    trace, out = capture(x)
    kept = new()
    replay(trace)
    ttnn.relu(out)
    return kept


def rewritten():
    x = new()
    host = ttnn.from_device(x)
    trace, out = capture(x)
    mask = new()
    for _ in range(3):
        replay(trace)
        ttnn.copy_host_to_device_tensor(host, mask)
        ttnn.add(out, mask)


def written_by_operation():
    x = new()
    trace, out = capture(x)
    mask = new()
    for _ in range(3):
        replay(trace)
        ttnn.multiply(x, x, output_tensor=mask)
        ttnn.add(out, mask)


def between():
    x = new()
    trace, out = capture(x)
    for _ in range(3):
        replay(trace)
        mask = new()
        r = ttnn.add(out, mask)
        ttnn.deallocate(mask)
        ttnn.from_device(r)
        ttnn.deallocate(r)


def output_freed():
    x = new()
    trace, out = capture(x)
    ttnn.deallocate(out)
    first, second = new(), new()
    replay(trace)
    ttnn.from_device(second)


def input_freed():
    x = new()
    trace, out = capture(x)
    ttnn.deallocate(x)
    other = new(rows=256)
    replay(trace)
    ttnn.add(out, out)
    return other


def input_again():
    x = new()
    trace, out = capture(x)
    address = x.buffer_address()
    for _ in range(3):
        ttnn.deallocate(x)
        x = new()
        assert x.buffer_address() == address
        replay(trace)
    ttnn.add(out, out)


def in_capture(feed):
    """The way of tt_cnn: the capture frees its input early, and allocates it again at its place at the end."""
    x = new()
    host, spec, address = ttnn.from_device(x), x.spec, x.buffer_address()
    ttnn.deallocate(forward(x))
    trace = ttnn.begin_trace_capture(device, cq_id=0)
    y = ttnn.multiply(x, x)
    ttnn.deallocate(x)
    z = ttnn.relu(y)  # lies where x did
    ttnn.deallocate(y)
    out = ttnn.multiply(z, z)
    ttnn.deallocate(z)
    x = ttnn.allocate_tensor_on_device(spec, device)
    assert x.buffer_address() == address
    ttnn.end_trace_capture(device, trace, cq_id=0)
    ttnn.copy_host_to_device_tensor(host, x)
    for _ in range(3):
        if feed:
            ttnn.copy_host_to_device_tensor(host, x)
        replay(trace)
        ttnn.from_device(out)


def fed():
    in_capture(True)


def starved():
    in_capture(False)


def two():
    x = new()
    first, out1 = capture(x)
    second, out2 = capture(x, square)
    replay(second)
    replay(first)
    ttnn.add(out1, out2)


def in_turn():
    x = new()
    first, out1 = capture(x)
    second, out2 = capture(x, square)
    for _ in range(3):
        replay(first)
        ttnn.relu(out1)
        replay(second)
        ttnn.relu(out2)


def circular():
    """An L1 tensor that reaches down to where the programs of the trace have their circular buffers."""
    x = new()
    trace, out = capture(x)
    view = ttnn.get_memory_view(device, ttnn.BufferType.L1)
    cores = device.compute_with_storage_grid_size()
    count, free = cores.x * cores.y, view.largest_contiguous_bytes_free_per_bank // 2048 * 2048 - 2048
    config = ttnn.create_sharded_memory_config((1, 1, count * 32, free // 64), core_grid=ttnn.CoreGrid(y=cores.y, x=cores.x), strategy=ttnn.ShardStrategy.HEIGHT)
    big = ttnn.allocate_tensor_on_device(ttnn.Shape((1, 1, count * 32, free // 64)), ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, device, config)
    replay(trace)
    big.cpu()


def released():
    x = new()
    trace, out = capture(x)
    replay(trace)
    ttnn.release_trace(device, trace)
    mask = new()
    ttnn.add(out, mask)


globals()[sys.argv[1]]()
ttnn.close_device(device)
