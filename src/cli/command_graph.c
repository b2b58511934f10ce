/* SPDX-License-Identifier: Apache-2.0 */
/* ttmem graph CAPTURE.json... [options] */
#include "cli/command.h"
#include "report/graph/capture_report.h"
#include "report/run/other_command.h"

typedef struct job {
  ttm_capture_case cases[TTM_MAX_INPUTS];
  ttm_profile *profiles[TTM_MAX_INPUTS];
  size_t n;
} job;

static void free_job(job *j) {
  for (size_t i = 0; i < j->n; i++) {
    ttm_capture_case_free(&j->cases[i]);
    ttm_profile_free(j->profiles[i]);
  }
}

static int read_capture(job *j, const ttm_options *options, const char *path, ttm_error *err) {
  ttm_profile *p = NULL;
  int status = ttm_cli_read(&p, options, path, false, err);
  if (status == TTM_ENODATA && !ttm_name_other_command(path, err))
    ttm_error_set(err, status, "'%s' is not a graph capture; ttnn.graph.end_graph_capture_to_file(...) writes one",
                  path);
  if (!status && p->kind != TTM_LOG_CAPTURE)
    status = ttm_error_set(err, TTM_EFORMAT, "'%s' is a log, not a graph capture; run 'ttmem analyze %s'", path, path);
  if (status) return ttm_profile_free(p), status;
  j->profiles[j->n] = p;
  return ttm_capture_case_make(&j->cases[j->n++], p, err);
}

static int write_report(const ttm_options *options, const job *j, ttm_output_form form, ttm_buf *out) {
  const ttm_capture_case *cases[TTM_MAX_INPUTS];
  for (size_t i = 0; i < j->n; i++) cases[i] = &j->cases[i];
  if (form == TTM_OUTPUT_JSON) {
    ttm_json json = {.out = out, .spaced = true};
    ttm_json_put_sections(&json, NULL);
    ttm_json_put_u64(&json, "schema_version", 1);
    ttm_json_put_rows(&json, "captures");
    for (size_t i = 0; i < j->n; i++) ttm_capture_json(&json, cases[i]);
    ttm_json_end(&json);
    ttm_json_end(&json);
    return ttm_json_finish(&json);
  }
  ttm_doc doc = ttm_output_doc(form, options, out);
  ttm_doc_begin(&doc, j->n > 1 ? "Graph captures" : "Graph capture");
  if (j->n > 1) ttm_captures_write(&doc, cases, j->n);
  for (size_t i = 0; i < j->n; i++) {
    if (j->n > 1) ttm_doc_heading(&doc, "Capture");
    ttm_capture_write(&doc, cases[i]);
  }
  return ttm_doc_end(&doc);
}

static int run(const ttm_options *options, ttm_error *err) {
  ttm_output_form form = TTM_OUTPUT_TERMINAL;
  ttm_buf text = {0};
  job *j = ttm_alloc(sizeof *j);
  if (!j) return ttm_error_nomem(err);
  int status = ttm_output_form_of(&form, options, err);
  for (size_t i = 0; i < options->inputs && !status; i++) status = read_capture(j, options, options->input[i], err);
  if (!status && write_report(options, j, form, &text)) status = ttm_error_nomem(err);
  free_job(j);
  ttm_free(j);
  return ttm_output_deliver(options, &text, status, err);
}

const ttm_command ttm_command_graph = {
    .name = "graph",
    .synopsis = "graph CAPTURE.json... [options]",
    .help = "graph captures of ttnn, with corrected numbers",
    .more =
        "CAPTURE.json is the output of ttnn.graph.end_graph_capture or end_graph_capture_to_file, of any "
        "version, plain or compressed. Several captures are several ranks. The other commands read captures too.",
    .examples = "ttmem graph capture.json\nttmem graph rank*.json --html -o captures.html",
    .min_inputs = 1,
    .max_inputs = TTM_MAX_INPUTS,
    .needs = "a capture: ttmem graph CAPTURE.json ('-' reads standard input)",
    .takes =
        TTM_TAKES(TTM_OPTION_OUTPUT, TTM_OPTION_JSON, TTM_OPTION_CSV, TTM_OPTION_MD, TTM_OPTION_HTML, TTM_OPTION_COLOR),
    .run = run,
};
