/* SPDX-License-Identifier: Apache-2.0 */
/* What `ttmem cb simulate` says: one workload in detail or a table over many, as a document and as JSON. */
#ifndef TTM_REPORT_CB_REPORT_H
#define TTM_REPORT_CB_REPORT_H

#include "l1/simulate.h"
#include "report/write/doc.h"
#include "report/write/json.h"

void ttm_cb_simulation_write(ttm_doc *doc, const ttm_cb_simulation *simulation);

/* The simulation as a JSON object. */
void ttm_cb_simulation_json(ttm_json *j, const char *key, const ttm_cb_simulation *simulation);

#endif
