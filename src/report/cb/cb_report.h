/* SPDX-License-Identifier: Apache-2.0 */
/* What `ttmem cb` says: a simulation in detail or a table over workloads, as a document (terminal, markdown, HTML) and as JSON. */
#ifndef TTM_REPORT_CB_REPORT_H
#define TTM_REPORT_CB_REPORT_H

#include "base/buf.h"
#include "l1/simulate.h"
#include "report/write/doc.h"

/* The strategies of one workload, side by side. */
typedef struct ttm_cb_case {
  ttm_cb_workload workload;
  TTM_VEC(ttm_cb_result) results;
} ttm_cb_case;

typedef struct ttm_cb_simulation {
  ttm_cb_machine machine;
  TTM_VEC(ttm_cb_case) cases;
} ttm_cb_simulation;

void ttm_cb_simulation_free(ttm_cb_simulation *simulation);

/* The strategy worth looking at: the first that does not fit, else the one with least pressure. */
size_t ttm_cb_case_choice(const ttm_cb_case *c);

/* One workload in detail. */
void ttm_cb_case_write(ttm_doc *doc, const ttm_cb_machine *machine, const ttm_cb_case *c);
/* All workloads, one line per strategy, and where the pressure changes. */
void ttm_cb_scaling_write(ttm_doc *doc, const ttm_cb_simulation *simulation);

/* The value of "simulation" in the JSON output, without a line end. */
void ttm_cb_simulation_json(ttm_buf *out, const ttm_cb_simulation *simulation);

#endif
