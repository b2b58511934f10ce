/* SPDX-License-Identifier: Apache-2.0 */
/* The reports in words: markdown for people and agents, and one screen for a terminal. Both only append to `out` and fail only
 * by running out of memory (TTM_ENOMEM); neither reads a clock, a terminal or the environment. */
#ifndef TTM_REPORT_TEXT_H
#define TTM_REPORT_TEXT_H

#include "analyze/findings.h"
#include "report/write/doc.h"

/* The LLM report, in markdown or for programs. `name` is the report's name, without folder; `per_chip`: tables tell chips, not banks. */
int ttm_llm_write(const ttm_findings *f, ttm_str name, ttm_doc_form form, bool per_chip, ttm_buf *out);

/* Cuts an LLM report down to about `tokens`: sections go, the least important first, and say so. */
void ttm_llm_bound(ttm_buf *text, uint64_t tokens);

/* How a terminal wants it. */
typedef struct ttm_summary_style {
  unsigned columns; /* width of the screen; less than 72 counts as 72 */
  unsigned rows;    /* its height; 0 counts as 24 */
  bool color;
  bool utf8;
  const char *folder; /* where the report was written, NULL when it was not */
  const char *log;    /* the log as a shell wants it, for the commands that show more; NULL for none */
} ttm_summary_style;

/* The summary of `analyze`. */
int ttm_summary_write(const ttm_findings *f, const ttm_summary_style *style, ttm_buf *out);

#endif
