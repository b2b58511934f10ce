/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "history/past.h"

#include <stdio.h>
#include <time.h>

const char *ttm_past_memory(int memory) { return memory ? "L1" : "DRAM"; }

const char *ttm_day_text(char room[TTM_DAY_ROOM], int64_t time_us) {
  time_t seconds = (time_t)(time_us / 1000000);
  struct tm day;
  if (!gmtime_r(&seconds, &day) || !strftime(room, TTM_DAY_ROOM, "%Y-%m-%d %H:%M", &day)) room[0] = '\0';
  return room;
}

void ttm_past_free(ttm_past *past) {
  for (size_t i = 0; i < past->series.n; i++) {
    ttm_series *s = &past->series.at[i];
    for (int m = 0; m < TTM_PAST_MEMORIES; m++) ttm_vec_free(&s->steps[m]);
    ttm_statements_free(&s->said);
  }
  ttm_vec_free(&past->series);
  ttm_vec_free(&past->runs);
  ttm_arena_free(&past->arena);
  *past = (ttm_past){0};
}

/* ---- Reading ------------------------------------------------------------------------------------------------------ */

#define RUNS_SQL                                                                                                       \
  "SELECT r.run, r.model, r.board, r.method, r.name, r.command, r.source, r.host, r.git_commit, r.failure, r.report, " \
  "r.time_us, r.failures, p.memory, p.peak_bytes, p.capacity_bytes, p.banks, p.at_least "                              \
  "FROM run r LEFT JOIN peak p ON p.run = r.run AND p.memory IN ('DRAM', 'L1') "                                       \
  "WHERE ($1 = '' OR r.model = $1) AND ($2 = '' OR r.board = $2) AND r.time_us >= CAST($3 AS bigint) "                 \
  "ORDER BY r.model, r.board, r.method, r.time_us, r.run, p.memory"

#define T TTM_COLUMN_TEXT
#define N TTM_COLUMN_NUMBER
static const ttm_column_type RUN_TYPES[] = {T, T, T, T, T, T, T, T, T, T, T, N, N, T, N, N, N, N};
#undef T
#undef N
enum { COLUMNS = sizeof RUN_TYPES / sizeof *RUN_TYPES };

typedef struct reader {
  ttm_past *past;
  ttm_str model; /* with *; empty: any */
  bool failed;
} reader;

static ttm_str keep(reader *r, ttm_str text) {
  const char *kept = text.n ? ttm_arena_copy(&r->past->arena, text) : "";
  r->failed |= !kept;
  return (ttm_str){kept ? kept : "", kept ? text.n : 0};
}

static ttm_str text_of(const ttm_history_cell *cell) { return cell->known ? cell->text : (ttm_str){"", 0}; }

static int add_series(reader *r, const ttm_history_cell *c) {
  ttm_past *past = r->past;
  const ttm_series *last = past->series.n ? &past->series.at[past->series.n - 1] : NULL;
  if (last && ttm_str_eq(last->model, text_of(&c[1])) && ttm_str_eq(last->board, text_of(&c[2])) &&
      ttm_str_eq(last->method, text_of(&c[3])))
    return TTM_OK;
  ttm_series s = {.model = keep(r, text_of(&c[1])),
                  .board = keep(r, text_of(&c[2])),
                  .method = keep(r, text_of(&c[3])),
                  .first = past->runs.n};
  return ttm_vec_push(&past->series, s);
}

static int add_run(reader *r, const ttm_history_cell *c) {
  ttm_past_run run = {.time_us = c[11].number, .failures = c[12].number};
  ttm_str *texts[] = {&run.run,    NULL,      NULL,        NULL,         &run.name,  &run.command,
                      &run.source, &run.host, &run.commit, &run.failure, &run.report};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if (texts[i]) *texts[i] = keep(r, text_of(&c[i]));
  r->past->series.at[r->past->series.n - 1].runs++;
  return ttm_vec_push(&r->past->runs, run);
}

/* A row per run and memory. */
static int take_row(void *context, const ttm_history_cell *c) {
  reader *r = context;
  ttm_past *past = r->past;
  if (r->model.n && !ttm_str_like(text_of(&c[1]), r->model)) return TTM_OK;
  bool same = past->runs.n && ttm_str_eq(past->runs.at[past->runs.n - 1].run, text_of(&c[0]));
  if (!same && (add_series(r, c) || add_run(r, c))) r->failed = true;
  if (r->failed) return TTM_ENOMEM;
  if (!c[13].known || !c[14].known) return TTM_OK;
  int memory = ttm_str_eq(c[13].text, TTM_LIT("L1"));
  past->runs.at[past->runs.n - 1].peak[memory] = (ttm_past_peak){.known = true,
                                                                 .bytes = c[14].number,
                                                                 .capacity = c[15].number,
                                                                 .banks = c[16].number,
                                                                 .at_least = c[17].number != 0};
  return TTM_OK;
}

/* ---- One run ------------------------------------------------------------------------------------------------------ */

#define LOCATE_SQL                                                                                        \
  "SELECT run, report, source FROM run WHERE substr(run, 1, length($1)) = $1 OR name = $1 OR model = $1 " \
  "ORDER BY time_us DESC, run DESC LIMIT 2"

typedef struct locating {
  ttm_str name;
  ttm_buf *path, *run;
  size_t begin_so; /* ids that begin with the name */
} locating;

static int take_place(void *context, const ttm_history_cell *c) {
  locating *l = context;
  bool begins = ttm_str_starts(text_of(&c[0]), l->name);
  l->begin_so += begins;
  if (l->run->n) return TTM_OK;
  ttm_buf_put(l->run, text_of(&c[0]));
  ttm_buf_put(l->path, c[1].known ? text_of(&c[1]) : text_of(&c[2]));
  return l->path->failed || l->run->failed ? TTM_ENOMEM : TTM_OK;
}

int ttm_past_locate(ttm_history *history, ttm_str name, ttm_buf *out, ttm_buf *run, ttm_error *err) {
  static const ttm_column_type types[] = {TTM_COLUMN_TEXT, TTM_COLUMN_TEXT, TTM_COLUMN_TEXT};
  locating l = {name, out, run, 0};
  int status = history->engine->query(history, LOCATE_SQL, &name, 1, types, 3, take_place, &l, err);
  if (status == TTM_ENOMEM) return ttm_error_nomem(err);
  if (!status && l.begin_so > 1)
    return ttm_error_set(err, TTM_EUSAGE, "'%.*s' begins several runs; 'ttmem history' has their whole ids",
                         TTM_ARGS(name));
  return status;
}

/* ---- Steps and trends --------------------------------------------------------------------------------------------- */

/* The peaks of the runs that have one; *places has their positions in the series. */
static size_t gather(const ttm_past *past, const ttm_series *s, int memory, int64_t *x, size_t *places) {
  size_t n = 0;
  for (size_t i = 0; i < s->runs; i++) {
    const ttm_past_peak *peak = &ttm_series_run(past, s, i)->peak[memory];
    if (peak->known) x[n] = peak->bytes, places[n++] = i;
  }
  return n;
}

static int examine(ttm_past *past, ttm_series *s) {
  int64_t *x = ttm_alloc_array(s->runs, sizeof *x);
  size_t *places = ttm_alloc_array(s->runs, sizeof *places);
  int status = x && places ? TTM_OK : TTM_ENOMEM;
  for (int m = 0; m < TTM_PAST_MEMORIES && !status; m++) {
    size_t n = gather(past, s, m, x, places);
    status = n ? ttm_steps_find(&s->steps[m], x, n, past->tolerance) : TTM_OK;
    size_t from = s->steps[m].n ? s->steps[m].at[s->steps[m].n - 1].at : 0;
    s->trend[m] = ttm_trend_of(x + from, n - from);
    for (size_t i = 0; i < s->steps[m].n; i++) s->steps[m].at[i].at = places[s->steps[m].at[i].at];
  }
  ttm_free(x);
  ttm_free(places);
  return status;
}

const ttm_step *ttm_series_rise(const ttm_series *s, int memory) {
  for (size_t i = s->steps[memory].n; i--;)
    if (s->steps[memory].at[i].after > s->steps[memory].at[i].before) return &s->steps[memory].at[i];
  return NULL;
}

int ttm_past_read(ttm_past *out, ttm_history *history, const ttm_past_question *question, ttm_error *err) {
  char since[24];
  bool pattern = ttm_str_find_char(question->model, '*') != TTM_NOT_FOUND;
  reader r = {.past = out, .model = pattern ? question->model : (ttm_str){"", 0}};
  snprintf(since, sizeof since, "%lld", (long long)question->since_us);
  ttm_str params[] = {pattern ? (ttm_str){"", 0} : question->model, question->board, ttm_str_of(since)};
  *out = (ttm_past){.tolerance = question->tolerance};
  int status = history->engine->query(history, RUNS_SQL, params, 3, RUN_TYPES, COLUMNS, take_row, &r, err);
  for (size_t i = 0; i < out->series.n && !status; i++) {
    status = examine(out, &out->series.at[i]);
    if (!status) status = ttm_series_tell(&out->series.at[i], out, history, err);
  }
  return status == TTM_ENOMEM ? ttm_error_nomem(err) : status;
}
