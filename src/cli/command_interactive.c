/* SPDX-License-Identifier: Apache-2.0 */
/* `ttmem` alone on a terminal: lends the interactive program what the other rooms can do. */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/terminal.h"
#include "serve/server.h"
#include "ui/ui.h"

typedef struct lent {
  const ttm_options *options;
  ttm_server *server;
} lent;

static int serve(void *context, const char *folder, const char **url, ttm_error *err) {
  lent *l = context;
  ttm_server_options options = {.path = folder, .port = -1};
  int status = ttm_server_start(&l->server, &options, err);
  if (!status) *url = ttm_server_url(l->server);
  return status;
}

static void unserve(void *context) {
  lent *l = context;
  ttm_server_stop(l->server);
  l->server = NULL;
}

/* A launch leaves signals blocked, so that a second Ctrl-C does not lose the report. The interactive program restores them. */
static int run_script(void *context, const char *script, ttm_buf *folder, ttm_buf *source, ttm_error *err) {
  const lent *l = context;
  char *words[] = {(char *)script, NULL};
  ttm_options options = {.program = l->options->program, .command = &ttm_command_run, .rest = words};
  static const char wait[] = "\nPress Enter to open the report. ";
  char c = 0;
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  if (ttm_run_kept(&options, folder, source, err) < 0) ttm_cli_error(&options, err);
  if (write(STDOUT_FILENO, wait, sizeof wait - 1) > 0) {
    while (c != '\n' && read(STDIN_FILENO, &c, 1) == 1) continue;
  }
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
  if (folder->n) return TTM_OK;
  return ttm_error_set(err, TTM_EIO, "The script could not be started.");
}

int ttm_interact(const ttm_options *options, ttm_error *err) {
  lent l = {.options = options};
  ttm_ui_options ui = {.utf8 = ttm_terminal_utf8(),
                       .color = ttm_terminal_color(STDOUT_FILENO, NULL),
                       .context = &l,
                       .serve = serve,
                       .unserve = unserve,
                       .run = run_script};
  return ttm_ui_run(&ui, err);
}
