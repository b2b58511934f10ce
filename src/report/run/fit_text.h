/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TTM_REPORT_FIT_TEXT_H
#define TTM_REPORT_FIT_TEXT_H

#include "analyze/fit.h"
#include "report/run/text.h"

/* The table of `ttmem fit LOG`, of the boards in `boards` (bit per ttm_boards). 0 or TTM_ENOMEM. */
int ttm_fit_write(const ttm_fit *fit, const ttm_findings *f, const ttm_fit_options *options, unsigned boards,
                  const ttm_summary_style *style, ttm_buf *out);

#endif
