// SPDX-License-Identifier: Apache-2.0
#include "api/dataflow/dataflow_api.h"
#include "api/dataflow/circular_buffer.h"

FORCE_INLINE void fill(CircularBuffer& cb, uint32_t address) {
    cb.reserve_back(1);
    cb.push_back(1);
}

void kernel_main() {
    CircularBuffer a(get_compile_time_arg_val(0));
    CircularBuffer b(get_compile_time_arg_val(1));
    uint32_t tiles = get_arg_val<uint32_t>(0);
    for (uint32_t i = 0; i < tiles; i++) {
        a.reserve_back(1);
        a.push_back(1);
        b.reserve_back(1);
        b.push_back(1);
    }
}
