/* SPDX-License-Identifier: Apache-2.0 */
/* ttmem cb simulate R_TILES TILES_PER_SHARD [options] */
#include "cli/cb_parts.h"

int ttm_command_cb_simulate(const ttm_options *options) {
  ttm_cb_workload workload;
  ttm_cb_form form = TTM_CB_TERMINAL;
  ttm_cb_job job = {0};
  ttm_error err;
  int status = options->inputs == 2 ? TTM_OK
                                    : ttm_error_set(&err, TTM_EUSAGE,
                                                    "cb simulate needs R_TILES and TILES_PER_SHARD, "
                                                    "for example: ttmem cb simulate 16 16");
  if (!status) status = ttm_cb_workload_parse(&workload, options->input[0], options->input[1], &err);
  if (!status) status = ttm_cb_form_of(&form, options, &err);
  if (!status) status = ttm_cb_job_run(&job, options, &workload, 1, &err);
  ttm_cb_parts parts = {.title = "Circular buffers", .simulation = &job.simulation};
  int exit_status = ttm_cb_show(options, form, &parts, status, &err);
  ttm_cb_job_free(&job);
  return exit_status;
}
