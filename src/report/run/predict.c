/* SPDX-License-Identifier: Apache-2.0 */
#include "report/run/predict.h"

#include "analyze/tell.h"
#include "report/run/fit.h"
#include "report/run/statements.h"

static const ttm_program_need *whole_of(const ttm_predict_view *v) {
  return v->prediction->programs.at[v->prediction->whole];
}

static const ttm_board_need *on_board(const ttm_program_need *program, const ttm_board *board) {
  return &program->boards[(board ? board : program->home) - ttm_boards];
}

/* ---- For people ---- */

static int put_needs(ttm_doc *d, const ttm_predict_view *v) {
  ttm_statements said = {0};
  ttm_teller t = {.f = v->f, .p = v->f->profile, .out = &said};
  ttm_tell_needs(&t, whole_of(v), on_board(whole_of(v), v->board));
  for (size_t i = 0; i < said.at.n && !t.failed; i++) ttm_doc_statement(d, &said, &said.at.at[i], 0);
  ttm_buf_free(&t.text);
  ttm_statements_free(&said);
  return t.failed ? TTM_ENOMEM : TTM_OK;
}

static int put_program(ttm_doc *d, const ttm_predict_view *v, const ttm_program_need *program) {
  const ttm_board_need *row = on_board(program, v->board);
  const ttm_need *need = &row->need[TTM_NEED_DRAM];
  ttm_str name, location;
  uint32_t line;
  if (ttm_need_place(program, need->op, &name, &location, &line)) return TTM_ENOMEM;
  ttm_doc_cell_text(d, program->module.facts.name);
  ttm_doc_cell_mb(d, (double)need->bytes / TTM_MB);
  ttm_doc_cell_mb(d, (double)need->steady / TTM_MB);
  ttm_doc_cell_mb(d, (double)row->need[TTM_NEED_L1].bytes / 1024);
  ttm_doc_cell_text(d, name);
  ttm_doc_cell_text(d, location);
  return TTM_OK;
}

static int put_programs(ttm_doc *d, const ttm_predict_view *v) {
  static const char *const heads[] = {"Program", ">DRAM peak", ">Steady state", ">L1 peak", "Operation", "Location"};
  int status = TTM_OK;
  if (v->prediction->programs.n < 2) return TTM_OK;
  ttm_doc_heading(d, "Programs");
  ttm_doc_table(d, heads, sizeof heads / sizeof *heads);
  for (size_t i = 0; i < v->prediction->programs.n && !status; i++)
    status = put_program(d, v, v->prediction->programs.at[i]);
  ttm_doc_table_end(d);
  return status;
}

/* What is alive at the peak and what is free between: of a module by itself, whose predicted run the findings are about. */
static void put_topic(ttm_doc *d, const ttm_predict_view *v, ttm_topic topic) {
  enum { SHOWN_ROWS = 10 };
  const ttm_statements *all = &v->f->statements;
  bool own = v->prediction == &v->f->prediction && (!v->board || v->board == whole_of(v)->home);
  if (!v->f->profile->predicted || !own) return;
  ttm_doc_heading(d, ttm_topic_title(topic));
  for (size_t i = 0; i < all->at.n; i++)
    if (all->at.at[i].topic == topic) ttm_doc_statement(d, all, &all->at.at[i], SHOWN_ROWS);
}

int ttm_predict_write(ttm_doc *d, const ttm_predict_view *v, bool per_chip) {
  ttm_doc_heading(d, ttm_topic_title(TTM_TOPIC_NEED));
  if (put_needs(d, v) || put_programs(d, v)) d->out->failed = true;
  put_topic(d, v, TTM_TOPIC_ALIVE);
  put_topic(d, v, TTM_TOPIC_FRAGMENTATION);
  ttm_doc_heading(d, "Boards");
  return ttm_fit_write(d, v->cases, per_chip);
}

/* ---- For scripts ---- */

static int put_memory(ttm_json *j, const char *key, const ttm_program_need *program, const ttm_board_need *row,
                      int memory) {
  const ttm_need *need = &row->need[memory];
  ttm_str name, location;
  uint32_t line;
  if (ttm_need_place(program, need->op, &name, &location, &line)) return TTM_ENOMEM;
  ttm_json_put_object(j, key);
  ttm_json_put_u64(j, "per_bank_B", need->bytes);
  ttm_json_put_u64(j, "inside_operations_per_bank_B", need->inside);
  ttm_json_put_u64(j, "capacity_per_bank_B", row->capacity[memory]);
  ttm_json_put_known_str(j, "operation", name);
  ttm_json_put_known_str(j, "at", location);
  ttm_json_put_known(j, "module_line", line ? line : UINT64_MAX);
  ttm_json_put_bool(j, "lower_bound", ttm_need_is_lower_bound(program, memory));
  ttm_json_put_u64(j, "warm_up_per_bank_B", need->warm_up);
  ttm_json_put_u64(j, "steady_per_bank_B", need->steady);
  ttm_json_end(j);
  return TTM_OK;
}

int ttm_json_put_need(ttm_json *j, const ttm_program_need *program, const ttm_board_need *row) {
  ttm_json_put_object(j, "whole_need");
  ttm_json_put_name(j, "board", row->board->name);
  ttm_json_put_name(j, "runner", ttm_runner_name(program->runner));
  ttm_json_put_bool(j, "fits", !row->refused);
  ttm_json_put_u64(j, "other_runner_per_bank_B", program->other_runner[row->board - ttm_boards]);
  ttm_json_put_u64(j, "not_understood", program->run.unknown);
  ttm_json_put_name(j, "basis", ttm_basis_name(TTM_PREDICTED));
  int status = put_memory(j, "DRAM", program, row, TTM_NEED_DRAM);
  if (!status) status = put_memory(j, "L1", program, row, TTM_NEED_L1);
  ttm_json_end(j);
  return status;
}

static int json_program(ttm_json *j, const ttm_predict_view *v, const ttm_program_need *program) {
  ttm_json_put_object(j, NULL);
  ttm_json_put_known_str(j, "module", program->module.facts.name);
  ttm_json_put_u64(j, "graph", program->graph);
  ttm_json_put_u64(j, "devices", program->module.facts.devices);
  ttm_json_put_u64(j, "operations", program->module.ops.n);
  int status = ttm_json_put_need(j, program, on_board(program, v->board));
  ttm_json_end(j);
  return status;
}

int ttm_predict_json(const ttm_predict_view *v, ttm_buf *out) {
  ttm_json j = {.out = out, .spaced = true};
  const ttm_program_need *whole = whole_of(v);
  ttm_json_put_object(&j, NULL);
  ttm_json_put_u64(&j, "schema_version", 1);
  ttm_json_put_name(&j, "how", "predicted");
  int status = ttm_json_put_need(&j, whole, on_board(whole, v->board));
  ttm_json_put_rows(&j, "programs");
  for (size_t i = 0; i < v->prediction->programs.n && !status; i++)
    status = json_program(&j, v, v->prediction->programs.at[i]);
  ttm_json_end(&j);
  ttm_fit_json_boards(&j, v->cases);
  ttm_json_end(&j);
  return status ? status : ttm_json_finish(&j);
}
