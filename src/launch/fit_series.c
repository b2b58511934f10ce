/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* strsep */
#include "launch/fit_series.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/boards.h"
#include "launch/crew.h"

/* ---- Which boards -------------------------------------------------------------------------------------------------- */

static bool is_there_already(const ttm_fit_series *series, const char *name) {
  for (size_t i = 0; i < series->boards.n; i++)
    if (!strcmp(series->boards.at[i], name)) return true;
  return false;
}

int ttm_fit_series_plan(ttm_fit_series *series, const char *names, ttm_error *err) {
  for (size_t b = 0; b < TTM_BOARDS && !names; b++)
    if (ttm_vec_push(&series->boards, ttm_boards[b].name)) return ttm_error_nomem(err);
  if (!names) return TTM_OK;
  size_t n = strlen(names) + 1;
  series->names = ttm_alloc(n);
  if (!series->names) return ttm_error_nomem(err);
  memcpy(series->names, names, n);
  char *rest = series->names, *name;
  while ((name = strsep(&rest, ","))) {
    const ttm_board *board = ttm_board_find(ttm_str_of(name));
    if (board)
      name = (char *)board->name;
    else if (access(name, R_OK))
      return ttm_board_unknown(ttm_str_of(name), ", or the path of a cluster descriptor", err);
    if (!is_there_already(series, name) && ttm_vec_push(&series->boards, name)) return ttm_error_nomem(err);
  }
  return TTM_OK;
}

/* ---- One board ----------------------------------------------------------------------------------------------------- */

enum { TAIL = 64 * 1024 };

static void read_last_words(ttm_last_words *out, const char *log, char tail[TAIL]) {
  int fd = open(log, O_RDONLY | O_CLOEXEC);
  struct stat st;
  off_t from = fd >= 0 && !fstat(fd, &st) && st.st_size > TAIL ? st.st_size - TAIL : 0;
  size_t n = 0;
  ssize_t got;
  while (fd >= 0 && n < TAIL && (got = pread(fd, tail + n, TAIL - n, from + (off_t)n)) > 0) n += (size_t)got;
  if (fd >= 0) close(fd);
  ttm_last_words_read(out, (ttm_str){tail, n});
}

/* A recording that cannot be read says nothing about memory. */
static int read_recording(ttm_profile **out, const ttm_crew_end *end, ttm_error *err) {
  int status = end->recorded ? ttm_profile_read(out, end->recording, err) : TTM_OK;
  return status == TTM_ENODATA || status == TTM_EFORMAT ? TTM_OK : status;
}

int ttm_fit_judge(ttm_fit_cases *cases, const ttm_crew_run *run, ttm_error *err) {
  const ttm_crew_end *end = &run->end;
  ttm_profile *profile = NULL;
  ttm_findings *findings = NULL;
  ttm_last_words last;
  if (end->status) return ttm_error_set(err, end->status, "%s", end->err.message);
  char *tail = ttm_alloc(TAIL);
  if (!tail) return ttm_error_nomem(err);
  read_last_words(&last, end->log, tail);
  int status = read_recording(&profile, end, err);
  if (!status && profile) status = ttm_findings_make(&findings, profile, 0, err);
  if (!status && ttm_fit_cases_add_run(cases, run->board, findings, end->result.exit_status, &last))
    status = ttm_error_nomem(err);
  ttm_findings_free(findings);
  ttm_profile_free(profile);
  ttm_free(tail);
  return status;
}

bool ttm_fit_same_chip(const char *a, const char *b) {
  const ttm_board *board = ttm_board_find(ttm_str_of(a)), *other = ttm_board_find(ttm_str_of(b));
  return board && other && board->arch == other->arch && board->dram_banks == other->dram_banks &&
         board->grid_x == other->grid_x && board->grid_y == other->grid_y;
}

bool ttm_fit_holds_for(const ttm_fit_case *c, const char *name) {
  const ttm_board *board = ttm_board_find(c->board);
  return board && c->one_chip && c->fits != TTM_FITS_UNKNOWN && !c->run_on.n && ttm_fit_same_chip(board->name, name);
}

/* An earlier board whose answer holds for this one; the number of cases: none. */
static size_t find_same(const ttm_fit_series *series, const char *name) {
  size_t i = 0;
  while (i < series->cases.at.n && !ttm_fit_holds_for(&series->cases.at.at[i], name)) i++;
  return i;
}

/* ---- All of them --------------------------------------------------------------------------------------------------- */

/* Boards behind one on which the program ended before it came to ttnn: it would end there as well. */
static int leave_out(ttm_fit_series *series) {
  size_t run = series->cases.at.n; /* that one is the last of them */
  for (size_t i = run; i < series->boards.n; i++) {
    if (ttm_fit_cases_add_left_out(&series->cases, series->boards.at[i], series->boards.at[run ? run - 1 : 0]))
      return TTM_ENOMEM;
  }
  return ttm_fit_cases_end(&series->cases);
}

typedef struct runner {
  ttm_fit_series *series;
  char *const *words;
  ttm_crew crew;
  TTM_VEC(ttm_crew_run *) early; /* ended before their turn */
} runner;

/* "p150, 6 of 7: running, at most 4 min left". A run that took no time to speak of needs no estimate. */
static void say_progress(char *out, size_t room, const runner *r, size_t at) {
  enum { WORTH_SAYING = 10, MINUTE = 60 };
  const ttm_crew *crew = &r->crew;
  uint64_t lanes = crew->running.n + 1, left = r->series->boards.n - crew->ended, turns = (left + lanes - 1) / lanes;
  double seconds = crew->ended ? (double)crew->milliseconds / 1000 / (double)crew->ended * (double)turns : 0;
  int n = snprintf(out, room, "%s, %zu of %zu: running", r->series->boards.at[at], at + 1, r->series->boards.n);
  if (n < 0 || (size_t)n >= room || seconds < WORTH_SAYING) return;
  if (seconds < 2 * MINUTE)
    snprintf(out + n, room - (size_t)n, ", at most %.0f s left", seconds);
  else
    snprintf(out + n, room - (size_t)n, ", at most %.0f min left", seconds / MINUTE + 0.5);
}

static ttm_crew_run *find_early(const runner *r, size_t board) {
  for (size_t i = 0; i < r->early.n; i++)
    if (r->early.at[i]->row == board) return r->early.at[i];
  return NULL;
}

/* May it run now, while it is the turn of board `at`? Not when the answer of another one may hold for it. */
static bool may_run(const runner *r, size_t at, size_t board) {
  const ttm_fit_series *series = r->series;
  for (size_t i = at; i < board; i++)
    if (ttm_fit_same_chip(series->boards.at[i], series->boards.at[board])) return false;
  return !ttm_crew_find(&r->crew, board, 0) && !find_early(r, board) &&
         find_same(series, series->boards.at[board]) == series->cases.at.n;
}

/* Starts what may run, in the order of the boards. */
static int start(runner *r, size_t at, ttm_error *err) {
  char headline[PATH_MAX + 64];
  int status = TTM_OK;
  for (size_t i = at; i < r->series->boards.n && !status; i++) {
    if (!may_run(r, at, i) || !ttm_crew_has_room(&r->crew)) continue;
    say_progress(headline, sizeof headline, r, i);
    status = ttm_crew_start(&r->crew, i, 0, r->series->boards.at[i], r->words, headline, err);
  }
  return status;
}

/* Waits for the run of a board: *out is NULL when it was interrupted. */
static int take(runner *r, size_t at, ttm_crew_run **out, ttm_error *err) {
  ttm_crew_run *ended;
  int status = TTM_OK;
  while (!status && !(*out = find_early(r, at))) {
    status = start(r, at, err);
    if (status || !r->crew.running.n) return status; /* nothing runs: interrupted */
    ttm_crew_wait(&r->crew, &ended);
    if (ended && ttm_vec_push(&r->early, ended)) ttm_crew_free_run(ended), status = ttm_error_nomem(err);
  }
  return status;
}

static int run_all(runner *r, ttm_error *err) {
  ttm_fit_series *series = r->series;
  int status = TTM_OK;
  bool go_on = true;
  for (size_t i = 0; i < series->boards.n && !status && go_on; i++) {
    ttm_crew_run *run = NULL;
    size_t same = find_same(series, series->boards.at[i]);
    if (same < series->cases.at.n) {
      if (ttm_fit_cases_add_same(&series->cases, series->boards.at[i], same)) status = ttm_error_nomem(err);
      continue;
    }
    status = take(r, i, &run, err);
    if (status || !run) return status;
    status = ttm_fit_judge(&series->cases, run, err);
    ttm_temp_dir_remove(&run->dir);
    go_on = run->end.met_ttnn || (!status && series->cases.at.at[i].exit_status == 0);
  }
  return status;
}

int ttm_fit_series_run(ttm_fit_series *series, char *const *words, const ttm_crew_options *options, ttm_error *err) {
  runner r = {.series = series, .words = words};
  int status = ttm_crew_begin(&r.crew, options, err);
  if (!status) status = run_all(&r, err);
  ttm_crew_finish(&r.crew);
  series->interrupted = r.crew.interrupted;
  for (size_t i = 0; i < r.early.n; i++) ttm_crew_free_run(r.early.at[i]);
  ttm_vec_free(&r.early);
  if (status || series->interrupted) return status;
  return leave_out(series) ? ttm_error_nomem(err) : TTM_OK;
}

void ttm_fit_series_free(ttm_fit_series *series) {
  ttm_fit_cases_free(&series->cases);
  ttm_vec_free(&series->boards);
  ttm_free(series->names);
}
