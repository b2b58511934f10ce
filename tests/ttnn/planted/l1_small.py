# SPDX-License-Identifier: Apache-2.0
"""The device is opened with too small an L1_SMALL for what a convolution keeps there."""

import sys

import ttnn

SIZE = int(sys.argv[2]) if "--fixed" in sys.argv else 256
device = ttnn.open_device(device_id=0, l1_small_size=SIZE)
small = ttnn.create_sharded_memory_config((64, 512), core_grid=ttnn.CoreGrid(x=8, y=8), strategy=ttnn.ShardStrategy.HEIGHT)
small = ttnn.MemoryConfig(small.memory_layout, ttnn.BufferType.L1_SMALL, small.shard_spec)
halo = ttnn.empty([64, 512], dtype=ttnn.uint16, layout=ttnn.ROW_MAJOR_LAYOUT, device=device, memory_config=small)
ttnn.close_device(device)
