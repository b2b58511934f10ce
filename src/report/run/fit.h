/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TTM_REPORT_FIT_H
#define TTM_REPORT_FIT_H

#include "analyze/fit_case.h"
#include "report/write/doc.h"
#include "report/write/json.h"

/* The table of answers, why not where it does not fit, and the confidence. Ends the document. 0 or TTM_ENOMEM. */
int ttm_fit_write(ttm_doc *doc, const ttm_fit_cases *all, bool per_chip);

/* {"boards": [...]}; 0 or TTM_ENOMEM. */
int ttm_fit_json(const ttm_fit_cases *all, ttm_buf *out);

/* The members "boards" and "confidence" of it. */
void ttm_fit_json_boards(ttm_json *j, const ttm_fit_cases *all);

#endif
