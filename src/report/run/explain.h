/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TTM_REPORT_EXPLAIN_H
#define TTM_REPORT_EXPLAIN_H

#include "report/run/text.h"

/* Every incident of the findings for a terminal: verdict, picture, numbers, fixes. 0 or TTM_ENOMEM. */
int ttm_explain_write(const ttm_findings *f, const ttm_summary_style *style, ttm_buf *out);

#endif
