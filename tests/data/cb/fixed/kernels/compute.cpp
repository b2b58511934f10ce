// SPDX-License-Identifier: Apache-2.0
#include "api/compute/eltwise_binary.h"

void kernel_main() {
    constexpr uint32_t out_id = get_named_compile_time_arg_val("cb_out");
    CircularBuffer a(tt::CBIndex::c_0), b(tt::CBIndex::c_1), out(out_id);
    uint32_t tiles = get_arg_val<uint32_t>(0);
#ifdef BACKWARDS
    for (uint32_t i = tiles; i > 0; i--) {
#else
    for (uint32_t i = 0; i < tiles; i++) {
#endif
        a.wait_front(1);
        b.wait_front(1);
        out.reserve_back(1);
        add_tiles(tt::CBIndex::c_0, tt::CBIndex::c_1, 0, 0, 0);
        pack_tile(0, out_id);
        out.push_back(1);
        a.pop_front(1);
        b.pop_front(1);
    }
}
