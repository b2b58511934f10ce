/* SPDX-License-Identifier: Apache-2.0 */
#include "history/show.h"

#include <math.h>

#include "base/format.h"
#include "report/files/statements_json.h"
#include "report/run/statements.h"
#include "report/write/json.h"

enum { SPARKS = 24, SPARKS_IN_TABLE = 12, LAST_RUNS = 12, SHORT_COMMIT = 12 };

/* ---- Texts -------------------------------------------------------------------------------------------------------- */

/* The last peaks as columns, from the lowest to the highest; peaks within the tolerance are as high as each other. */
static void put_sparks(ttm_buf *out, const ttm_past *past, const ttm_series *s, int memory, size_t most, bool utf8) {
  size_t from = s->runs > most ? s->runs - most : 0;
  double low = INFINITY, high = 0;
  for (size_t i = from; i < s->runs; i++) {
    const ttm_past_peak *peak = &ttm_series_run(past, s, i)->peak[memory];
    if (peak->known) low = fmin(low, (double)peak->bytes), high = fmax(high, (double)peak->bytes);
  }
  bool level = (high - low) * 100 <= past->tolerance * low;
  for (size_t i = from; i < s->runs; i++) {
    const ttm_past_peak *peak = &ttm_series_run(past, s, i)->peak[memory];
    int eighths = !peak->known ? 0 : level ? 4 : 1 + (int)(((double)peak->bytes - low) / (high - low) * 7);
    utf8 ? ttm_buf_puts(out, ttm_column_eighths[eighths]) : ttm_buf_char(out, " 12345678"[eighths]);
  }
}

static const ttm_past_peak *last_peak(const ttm_past *past, const ttm_series *s, int memory) {
  for (size_t i = s->runs; i--;)
    if (ttm_series_run(past, s, i)->peak[memory].known) return &ttm_series_run(past, s, i)->peak[memory];
  return NULL;
}

static double peak_mb(const ttm_past_peak *peak) { return peak && peak->known ? ttm_mib((uint64_t)peak->bytes) : NAN; }

static double full_percent(const ttm_past_peak *peak) {
  return peak && peak->capacity ? (double)peak->bytes * 100 / (double)peak->capacity : NAN;
}

/* "llama", "llama (replay)". */
static void put_model(ttm_buf *out, const ttm_series *s) {
  ttm_put_text(out, s->model, SIZE_MAX, TTM_FORM_UTF8);
  if (!ttm_str_eq(s->method, TTM_LIT("run"))) ttm_buf_printf(out, " (%.*s)", TTM_ARGS(s->method));
}

/* ---- Documents ---------------------------------------------------------------------------------------------------- */

static void cell_percent(ttm_doc *doc, double percent) {
  isnan(percent) ? ttm_doc_cell(doc, "-") : ttm_doc_cell(doc, "%.1f %%", percent);
}

/* The newest step: "+8.00 2026-11-12". */
static void cell_step(ttm_doc *doc, const ttm_past *past, const ttm_series *s) {
  const ttm_steps *steps = &s->steps[0];
  const ttm_step *step = steps->n ? &steps->at[steps->n - 1] : NULL;
  ttm_buf mb = {0};
  if (!step) return ttm_doc_cell(doc, "-");
  ttm_put_mb(&mb, fabs(step->after - step->before) / TTM_MB);
  ttm_doc_cell(doc, "%s%.*s %.10s", step->after > step->before ? "+" : "-", TTM_ARGS(ttm_buf_str(&mb)),
               TTM_DAY(ttm_series_run(past, s, step->at)->time_us));
  doc->out->failed |= mb.failed;
  ttm_buf_free(&mb);
}

void ttm_past_overview(ttm_doc *doc, const ttm_past *past) {
  static const char *const heads[] = {"Model",      "Board", ">Runs", ">Failed",
                                      "DRAM peaks", ">MB",   ">Full", "Last step, MB"};
  ttm_doc_table(doc, heads, sizeof heads / sizeof *heads);
  for (size_t i = 0; i < past->series.n; i++) {
    const ttm_series *s = &past->series.at[i];
    const ttm_past_peak *peak = last_peak(past, s, 0);
    uint64_t failed = 0;
    ttm_buf model = {0}, sparks = {0};
    for (size_t r = 0; r < s->runs; r++) failed += ttm_series_run(past, s, r)->failures > 0;
    put_model(&model, s);
    put_sparks(&sparks, past, s, 0, SPARKS_IN_TABLE, doc->utf8);
    ttm_doc_cell_text(doc, ttm_buf_str(&model));
    ttm_doc_cell_text(doc, s->board);
    ttm_doc_cell_count(doc, s->runs);
    ttm_doc_cell_count(doc, failed);
    ttm_doc_cell_text(doc, ttm_buf_str(&sparks));
    ttm_doc_cell_mb(doc, peak_mb(peak));
    cell_percent(doc, full_percent(peak));
    cell_step(doc, past, s);
    doc->out->failed |= model.failed || sparks.failed;
    ttm_buf_free(&model);
    ttm_buf_free(&sparks);
  }
  ttm_doc_table_end(doc);
}

/* "DRAM  ▂▂▂▇▇▇  978.4 of 1,023.0 MB per bank". */
static void put_memory(ttm_doc *doc, const ttm_past *past, const ttm_series *s, int memory) {
  const ttm_past_peak *peak = last_peak(past, s, memory);
  ttm_buf text = {0};
  if (!peak) return;
  put_sparks(&text, past, s, memory, SPARKS, doc->utf8);
  ttm_buf_puts(&text, "  ");
  ttm_put_mb(&text, peak_mb(peak));
  if (peak->capacity) ttm_buf_puts(&text, " of "), ttm_put_mb(&text, ttm_mib((uint64_t)peak->capacity));
  ttm_buf_printf(&text, " MB%s", ttm_series_per(s));
  if (peak->at_least) ttm_buf_puts(&text, " at least");
  ttm_doc_labelled(doc, ttm_past_memory(memory), TTM_DOC_PLAIN, ttm_buf_str(&text));
  doc->out->failed |= text.failed;
  ttm_buf_free(&text);
}

static void put_runs(ttm_doc *doc, const ttm_past *past, const ttm_series *s, size_t most) {
  static const char *const heads[] = {"Run", ">UTC", ">DRAM", ">L1", "Commit", "Failed"};
  size_t from = s->runs > most ? s->runs - most : 0;
  ttm_doc_table(doc, heads, sizeof heads / sizeof *heads);
  for (size_t i = s->runs; i-- > from;) {
    const ttm_past_run *run = ttm_series_run(past, s, i);
    ttm_doc_cell_text(doc, run->run);
    ttm_doc_cell(doc, "%s", TTM_DAY(run->time_us));
    for (int m = 0; m < TTM_PAST_MEMORIES; m++) ttm_doc_cell_mb(doc, peak_mb(&run->peak[m]));
    ttm_doc_cell_text(doc, run->commit.n ? ttm_str_first(run->commit, SHORT_COMMIT) : TTM_LIT("-"));
    ttm_doc_cell(doc, run->failures ? "yes" : "-");
  }
  ttm_doc_table_end(doc);
}

void ttm_past_series(ttm_doc *doc, const ttm_past *past, const ttm_series *s) {
  ttm_buf title = {0};
  put_model(&title, s);
  if (s->board.n) ttm_buf_printf(&title, " on %.*s", TTM_ARGS(s->board));
  ttm_buf_puts(&title, ", ");
  ttm_put_counted(&title, s->runs, "run");
  ttm_buf_printf(&title, ", %.10s to %.10s", TTM_DAY(ttm_series_run(past, s, 0)->time_us),
                 TTM_DAY(ttm_series_run(past, s, s->runs - 1)->time_us));
  ttm_buf_char(&title, '\0');
  if (!title.failed) ttm_doc_heading(doc, title.at);
  for (int m = 0; m < TTM_PAST_MEMORIES; m++) put_memory(doc, past, s, m);
  for (size_t i = 0; i < s->said.at.n; i++) ttm_doc_statement(doc, &s->said, &s->said.at.at[i], 0);
  ttm_buf_clear(&title);
  ttm_buf_printf(&title, "%s, MB%s", s->runs > LAST_RUNS ? "Last runs" : "Runs", ttm_series_per(s));
  ttm_buf_char(&title, '\0');
  if (!title.failed) ttm_doc_heading(doc, title.at);
  doc->out->failed |= title.failed;
  ttm_buf_free(&title);
  put_runs(doc, past, s, LAST_RUNS);
}

/* ---- For programs ------------------------------------------------------------------------------------------------- */

void ttm_past_runs(ttm_doc *doc, const ttm_past *past) {
  static const char *const heads[] = {"run",
                                      "time",
                                      "model",
                                      "board",
                                      "method",
                                      "name",
                                      "host",
                                      "commit",
                                      ">dram_peak_bytes",
                                      ">dram_capacity_bytes",
                                      ">l1_peak_bytes",
                                      ">l1_capacity_bytes",
                                      ">failures",
                                      "failure",
                                      "source"};
  ttm_doc_table(doc, heads, sizeof heads / sizeof *heads);
  for (size_t i = 0; i < past->series.n; i++) {
    const ttm_series *s = &past->series.at[i];
    for (size_t r = 0; r < s->runs; r++) {
      const ttm_past_run *run = ttm_series_run(past, s, r);
      const ttm_str texts[] = {run->run, {0}, s->model, s->board, s->method, run->name, run->host, run->commit};
      for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        t == 1 ? ttm_doc_cell(doc, "%s", TTM_DAY(run->time_us)) : ttm_doc_cell_text(doc, texts[t]);
      for (int m = 0; m < TTM_PAST_MEMORIES; m++) {
        const ttm_past_peak *peak = &run->peak[m];
        peak->known ? ttm_doc_cell(doc, "%lld", (long long)peak->bytes) : ttm_doc_cell(doc, "-");
        peak->capacity ? ttm_doc_cell(doc, "%lld", (long long)peak->capacity) : ttm_doc_cell(doc, "-");
      }
      ttm_doc_cell(doc, "%lld", (long long)run->failures);
      ttm_doc_cell_text(doc, run->failure);
      ttm_doc_cell_text(doc, run->source);
    }
  }
  ttm_doc_table_end(doc);
}

static void json_run(ttm_json *j, const ttm_past_run *run) {
  static const char *const peaks[] = {"dram_peak_bytes", "l1_peak_bytes"},
                           *const capacities[] = {"dram_capacity_bytes", "l1_capacity_bytes"},
                           *const least[] = {"dram_at_least", "l1_at_least"};
  ttm_json_put_object(j, NULL);
  ttm_json_put_str(j, "run", run->run);
  ttm_json_put_i64(j, "time_us", run->time_us);
  ttm_json_put_name(j, "utc", TTM_DAY(run->time_us));
  ttm_json_put_str(j, "name", run->name);
  ttm_json_put_str(j, "command", run->command);
  ttm_json_put_known_str(j, "source", run->source);
  ttm_json_put_known_str(j, "report", run->report);
  ttm_json_put_known_str(j, "host", run->host);
  ttm_json_put_known_str(j, "commit", run->commit);
  for (int m = 0; m < TTM_PAST_MEMORIES; m++) {
    const ttm_past_peak *peak = &run->peak[m];
    ttm_json_put_known(j, peaks[m], peak->known ? (uint64_t)peak->bytes : UINT64_MAX);
    ttm_json_put_known(j, capacities[m], peak->capacity ? (uint64_t)peak->capacity : UINT64_MAX);
    if (peak->at_least) ttm_json_put_bool(j, least[m], true);
  }
  ttm_json_put_i64(j, "failures", run->failures);
  ttm_json_put_known_str(j, "failure", run->failure);
  ttm_json_end(j);
}

static void json_steps(ttm_json *j, const ttm_past *past, const ttm_series *s) {
  ttm_json_put_rows(j, "steps");
  for (int m = 0; m < TTM_PAST_MEMORIES; m++) {
    for (size_t i = 0; i < s->steps[m].n; i++) {
      const ttm_step *step = &s->steps[m].at[i];
      ttm_json_put_object(j, NULL);
      ttm_json_put_name(j, "memory", ttm_past_memory(m));
      ttm_json_put_str(j, "run", ttm_series_run(past, s, step->at)->run);
      ttm_json_put_u64(j, "index", step->at);
      ttm_json_put_fixed(j, "before_bytes", step->before, 0);
      ttm_json_put_fixed(j, "after_bytes", step->after, 0);
      ttm_json_put_u64(j, "runs_before", step->runs_before);
      ttm_json_put_u64(j, "runs_after", step->runs_after);
      ttm_json_end(j);
    }
  }
  ttm_json_end(j);
}

int ttm_past_json(ttm_buf *out, const ttm_past *past) {
  ttm_json j = {.out = out};
  ttm_json_put_sections(&j, NULL);
  ttm_json_put_u64(&j, "schema_version", 1);
  ttm_json_put_double(&j, "tolerance_pct", past->tolerance);
  ttm_json_put_double(&j, "false_alarm_rate", TTM_STEP_ALPHA);
  ttm_json_put_rows(&j, "series");
  for (size_t i = 0; i < past->series.n; i++) {
    const ttm_series *s = &past->series.at[i];
    ttm_json_put_sections(&j, NULL);
    ttm_json_put_str(&j, "model", s->model);
    ttm_json_put_known_str(&j, "board", s->board);
    ttm_json_put_str(&j, "method", s->method);
    ttm_json_put_rows(&j, "runs");
    for (size_t r = 0; r < s->runs; r++) json_run(&j, ttm_series_run(past, s, r));
    ttm_json_end(&j);
    json_steps(&j, past, s);
    ttm_json_put_statements(&j, &s->said);
    ttm_json_end(&j);
  }
  ttm_json_end(&j);
  ttm_json_end(&j);
  return ttm_json_finish(&j);
}
