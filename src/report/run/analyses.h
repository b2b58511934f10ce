/* SPDX-License-Identifier: Apache-2.0 */
/* Every analysis on a terminal, in full: what is found, how sure it is, and the operations and log lines behind it. Written from the text of
 * findings.json, so that a report on the disk says the same as the log it was made of. */
#ifndef TTM_REPORT_ANALYSES_H
#define TTM_REPORT_ANALYSES_H

#include "base/vec.h"
#include "report/run/text.h"

typedef enum ttm_line_part {
  TTM_LINE_OTHER,   /* a heading, a blank line */
  TTM_LINE_STARTS,  /* a sentence or a row starts here ... */
  TTM_LINE_GOES_ON, /* ... and goes on here */
} ttm_line_part;

typedef struct ttm_analysis_line {
  uint32_t op; /* report index of the operation it is about; TTM_NONE */
  ttm_line_part part;
} ttm_analysis_line;

typedef struct ttm_analyses {
  ttm_buf text;
  TTM_VEC(ttm_analysis_line) lines;
} ttm_analyses;

/* `rough`: the findings were made without the frees, from the JSON files of a report: what takes them is not told. 0 or TTM_ENOMEM; freed with
 * ttm_analyses_free in any case. */
int ttm_analyses_write(ttm_analyses *out, ttm_str findings_json, const ttm_summary_style *style, bool rough);
void ttm_analyses_free(ttm_analyses *analyses);

#endif
