/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "history/past.h"

#include <stdio.h>
#include <time.h>

#include "base/format.h"

const char *ttm_past_memory(int memory) { return memory ? "L1" : "DRAM"; }

const char *ttm_series_per(const ttm_series *s) { return ttm_str_eq(s->method, TTM_LIT("train")) ? "" : " per bank"; }

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

#define COLUMNS_SQL                                                                                                    \
  "SELECT r.run, r.model, r.board, r.method, r.name, r.command, r.source, r.host, r.git_commit, r.failure, r.report, " \
  "r.time_us, r.failures, p.memory, p.peak_bytes, p.capacity_bytes, p.banks, p.at_least FROM "
#define PEAKS_SQL " r LEFT JOIN peak p ON p.run = r.run AND p.memory IN ('DRAM', 'L1') "
#define SERIES_SQL "ORDER BY r.model, r.board, r.method, r.time_us, r.run, p.memory"

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

static int read_runs(ttm_past *out, ttm_str model, ttm_history *history, const char *sql, const ttm_str *params,
                     size_t n, ttm_error *err) {
  reader r = {.past = out, .model = model};
  return history->engine->query(history, sql, params, n, RUN_TYPES, COLUMNS, take_row, &r, err);
}

/* ---- Where a run lies --------------------------------------------------------------------------------------------- */

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

static size_t gather_some(const ttm_past *past, const ttm_series *s, int memory, bool exact, int64_t *x,
                          size_t *places) {
  size_t n = 0;
  for (size_t i = 0; i < s->runs; i++) {
    const ttm_past_peak *peak = &ttm_series_run(past, s, i)->peak[memory];
    if (peak->known && !(exact && peak->at_least)) x[n] = peak->bytes, places[n++] = i;
  }
  return n;
}

/* The peaks of the runs that have one; *places has their positions in the series. A lower bound beside exact figures is that of a run of which
 * a part is known: it would look like a fall, and the next one like a rise. */
static size_t gather(const ttm_past *past, const ttm_series *s, int memory, int64_t *x, size_t *places) {
  size_t n = gather_some(past, s, memory, true, x, places);
  return n ? n : gather_some(past, s, memory, false, x, places);
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

static int examine_all(ttm_past *out, ttm_history *history, ttm_error *err) {
  int status = TTM_OK;
  for (size_t i = 0; i < out->series.n && !status; i++) {
    status = examine(out, &out->series.at[i]);
    if (!status) status = ttm_series_tell(&out->series.at[i], out, history, err);
  }
  return status;
}

static int report(int status, ttm_error *err) { return status == TTM_ENOMEM ? ttm_error_nomem(err) : status; }

int ttm_past_read(ttm_past *out, ttm_history *history, const ttm_past_question *question, ttm_error *err) {
  static const char sql[] = COLUMNS_SQL "run" PEAKS_SQL
                                        "WHERE ($1 = '' OR r.model = $1) AND ($2 = '' OR r.board = $2) AND "
                                        "r.time_us >= CAST($3 AS bigint) " SERIES_SQL;
  char since[24];
  const ttm_str any = {"", 0};
  bool pattern = ttm_str_find_char(question->model, '*') != TTM_NOT_FOUND;
  snprintf(since, sizeof since, "%lld", (long long)question->since_us);
  ttm_str params[] = {pattern ? any : question->model, question->board, ttm_str_of(since)};
  *out = (ttm_past){.tolerance = question->tolerance};
  int status = read_runs(out, pattern ? question->model : any, history, sql, params, 3, err);
  if (!status) status = examine_all(out, history, err);
  return report(status, err);
}

/* ---- Parts -------------------------------------------------------------------------------------------------------- */

enum { WORDS = 16, PAGE_PARAMS = WORDS + 2, NUMBER_ROOM = 24, LONGEST_SEARCH = 200 };

/* A page of runs or of models: its SQL, in which nothing is foreign, and what it is asked for with, a pattern for each word, then how many and from where. */
typedef struct page_asked {
  ttm_buf sql, patterns[WORDS];
  char most[NUMBER_ROOM], skip[NUMBER_ROOM];
  size_t words;
  ttm_str at[PAGE_PARAMS];
} page_asked;

static void put_pattern(ttm_buf *out, ttm_str word) {
  ttm_buf_char(out, '%');
  for (size_t i = 0; i < word.n; i++) {
    if (strchr("%_!", word.p[i])) ttm_buf_char(out, '!');
    ttm_buf_char(out, word.p[i]);
  }
  ttm_buf_char(out, '%');
}

static int set_params(page_asked *p, const ttm_past_page *page) {
  ttm_buf search = {0};
  *p = (page_asked){.sql = {0}};
  ttm_put_text(&search, page->search, LONGEST_SEARCH, TTM_FORM_UTF8);
  bool failed = search.failed;
  for (ttm_str rest = ttm_buf_str(&search); rest.n && p->words < WORDS;) {
    ttm_str word = ttm_str_take_to(&rest, ' ');
    if (!word.n) continue;
    put_pattern(&p->patterns[p->words], word);
    failed |= p->patterns[p->words].failed;
    p->at[p->words] = ttm_buf_str(&p->patterns[p->words]);
    p->words++;
  }
  snprintf(p->most, sizeof p->most, "%llu", (unsigned long long)page->most);
  snprintf(p->skip, sizeof p->skip, "%llu", (unsigned long long)page->skip);
  p->at[p->words] = ttm_str_of(p->most);
  p->at[p->words + 1] = ttm_str_of(p->skip);
  ttm_buf_free(&search);
  return failed ? TTM_ENOMEM : TTM_OK;
}

static void free_params(page_asked *p) {
  ttm_buf_free(&p->sql);
  for (size_t i = 0; i < WORDS; i++) ttm_buf_free(&p->patterns[i]);
}

/* `before`, and the condition that every word is in one of the first `n` columns. (Texts that are put together first would take three times as long to search.) */
static void begin_sql(page_asked *p, const ttm_history *history, const char *before, size_t n) {
  static const char *const columns[] = {"model", "board",   "name",   "host",   "git_commit",
                                        "run",   "failure", "method", "command"};
  n = n < sizeof columns / sizeof *columns ? n : sizeof columns / sizeof *columns;
  ttm_buf_clear(&p->sql);
  ttm_buf_puts(&p->sql, before);
  for (size_t word = 0; word < p->words; word++) {
    ttm_buf_puts(&p->sql, word ? " AND (" : " WHERE (");
    for (size_t c = 0; c < n; c++)
      ttm_buf_printf(&p->sql, "%s%s %s $%zu ESCAPE '!'", c ? " OR " : "", columns[c], history->engine->like, word + 1);
    ttm_buf_char(&p->sql, ')');
  }
}

/* The order, and which part of the answer. */
static void put_part(page_asked *p, const char *order) {
  ttm_buf_printf(&p->sql, " ORDER BY %s LIMIT CAST($%zu AS bigint) OFFSET CAST($%zu AS bigint)", order, p->words + 1,
                 p->words + 2);
}

static const char *end_sql(page_asked *p, const char *after) {
  ttm_buf_puts(&p->sql, after);
  ttm_buf_char(&p->sql, '\0');
  return p->sql.failed ? NULL : p->sql.at;
}

static int take_count(void *context, const ttm_history_cell *c) {
  return *(uint64_t *)context = (uint64_t)c[0].number, TTM_OK;
}

static int count(uint64_t *out, ttm_history *history, const char *sql, const ttm_str *params, size_t n,
                 ttm_error *err) {
  static const ttm_column_type types[] = {TTM_COLUMN_NUMBER};
  *out = 0;
  return sql ? history->engine->query(history, sql, params, n, types, 1, take_count, out, err) : TTM_ENOMEM;
}

/* A page that is not full tells how many there are. */
static bool is_last(uint64_t *found, const ttm_past_page *page, size_t n) {
  *found = page->skip + n;
  return n < page->most && (n || !page->skip);
}

int ttm_past_list(ttm_past *out, uint64_t *found, ttm_history *history, const ttm_past_page *page, ttm_error *err) {
  page_asked p;
  *out = (ttm_past){0};
  int status = set_params(&p, page);
  begin_sql(&p, history, COLUMNS_SQL "(SELECT * FROM run", SIZE_MAX);
  put_part(&p, "time_us DESC, run DESC");
  const char *sql = end_sql(&p, ")" PEAKS_SQL "ORDER BY r.time_us DESC, r.run DESC, p.memory");
  if (!status) status = sql ? read_runs(out, (ttm_str){"", 0}, history, sql, p.at, p.words + 2, err) : TTM_ENOMEM;
  if (!status && !is_last(found, page, out->runs.n)) {
    begin_sql(&p, history, "SELECT count(*) FROM run", SIZE_MAX);
    status = count(found, history, end_sql(&p, ""), p.at, p.words, err);
  }
  free_params(&p);
  return report(status, err);
}

int ttm_past_read_last(ttm_past *out, ttm_history *history, const ttm_past_last *wanted, ttm_error *err) {
  static const char sql[] = COLUMNS_SQL
      "(SELECT * FROM run WHERE model = $1 AND board = $2 AND ($3 = '' OR method = $3) ORDER BY time_us DESC, run DESC "
      "LIMIT CAST($4 AS bigint))" PEAKS_SQL SERIES_SQL;
  char most[NUMBER_ROOM];
  snprintf(most, sizeof most, "%llu", (unsigned long long)wanted->most);
  ttm_str params[] = {wanted->model, wanted->board, wanted->method, ttm_str_of(most)};
  *out = (ttm_past){.tolerance = TTM_PAST_TOLERANCE};
  int status = read_runs(out, (ttm_str){"", 0}, history, sql, params, 4, err);
  if (!status && wanted->told) status = examine_all(out, history, err);
  return report(status, err);
}

int ttm_past_read_two(ttm_past *out, ttm_history *history, ttm_str first, ttm_str second, ttm_error *err) {
  static const char sql[] = COLUMNS_SQL
      "run" PEAKS_SQL "WHERE r.run = $1 OR r.run = $2 ORDER BY CASE WHEN r.run = $1 THEN 0 ELSE 1 END, p.memory";
  ttm_str params[] = {first, second};
  *out = (ttm_past){.tolerance = TTM_PAST_TOLERANCE};
  return report(read_runs(out, (ttm_str){"", 0}, history, sql, params, 2, err), err);
}

const ttm_series *ttm_past_series_of(const ttm_past *past, size_t run) {
  const ttm_series *s = past->series.at;
  while (run >= s->first + s->runs) s++;
  return s;
}

static int take_model(void *context, const ttm_history_cell *c) {
  ttm_past_models *all = context;
  ttm_past_model model = {.runs = c[2].number, .newest_us = c[3].number};
  ttm_str *const texts[] = {&model.model, &model.board};
  for (int i = 0; i < 2; i++) {
    *texts[i] = (ttm_str){text_of(&c[i]).n ? ttm_arena_copy(&all->arena, c[i].text) : "", text_of(&c[i]).n};
    if (!texts[i]->p) return TTM_ENOMEM;
  }
  return ttm_vec_push(&all->at, model);
}

int ttm_past_list_models(ttm_past_models *out, uint64_t *found, ttm_history *history, const ttm_past_page *page,
                         ttm_error *err) {
  enum { MODEL_AND_BOARD = 2 };
  static const ttm_column_type types[] = {TTM_COLUMN_TEXT, TTM_COLUMN_TEXT, TTM_COLUMN_NUMBER, TTM_COLUMN_NUMBER};
  page_asked p;
  *out = (ttm_past_models){0};
  int status = set_params(&p, page);
  begin_sql(&p, history, "SELECT model, board, count(*), max(time_us) FROM run", MODEL_AND_BOARD);
  ttm_buf_puts(&p.sql, " GROUP BY model, board");
  put_part(&p, "max(time_us) DESC, model, board");
  const char *sql = end_sql(&p, "");
  if (!status)
    status = sql ? history->engine->query(history, sql, p.at, p.words + 2, types, 4, take_model, out, err) : TTM_ENOMEM;
  if (!status && !is_last(found, page, out->at.n)) {
    begin_sql(&p, history, "SELECT count(*) FROM (SELECT DISTINCT model, board FROM run", MODEL_AND_BOARD);
    status = count(found, history, end_sql(&p, ") x"), p.at, p.words, err);
  }
  free_params(&p);
  return report(status, err);
}

void ttm_past_models_free(ttm_past_models *models) {
  ttm_vec_free(&models->at);
  ttm_arena_free(&models->arena);
}

int ttm_past_owns_report(bool *out, const ttm_past_run *run, ttm_history *history, ttm_error *err) {
  uint64_t newest;
  int status = count(&newest, history, "SELECT max(time_us) FROM run WHERE report = $1", &run->report, 1, err);
  *out = !status && run->report.n && (int64_t)newest == run->time_us;
  return status;
}

int ttm_past_told(ttm_history *history, ttm_str run, ttm_history_take *take, void *context, ttm_error *err) {
  static const ttm_column_type types[] = {TTM_COLUMN_TEXT, TTM_COLUMN_TEXT, TTM_COLUMN_TEXT};
  return history->engine->query(history,
                                "SELECT severity, headline, detail FROM statement WHERE run = $1 ORDER BY position",
                                &run, 1, types, 3, take, context, err);
}
