/* SPDX-License-Identifier: Apache-2.0 */
/* ttmem serve [REPORT|DIR]: prints the address, then sleeps until a signal says stop. */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/format.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "history/store.h"
#include "serve/server.h"
#include "store/folder.h"
#include "store/report_dir.h"

static bool is_folder(const char *path) {
  struct stat st;
  return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* The folder to serve, NUL-terminated: the one given, the report of that name, or all reports. */
static int find_folder(ttm_buf *out, const char *given, bool more, ttm_error *err) {
  int status = TTM_OK;
  bool by_name = given && !is_folder(given) && !strchr(given, '/') && given[0] != '.';
  if (!given || by_name) {
    status = ttm_report_root(out, err);
    if (!status && by_name) ttm_buf_char(out, '/'), ttm_buf_puts(out, given);
  } else {
    ttm_buf_puts(out, given);
  }
  ttm_buf_char(out, '\0');
  if (status || out->failed) return status ? status : ttm_error_nomem(err);
  if (is_folder(out->at)) return TTM_OK;
  if (!given && more) return ttm_folder_make(out->at, err); /* worth serving without a single report */
  if (!given) {
    return ttm_error_set(err, TTM_ENODATA, "'%s' has no reports yet; 'ttmem analyze LOG' writes one", out->at);
  }
  struct stat st;
  if (!stat(given, &st)) {
    return ttm_error_set(err, TTM_EUSAGE, "'%s' is not a report folder; for a log: ttmem analyze %s, then ttmem serve",
                         given, given);
  }
  return ttm_error_set(err, TTM_EUSAGE, "there is no folder and no report '%s'; 'ttmem serve' alone shows all reports",
                       given);
}

/* The address alone on standard output, so that editors and scripts find it; the rest is for people. */
static int say_where(const ttm_server *server, const char *folder, ttm_error *err) {
  ttm_buf out = {0}, note = {0};
  bool closed;
  ttm_buf_printf(&out, "%s\n", ttm_server_url(server));
  if (ttm_server_remote_url(server)) ttm_buf_printf(&out, "%s\n", ttm_server_remote_url(server));
  int status = out.failed ? ttm_error_nomem(err) : ttm_terminal_write(ttm_buf_str(&out), &closed, err);
  ttm_buf_puts(&note, "serving ");
  ttm_put_counted(&note, ttm_server_reports(server), "report");
  ttm_buf_puts(&note, " from ");
  ttm_put_text(&note, ttm_str_of(folder), SIZE_MAX, TTM_FORM_UTF8);
  ttm_buf_puts(&note, "; Ctrl-C stops\n");
  ttm_terminal_note(&note);
  ttm_buf_free(&out);
  return status;
}

/* Whether there is one to open on. One that is named must be readable; the default may also be damaged or not there yet: the reports are served all the same. */
static int look_at_history(bool *out, const ttm_options *options, ttm_error *err) {
  ttm_history *history = NULL;
  bool named = options->given[TTM_OPTION_STORE];
  if (options->inputs && !named) return TTM_OK;
  int status = ttm_history_open(&history, options->value[TTM_OPTION_STORE], false, err);
  *out = !status;
  ttm_history_close(history);
  return named ? status : TTM_OK;
}

static int run(const ttm_options *options, ttm_error *err) {
  const char *port = options->value[TTM_OPTION_PORT];
  ttm_buf folder = {0};
  ttm_server *server = NULL;
  sigset_t stop;
  int which;
  /* Blocked before the first thread starts, so that every thread inherits it and only sigwait sees them. */
  sigemptyset(&stop);
  sigaddset(&stop, SIGINT);
  sigaddset(&stop, SIGTERM);
  sigaddset(&stop, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &stop, NULL);
  bool metrics = options->given[TTM_OPTION_METRICS], history = false, no_token = options->given[TTM_OPTION_NO_TOKEN];
  const char *shm = getenv("TTMEM_SHM_DIR"), *token = getenv("TTMEM_TOKEN");
  int status = look_at_history(&history, options, err);
  if (!status) status = find_folder(&folder, options->inputs ? options->input[0] : NULL, metrics || history, err);
  if (!status) {
    ttm_server_options wish = {.path = folder.at,
                               .host = options->value[TTM_OPTION_HOST],
                               .port = port ? atoi(port) : -1,
                               .metrics = metrics,
                               .history = !options->inputs || options->given[TTM_OPTION_STORE],
                               .store = options->value[TTM_OPTION_STORE],
                               .token = options->given[TTM_OPTION_TOKEN] ? options->value[TTM_OPTION_TOKEN]
                                        : !no_token && token && *token   ? token
                                                                         : NULL,
                               .no_token = no_token,
                               .shm = shm && *shm ? shm : NULL};
    status = ttm_server_start(&server, &wish, err);
  }
  if (!status) status = say_where(server, folder.at, err);
  if (!status) sigwait(&stop, &which);
  ttm_server_stop(server);
  ttm_buf_free(&folder);
  return status;
}

const ttm_command ttm_command_serve = {
    .name = "serve",
    .synopsis = "serve [REPORT|DIR]",
    .help = "history and reports in a browser, also over SSH",
    .more =
        "Opens on the history: runs with a search, trends of models, any two runs compared, what the devices hold now; "
        "the "
        "reports of ~/.ttmem/reports stand beside it. REPORT is a report folder, or its name there; DIR contains "
        "reports; "
        "with either, only that is served, and the history with --store. The address is printed; its token "
        "becomes a cookie of your browser. Ctrl-C stops.",
    .examples = "ttmem serve\nttmem serve model --port 8080\nttmem serve --store postgres://ttmem_reader@db/history",
    .exits = "0 stopped (Ctrl-C); 2 wrong usage, or nothing to serve",
    .max_inputs = 1,
    .named = true,
    .takes = TTM_TAKES(TTM_OPTION_PORT, TTM_OPTION_HOST, TTM_OPTION_TOKEN, TTM_OPTION_NO_TOKEN, TTM_OPTION_STORE,
                       TTM_OPTION_METRICS),
    .run = run,
};
