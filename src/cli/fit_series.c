/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* sigprocmask, strdup */
#include "cli/fit_series.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/out_file.h"
#include "base/temp_dir.h"
#include "cli/capture_view.h"
#include "cli/command.h"
#include "cli/record.h"
#include "cli/run_plan.h"
#include "cli/terminal.h"

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

typedef struct one_run {
  ttm_temp_dir dir;
  char log[PATH_MAX + 8], recording[PATH_MAX + 16];
  char tail[TAIL];
  size_t tail_n;
  ttm_capture_result result;
  bool opened;   /* there is a recording */
  bool met_ttnn; /* the program came to import ttnn: what it does then may depend on the board */
} one_run;

static bool show_nothing(void *context, ttm_str bytes, const ttm_feed_figures *figures) {
  (void)context, (void)bytes, (void)figures;
  return false;
}

static void read_tail(one_run *r, int fd) {
  struct stat st;
  off_t from = !fstat(fd, &st) && st.st_size > TAIL ? st.st_size - TAIL : 0;
  ssize_t n;
  while (r->tail_n < TAIL && (n = pread(fd, r->tail + r->tail_n, TAIL - r->tail_n, from + (off_t)r->tail_n)) > 0)
    r->tail_n += (size_t)n;
}

static int run_recorded(one_run *r, const char *board, const ttm_run_plan *plan, ttm_capture_view *view,
                        ttm_error *err) {
  ttm_record *record = NULL;
  ttm_record_options wishes = {.board = board, .recording = r->recording, .argv = plan->argv};
  int fd = open(r->log, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return ttm_error_set(err, TTM_EIO, "cannot write %s: %s", r->log, strerror(errno));
  ttm_capture_options options = {
      .argv = plan->argv, .log = fd, .context = view, .show = show_nothing, .note = ttm_capture_view_note};
  int status = ttm_record_begin(&record, &wishes, err);
  if (!status) status = ttm_capture_run(&r->result, &options, err);
  if (!status) status = ttm_record_check(record, err);
  if (!status) r->opened = ttm_record_is_there(record);
  if (!status) r->met_ttnn = r->opened || ttm_record_met_ttnn(record);
  if (!status) read_tail(r, fd);
  ttm_record_end(record);
  close(fd);
  return status;
}

/* A recording that cannot be read says nothing about memory. */
static int judge(one_run *r, ttm_fit_case *out, const char *board, ttm_error *err) {
  ttm_profile *profile = NULL;
  ttm_findings *findings = NULL;
  ttm_last_words last;
  ttm_last_words_read(&last, (ttm_str){r->tail, r->tail_n});
  int status = r->opened ? ttm_profile_read(&profile, r->recording, err) : TTM_OK;
  if (status == TTM_ENODATA || status == TTM_EFORMAT) status = TTM_OK;
  if (!status && profile) status = ttm_findings_make(&findings, profile, 0, err);
  if (!status && ttm_fit_case_of_run(out, board, findings, r->result.exit_status, &last)) status = ttm_error_nomem(err);
  ttm_findings_free(findings);
  ttm_profile_free(profile);
  return status;
}

static int run_board(ttm_fit_series *series, const char *board, const ttm_run_plan *plan, ttm_capture_view *view,
                     bool *met_ttnn, ttm_error *err) {
  ttm_fit_case answer = {0};
  one_run *r = ttm_alloc(sizeof *r);
  if (!r) return ttm_error_nomem(err);
  int status = ttm_temp_dir_make(&r->dir, "fit", err);
  if (!status) {
    snprintf(r->log, sizeof r->log, "%s/log", r->dir.path);
    snprintf(r->recording, sizeof r->recording, "%s/recording", r->dir.path);
    status = run_recorded(r, board, plan, view, err);
  }
  *met_ttnn = r->met_ttnn;
  if (!status && r->result.interrupted)
    series->interrupted = r->result.signal ? 128 + r->result.signal : 130;
  else if (!status)
    status = judge(r, &answer, board, err);
  if (!status && !series->interrupted && ttm_vec_push(&series->cases, answer)) status = ttm_error_nomem(err);
  if (status) ttm_fit_case_free(&answer);
  ttm_temp_dir_remove(&r->dir);
  ttm_free(r);
  return status;
}

/* ---- All of them --------------------------------------------------------------------------------------------------- */

/* Somebody asked to end between two programs. */
static int pending_end(void) {
  static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  sigset_t waiting;
  sigpending(&waiting);
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    if (sigismember(&waiting, ends[i]) == 1) return 128 + ends[i];
  return 0;
}

/* Boards behind one on which the program ended before it came to ttnn: it would end there as well. */
static int leave_out(ttm_fit_series *series, ttm_error *err) {
  size_t run = series->cases.n; /* that one is the last of them */
  for (size_t i = run; i < series->boards.n; i++) {
    ttm_fit_case answer = {.exit_status = -1};
    ttm_buf_puts(&answer.board, series->boards.at[i]);
    ttm_buf_printf(&answer.why, "not run: as on %s", series->boards.at[run ? run - 1 : 0]);
    if (answer.board.failed || answer.why.failed || ttm_vec_push(&series->cases, answer)) {
      ttm_fit_case_free(&answer);
      return ttm_error_nomem(err);
    }
  }
  return TTM_OK;
}

int ttm_fit_series_run(ttm_fit_series *series, const ttm_options *options, ttm_error *err) {
  ttm_run_plan plan = {0};
  ttm_capture_view view;
  sigset_t mask;
  bool quiet = options->given[TTM_OPTION_QUIET], go_on = true;
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  ttm_capture_view_begin(&view, ttm_program_name(options->program), "the log", true, options->value[TTM_OPTION_COLOR]);
  int status = ttm_run_plan_make(&plan, options->rest, false, NULL, err);
  for (size_t i = 0; i < series->boards.n && !status && go_on && !series->interrupted; i++) {
    if (!quiet) ttm_capture_view_say(&view, "%s, %zu of %zu: running", series->boards.at[i], i + 1, series->boards.n);
    status = run_board(series, series->boards.at[i], &plan, &view, &go_on, err);
    go_on |= !status && !series->interrupted && series->cases.at[i].exit_status == 0;
    if (!series->interrupted) series->interrupted = pending_end();
    /* The next program gets the signals we had; one that waits would end us here, folders and all. */
    if (!series->interrupted) pthread_sigmask(SIG_SETMASK, &mask, NULL);
  }
  if (!status && !series->interrupted) status = leave_out(series, err);
  ttm_capture_view_end(&view);
  ttm_run_plan_free(&plan);
  return status;
}

void ttm_fit_series_free(ttm_fit_series *series) {
  for (size_t i = 0; i < series->cases.n; i++) ttm_fit_case_free(&series->cases.at[i]);
  ttm_vec_free(&series->cases);
  ttm_vec_free(&series->boards);
  ttm_free(series->names);
}
