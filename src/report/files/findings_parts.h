/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files that write findings.json: each writes one member with the comma and line break before it. */
#ifndef TTM_REPORT_FINDINGS_PARTS_H
#define TTM_REPORT_FINDINGS_PARTS_H

#include "report/files/json_parts.h"

/* "live_at_peak": what is alive at the peaks of DRAM and L1, adding up. */
void ttm_json_live_sets(ttm_buf *buf, const ttm_findings *f);
/* "late_frees", "fragmentation", "waste_at_peak", "advice", "layers". */
void ttm_json_lifetimes(ttm_buf *buf, const ttm_findings *f);
void ttm_json_fragmentation(ttm_buf *buf, const ttm_findings *f);
void ttm_json_wastes(ttm_buf *buf, const ttm_findings *f);
void ttm_json_advices(ttm_buf *buf, const ttm_findings *f);
/* "programs": the runs of each, folded. */
void ttm_json_programs(ttm_buf *buf, const ttm_findings *f);
void ttm_json_layers(ttm_buf *buf, const ttm_findings *f);

#endif
