/* SPDX-License-Identifier: Apache-2.0 */
/* Long texts kept compressed in memory until a report asks for them. */
#ifndef TTM_BASE_PACK_H
#define TTM_BASE_PACK_H

#include "base/buf.h"

/* *out is freed with ttm_free. 0 or TTM_ENOMEM. */
int ttm_pack(ttm_str text, void **out, size_t *out_bytes);

/* Appends the text again; `bytes` is its length. 0, TTM_ENOMEM or TTM_EFORMAT. */
int ttm_unpack(const void *packed, size_t packed_bytes, size_t bytes, ttm_buf *out);

#endif
