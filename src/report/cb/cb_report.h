/* SPDX-License-Identifier: Apache-2.0 */
/* What `ttmem cb simulate` says: one workload in detail or a table over many, as a document and as JSON. */
#ifndef TTM_REPORT_CB_REPORT_H
#define TTM_REPORT_CB_REPORT_H

#include "l1/simulate.h"
#include "report/write/doc.h"

void ttm_cb_simulation_write(ttm_doc *doc, const ttm_cb_simulation *simulation);

/* The value of "simulation" in the JSON output, without a line end. */
void ttm_cb_simulation_json(ttm_buf *out, const ttm_cb_simulation *simulation);

#endif
