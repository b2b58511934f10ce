/* SPDX-License-Identifier: Apache-2.0 */
/* What `ttmem cb log` says about a TT-Metal log or memory report. */
#ifndef TTM_REPORT_CB_LOG_H
#define TTM_REPORT_CB_LOG_H

#include "analyze/findings.h"
#include "l1/clash.h"
#include "l1/device_log.h"
#include "report/write/doc.h"
#include "report/write/json.h"

/* What the caller knows beyond the log; a partition line of the log beats it. */
void ttm_cb_log_write(ttm_doc *doc, const ttm_device_log *log, ttm_str name, const ttm_clash_hints *hints);

/* The log as a JSON object. */
void ttm_cb_log_json(ttm_json *j, const char *key, const ttm_device_log *log, ttm_str name,
                     const ttm_clash_hints *hints);

/* ---- Parts ------------------------------------------------------------------------------------------------------------ */

/* The hints with what the log itself tells put in. */
ttm_clash_hints ttm_cb_log_hints(const ttm_device_log *log, const ttm_clash_hints *hints);

enum { TTM_CB_FIXES = 3 };

/* What a failure of the log means: document and JSON only lay it out. */
typedef struct ttm_cb_failure {
  bool clashes; /* `clash` is there */
  ttm_clash clash;
  ttm_verdict verdict;
  uint64_t shortfall;          /* bytes per bank; TTM_UNKNOWN */
  ttm_buf detail;              /* one sentence without its full stop; may be empty */
  ttm_buf fixes[TTM_CB_FIXES]; /* likewise, cheapest first */
  size_t fix_count;
  bool failed; /* for lack of memory */
} ttm_cb_failure;

/* Freed with ttm_cb_failure_free. */
void ttm_cb_failure_make(ttm_cb_failure *out, const ttm_device_incident *incident, const ttm_clash_hints *hints);
void ttm_cb_failure_free(ttm_cb_failure *failure);

#endif
