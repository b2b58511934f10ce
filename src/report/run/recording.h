/* SPDX-License-Identifier: Apache-2.0 */
/* What only a recording of `ttmem run` can tell: how it ended, L1 core by core with the buffers of programs, peaks to the byte. */
#ifndef TTM_REPORT_RECORDING_H
#define TTM_REPORT_RECORDING_H

#include "analyze/findings.h"
#include "base/buf.h"
#include "l1/core_use.h"

/* "63,488 of 1,393,312 B on core 0-0 in ttnn.softmax (model.py:7): ..."; nothing when nothing was in L1. */
void ttm_words_core_use(ttm_buf *out, const ttm_profile *p, const ttm_core_use *use);
/* The same, when nobody knows the use yet. 0 or TTM_ENOMEM. */
int ttm_words_l1_core(ttm_buf *out, const ttm_profile *p);

/* " (most: 94 of ttnn.add (model.py:15), 1002.79)": the line whose results take most of a live set; nothing when there is none. */
void ttm_words_holder(ttm_buf *out, const ttm_profile *p, const ttm_alive_set *set);

/* Sentences about what the recording lacks; nothing when it lacks nothing. */
void ttm_words_recording(ttm_buf *out, const ttm_findings *f);

#endif
