/* SPDX-License-Identifier: Apache-2.0 */
/* What `ttmem graph` says of a capture: tt-metal's numbers beside the corrected ones, why they differ, the fullest core, L1 over time. As a
 * document (terminal, markdown, HTML) and as JSON. */
#ifndef TTM_REPORT_CAPTURE_REPORT_H
#define TTM_REPORT_CAPTURE_REPORT_H

#include "analyze/findings.h"
#include "analyze/pitfalls.h"
#include "report/write/doc.h"
#include "report/write/json.h"

/* Everything that was worked out from one capture. */
typedef struct ttm_capture_case {
  const ttm_profile *profile;
  ttm_findings *findings;
  ttm_extracts extracts;
  uint32_t pitfalls; /* bit per ttm_pitfall */
} ttm_capture_case;

/* 0 or TTM_ENOMEM; freed in any case with ttm_capture_case_free, which leaves the profile alone. */
int ttm_capture_case_make(ttm_capture_case *out, const ttm_profile *profile, ttm_error *err);
void ttm_capture_case_free(ttm_capture_case *c);

void ttm_capture_write(ttm_doc *doc, const ttm_capture_case *c);
/* One line per capture, when there are several (ranks). */
void ttm_captures_write(ttm_doc *doc, const ttm_capture_case *const *cases, size_t n);
/* An object, without a line end. */
void ttm_capture_json(ttm_json *j, const ttm_capture_case *c);

/* L1 of the fullest core, operation by operation, against the limit: lines of characters. */
void ttm_capture_chart(ttm_buf *out, const ttm_core_use *use, unsigned columns, bool utf8);

#endif
