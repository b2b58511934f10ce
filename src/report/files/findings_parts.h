/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files that write findings.json: each function writes the member it is named after. */
#ifndef TTM_REPORT_FINDINGS_PARTS_H
#define TTM_REPORT_FINDINGS_PARTS_H

#include "report/files/json_parts.h"

/* The log line of a state; null for TTM_NONE. */
static inline void ttm_json_put_line(ttm_json *j, const char *key, const ttm_profile *p, uint32_t state) {
  ttm_json_put_index(j, key, state == TTM_NONE ? TTM_NONE : p->states.at[state].line);
}

/* What is alive at the peaks of DRAM and L1, adding up. */
void ttm_json_put_live_at_peak(ttm_json *j, const ttm_findings *f);
void ttm_json_put_late_frees(ttm_json *j, const ttm_findings *f);
void ttm_json_put_fragmentation(ttm_json *j, const ttm_findings *f);
void ttm_json_put_waste_at_peak(ttm_json *j, const ttm_findings *f);
void ttm_json_put_advice(ttm_json *j, const ttm_findings *f);
/* The runs of each program, folded. */
void ttm_json_put_programs(ttm_json *j, const ttm_findings *f);
/* Only when the input is a recording. */
void ttm_json_put_recording(ttm_json *j, const ttm_findings *f);
/* Only of a memory report of tt-mlir: the blocks at the peaks of DRAM and L1. */
void ttm_json_put_blocks(ttm_json *j, const ttm_findings *f);
/* Only with a decision trace. */
void ttm_json_put_compiler(ttm_json *j, const ttm_findings *f);
/* Only with the profiler's CSV. */
void ttm_json_put_device_time(ttm_json *j, const ttm_findings *f);
void ttm_json_put_layers(ttm_json *j, const ttm_findings *f);

#endif
