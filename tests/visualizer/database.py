# SPDX-License-Identifier: Apache-2.0
"""Databases as ttnn.graph_report writes them for ttnn-visualizer, small and of any schema from 2 to 3.5."""
import json
import sqlite3

RANK = "rank int NOT NULL DEFAULT 0"
DRAM, L1, L1_SMALL, TRACE = 0, 1, 3, 4
N150 = dict(num_x_cores=8, num_y_cores=9, num_x_compute_cores=8, num_y_compute_cores=8, worker_l1_size=1499136, l1_num_banks=64, l1_bank_size=1360544,
            address_at_first_l1_cb_buffer=105824, num_compute_cores=64)
TABLES = {
    "devices": "device_id int, num_y_cores int, num_x_cores int, num_y_compute_cores int, num_x_compute_cores int, worker_l1_size int, l1_num_banks int, "
    "l1_bank_size int, address_at_first_l1_bank int, address_at_first_l1_cb_buffer int, num_banks_per_storage_core int, num_compute_cores int, "
    "num_storage_cores int, total_l1_memory int, total_l1_for_tensors int, total_l1_for_interleaved_buffers int, total_l1_for_sharded_buffers int, cb_limit int",
    "operations": "operation_id int, name text, duration float",
    "operation_arguments": "operation_id int, name text, value text",
    "tensors": "tensor_id int, shape text, dtype text, layout text, memory_config text, device_id int, address int, buffer_type int",
    "buffers": "operation_id int, device_id int, address int, max_size_per_bank int, buffer_type int, buffer_layout int",
    "captured_graph": "operation_id int, captured_graph text",
    "stack_traces": "operation_id int, stack_trace text, source_file_id int",
    "input_tensors": "operation_id int, input_index int, tensor_id int",
    "output_tensors": "operation_id int, output_index int, tensor_id int",
    "errors": "operation_id int, operation_name text, error_type text, error_message text, stack_trace text, timestamp text",
    "buffer_chunks": "operation_id int, device_id int, address int, bank_id int, core_x int, core_y int, chunk_address int, chunk_size int, page_size int, "
    "num_pages int, buffer_type int",
}
UNIQUE = {"operations": "operation_id, rank", "tensors": "tensor_id, rank"}
SINCE_3_5 = {
    "sub_devices": "device_id int, sub_device_manager_id int, sub_device_id int, worker_core_ranges text",
    "operation_executions": "execution_id int, operation_id int, device_id int, physical_device_id int, runtime_id int, global_call_count int, command_queue_id int",
}


def node(kind, inputs=(), connections=(), arguments=(), **params):
    return {"node_type": kind, "params": params, "connections": list(connections), "input_tensors": list(inputs), "arguments": list(arguments)}


def start(name, inputs=(), arguments=(), **params):
    return node("function_start", inputs, (), arguments, name=name, **params)


def end(name):
    return node("function_end", name=name)


def allocate(address, per_bank, kind=DRAM, device=1, **params):
    banks = 12 if kind == DRAM else 64
    return node("buffer_allocate", address=address, max_size_per_bank=per_bank, buffer_type=kind, device_id=device, size=per_bank * banks, page_size=2048, num_cores=0,
                layout="INTERLEAVED", type="DRAM" if kind == DRAM else "L1", **params)


def free(address, per_bank, kind=DRAM, device=1):
    return {**allocate(address, per_bank, kind, device), "node_type": "buffer_deallocate"}


def tensor(address, shape, kind=DRAM, device=1):
    return node("tensor", address=address, shape=f"Shape({list(shape)})", dtype="DataType::BFLOAT16", layout="Layout::TILE", buffer_type=kind, device_id=device)


def program(name, cached, circular=(), cores="{[(x=0,y=0) - (x=7,y=7)]}", arguments=("a",)):
    """A device operation that runs a program with these circular buffers, which one from the cache does not tell."""
    buffers = [] if cached else [node("circular_buffer_allocate", address=at, size=size, core_range_set=cores, globally_allocated=False, device_id=0) for at, size in circular]
    return [start(name, arguments=arguments, program_cache_hit=cached), node("circular_buffer_deallocate_all", device_id=1), *buffers, end(name)]


class Database:
    def __init__(self, path, schema="3.5", page_size=4096, unique=True):
        self.connection = sqlite3.connect(path)
        self.connection.execute(f"PRAGMA page_size={page_size}")
        self.ranks = schema >= "2.1"
        self.chunks = "buffer_chunks" if schema >= "3" else "buffer_pages"
        tables = dict(TABLES, **(SINCE_3_5 if schema >= "3.5" else {}))
        for name, columns in tables.items():
            name = self.chunks if name == "buffer_chunks" else name
            columns += ", " + RANK if self.ranks else ""
            if name == "tensors" and schema >= "3.4":
                columns += ", storage_type text"
            if unique and name in UNIQUE:
                columns += f", UNIQUE({UNIQUE[name] if self.ranks else UNIQUE[name].split(',')[0]})"
            self.connection.execute(f"CREATE TABLE {name} ({columns})")
        self.connection.execute("CREATE TABLE report_metadata (key text UNIQUE, value text)")
        for key, value in (("schema_version", schema), ("version", "0.81.1"), ("world_size", "1"), ("rank", "0")):
            self.add("report_metadata", key=key, value=value)

    def add(self, table, **row):
        if not self.ranks:
            row.pop("rank", None)
        marks = ", ".join("?" * len(row))
        self.connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", list(row.values()))

    def device(self, device_id=1, **more):
        self.add("devices", device_id=device_id, **dict(N150, **more))

    def tensor(self, tensor_id, address, shape, kind=DRAM, device=1, rank=0):
        self.add("tensors", tensor_id=tensor_id, shape=f"Shape({list(shape)})", dtype="DataType.BFLOAT16", layout="Layout.TILE", memory_config="", device_id=device,
                 address=address, buffer_type=kind, rank=rank)

    def operation(self, number, name, nodes, buffers=(), inputs=(), trace=None, error=None, rank=0):
        """`buffers`: (address, bytes per bank, memory) of each that is allocated afterwards; `nodes` None: it has no graph."""
        self.add("operations", operation_id=number, name=name, duration=0.001, rank=rank)
        if nodes is not None:
            graph = [dict(n, counter=i, id=i) for i, n in enumerate([node("capture_start"), start(name), *nodes, end(name), node("capture_end")])]
            self.add("captured_graph", operation_id=number, captured_graph=json.dumps(graph), rank=rank)
        for address, per_bank, kind in buffers:
            self.add("buffers", operation_id=number, device_id=1, address=address, max_size_per_bank=per_bank, buffer_type=kind, buffer_layout=0, rank=rank)
        for i, tensor_id in enumerate(inputs):
            self.add("input_tensors", operation_id=number, input_index=i, tensor_id=tensor_id, rank=rank)
        if trace:
            self.add("stack_traces", operation_id=number, stack_trace=trace, rank=rank)
        if error:
            self.add("errors", operation_id=number, operation_name=name, error_type=error[0], error_message=error[1], stack_trace="", timestamp="", rank=rank)

    def close(self):
        self.connection.commit()
        self.connection.close()


MB = 1 << 20
WEIGHTS = 1048640, 40 * MB, DRAM
X, Y, Z = (50 * MB, 8 * MB, DRAM), (60 * MB, 6 * MB, DRAM), (1400000 // 32 * 32, 64 * 1024, L1)
CIRCULAR = [(105824, 4096), (109920, 8192)]
TRACE_TEXT = '  File "/venv/lib/python3.12/site-packages/ttnn/x.py", line 3, in call\n\n  File "/home/a/model.py", line 9, in block\n    ttnn.add(x, y)\n\n  File "/home/a/main.py", line 4, in <module>\n'


def small(path, schema="3.5", rank=0, detailed=True, **options):
    """Weights from before the first operation, a program and the same from the cache, a tensor that Python drops between operations."""
    db = Database(path, schema, **options)
    db.device()
    db.tensor(1, WEIGHTS[0], (1024, 1024), rank=rank)
    if detailed:
        db.add(db.chunks, operation_id=1, device_id=1, address=Z[0], bank_id=0, core_x=0, core_y=0, chunk_address=Z[0], chunk_size=Z[1], page_size=2048, num_pages=32,
               buffer_type=L1)
    run = lambda cached: program("BinaryDeviceOperation", cached, CIRCULAR)
    op = lambda *a, **k: db.operation(*a, rank=rank, **k)
    op(1, "ttnn.zeros", [allocate(*X), tensor(X[0], (64, 32))], [WEIGHTS, X])
    op(2, "ttnn.add", [tensor(X[0], (64, 32)), allocate(*Y), *run(False), tensor(Y[0], (64, 32))], [WEIGHTS, X, Y], inputs=[1], trace=TRACE_TEXT)
    op(3, "ttnn.add", [allocate(*Z), *run(True)], [WEIGHTS, Y, Z])  # X went in between
    op(4, "ttnn.deallocate", [free(*Z)], [WEIGHTS, Y])
    return db
