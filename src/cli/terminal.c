/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* struct winsize */
#include "cli/terminal.h"

#include <errno.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/format.h"
#include "store/folder.h"

static bool is_set(const char *name) {
  const char *value = getenv(name);
  return value && *value;
}

static struct winsize size_of(int fd) {
  struct winsize size = {0};
  if (!isatty(fd) || ioctl(fd, TIOCGWINSZ, &size)) return (struct winsize){0};
  return size;
}

ttm_summary_style ttm_terminal_style(int fd, const char *wish) {
  unsigned rows = size_of(fd).ws_row;
  return (ttm_summary_style){.columns = ttm_terminal_columns(fd),
                             .rows = rows > 24 ? rows : 0, /* a smaller one can scroll back */
                             .color = ttm_terminal_color(fd, wish),
                             .utf8 = ttm_terminal_utf8()};
}

bool ttm_terminal_is_live(int fd) {
  const char *term = getenv("TERM");
  return isatty(fd) && term && *term && strcmp(term, "dumb") != 0;
}

bool ttm_terminal_color(int fd, const char *wish) {
  if (wish && !strcmp(wish, "always")) return true;
  if (wish && !strcmp(wish, "never")) return false;
  if (is_set("NO_COLOR")) return false;
  const char *force = getenv("CLICOLOR_FORCE");
  if (force && *force && strcmp(force, "0") != 0) return true;
  return ttm_terminal_is_live(fd);
}

bool ttm_terminal_utf8(void) {
  /* Only character types: numbers must keep their point whatever the locale says. */
  setlocale(LC_CTYPE, "");
  const char *codeset = nl_langinfo(CODESET);
  return !strcmp(codeset, "UTF-8") || !strcmp(codeset, "utf8");
}

unsigned ttm_terminal_columns(int fd) {
  unsigned columns = size_of(fd).ws_col;
  return columns ? columns : 80;
}

bool ttm_terminal_is_file(const char *path) { return path && strcmp(path, "-") != 0; }

/* ---- Files of -o ---- */

static bool no_sync;
static char unfinished[PATH_MAX]; /* removed by a signal */

void ttm_terminal_no_sync(void) { no_sync = true; }

static void give_up(int number) {
  if (unfinished[0]) unlink(unfinished);
  signal(number, SIG_DFL);
  raise(number);
}

static const int WATCHED[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

static void watch_signals(const char *temp) {
  size_t n = temp ? strlen(temp) + 1 : 0;
  if (!n || n > sizeof unfinished) return;
  memcpy(unfinished, temp, n);
  for (size_t i = 0; i < sizeof WATCHED / sizeof *WATCHED; i++) {
    struct sigaction now;
    if (!sigaction(WATCHED[i], NULL, &now) && now.sa_handler == SIG_DFL) signal(WATCHED[i], give_up);
  }
}

/* Opens the file, and knows its temporary name before any signal can end the program. */
static int open_watched(ttm_out *out, const char *path, ttm_error *err) {
  sigset_t held, before;
  sigemptyset(&held);
  for (size_t i = 0; i < sizeof WATCHED / sizeof *WATCHED; i++) sigaddset(&held, WATCHED[i]);
  pthread_sigmask(SIG_BLOCK, &held, &before);
  int status = ttm_out_open(out, path, err);
  if (!status) watch_signals(out->temp);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return status;
}

/* What a run left that could not remove it. Behind a link it lies beside the file. */
static void clean_beside(const char *path) {
  char *real = realpath(path, NULL);
  const char *target = real ? real : path, *slash = strrchr(target, '/');
  char *folder = slash ? ttm_str_copy((ttm_str){target, slash == target ? 1 : (size_t)(slash - target)}) : NULL;
  if (folder || !slash) ttm_folder_clean(folder ? folder : ".", NULL);
  ttm_free(folder);
  free(real); /* realpath's own */
}

static int open_file(ttm_out *out, const char *path, ttm_error *err) {
  clean_beside(path);
  int status = open_watched(out, path, err);
  if (!status) out->sync = !no_sync;
  return status;
}

int ttm_terminal_open(ttm_out *out, const char *path, ttm_error *err) {
  if (ttm_terminal_is_file(path)) return open_file(out, path, err);
  return ttm_out_open_fd(out, STDOUT_FILENO, "standard output", err);
}

int ttm_terminal_end(ttm_out *out, int status, bool *closed, ttm_error *err) {
  ttm_out_flush(out);
  *closed = !out->temp && out->failed == EPIPE;
  bool whole = !status && !*closed, file = out->temp != NULL;
  if (whole)
    status = ttm_out_close(out, err);
  else
    ttm_out_abandon(out);
  if (file) unfinished[0] = '\0';
  return *closed ? TTM_OK : status;
}

int ttm_terminal_write(ttm_str text, bool *closed, ttm_error *err) {
  ttm_out out;
  int status = ttm_terminal_open(&out, NULL, err);
  *closed = false;
  if (status) return status;
  ttm_buf_put(&out.buf, text);
  return ttm_terminal_end(&out, TTM_OK, closed, err);
}

int ttm_terminal_print(ttm_buf *text, ttm_error *err) { return ttm_terminal_deliver(text, NULL, err); }

int ttm_terminal_deliver(ttm_buf *text, const char *path, ttm_error *err) {
  bool closed;
  ttm_out out;
  int status = text->failed ? ttm_error_nomem(err) : ttm_terminal_open(&out, path, err);
  if (!status) {
    ttm_buf_put(&out.buf, ttm_buf_str(text));
    status = ttm_terminal_end(&out, TTM_OK, &closed, err);
  }
  ttm_buf_free(text);
  return status;
}

int ttm_terminal_wrote(const char *what, const char *path, uint64_t bytes, ttm_error *err) {
  ttm_buf text = {0};
  ttm_buf_printf(&text, "%s: ", what);
  ttm_put_text(&text, ttm_str_of(path), SIZE_MAX, TTM_FORM_UTF8);
  ttm_buf_puts(&text, " (");
  ttm_put_bytes(&text, bytes);
  ttm_buf_puts(&text, ")\n");
  return ttm_terminal_print(&text, err);
}

void ttm_terminal_note(ttm_buf *text) {
  if (!text->failed && text->n) ttm_write_all(STDERR_FILENO, text->at, text->n);
  ttm_buf_free(text);
}
