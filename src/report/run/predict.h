/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TTM_REPORT_PREDICT_H
#define TTM_REPORT_PREDICT_H

#include "analyze/fit_case.h"
#include "analyze/predict.h"
#include "report/write/doc.h"
#include "report/write/json.h"

/* What `ttmem predict` answers with. */
typedef struct ttm_predict_view {
  const ttm_findings *f;
  const ttm_prediction *prediction;
  const ttm_board *board; /* whose figures are the program's */
  const ttm_fit_cases *cases;
} ttm_predict_view;

/* What the program needs, the boards side by side, and the programs when there are several. Ends the document. 0 or TTM_ENOMEM. */
int ttm_predict_write(ttm_doc *doc, const ttm_predict_view *view, bool per_chip);
/* {"whole_need": ..., "boards": [...]}; 0 or TTM_ENOMEM. */
int ttm_predict_json(const ttm_predict_view *view, ttm_buf *out);

/* The member "whole_need": {"DRAM": {...}, "L1": {...}} of a program on a board. 0 or TTM_ENOMEM. */
int ttm_json_put_need(ttm_json *j, const ttm_program_need *program, const ttm_board_need *row);

#endif
