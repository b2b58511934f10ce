/* SPDX-License-Identifier: Apache-2.0 */
/* ttmem mcp [--root DIR]... [--allow-run] */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "cli/command.h"
#include "mcp/mcp.h"
#include "store/report_dir.h"

/* Resolved folders; freed one by one. */
typedef TTM_VEC(char *) folders;

static int add_folder(folders *out, const char *path, bool must, ttm_error *err) {
  char *real = realpath(path, NULL);
  if (!real && must) return ttm_error_set(err, TTM_EUSAGE, "cannot read the folder '%s': %s", path, strerror(errno));
  if (real && ttm_vec_push(out, real)) return free(real), ttm_error_nomem(err);
  return TTM_OK;
}

/* Those of --root; without any the current folder and the stored reports. */
static int find_roots(folders *out, const ttm_options *options, const char *store, ttm_error *err) {
  int status = TTM_OK;
  for (size_t i = 0; i < options->many_count && !status; i++)
    status = add_folder(out, options->many[i].value, true, err);
  if (!status && !options->many_count) status = add_folder(out, ".", true, err);
  if (!status && !options->many_count) status = add_folder(out, store, false, err);
  if (!status && ttm_vec_push(out, NULL)) status = ttm_error_nomem(err);
  return status;
}

/* ---- An input kept: in a process that does nothing else (mcp/keep.h), so it may stand here ------------------------------------ */

static ttm_kept_subject kept;

static bool keep(const char *path) {
  static const ttm_command reads_reports = {.reports = true};
  ttm_options options = {.command = &reads_reports};
  options.given[TTM_OPTION_QUIET] = true;
  char *source = NULL;
  if (ttm_input_source(&source, &options, path, NULL)) return false;
  kept.path = source ? source : ttm_str_copy(ttm_str_of(path));
  return kept.path && !ttm_subject_read(&kept.subject, &options, kept.path, false, NULL);
}

static int run_kept(int argc, char *const *argv) { return ttm_cli_run_kept(TTM_PROGRAM_TTMEM, argc, argv, &kept); }

static int run(const ttm_options *options, ttm_error *err) {
  char self[PATH_MAX];
  ttm_buf store = {0};
  folders roots = {0};
  int why = ttm_os_program(self, sizeof self);
  if (why) return ttm_error_set(err, TTM_EIO, "cannot find the program itself: %s", strerror(why));
  signal(SIGPIPE, SIG_IGN);
  int status = ttm_report_root(&store, err);
  ttm_buf_char(&store, '\0');
  if (!status && store.failed) status = ttm_error_nomem(err);
  if (!status) status = find_roots(&roots, options, store.at, err);
  if (!status) {
    ttm_mcp mcp = {STDIN_FILENO,
                   STDOUT_FILENO,
                   self,
                   store.at,
                   (const char *const *)roots.at,
                   options->given[TTM_OPTION_ALLOW_RUN],
                   keep,
                   run_kept};
    status = ttm_mcp_serve(&mcp, err);
  }
  for (size_t i = 0; i < roots.n; i++) free(roots.at[i]);
  ttm_vec_free(&roots);
  ttm_buf_free(&store);
  return status;
}

const ttm_command ttm_command_mcp = {
    .name = "mcp",
    .synopsis = "mcp [--root DIR]... [--allow-run]",
    .help = "answer agents: a Model Context Protocol server on standard input and output",
    .more =
        "Every tool is a command of this program; its answer is what that command prints. It reads below DIR only, by "
        "default "
        "the current folder and the stored reports, and starts programs only with --allow-run.",
    .examples = "ttmem mcp --root ~/logs",
    .takes = TTM_TAKES(TTM_OPTION_ROOT, TTM_OPTION_ALLOW_RUN),
    .run = run,
};
