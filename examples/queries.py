# SPDX-License-Identifier: Apache-2.0
"""Questions to a log in SQL: which operations raise DRAM, and which tensors are freed long after their last use.

    $ queries.py demo/llama_small.log.zst
    ttnn.to_device: 978.6 MB per bank
    ttnn.to_layout: 970.4 MB per bank
    ttnn.matmul: 193.4 MB per bank
    layers.0|MLP|dot.4: freed 3 rows after its last use
    layers.10|MLP|dot.4: freed 3 rows after its last use
    layers.11|MLP|dot.4: freed 3 rows after its last use
"""
import sys

import duckdb
import ttmem

profile = ttmem.read(sys.argv[1])
operations, tensors = profile.operations, profile.tensors

raised = duckdb.sql("select name, sum(dram_delta) bytes from operations where dram_delta > 0 group by name order by bytes desc limit 3")
for name, total in raised.fetchall():
    print(f"{name}: {total / 2**20:.1f} MB per bank")

late = duckdb.sql(
    "select name, max(freed_by - last_use) gap from tensors where memory = 'DRAM' group by name having gap > 0 order by gap desc, name limit 3"
)
for name, gap in late.fetchall():
    print(f"{name}: freed {gap} rows after its last use")
