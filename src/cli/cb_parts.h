/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands of `ttmem cb` share: the parts they show, and simulations made from options. */
#ifndef TTM_CLI_CB_PARTS_H
#define TTM_CLI_CB_PARTS_H

#include "cbscan/report.h"
#include "cli/command.h"
#include "report/cb/cb_log.h"
#include "report/cb/cb_report.h"

/* Options of all of them. */
#define TTM_CB_OPTIONS                                                                                   \
  TTM_OPTION_ARCH, TTM_OPTION_METAL_VERSION, TTM_OPTION_L1_BASE, TTM_OPTION_L1_SMALL, TTM_OPTION_OUTPUT, \
      TTM_OPTION_JSON, TTM_OPTION_CSV, TTM_OPTION_MD, TTM_OPTION_HTML, TTM_OPTION_COLOR

/* What a command has to show; the rest is NULL. */
typedef struct ttm_cb_parts {
  const char *title;
  const ttm_cb_simulation *simulation;
  const cbs_scan *scan, *against; /* `against`: a second version, to be compared */
  const ttm_device_log *log;
  ttm_str log_name;
  ttm_clash_hints hints;
} ttm_cb_parts;

/* Prints them in that form, or writes the file of -o. After a failure (`status`) nothing. */
int ttm_cb_show(const ttm_options *options, ttm_output_form form, const ttm_cb_parts *parts, int status,
                ttm_error *err);

/* Machine, strategies and the given workloads, simulated. Freed with ttm_cb_job_free in any case. */
typedef struct ttm_cb_job {
  ttm_cb_simulation simulation;
  TTM_VEC(ttm_buf) texts; /* of strategy files; the names of buffers point into them */
} ttm_cb_job;

int ttm_cb_job_run(ttm_cb_job *job, const ttm_options *options, const ttm_cb_workload *workloads, size_t n,
                   ttm_error *err);
void ttm_cb_job_free(ttm_cb_job *job);

/* TTM_EUSAGE when they leave no L1 to buffers and tensors. */
int ttm_cb_check_l1(ttm_arch_id arch, uint64_t base, uint64_t small, ttm_error *err);

/* How to scan sources, from the options; `defines` holds what -D gave and must live as long as the settings. 0 or TTM_EUSAGE. */
int ttm_cb_scan_settings(cbs_options *out, cbs_define defines[TTM_MAX_MANY], const ttm_options *options,
                         ttm_error *err);

/* Two words as numbers of tiles. 0 or TTM_EUSAGE. */
int ttm_cb_workload_parse(ttm_cb_workload *out, const char *r_tiles, const char *tiles_per_shard, ttm_error *err);

#endif
