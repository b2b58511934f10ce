/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sized.h"

#include <string.h>

#include "base/alloc.h"
#include "ttmem/str.h"
#include "ttmem/version.h"

const char *ttm_version(void) { return TTM_VERSION; }
void ttm_text_free(char *text) { ttm_free(text); }

int ttm_sized_take(void *out, size_t size, const void *given, ttm_error *err) {
  if (!given) return TTM_OK;
  size_t has = *(const size_t *)given;
  if (has < sizeof has)
    return ttm_error_set(err, TTM_EUSAGE, "The options have no size: start from the INIT macro of their struct.");
  for (size_t i = size; i < has; i++) {
    if (((const char *)given)[i])
      return ttm_error_set(err, TTM_EUSAGE, "The options are of a later ttmem than this library, %s.", TTM_VERSION);
  }
  memcpy(out, given, has < size ? has : size);
  return TTM_OK;
}

int ttm_sized_give(void *out, const void *full, size_t size, ttm_error *err) {
  size_t has = *(const size_t *)out, skip = sizeof has;
  if (has < skip) return ttm_error_set(err, TTM_EUSAGE, "The struct to fill has no size: start from its INIT macro.");
  memcpy((char *)out + skip, (const char *)full + skip, (has < size ? has : size) - skip);
  return TTM_OK;
}
