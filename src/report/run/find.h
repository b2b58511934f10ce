/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TTM_REPORT_FIND_H
#define TTM_REPORT_FIND_H

#include "analyze/fit_find.h"
#include "report/write/doc.h"

/* The largest values that fit as a table, and what was found about each; as CSV too. Ends the document. 0 or TTM_ENOMEM. */
int ttm_find_write(ttm_doc *doc, const ttm_find *find);
/* {"variables": [...], "results": [...]}; a row per result. 0 or TTM_ENOMEM. */
int ttm_find_json(const ttm_find *find, ttm_buf *out);

#endif
