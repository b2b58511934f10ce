/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of a tile by the names people use for data formats: ttnn ("bfloat8_b"), TT-Metal ("Bfp8_b"), MLIR ("bfp_bf8"). */
#ifndef TTM_L1_DATA_FORMAT_H
#define TTM_L1_DATA_FORMAT_H

#include "base/str.h"

/* One 32 x 32 tile (tt-metal tt_backend_api_types.hpp); 0 for an unknown name. Any case; "tt::DataFormat::" and the like in front
 * is skipped. */
uint64_t ttm_format_tile_bytes(ttm_str name);

#endif
