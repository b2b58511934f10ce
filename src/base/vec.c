/* SPDX-License-Identifier: Apache-2.0 */
#include "base/vec.h"

int ttm_vec_grow_(void **at, size_t *cap, size_t need, size_t element_size) {
  size_t wanted = *cap < 8 ? 8 : *cap + *cap / 2;
  if (wanted < need) wanted = need;
  size_t bytes;
  if (__builtin_mul_overflow(wanted, element_size, &bytes)) return TTM_ENOMEM;
  void *moved = ttm_realloc(*at, bytes);
  if (!moved) return TTM_ENOMEM;
  *at = moved;
  *cap = wanted;
  return TTM_OK;
}
