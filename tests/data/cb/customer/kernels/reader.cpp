// SPDX-License-Identifier: Apache-2.0
#include "api/dataflow/dataflow_api.h"

void kernel_main() {
    constexpr uint32_t cb_a = get_compile_time_arg_val(0);
    constexpr uint32_t cb_b = get_compile_time_arg_val(1);
    uint32_t tiles = get_arg_val<uint32_t>(0);
    for (uint32_t i = 0; i < tiles; i++) {
        cb_reserve_back(cb_a, 1);
        cb_push_back(cb_a, 1);
        cb_reserve_back(cb_b, 1);
        cb_push_back(cb_b, 1);
    }
}
