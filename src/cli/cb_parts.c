/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cb_parts.h"

#include <stdio.h>

#include "base/format.h"
#include "base/out_file.h"
#include "base/source.h"
#include "cli/terminal.h"
#include "l1/data_format.h"
#include "report/write/l1_picture.h"

/* ---- Showing ---------------------------------------------------------------------------------------------------------- */

static void write_json(ttm_buf *out, const ttm_cb_parts *p) {
  ttm_json j = {.out = out, .spaced = true};
  ttm_json_put_sections(&j, NULL);
  ttm_json_put_u64(&j, "schema_version", 1);
  if (p->simulation) ttm_cb_simulation_json(&j, "simulation", p->simulation);
  if (p->scan) cbs_json(&j, "scan", p->scan);
  if (p->against) cbs_json(&j, "against", p->against);
  if (p->log) ttm_cb_log_json(&j, "log", p->log, p->log_name, &p->hints);
  ttm_json_end(&j);
  out->failed |= ttm_json_finish(&j) != TTM_OK;
}

static void write_document(const ttm_options *o, ttm_output_form form, const ttm_cb_parts *p, ttm_buf *out) {
  ttm_doc doc = ttm_output_doc(form, o, out);
  ttm_doc_begin(&doc, p->title);
  if (p->simulation) ttm_cb_simulation_write(&doc, p->simulation);
  if (p->simulation && p->scan) ttm_doc_heading(&doc, "Source");
  if (p->against)
    cbs_compare_write(&doc, (const cbs_scan *const[2]){p->scan, p->against}, o->input);
  else if (p->scan)
    cbs_write(&doc, p->scan);
  if (p->simulation && p->log) ttm_doc_heading(&doc, "Log");
  if (p->log) ttm_cb_log_write(&doc, p->log, p->log_name, &p->hints);
  ttm_doc_end(&doc);
}

static void write_picture(ttm_buf *out, const ttm_cb_case *c) {
  out->failed |= ttm_l1_picture_svg(&c->results.at[ttm_cb_case_choice(c)].map, out) != TTM_OK;
}

int ttm_cb_show(const ttm_options *o, ttm_output_form form, const ttm_cb_parts *parts, int status, ttm_error *err) {
  ttm_buf text = {0};
  if (!status && form == TTM_OUTPUT_JSON)
    write_json(&text, parts);
  else if (!status && form == TTM_OUTPUT_SVG)
    write_picture(&text, &parts->simulation->cases.at[0]);
  else if (!status)
    write_document(o, form, parts, &text);
  return ttm_output_deliver(o, &text, text.failed ? ttm_error_nomem(err) : status, err);
}

/* ---- Machine ---------------------------------------------------------------------------------------------------------- */

static int add_tensor(ttm_cb_machine *m, const char *word, ttm_error *err) {
  ttm_str rest = ttm_str_of(word);
  ttm_l1_region tensor = {.name = ttm_str_take_to(&rest, '=')};
  if (!ttm_str_take_u64(&rest, &tensor.end) || rest.n || !tensor.name.n)
    return ttm_error_set(err, TTM_EUSAGE, "'%.60s' is not a tensor: write NAME=BYTES, bytes per core", word);
  return ttm_vec_push(&m->tensors, tensor) ? ttm_error_nomem(err) : TTM_OK;
}

int ttm_cb_check_l1(ttm_arch_id arch, uint64_t base, uint64_t small, ttm_error *err) {
  uint64_t bytes = ttm_arches[arch].l1_bytes;
  if (base < bytes && small < bytes - base) return TTM_OK;
  return ttm_error_set(err, TTM_EUSAGE, "--l1-base and --l1-small leave nothing of the %s of L1",
                       TTM_BYTES_TEXT(bytes));
}

static int set_machine(ttm_cb_machine *m, const ttm_options *o, ttm_error *err) {
  const char *arch = o->value[TTM_OPTION_ARCH], *dtype = o->value[TTM_OPTION_DTYPE];
  ttm_str version = ttm_str_of(o->value[TTM_OPTION_METAL_VERSION]);
  bool base_given = o->given[TTM_OPTION_L1_BASE];
  int status = ttm_cb_machine_set(m, arch ? ttm_arch_find(ttm_str_of(arch)) : TTM_ARCH_WORMHOLE,
                                  base_given ? (ttm_str){"", 0} : version, err);
  if (status) return status;
  if (base_given) m->base = o->bytes[TTM_OPTION_L1_BASE], m->base_basis = TTM_MEASURED;
  if (o->given[TTM_OPTION_KERNEL_BYTES])
    m->kernel_bytes = o->bytes[TTM_OPTION_KERNEL_BYTES], m->kernel_basis = TTM_MEASURED;
  m->small = o->bytes[TTM_OPTION_L1_SMALL];
  m->tile_bytes = ttm_format_tile_bytes(ttm_str_of(dtype ? dtype : "float32"));
  if (!m->tile_bytes)
    return ttm_error_set(err, TTM_EUSAGE,
                         "unknown dtype '%s': write float32, bfloat16, bfloat8_b, bfloat4_b, uint32, ...", dtype);
  status = ttm_cb_check_l1(m->arch, m->base, m->small, err);
  for (size_t i = 0; !status && i < o->many_count; i++) {
    if (o->many[i].option == TTM_OPTION_TENSOR) status = add_tensor(m, o->many[i].value, err);
  }
  return status;
}

/* ---- Strategies ------------------------------------------------------------------------------------------------------- */

static int read_strategies(ttm_cb_job *job, const ttm_options *o, ttm_error *err) {
  for (size_t i = 0; i < o->many_count; i++) {
    ttm_buf text = {0};
    if (o->many[i].option != TTM_OPTION_STRATEGY) continue;
    int status = ttm_source_read_small(&text, o->many[i].value, TTM_STRATEGY_BYTES, err);
    if (!status && ttm_vec_push(&job->texts, text)) status = ttm_error_nomem(err);
    if (status) {
      ttm_buf_free(&text);
      return status;
    }
  }
  return TTM_OK;
}

static int add_result(ttm_cb_case *c, ttm_cb_plans *plans, const ttm_cb_machine *m, ttm_error *err) {
  ttm_cb_result result;
  int status = ttm_cb_simulate(&result, plans, m);
  if (!status) status = ttm_vec_push(&c->results, result);
  if (status) ttm_cb_result_free(&result);
  return status ? ttm_error_nomem(err) : TTM_OK;
}

static int add_strategy(ttm_cb_case *c, ttm_str text, const ttm_cb_machine *m, ttm_error *err) {
  ttm_cb_plans plans;
  int status = ttm_strategy_plan(&plans, text, &c->workload, err);
  if (!status) return add_result(c, &plans, m, err);
  ttm_cb_plans_free(&plans);
  return status;
}

/* The buffers of --cb. */
static int add_given(ttm_cb_case *c, const ttm_options *o, const ttm_cb_machine *m, ttm_error *err) {
  ttm_cb_plans plans = {.strategy = TTM_LIT("given")};
  int status = TTM_OK;
  for (size_t i = 0; !status && i < o->many_count; i++) {
    if (o->many[i].option == TTM_OPTION_CB) status = ttm_cb_plan_parse(&plans, ttm_str_of(o->many[i].value), err);
  }
  if (!status && plans.all.n) return add_result(c, &plans, m, err);
  ttm_cb_plans_free(&plans);
  return status;
}

/* Says which of the files of --strategy was wrong. */
static int in_file(const ttm_options *o, size_t which, int status, ttm_error *err) {
  char inner[sizeof err->message];
  if (status != TTM_EFORMAT) return status;
  snprintf(inner, sizeof inner, "%s", err->message);
  for (size_t i = 0; i < o->many_count; i++) {
    if (o->many[i].option == TTM_OPTION_STRATEGY && which-- == 0)
      return ttm_error_set(err, TTM_EUSAGE, "%.200s: %s", o->many[i].value, inner);
  }
  return status;
}

static int run_case(ttm_cb_job *job, ttm_cb_case *c, const ttm_options *o, ttm_error *err) {
  const ttm_cb_machine *m = &job->simulation.machine;
  int status = add_strategy(c, ttm_str_of(ttm_strategy_fixed), m, err);
  if (!status) status = add_strategy(c, ttm_str_of(ttm_strategy_adaptive), m, err);
  for (size_t i = 0; !status && i < job->texts.n; i++)
    status = in_file(o, i, add_strategy(c, ttm_buf_str(&job->texts.at[i]), m, err), err);
  return status ? status : add_given(c, o, m, err);
}

int ttm_cb_job_run(ttm_cb_job *job, const ttm_options *options, const ttm_cb_workload *workloads, size_t n,
                   ttm_error *err) {
  *job = (ttm_cb_job){0};
  int status = set_machine(&job->simulation.machine, options, err);
  if (!status) status = read_strategies(job, options, err);
  for (size_t i = 0; !status && i < n; i++) {
    ttm_cb_case one = {.workload = workloads[i]};
    if (ttm_vec_push(&job->simulation.cases, one)) return ttm_error_nomem(err);
    status = run_case(job, &job->simulation.cases.at[i], options, err);
  }
  return !status && ttm_cb_judge(&job->simulation) ? ttm_error_nomem(err) : status;
}

void ttm_cb_job_free(ttm_cb_job *job) {
  ttm_cb_simulation_free(&job->simulation);
  for (size_t i = 0; i < job->texts.n; i++) ttm_buf_free(&job->texts.at[i]);
  ttm_vec_free(&job->texts);
}

int ttm_cb_workload_parse(ttm_cb_workload *out, const char *r_tiles, const char *tiles_per_shard, ttm_error *err) {
  const char *words[] = {r_tiles, tiles_per_shard};
  uint64_t *values[] = {&out->r_tiles, &out->tiles_per_shard};
  for (int i = 0; i < 2; i++) {
    ttm_str rest = ttm_str_of(words[i]);
    if (!ttm_str_take_u64(&rest, values[i]) || rest.n || !*values[i] || *values[i] > 1000000)
      return ttm_error_set(err, TTM_EUSAGE, "'%.40s' is not a number of tiles (1 to 1,000,000)", words[i]);
  }
  return TTM_OK;
}
