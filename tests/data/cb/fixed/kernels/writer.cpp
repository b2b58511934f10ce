// SPDX-License-Identifier: Apache-2.0
#include "api/dataflow/dataflow_api.h"

void kernel_main() {
    constexpr uint32_t cb_out = get_compile_time_arg_val(0);
    uint32_t tiles = get_arg_val<uint32_t>(0);
    for (uint32_t i = 0; i < tiles; i += 2) {
        cb_wait_front(cb_out, 2);
        cb_pop_front(cb_out, 2);
    }
}
