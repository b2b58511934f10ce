/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TTM_REPORT_ADVICE_WORDS_H
#define TTM_REPORT_ADVICE_WORDS_H

#include "analyze/findings.h"
#include "base/format.h"

/* One piece of advice as a sentence with its evidence, without the full stop: "Free #12 ttnn.matmul scores at its last use (log line 90): ...". */
void ttm_words_advice(ttm_buf *out, const ttm_findings *f, const ttm_advice *advice, ttm_text_form form);

#endif
