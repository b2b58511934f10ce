/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/layer_names.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool ttm_layer_number(ttm_str location, ttm_str prefix, uint32_t *out) {
  uint64_t number;
  if (!ttm_str_take(&location, prefix) || !location.n || !is_digit(location.p[0])) return false;
  if (!ttm_str_take_u64(&location, &number) || number >= UINT32_MAX) return false;
  *out = (uint32_t)number;
  return true;
}

bool ttm_layer_prefix(ttm_str location, ttm_str next, ttm_str *prefix) {
  size_t same = 0;
  uint32_t a, b;
  while (same < location.n && same < next.n && location.p[same] == next.p[same]) same++;
  while (same && is_digit(location.p[same - 1])) same--; /* 19 and 20, 9 and 10, 1 and 11 share a digit or none */
  *prefix = ttm_str_first(location, same);
  return ttm_layer_number(location, *prefix, &a) && ttm_layer_number(next, *prefix, &b) && b == a + 1;
}
