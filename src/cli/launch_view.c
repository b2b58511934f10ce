/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "cli/launch_view.h"

#include <stdio.h>
#include <unistd.h>

#include "base/format.h"
#include "base/out_file.h"
#include "cli/terminal.h"

enum { REDRAW_MS = 100, SEPARATOR_COLUMNS = 3 };

void ttm_launch_view_begin(ttm_launch_view *view, const ttm_options *options, bool quiet) {
  *view = (ttm_launch_view){.program = ttm_program_name(options->program)};
  view->live = !quiet && ttm_terminal_is_live(STDERR_FILENO);
  view->color = ttm_terminal_color(STDERR_FILENO, options->value[TTM_OPTION_COLOR]);
  view->utf8 = ttm_terminal_utf8();
  view->shares = view->live && isatty(STDOUT_FILENO);
  pthread_mutex_init(&view->lock, NULL);
}

/* ---- The line ----------------------------------------------------------------------------------------------------- */

/* True when the memory's largest free block is below 5 % of a bank. */
static bool is_tight(uint32_t largest, uint32_t total) { return total && (uint64_t)largest * 20 < total; }

static void put_memory(ttm_buf *out, ttm_memory m, const ttm_feed_memory *memory, int digits) {
  ttm_buf_printf(out, "%s %.*f of %.*f MB, peak %.*f", ttm_memory_name(m), digits, ttm_mb(memory->now.allocated),
                 digits, ttm_mb(memory->now.total), digits, ttm_mb(memory->peak));
}

/* Appends a part when it fits; *width is what is left of the line. */
static void put_part(ttm_buf *out, ttm_buf *part, const char *separator, size_t *width, const char *paint) {
  size_t before = separator ? SEPARATOR_COLUMNS : 0;
  if (part->n && part->n + before <= *width) {
    if (before) ttm_buf_puts(out, separator);
    if (paint) ttm_buf_puts(out, paint);
    ttm_buf_put(out, ttm_buf_str(part));
    if (paint) ttm_buf_puts(out, "\x1b[0m");
    *width -= part->n + before;
  }
  ttm_buf_clear(part);
}

/* What the status line says; without a line end. */
static void format_status(ttm_buf *out, const ttm_feed_figures *f, unsigned columns, bool utf8, bool color) {
  const char *separator = utf8 ? " \xE2\x94\x82 " : " | ";
  size_t width = columns > 20 ? columns - 1 : 19; /* the last column would wrap on some terminals */
  ttm_buf part = {0};
  ttm_put_count(&part, f->operations);
  ttm_buf_puts(&part, f->operations == 1 ? " op" : " ops");
  put_part(out, &part, NULL, &width, NULL);
  static const ttm_memory shown[] = {TTM_DRAM, TTM_L1};
  for (size_t i = 0; i < 2; i++) {
    const ttm_feed_memory *memory = &f->memory[shown[i]];
    int digits = shown[i] == TTM_DRAM ? 1 : 2;
    if (!memory->seen) continue;
    put_memory(&part, shown[i], memory, digits);
    put_part(out, &part, separator, &width, NULL);
    if (!is_tight(memory->now.largest, memory->now.total)) continue;
    ttm_buf_printf(&part, "largest free %.*f MB", digits, ttm_mb(memory->now.largest));
    put_part(out, &part, separator, &width, color ? "\x1b[31m" : NULL);
  }
  if (f->incidents) {
    ttm_put_counted(&part, f->incidents, "failure");
    put_part(out, &part, separator, &width, color ? "\x1b[31m" : NULL);
  }
  ttm_buf_free(&part);
}

/* The lock is held. */
static void erase(ttm_launch_view *view) {
  if (view->drawn) ttm_write_all(STDERR_FILENO, "\r\x1b[K", 4);
  view->drawn = false;
}

/* Only the foreground job may write below the shell's prompt. */
static bool in_foreground(void) {
  pid_t group = tcgetpgrp(STDERR_FILENO);
  return group < 0 || group == getpgrp();
}

/* The lock is held. */
static void draw(ttm_launch_view *view, const ttm_feed_figures *figures) {
  int64_t now = ttm_now_ms();
  if (!view->live || (view->shares && view->mid_line) || !figures->lines) return;
  if (!in_foreground()) return;
  ttm_buf text = {0};
  ttm_buf_puts(&text, "\r\x1b[K");
  format_status(&text, figures, ttm_terminal_columns(STDERR_FILENO), view->utf8, view->color);
  if (!text.failed) ttm_write_all(STDERR_FILENO, text.at, text.n);
  ttm_buf_free(&text);
  view->drawn = true;
  view->drawn_at = now;
}

/* ---- Messages ----------------------------------------------------------------------------------------------------- */

/* The lock is held. */
static void say(ttm_launch_view *view, ttm_str message) {
  ttm_buf text = {0};
  erase(view);
  if (view->shares && view->mid_line) ttm_buf_char(&text, '\n'), view->mid_line = false;
  ttm_buf_printf(&text, "%s: ", view->program);
  ttm_put_text(&text, message, SIZE_MAX, view->utf8 ? TTM_FORM_UTF8 : TTM_FORM_ASCII);
  ttm_buf_char(&text, '\n');
  if (!text.failed) ttm_write_all(STDERR_FILENO, text.at, text.n);
  ttm_buf_free(&text);
}

static void say_or_clear(void *context, const char *sentence) {
  ttm_launch_view *view = context;
  pthread_mutex_lock(&view->lock);
  if (sentence)
    say(view, ttm_str_of(sentence));
  else
    erase(view);
  pthread_mutex_unlock(&view->lock);
}

/* Once per memory, on a terminal. The lock is held. */
static void warn_of_tightness(ttm_launch_view *view, const ttm_feed_figures *figures) {
  static const ttm_memory watched[] = {TTM_DRAM, TTM_L1};
  for (size_t i = 0; view->live && i < 2; i++) {
    ttm_memory m = watched[i];
    const ttm_feed_memory *memory = &figures->memory[m];
    if (view->warned[m] || !memory->seen || !is_tight(memory->low_largest, memory->now.total)) continue;
    char message[200];
    snprintf(message, sizeof message,
             "warning: largest free block in %s: %.3f of %.3f MB per bank, below 5 %%, log line %u", ttm_memory_name(m),
             ttm_mb(memory->low_largest), ttm_mb(memory->now.total), memory->low_line);
    view->warned[m] = true;
    say(view, ttm_str_of(message));
  }
}

static bool show(void *context, ttm_str bytes, const ttm_feed_figures *figures) {
  ttm_launch_view *view = context;
  bool watched = true;
  if (bytes.n) {
    pthread_mutex_lock(&view->lock);
    if (view->shares) erase(view);
    pthread_mutex_unlock(&view->lock);
    watched = !ttm_write_all(STDOUT_FILENO, bytes.p, bytes.n); /* may take its time: not under the lock */
  }
  if (!view->live) return watched;
  pthread_mutex_lock(&view->lock);
  if (bytes.n) view->mid_line = bytes.p[bytes.n - 1] != '\n';
  warn_of_tightness(view, figures);
  if (!bytes.n || (view->shares && !view->drawn) || ttm_now_ms() - view->drawn_at >= REDRAW_MS) draw(view, figures);
  pthread_mutex_unlock(&view->lock);
  return watched;
}

ttm_launch_viewer ttm_launch_view_viewer(ttm_launch_view *view) {
  return (ttm_launch_viewer){.context = view, .show = show, .say = say_or_clear};
}

void ttm_launch_view_end(ttm_launch_view *view) {
  pthread_mutex_lock(&view->lock);
  erase(view);
  if (view->shares && view->mid_line) ttm_write_all(STDERR_FILENO, "\n", 1);
  view->live = view->shares = false;
  pthread_mutex_unlock(&view->lock);
}
