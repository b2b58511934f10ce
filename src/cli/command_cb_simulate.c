/* SPDX-License-Identifier: Apache-2.0 */
/* ttmem cb simulate R_TILES TILES_PER_SHARD [options] */
#include "cli/cb_parts.h"

static int run(const ttm_options *options, ttm_error *err) {
  ttm_cb_workload workload;
  ttm_output_form form = TTM_OUTPUT_TERMINAL;
  ttm_cb_job job = {0};
  int status = ttm_cb_workload_parse(&workload, options->input[0], options->input[1], err);
  if (!status) status = ttm_output_form_of(&form, options, err);
  if (!status) status = ttm_cb_job_run(&job, options, &workload, 1, err);
  ttm_cb_parts parts = {.title = "Circular buffers", .simulation = &job.simulation};
  status = ttm_cb_show(options, form, &parts, status, err);
  ttm_cb_job_free(&job);
  return status;
}

const ttm_command ttm_command_cb_simulate = {
    .name = "cb simulate",
    .synopsis = "cb simulate R_TILES TILES_PER_SHARD",
    .help = "circular buffers: fixed and adaptive sizes",
    .more =
        "R_TILES tiles are reused, TILES_PER_SHARD tiles are streamed once. Shows sizes, miss rate, pressure and "
        "the L1 of one core with addresses, placed by tt-metal's rule.",
    .examples = "ttmem cb simulate 16 16\nttmem cb simulate 24 24 --tensor weights=400000 --svg -o l1.svg",
    .min_inputs = 2,
    .max_inputs = 2,
    .needs = "R_TILES and TILES_PER_SHARD, for example: ttmem cb simulate 16 16",
    .takes = TTM_TAKES(TTM_OPTION_CB, TTM_OPTION_TENSOR, TTM_OPTION_DTYPE, TTM_OPTION_STRATEGY, TTM_OPTION_KERNEL_BYTES,
                       TTM_CB_OPTIONS, TTM_OPTION_SVG),
    .run = run,
};
