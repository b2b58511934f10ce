/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of `ttmem fit` side by side: a table and what to know about it for people, JSON for scripts. */
#include "report/run/fit.h"

#include <math.h>
#include <stdio.h>

#include "base/checked.h"
#include "base/format.h"
#include "report/run/statements.h"
#include "report/write/json.h"

static uint64_t headroom(const ttm_fit_case *c) {
  return c->dram_bank > c->dram_peak ? c->dram_bank - c->dram_peak : 0;
}

/* ---- The table ----------------------------------------------------------------------------------------------------- */

static void put_batch(ttm_doc *d, uint64_t batch, bool at_most) {
  if (batch == TTM_UNKNOWN)
    ttm_doc_cell(d, "?");
  else if (batch)
    ttm_doc_cell(d, "%s%s%llu",
                 batch >= TTM_FIT_MOST_BATCH ? "over "
                 : !at_most                  ? ""
                 : d->utf8                   ? "≤ "
                                             : "<= ",
                 d->utf8 ? "×" : "x", (unsigned long long)batch);
  else
    ttm_doc_cell(d, "-");
}

/* `bound`: "≥ " or "≤ " when not everything was recorded; NULL: the figure is exact. */
static void put_figure(ttm_doc *d, const char *bound, double value) {
  ttm_buf cell = {0};
  if (!bound || isnan(value)) return ttm_doc_cell_mb(d, value);
  ttm_buf_puts(&cell, bound);
  ttm_put_mb(&cell, value);
  ttm_doc_cell_text(d, ttm_buf_str(&cell));
  d->out->failed |= cell.failed;
  ttm_buf_free(&cell);
}

/* Columns that only some lists have. */
typedef struct columns {
  bool batch, chips, run_on, per_chip;
} columns;

static columns columns_of(const ttm_fit_cases *all, bool per_chip) {
  columns out = {.batch = all->replayed, .per_chip = per_chip};
  for (size_t i = 0; i < all->at.n; i++) {
    out.chips |= all->at.at[i].chips > 1;
    out.run_on |= all->at.at[i].run_on.n != 0;
  }
  return out;
}

static void begin_table(ttm_doc *d, columns has) {
  const char *heads[10] = {
      "Board", "Fits", ">DRAM peak", ">Capacity\tDRAM capacity", ">Headroom", ">L1 peak", ">Capacity\tL1 capacity"};
  size_t n = 7;
  if (has.batch) heads[n++] = ">Largest batch";
  if (has.chips) heads[n++] = ">Chips";
  if (has.run_on) heads[n++] = "Run on";
  ttm_doc_table(d, heads, n);
}

static void put_row(ttm_doc *d, const ttm_fit_case *c, columns has) {
  static const char *const answers[] = {[TTM_FITS_UNKNOWN] = "?", [TTM_FITS_NOT] = "no", [TTM_FITS] = "yes"};
  const char *least = d->utf8 ? "≥ " : ">= ", *most = d->utf8 ? "≤ " : "<= ";
  uint64_t times = has.per_chip ? c->dram_banks : 1;
  double unit = has.per_chip ? TTM_MB * 1024 : TTM_MB;
  ttm_doc_cell_text(d, c->board);
  ttm_doc_cell(d, "%s", answers[c->fits]);
  put_figure(d, c->dram_least ? least : NULL, c->measured ? (double)ttm_mul_sat(c->dram_peak, times) / unit : NAN);
  ttm_doc_cell_mb(d, c->measured ? (double)ttm_mul_sat(c->dram_bank, times) / unit : NAN);
  put_figure(d, c->dram_least ? most : NULL,
             c->measured && c->fits == TTM_FITS ? (double)ttm_mul_sat(headroom(c), times) / unit : NAN);
  put_figure(d, c->l1_least ? least : NULL, c->measured ? (double)c->l1_peak / 1024 : NAN);
  ttm_doc_cell_mb(d, c->measured ? (double)c->l1_core / 1024 : NAN);
  if (has.batch) put_batch(d, c->largest_batch, c->dram_least);
  if (has.chips && c->chips) ttm_doc_cell(d, "%llu", (unsigned long long)c->chips);
  if (has.chips && !c->chips) ttm_doc_cell(d, "-");
  if (has.run_on) ttm_doc_cell_text(d, c->run_on.n ? c->run_on : c->measured ? c->board : TTM_LIT("-"));
}

/* ---- Tests --------------------------------------------------------------------------------------------------------- */

static const ttm_fit_test *test_on(const ttm_fit_cases *all, ttm_str name, size_t of) {
  for (size_t i = 0; i < all->tests.n; i++)
    if (all->tests.at[i].of == of && ttm_str_eq(all->tests.at[i].name, name)) return &all->tests.at[i];
  return NULL;
}

/* "yes, 2.45": the answer and the DRAM peak. */
static void put_test_cell(ttm_doc *d, const ttm_fit_test *test) {
  static const char *const answers[] = {[TTM_FITS_UNKNOWN] = "?", [TTM_FITS_NOT] = "no", [TTM_FITS] = "yes"};
  ttm_buf cell = {0};
  bool skipped = test && ttm_str_eq(test->outcome, TTM_LIT("skipped"));
  ttm_buf_puts(&cell, skipped ? "skipped" : test ? answers[test->fits] : "-");
  if (test && test->dram_peak) ttm_buf_puts(&cell, ", "), ttm_put_mb(&cell, ttm_mib(test->dram_peak));
  ttm_doc_cell_text(d, ttm_buf_str(&cell));
  d->out->failed |= cell.failed;
  ttm_buf_free(&cell);
}

/* A row for each test, a column for each board; then what the tests say that do not fit. */
static void put_tests(ttm_doc *d, const ttm_fit_cases *all) {
  enum { MOST_BOARDS = 16, ROOM = 64 };
  const char *heads[1 + MOST_BOARDS] = {"Test"};
  char names[MOST_BOARDS][ROOM];
  size_t boards = all->at.n < MOST_BOARDS ? all->at.n : MOST_BOARDS;
  if (!all->tests.n) return;
  for (size_t b = 0; b < boards; b++) {
    snprintf(names[b], ROOM, "%.*s", (int)all->at.at[b].board.n, all->at.at[b].board.p);
    heads[1 + b] = names[b];
  }
  ttm_doc_heading(d, "Tests: fits, DRAM peak in MB per bank");
  ttm_doc_table(d, heads, 1 + boards);
  for (size_t i = 0; i < all->tests.n; i++) {
    const ttm_fit_test *row = &all->tests.at[i];
    bool told = false;
    for (size_t of = 0; of < row->of; of++) told |= test_on(all, row->name, of) != NULL;
    if (told) continue;
    ttm_doc_cell_text(d, row->name);
    for (size_t b = 0; b < boards; b++) put_test_cell(d, test_on(all, row->name, b));
  }
  ttm_doc_table_end(d);
  for (size_t i = 0; i < all->tests.n; i++) {
    const ttm_fit_test *row = &all->tests.at[i];
    ttm_str board = all->at.at[row->of].board;
    bool told = all->at.at[row->of].run_on.n || ttm_str_eq(row->outcome, TTM_LIT("skipped"));
    if (row->fits != TTM_FITS && !told)
      ttm_doc_line(d, "%.*s on %.*s: %.*s", (int)row->name.n, row->name.p, (int)board.n, board.p, (int)row->verdict.n,
                   row->verdict.p);
  }
}

static bool same_answer(const ttm_statement *a, const ttm_statement *b) {
  return ttm_str_eq(a->headline, b->headline) && ttm_str_eq(a->detail, b->detail);
}

/* What the table does not say of a board, once for all boards it holds for. */
static void put_answer(ttm_doc *d, const ttm_fit_cases *all, size_t i) {
  const ttm_statement *said = all->said.at.at, *s = &said[i];
  ttm_buf boards = {0};
  if (s->severity == TTM_SEVERITY_OK) return;
  for (size_t k = 0; k < all->at.n; k++) {
    if (!same_answer(&said[k], s)) continue;
    if (k < i) return; /* told */
    if (k > i) ttm_buf_puts(&boards, ", ");
    ttm_buf_put(&boards, all->at.at[k].board);
  }
  ttm_buf_char(&boards, '\0');
  if (!boards.failed) ttm_doc_heading(d, boards.at);
  ttm_doc_statement(d, &all->said, s, 0);
  d->out->failed |= boards.failed;
  ttm_buf_free(&boards);
}

int ttm_fit_write(ttm_doc *d, const ttm_fit_cases *all, bool per_chip) {
  columns has = columns_of(all, per_chip);
  ttm_doc_line(d, per_chip ? "DRAM in GB per chip, L1 in KB per core" : "DRAM in MB per bank, L1 in KB per core");
  begin_table(d, has);
  for (size_t i = 0; i < all->at.n; i++) put_row(d, &all->at.at[i], has);
  ttm_doc_table_end(d);
  put_tests(d, all);
  for (size_t i = 0; i < all->at.n; i++) put_answer(d, all, i);
  if (all->said.at.n > all->at.n) {
    ttm_doc_heading(d, "Confidence");
    ttm_doc_statement(d, &all->said, &all->said.at.at[all->at.n], 0);
  }
  return ttm_doc_end(d);
}

/* ---- JSON ---------------------------------------------------------------------------------------------------------- */

static void json_failure(ttm_json *j, const ttm_fit_case *c) {
  if (!c->refused) return ttm_json_put_null(j, "incident");
  ttm_json_put_object(j, "incident");
  ttm_json_put_name(j, "kind", ttm_incident_kind_name(c->what.kind));
  ttm_json_put_known_str(j, "memory", c->what.memory);
  ttm_json_put_known_str(j, "operation", c->operation);
  ttm_json_put_known_str(j, "at", c->at);
  ttm_json_put_known_str(j, "in_the_way", c->way);
  ttm_json_put_known(j, "needed_per_bank_B", c->what.needed_per_bank);
  ttm_json_put_known(j, "free_per_bank_B", c->what.free_per_bank);
  ttm_json_put_known(j, "largest_free_block_B", c->what.largest_free_block);
  ttm_json_put_known(j, "shortfall_B", c->shortfall);
  ttm_json_put_name(j, "verdict", ttm_verdict_name(c->verdict));
  ttm_json_put_bool(j, "survived", c->survived);
  ttm_json_put_known_str(j, "message", c->what.text);
  ttm_json_end(j);
}

static void json_case(ttm_json *j, const ttm_fit_case *c, const ttm_statement *s, bool replayed) {
  uint64_t unknown = c->measured ? 0 : TTM_UNKNOWN, unrecorded = replayed ? TTM_UNKNOWN : unknown;
  ttm_json_put_object(j, NULL);
  ttm_json_put_str(j, "board", c->board);
  c->fits == TTM_FITS_UNKNOWN ? ttm_json_put_null(j, "fits") : ttm_json_put_bool(j, "fits", c->fits == TTM_FITS);
  ttm_json_put_statement(j, s);
  ttm_json_put_known(j, "peak_dram_per_bank_B", c->dram_peak | unknown);
  ttm_json_put_known(j, "capacity_dram_per_bank_B", c->dram_bank | unknown);
  ttm_json_put_known(j, "headroom_dram_per_bank_B",
                     headroom(c) | (c->fits == TTM_FITS_UNKNOWN && c->dram_least ? TTM_UNKNOWN : unknown));
  ttm_json_put_known(j, "dram_banks", c->dram_banks | unknown);
  ttm_json_put_known(j, "peak_dram_B", ttm_mul_sat(c->dram_peak, c->dram_banks) | unknown);
  ttm_json_put_bool(j, "peak_dram_is_lower_bound", c->dram_least);
  ttm_json_put_known(j, "peak_l1_per_core_B", c->l1_peak | unknown);
  ttm_json_put_bool(j, "peak_l1_is_lower_bound", c->l1_least);
  ttm_json_put_known(j, "capacity_l1_per_core_B", c->l1_core | unknown);
  ttm_json_put_known(j, "peak_l1_tensors_per_core_B", c->l1_tensors | unknown);
  ttm_json_put_known(j, "peak_l1_programs_per_core_B", c->l1_programs | unrecorded);
  ttm_json_put_known(j, "l1_clashes", c->clashes | unrecorded);
  ttm_json_put_known(j, "programs_not_recorded", c->silent | unrecorded);
  ttm_json_put_known(j, "traces_not_captured", c->traces | unrecorded);
  ttm_json_put_known(j, "chips", c->chips ? c->chips : TTM_UNKNOWN);
  ttm_json_put_known(j, "processes", c->processes ? c->processes : TTM_UNKNOWN);
  ttm_json_put_known_str(j, "run_on", c->run_on);
  ttm_json_put_known(j, "operations", c->operations | unknown);
  ttm_json_put_known(j, "largest_batch", c->largest_batch);
  ttm_json_put_known(j, "exit_status", c->exit_status < 0 ? TTM_UNKNOWN : (uint64_t)c->exit_status);
  ttm_json_put_known_str(j, "why_unknown", c->why);
  json_failure(j, c);
}

static void json_tests(ttm_json *j, const ttm_fit_cases *all, size_t of) {
  ttm_json_put_rows(j, "tests");
  for (size_t i = 0; i < all->tests.n; i++) {
    const ttm_fit_test *test = &all->tests.at[i];
    if (test->of != of) continue;
    ttm_json_put_object(j, NULL);
    ttm_json_put_str(j, "name", test->name);
    ttm_json_put_known_str(j, "outcome", test->outcome);
    test->fits == TTM_FITS_UNKNOWN ? ttm_json_put_null(j, "fits")
                                   : ttm_json_put_bool(j, "fits", test->fits == TTM_FITS);
    ttm_json_put_str(j, "verdict", test->verdict);
    ttm_json_put_u64(j, "operations", test->operations);
    ttm_json_put_u64(j, "peak_dram_per_bank_B", test->dram_peak);
    ttm_json_put_u64(j, "peak_l1_tensors_per_bank_B", test->l1_peak);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

void ttm_fit_json_boards(ttm_json *j, const ttm_fit_cases *all) {
  ttm_json_put_rows(j, "boards");
  for (size_t i = 0; i < all->at.n; i++) {
    json_case(j, &all->at.at[i], &all->said.at.at[i], all->replayed);
    if (all->tests.n) json_tests(j, all, i);
    ttm_json_end(j);
  }
  ttm_json_end(j);
  if (all->said.at.n > all->at.n) {
    ttm_json_put_object(j, "confidence");
    ttm_json_put_statement(j, &all->said.at.at[all->at.n]);
    ttm_json_end(j);
  }
}

int ttm_fit_json(const ttm_fit_cases *all, ttm_buf *out) {
  ttm_json j = {.out = out, .spaced = true};
  ttm_json_put_object(&j, NULL);
  ttm_json_put_u64(&j, "schema_version", 1);
  ttm_json_put_name(&j, "how", all->replayed ? "replay" : "run");
  ttm_fit_json_boards(&j, all);
  ttm_json_end(&j);
  return ttm_json_finish(&j);
}
