/* SPDX-License-Identifier: Apache-2.0 */
/* The ways out of an incident, as sentences. */
#ifndef TTM_REPORT_WAYS_WORDS_H
#define TTM_REPORT_WAYS_WORDS_H

#include "analyze/ways.h"
#include "base/buf.h"

/* One sentence without its full stop, not yet escaped for markdown: "Store it as bfp_bf8: it then needs 5,199,552 B (4.96 MB) per bank". */
void ttm_words_way(ttm_buf *out, const ttm_way *way, const ttm_incident *incident);

/* "The weights alone need about 14.27 GB, DRAM holds 11.99 GB: ..." */
void ttm_words_weights_need(ttm_buf *out, uint64_t bytes, uint64_t capacity);

/* The same: out of DRAM that no freeing can help. False, and nothing, when that is not so. */
bool ttm_words_too_many_weights(ttm_buf *out, const ttm_findings *f, const ttm_incident *incident);

#endif
