/* SPDX-License-Identifier: Apache-2.0 */
/* Two logs side by side, as text and JSON. What the difference means is decided and worded in src/analyze/diff.c. */
#ifndef TTM_REPORT_DIFF_H
#define TTM_REPORT_DIFF_H

#include "analyze/diff.h"
#include "report/write/doc.h"

void ttm_diff_write(ttm_doc *doc, const ttm_diff *diff, bool per_chip);
/* 0 or TTM_ENOMEM. */
int ttm_diff_json(ttm_buf *out, const ttm_diff *diff);

#endif
