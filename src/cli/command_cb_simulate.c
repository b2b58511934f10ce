/* SPDX-License-Identifier: Apache-2.0 */
/* ttmem cb simulate R_TILES TILES_PER_SHARD [options] */
#include "cli/cb_parts.h"
#include "report/write/l1_picture.h"

static int write_report(const ttm_options *options, const ttm_cb_simulation *s, ttm_cb_form form, ttm_buf *out) {
  const ttm_cb_case *c = &s->cases.at[0];
  if (form == TTM_CB_SVG) return ttm_l1_picture_svg(&c->results.at[ttm_cb_case_choice(c)].map, out);
  if (form == TTM_CB_JSON) {
    ttm_buf_puts(out, "{\"schema_version\": 1,\n\"simulation\": ");
    ttm_cb_simulation_json(out, s);
    ttm_buf_puts(out, "}\n");
    return TTM_OK;
  }
  ttm_doc doc = ttm_cb_doc(form, options, out);
  ttm_doc_begin(&doc, "Circular buffers");
  ttm_cb_simulation_write(&doc, s);
  return ttm_doc_end(&doc);
}

int ttm_command_cb_simulate(const ttm_options *options) {
  ttm_cb_workload workload;
  ttm_cb_form form = TTM_CB_TERMINAL;
  ttm_cb_job job = {0};
  ttm_buf text = {0};
  ttm_error err;
  int status = options->inputs == 2 ? TTM_OK
                                    : ttm_error_set(&err, TTM_EUSAGE,
                                                    "cb simulate needs two numbers of tiles: ttmem cb simulate "
                                                    "R_TILES TILES_PER_SHARD, for example 16 16");
  if (!status) status = ttm_cb_workload_parse(&workload, options->input[0], options->input[1], &err);
  if (!status) status = ttm_cb_form_of(&form, options, &err);
  if (!status) status = ttm_cb_job_run(&job, options, &workload, 1, &err);
  if (!status && write_report(options, &job.simulation, form, &text)) status = ttm_error_nomem(&err);
  ttm_cb_job_free(&job);
  return ttm_cb_deliver(options, &text, status, &err);
}
