/* SPDX-License-Identifier: Apache-2.0 */
/* What `ttmem cb log` says about a TT-Metal log or memory report. */
#ifndef TTM_REPORT_CB_LOG_H
#define TTM_REPORT_CB_LOG_H

#include "l1/clash.h"
#include "l1/device_log.h"
#include "report/write/doc.h"

/* What the caller knows beyond the log; a partition line of the log beats it. */
void ttm_cb_log_write(ttm_doc *doc, const ttm_device_log *log, ttm_str name, const ttm_clash_hints *hints);

/* The value of "log" in the JSON output, without a line end. */
void ttm_cb_log_json(ttm_buf *out, const ttm_device_log *log, ttm_str name, const ttm_clash_hints *hints);

/* The hints with what the log itself tells put in. */
ttm_clash_hints ttm_cb_log_hints(const ttm_device_log *log, const ttm_clash_hints *hints);

#endif
