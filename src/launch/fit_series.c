/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* sigprocmask, strdup */
#include "launch/fit_series.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/out_file.h"
#include "base/temp_dir.h"
#include "launch/launch.h"

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
  off_t from = !fstat(fd, &st) && st.st_size > TAIL ? st.st_size - TAIL : 0;
  size_t n = 0;
  ssize_t got;
  while (n < TAIL && (got = pread(fd, tail + n, TAIL - n, from + (off_t)n)) > 0) n += (size_t)got;
  if (fd >= 0) close(fd);
  ttm_last_words_read(out, (ttm_str){tail, n});
}

/* A recording that cannot be read says nothing about memory. */
static int judge(ttm_launch *r, ttm_fit_cases *out, const char *board, ttm_error *err) {
  ttm_profile *profile = NULL;
  ttm_findings *findings = NULL;
  ttm_last_words last;
  char *tail = ttm_alloc(TAIL);
  if (!tail) return ttm_error_nomem(err);
  read_last_words(&last, r->log.at, tail);
  int status = ttm_launch_profile(r, &profile, err);
  if (status == TTM_ENODATA || status == TTM_EFORMAT) status = TTM_OK;
  if (!status && profile) status = ttm_findings_make(&findings, profile, 0, err);
  if (!status && ttm_fit_cases_add_run(out, board, findings, r->result.exit_status, &last))
    status = ttm_error_nomem(err);
  ttm_findings_free(findings);
  ttm_profile_free(profile);
  ttm_free(tail);
  return status;
}

/* 128 + a signal that asks to end and arrived between two programs; 0. */
static int pending_end(void) {
  static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  sigset_t waiting;
  sigpending(&waiting);
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    if (sigismember(&waiting, ends[i]) == 1) return 128 + ends[i];
  return 0;
}

int ttm_fit_try(ttm_fit_cases *cases, ttm_launch_options *options, ttm_fit_tried *out, ttm_error *err) {
  ttm_temp_dir dir;
  ttm_launch r = {.log_fd = -1};
  sigset_t mask;
  *out = (ttm_fit_tried){.interrupted = 0};
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  int status = ttm_temp_dir_make(&dir, "fit", err);
  options->base = dir.path;
  if (!status) status = ttm_launch_run(&r, options, err);
  if (!status) status = ttm_record_check(r.record, err);
  out->met_ttnn = !status && (ttm_launch_is_recorded(&r) || ttm_record_met_ttnn(r.record));
  if (!status && r.result.interrupted)
    out->interrupted = r.result.signal ? 128 + r.result.signal : 130;
  else if (!status)
    status = judge(&r, cases, options->board, err);
  ttm_launch_free(&r);
  ttm_temp_dir_remove(&dir);
  if (!out->interrupted) out->interrupted = pending_end();
  /* The next program gets the signals we had; one that waits would end us here, folders and all. */
  if (!out->interrupted) pthread_sigmask(SIG_SETMASK, &mask, NULL);
  return status;
}

bool ttm_fit_holds_for(const ttm_fit_case *c, const char *name) {
  const ttm_board *board = ttm_board_find(ttm_str_of(name)), *other = ttm_board_find(c->board);
  return board && other && c->one_chip && c->fits != TTM_FITS_UNKNOWN && !c->run_on.n && board->arch == other->arch &&
         board->dram_banks == other->dram_banks && board->grid_x == other->grid_x && board->grid_y == other->grid_y;
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

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* "p150, 6 of 7: running, at most 4 min left". A run that took no time to speak of needs no estimate. */
static void say_progress(char *out, size_t room, const ttm_fit_series *series, size_t at, size_t runs, double spent) {
  enum { WORTH_SAYING = 10, MINUTE = 60 };
  double left = runs ? spent / (double)runs * (double)(series->boards.n - at) : 0;
  int n = snprintf(out, room, "%s, %zu of %zu: running", series->boards.at[at], at + 1, series->boards.n);
  if (n < 0 || (size_t)n >= room || left < WORTH_SAYING) return;
  if (left < 2 * MINUTE)
    snprintf(out + n, room - (size_t)n, ", at most %.0f s left", left);
  else
    snprintf(out + n, room - (size_t)n, ", at most %.0f min left", left / MINUTE + 0.5);
}

int ttm_fit_series_run(ttm_fit_series *series, char *const *words, const ttm_launch_viewer *viewer, bool quiet,
                       ttm_error *err) {
  ttm_launch_options options = {.words = words, .name = "fit", .record = true, .quiet = quiet, .viewer = *viewer};
  bool go_on = true;
  int status = TTM_OK;
  options.viewer.show = NULL;
  double began = seconds();
  size_t runs = 0;
  for (size_t i = 0; i < series->boards.n && !status && go_on && !series->interrupted; i++) {
    char headline[PATH_MAX + 64];
    ttm_fit_tried tried;
    size_t same = find_same(series, series->boards.at[i]);
    if (same < series->cases.at.n) {
      if (ttm_fit_cases_add_same(&series->cases, series->boards.at[i], same)) return ttm_error_nomem(err);
      continue;
    }
    say_progress(headline, sizeof headline, series, i, runs++, seconds() - began);
    options.headline = headline;
    options.board = series->boards.at[i];
    status = ttm_fit_try(&series->cases, &options, &tried, err);
    series->interrupted = tried.interrupted;
    go_on = tried.met_ttnn || (!status && series->cases.at.n > i && series->cases.at.at[i].exit_status == 0);
  }
  if (status || series->interrupted) return status;
  return leave_out(series) ? ttm_error_nomem(err) : TTM_OK;
}

void ttm_fit_series_free(ttm_fit_series *series) {
  ttm_fit_cases_free(&series->cases);
  ttm_vec_free(&series->boards);
  ttm_free(series->names);
}
