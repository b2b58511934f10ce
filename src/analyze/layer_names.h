/* SPDX-License-Identifier: Apache-2.0 */
/* Layers by their names: the number in a location that counts up from layer to layer ("layers.7|Attn|dot.0"). */
#ifndef TTM_ANALYZE_LAYER_NAMES_H
#define TTM_ANALYZE_LAYER_NAMES_H

#include "base/str.h"

/* What stands before the number that is one higher in `next` than in `location`; false when no number is. */
bool ttm_layer_prefix(ttm_str location, ttm_str next, ttm_str *prefix);

/* The number behind the prefix; false when the location begins otherwise. */
bool ttm_layer_number(ttm_str location, ttm_str prefix, uint32_t *out);

#endif
