/* SPDX-License-Identifier: Apache-2.0 */
/* What `ttmem cb scan` says about sources: as a document (terminal, markdown, HTML) and as JSON. */
#ifndef TTM_REPORT_SCAN_REPORT_H
#define TTM_REPORT_SCAN_REPORT_H

#include "base/buf.h"
#include "l1/scan.h"
#include "report/write/doc.h"

void ttm_scan_write(ttm_doc *doc, const ttm_scan *scan);
/* Two versions of a program: `names` are what to call them. */
void ttm_scan_compare_write(ttm_doc *doc, const ttm_scan *const scans[2], const char *const names[2]);

/* The scan as a JSON object, without a line end. */
void ttm_scan_json(ttm_buf *out, const ttm_scan *scan);

/* ---- Parts ------------------------------------------------------------------------------------------------------------ */

/* A value in words: "4,096", "2,048 or 4,096", "at most 8,192", "?". */
void ttm_scan_put_value(ttm_buf *out, const ttm_scan_value *value);
/* The indices of a buffer: "c_0", "c_16 c_24", or a name. */
void ttm_scan_put_indices(ttm_buf *out, const ttm_cb *cb);
/* The buffers of a program, one row each; the kernels of a scan; what is wrong. */
void ttm_scan_put_kernels(ttm_doc *doc, const ttm_scan *scan);
void ttm_scan_put_findings(ttm_doc *doc, const ttm_scan *scan);

/* Sums over buffers: own memory at least and at most, and how many could not be bounded. */
typedef struct ttm_scan_sum {
  uint64_t buffers, fixed, adaptive, global, least, most, unknown;
} ttm_scan_sum;
ttm_scan_sum ttm_scan_sum_of(const ttm_cb *cbs, size_t n);
/* "fixed", "adaptive", "mixed". */
const char *ttm_scan_strategy(const ttm_scan_sum *sum);

#endif
