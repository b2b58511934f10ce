# SPDX-License-Identifier: Apache-2.0
"""A ttnn graph capture as events of the tracker: what tt-metal's extract_dram_usage and extract_resource_usage_per_core count."""

import re

_DRAM, _L1 = 0, 1
_PROGRAM_BUFFERS = {  # node type: kind of program buffer, and the parameter that says it takes no memory of its own
    "circular_buffer_allocate": (0, "globally_allocated"),
    "dataflow_buffer_allocate": (1, "borrows_memory"),
    "scratchpad_allocate": (2, None),
}
# `[0-0 - 7-7]`, and `[(x=0,y=0) - (x=7,y=7)]` before 2026.
_RANGE = re.compile(r"\[\(?(?:x=)?(\d+)[-,](?:y=)?(\d+)\)? - \(?(?:x=)?(\d+)[-,](?:y=)?(\d+)\)?\]")
_CORE_LIMIT = 32


def core_ranges(text):
    """(x0, y0, x1, y1) of each range; none when one of them cannot be read."""
    found = [tuple(map(int, match)) for match in _RANGE.findall(text or "")]
    sane = all(x0 <= x1 < _CORE_LIMIT and y0 <= y1 < _CORE_LIMIT for x0, y0, x1, y1 in found)
    return found if sane and len(found) == (text or "").count(" - ") else []


def _is_set(value):
    return str(value).lower() in ("1", "true")


def replay(graph, tracker):
    """Reports every allocation of a capture (the list that ttnn.graph.end_graph_capture returns) to the tracker."""
    for node in graph:
        kind, params = node["node_type"], node["params"] or {}
        if kind == "buffer_allocate":
            if params["type"] == "DRAM":
                tracker.allocated(_DRAM, int(params["size"]))
            else:
                tracker.allocated(_L1, int(params.get("max_size_per_bank", 0)))
        elif kind == "buffer_deallocate":
            buffer = graph[node["connections"][0]]["params"]
            if buffer["type"] == "DRAM":
                tracker.deallocated(_DRAM, int(buffer["size"]))
            else:
                tracker.deallocated(_L1, int(params.get("max_size_per_bank", 0)))
        elif kind in _PROGRAM_BUFFERS:
            number, borrows = _PROGRAM_BUFFERS[kind]
            if not (borrows and _is_set(params.get(borrows))):
                tracker.program_buffer(int(params["size"]), core_ranges(params.get("core_range_set")), number)
        elif kind == "circular_buffer_deallocate_all":
            tracker.program_buffers_deallocated()
