/* SPDX-License-Identifier: Apache-2.0 */
/* ttmem last-run LOG [-o OUT]: the log without warm-up. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/out_file.h"
#include "base/temp_dir.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "report/run/last_run.h"
#include "report/run/other_command.h"

static bool is_pipe(const char *log) {
  struct stat st;
  return !strcmp(log, "-") || (!stat(log, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode));
}

/* As it comes, compressed or not: what is wrong with it is told when it is read. */
static int copy(int from, int to, const char *log, const char *beside, ttm_error *err) {
  char buf[65536];
  for (;;) {
    ssize_t n = read(from, buf, sizeof buf);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      return ttm_error_set(err, TTM_EIO, "cannot read %s: %s", strcmp(log, "-") ? log : "standard input",
                           strerror(errno));
    if (n == 0) return TTM_OK;
    int why = ttm_write_all(to, buf, (size_t)n);
    if (why) return ttm_error_set(err, TTM_EIO, "cannot write a temporary file beside %s: %s", beside, strerror(why));
  }
}

/* A pipe can be read only once: its bytes go into a file. */
static int spool(const char *log, const char *path, ttm_error *err) {
  int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (to < 0) return ttm_error_set(err, TTM_EIO, "cannot make a temporary file %s: %s", path, strerror(errno));
  int from = strcmp(log, "-") ? open(log, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
  int status = from < 0 ? ttm_error_set(err, TTM_EIO, "cannot open %s: %s", log, strerror(errno))
                        : copy(from, to, log, path, err);
  if (from > STDIN_FILENO) close(from);
  close(to);
  return status;
}

static void say_what(const ttm_last_run *what, const ttm_profile *p) {
  fprintf(stderr, "ttmem: kept %u of %u runs: log lines %u to %llu", what->runs, what->all_runs, what->first_line,
          (unsigned long long)p->seen.lines);
  if (what->dumps.n)
    fprintf(stderr, ", and %zu module dump%s before them", what->dumps.n, what->dumps.n == 1 ? "" : "s");
  fputs("\n", stderr);
}

static int write_out(const ttm_last_run *what, const char *log, const char *target, ttm_error *err) {
  ttm_out out;
  bool closed;
  int status = ttm_terminal_open(&out, target, err);
  if (status) return status;
  status = ttm_last_run_write(what, log, &out, err);
  return ttm_terminal_end(&out, status, &closed, err);
}

static int run(const ttm_options *options, ttm_error *err) {
  const char *log = options->input[0], *target = options->value[TTM_OPTION_OUTPUT];
  ttm_temp_dir dir = {.path = ""};
  char spooled[PATH_MAX + 8];
  ttm_profile *p = NULL;
  ttm_last_run what = {0};
  int status = ttm_check_output(log, target, err);
  if (!status && is_pipe(log)) {
    status = ttm_temp_dir_make(&dir, "last-run", err);
    snprintf(spooled, sizeof spooled, "%s/log", dir.path);
    if (!status) status = spool(log, spooled, err);
    log = spooled;
  }
  if (!status) status = ttm_cli_read(&p, options, log, false, err);
  if (status == TTM_ENODATA && !dir.path[0]) ttm_name_other_command(log, err);
  uint64_t runs = options->bytes[TTM_OPTION_RUNS];
  if (!status)
    status = ttm_last_run_find(&what, p, log, runs ? (uint32_t)runs : 1, options->value[TTM_OPTION_MARKER], err);
  if (!status) status = write_out(&what, log, target, err);
  if (!status && !options->given[TTM_OPTION_QUIET]) say_what(&what, p);
  ttm_vec_free(&what.dumps);
  ttm_profile_free(p);
  ttm_temp_dir_remove(&dir);
  return status;
}

const ttm_command ttm_command_last_run = {
    .name = "last-run",
    .synopsis = "last-run LOG [-o OUT]",
    .help = "the log of the last run only, without warm-up",
    .more =
        "Copies the last top-level run of a program to the end of the log, and the dumps of the modules it "
        "executes, to OUT or standard output. LOG itself is never changed; it may be compressed, or '-' for "
        "standard input. With --marker a run is everything between two lines that contain TEXT.",
    .examples = "ttmem last-run model_profile.log -o steady.log\nttmem last-run model_profile.log | ttmem analyze -",
    .min_inputs = 1,
    .max_inputs = 1,
    .needs = "a log: ttmem last-run LOG [-o OUT]",
    .logs = 1,
    .takes = TTM_TAKES(TTM_OPTION_OUTPUT, TTM_OPTION_RUNS, TTM_OPTION_MARKER, TTM_OPTION_THREADS, TTM_OPTION_MAX_MEMORY,
                       TTM_OPTION_QUIET),
    .run = run,
};
