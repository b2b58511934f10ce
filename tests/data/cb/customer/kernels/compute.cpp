// SPDX-License-Identifier: Apache-2.0
#include "api/compute/eltwise_binary.h"

namespace NAMESPACE {
void MAIN {
    constexpr auto cb_a = tt::CBIndex::c_0;
    constexpr auto cb_b = tt::CBIndex::c_1;
    constexpr auto cb_scratch = tt::CBIndex::c_2;
    constexpr auto cb_out = tt::CBIndex::c_16;
    constexpr uint32_t batch = get_compile_time_arg_val(0);
    cb_wait_front(cb_b, batch);  // eight tiles in a buffer of four
    for (uint32_t i = 0; i < batch; i++) {
        cb_wait_front(cb_a, 1);
        cb_reserve_back(cb_out, 1);
        add_tiles(cb_a, cb_b, 0, i, 0);
        pack_tile(0, cb_out);
        cb_push_back(cb_out, 1);
        cb_reserve_back(cb_scratch, 1);
        cb_push_back(cb_scratch, 1);
        cb_pop_front(cb_a, 1);
    }
    cb_pop_front(cb_b, batch);
}
}  // namespace NAMESPACE
