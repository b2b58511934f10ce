/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pack.h"

#include <zstd.h>

int ttm_pack(ttm_str text, void **out, size_t *out_bytes) {
  size_t bound = ZSTD_compressBound(text.n);
  void *packed = ttm_realloc(NULL, bound);
  if (!packed) return TTM_ENOMEM;
  size_t n = ZSTD_compress(packed, bound, text.p, text.n, 1);
  if (ZSTD_isError(n)) {
    ttm_free(packed);
    return TTM_ENOMEM;
  }
  void *shrunk = ttm_realloc(packed, n);
  *out = shrunk ? shrunk : packed;
  *out_bytes = n;
  return TTM_OK;
}

int ttm_unpack(const void *packed, size_t packed_bytes, size_t bytes, ttm_buf *out) {
  if (!ttm_buf_room(out, bytes)) return TTM_ENOMEM;
  size_t n = ZSTD_decompress(out->at + out->n, bytes, packed, packed_bytes);
  if (ZSTD_isError(n) || n != bytes) return TTM_EFORMAT;
  out->n += n;
  return TTM_OK;
}
