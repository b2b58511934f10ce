/* SPDX-License-Identifier: Apache-2.0 */
/* What `ttmem cb scan` says about sources: as a document (terminal, markdown, HTML) and as JSON. */
#ifndef CBS_REPORT_H
#define CBS_REPORT_H

#include "base/buf.h"
#include "cbscan/scan.h"
#include "report/write/doc.h"
#include "report/write/json.h"

void cbs_write(ttm_doc *doc, const cbs_scan *scan);
/* Two versions of a program: `names` are what to call them. */
void cbs_compare_write(ttm_doc *doc, const cbs_scan *const scans[2], const char *const names[2]);

/* The scan as a JSON object. */
void cbs_json(ttm_json *j, const char *key, const cbs_scan *scan);

/* SARIF 2.1.0 of both, the second may be NULL. 0 or TTM_ENOMEM. */
int cbs_sarif(ttm_buf *out, const cbs_scan *const scans[2]);
/* GitHub's workflow commands, an annotation per finding; `root` as for ttm_github_commands. The scan may be NULL. */
void cbs_github_commands(ttm_buf *out, const cbs_scan *scan, const char *root);
/* The summary of a step. 0 or TTM_ENOMEM. */
int cbs_github_summary(ttm_buf *out, const cbs_scan *scan);

/* Sums over buffers: own memory at least and at most, and how many could not be bounded. */
typedef struct cbs_sum {
  uint64_t buffers, fixed, adaptive, global, least, most, unknown;
} cbs_sum;
cbs_sum cbs_sum_of(const cbs_buffer *buffers, size_t n);
/* "fixed", "adaptive", "mixed". */
const char *cbs_strategy(const cbs_sum *sum);

#endif
