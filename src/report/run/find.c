/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of `ttmem fit --find`: a table and what to know about it for people, JSON for scripts. */
#include "report/run/find.h"

#include <math.h>
#include <stdio.h>

#include "base/format.h"
#include "report/run/statements.h"
#include "report/write/json.h"

/* ---- The table ----------------------------------------------------------------------------------------------------- */

static void put_value_cell(ttm_doc *d, const ttm_variable *v, uint64_t i) {
  ttm_buf cell = {0};
  if (i == TTM_UNKNOWN) return ttm_doc_cell(d, "-");
  ttm_variable_put(v, i, &cell);
  ttm_doc_cell_text(d, ttm_buf_str(&cell));
  d->out->failed |= cell.failed;
  ttm_buf_free(&cell);
}

/* What ends the memory: "DRAM", "L1"; "-" where nothing does. */
static ttm_str limit_of(const ttm_fit_case *refused) {
  return !refused ? TTM_LIT("-") : refused->what.memory.n ? refused->what.memory : TTM_LIT("L1");
}

static void put_row(ttm_doc *d, const ttm_find *find, const ttm_find_row *row) {
  const ttm_fit_case *fits = ttm_find_largest(find, row), *refused = ttm_find_refused(find, row);
  ttm_find_step step = ttm_find_step_of(find, row);
  ttm_doc_cell(d, "%s", row->board);
  for (size_t v = 1; v < find->variable_count; v++)
    put_value_cell(d, &find->variables[v], ttm_find_index(find, row->combination, v));
  put_value_cell(d, row->search.of, ttm_search_largest(&row->search));
  put_value_cell(d, row->search.of, ttm_search_refused(&row->search));
  ttm_doc_cell_text(d, limit_of(refused));
  ttm_doc_cell_mb(d, fits && fits->measured ? (double)fits->dram_peak / TTM_MB : NAN);
  ttm_doc_cell_mb(d, fits && fits->measured ? (double)fits->dram_bank / TTM_MB : NAN);
  step.known &&step.dram >= 0 ? ttm_doc_cell_bytes(d, (uint64_t)llround(step.dram)) : ttm_doc_cell(d, "-");
  if (!ttm_doc_is_data(d)) return; /* the sentences below the table have these */
  ttm_doc_cell_text(d, refused && refused->operation.n ? refused->operation : TTM_LIT("-"));
  ttm_doc_cell_text(d, refused && refused->at.n ? refused->at : TTM_LIT("-"));
}

static void put_statement(ttm_doc *d, const ttm_find *find, size_t i) {
  const ttm_statement *said = find->said.at.at;
  ttm_buf boards = {0};
  for (size_t k = 0; k < find->rows.n; k++) {
    if (!ttm_str_eq(said[k].headline, said[i].headline) || !ttm_str_eq(said[k].detail, said[i].detail)) continue;
    if (k < i) return; /* told */
    if (k > i) ttm_buf_puts(&boards, ", ");
    ttm_buf_puts(&boards, find->rows.at[k].board);
  }
  ttm_buf_char(&boards, '\0');
  if (!boards.failed) ttm_doc_heading(d, boards.at);
  ttm_doc_statement(d, &find->said, &said[i], 0);
  d->out->failed |= boards.failed;
  ttm_buf_free(&boards);
}

int ttm_find_write(ttm_doc *d, const ttm_find *find) {
  char names[TTM_FIND_VARIABLES][64];
  const char *heads[TTM_DOC_COLUMNS] = {"Board"};
  size_t n = 1;
  for (size_t v = 0; v < find->variable_count; v++)
    snprintf(names[v], sizeof names[v], v ? ">%.*s" : ">Largest %.*s",
             TTM_ARGS(ttm_str_first(find->variables[v].name, 40)));
  for (size_t v = 1; v < find->variable_count; v++) heads[n++] = names[v];
  heads[n++] = names[0];
  const char *const rest[] = {">Refused", "Memory", ">DRAM peak", ">Capacity", ">Each costs\tStep", "Operation", "At"};
  size_t count = sizeof rest / sizeof *rest - (ttm_doc_is_data(d) ? 0 : 2);
  for (size_t i = 0; i < count; i++) heads[n++] = rest[i];
  ttm_doc_line(d, "DRAM per bank, in MB at the largest value");
  ttm_doc_table(d, heads, n);
  for (size_t i = 0; i < find->rows.n; i++) put_row(d, find, &find->rows.at[i]);
  ttm_doc_table_end(d);
  for (size_t i = 0; i < find->rows.n; i++) put_statement(d, find, i);
  ttm_doc_heading(d, "Confidence");
  ttm_doc_statement(d, &find->said, &find->said.at.at[find->rows.n], 0);
  return ttm_doc_end(d);
}

/* ---- JSON ---------------------------------------------------------------------------------------------------------- */

static void json_value(ttm_json *j, const char *key, const ttm_variable *v, uint64_t i) {
  ttm_buf text = {0};
  if (i == TTM_UNKNOWN) return ttm_json_put_null(j, key);
  ttm_variable_put(v, i, &text);
  v->numbers ? ttm_json_put_u64(j, key, ttm_variable_number(v, i)) : ttm_json_put_str(j, key, ttm_buf_str(&text));
  j->out->failed |= text.failed;
  ttm_buf_free(&text);
}

static void json_variables(ttm_json *j, const ttm_find *find) {
  ttm_json_put_rows(j, "variables");
  for (size_t v = 0; v < find->variable_count; v++) {
    const ttm_variable *of = &find->variables[v];
    ttm_json_put_object(j, NULL);
    ttm_json_put_str(j, "name", of->name);
    ttm_json_put_u64(j, "values", of->n);
    json_value(j, "first", of, 0);
    json_value(j, "last", of, of->n - 1);
    ttm_json_put_bool(j, "searched", v == 0);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

static void json_runs(ttm_json *j, const ttm_find *find, const ttm_find_row *row) {
  ttm_json_put_rows(j, "runs");
  for (size_t i = 0; i < row->cases.n; i++) {
    const ttm_fit_case *c = &find->cases.at.at[row->cases.at[i]];
    uint64_t unknown = c->measured ? 0 : TTM_UNKNOWN;
    ttm_json_put_object(j, NULL);
    json_value(j, "value", row->search.of, row->search.tries.at[i].index);
    c->fits == TTM_FITS_UNKNOWN ? ttm_json_put_null(j, "fits") : ttm_json_put_bool(j, "fits", c->fits == TTM_FITS);
    ttm_json_put_known(j, "peak_dram_per_bank_B", c->dram_peak | unknown);
    ttm_json_put_bool(j, "peak_dram_is_lower_bound", c->dram_least);
    ttm_json_put_known(j, "peak_l1_per_core_B", c->l1_peak | unknown);
    ttm_json_put_known_str(j, "run_on", c->run_on);
    ttm_json_put_known(j, "exit_status", c->exit_status < 0 ? TTM_UNKNOWN : (uint64_t)c->exit_status);
    ttm_json_put_known_str(j, "why_unknown", c->why);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

static void json_step(ttm_json *j, const char *key, const ttm_find_step *step, double bytes) {
  step->known ? ttm_json_put_double(j, key, bytes) : ttm_json_put_null(j, key);
}

static void json_row(ttm_json *j, const ttm_find *find, const ttm_find_row *row, const ttm_statement *s) {
  const ttm_fit_case *fits = ttm_find_largest(find, row), *refused = ttm_find_refused(find, row);
  ttm_find_step step = ttm_find_step_of(find, row);
  ttm_json_put_object(j, NULL);
  ttm_json_put_name(j, "board", row->board);
  ttm_json_put_object(j, "with");
  for (size_t v = 1; v < find->variable_count; v++) {
    ttm_json_put_key(j, find->variables[v].name);
    json_value(j, NULL, &find->variables[v], ttm_find_index(find, row->combination, v));
  }
  ttm_json_end(j);
  ttm_json_put_str(j, "variable", row->search.of->name);
  json_value(j, "largest", row->search.of, ttm_search_largest(&row->search));
  json_value(j, "refused", row->search.of, ttm_search_refused(&row->search));
  ttm_json_put_statement(j, s);
  ttm_json_put_known_str(j, "memory", refused ? limit_of(refused) : TTM_LIT(""));
  ttm_json_put_known_str(j, "operation", refused ? refused->operation : TTM_LIT(""));
  ttm_json_put_known_str(j, "at", refused ? refused->at : TTM_LIT(""));
  ttm_json_put_known(j, "shortfall_B", refused ? refused->shortfall : TTM_UNKNOWN);
  ttm_json_put_known_str(j, "message", refused ? refused->what.text : TTM_LIT(""));
  ttm_json_put_known(j, "peak_dram_per_bank_B", fits && fits->measured ? fits->dram_peak : TTM_UNKNOWN);
  ttm_json_put_known(j, "capacity_dram_per_bank_B", fits && fits->measured ? fits->dram_bank : TTM_UNKNOWN);
  json_step(j, "step_dram_per_bank_B", &step, step.dram);
  json_step(j, "step_l1_per_core_B", &step, step.l1);
  json_runs(j, find, row);
  ttm_json_end(j);
}

int ttm_find_json(const ttm_find *find, ttm_buf *out) {
  ttm_json j = {.out = out, .spaced = true};
  ttm_json_put_object(&j, NULL);
  ttm_json_put_u64(&j, "schema_version", 1);
  ttm_json_put_name(&j, "how", "find");
  json_variables(&j, find);
  ttm_json_put_rows(&j, "results");
  for (size_t i = 0; i < find->rows.n; i++) json_row(&j, find, &find->rows.at[i], &find->said.at.at[i]);
  ttm_json_end(&j);
  ttm_json_put_object(&j, "confidence");
  ttm_json_put_str(&j, "headline", find->said.at.at[find->rows.n].headline);
  ttm_json_put_known_str(&j, "detail", find->said.at.at[find->rows.n].detail);
  ttm_json_put_u64(&j, "answers_of_earlier_runs", find->kept);
  ttm_json_end(&j);
  ttm_json_end(&j);
  return ttm_json_finish(&j);
}
