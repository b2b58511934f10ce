/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "cli/progress.h"

#include <unistd.h>

#include "base/format.h"
#include "cli/terminal.h"

static double seconds_since(const struct timespec *start) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

/* The line is a courtesy: when it cannot be written, nothing is lost. */
static void write_quietly(ttm_str text) {
  if (write(STDERR_FILENO, text.p, text.n) < 0) return;
}

void ttm_progress_begin(ttm_progress_line *line, bool quiet) {
  *line = (ttm_progress_line){0};
  line->wanted = !quiet && ttm_terminal_is_live(STDERR_FILENO);
  line->utf8 = ttm_terminal_utf8();
  line->columns = ttm_terminal_columns(STDERR_FILENO);
  clock_gettime(CLOCK_MONOTONIC, &line->start);
}

void ttm_progress_format(ttm_buf *out, const ttm_progress *progress, double seconds, unsigned columns, bool utf8) {
  ttm_buf tail = {0};
  size_t width = columns > 20 ? columns - 1 : 19; /* the last column would wrap on some terminals */
  ttm_put_bytes(&tail, progress->read_bytes);
  if (progress->total_bytes) ttm_buf_puts(&tail, " of "), ttm_put_bytes(&tail, progress->total_bytes);
  if (seconds > 0) {
    ttm_buf_puts(&tail, ", ");
    ttm_put_bytes(&tail, (uint64_t)((double)progress->read_bytes / seconds));
    ttm_buf_puts(&tail, "/s");
  }
  ttm_buf_puts(&tail, ", ");
  ttm_put_counted(&tail, progress->operations, "operation line");
  if (progress->total_bytes && width > tail.n + 16) {
    double share = (double)progress->read_bytes / (double)progress->total_bytes;
    size_t bar = width - tail.n - 6 > 30 ? 30 : width - tail.n - 6;
    size_t filled = share >= 1 ? bar : (size_t)(share * (double)bar);
    for (size_t i = 0; i < bar; i++) {
      if (utf8)
        ttm_buf_puts(out, i < filled ? "\xE2\x96\x88" : "\xE2\x96\x91");
      else
        ttm_buf_char(out, i < filled ? '#' : '.');
    }
    ttm_buf_printf(out, " %3.0f%% ", share >= 1 ? 100.0 : share * 100.0);
  }
  ttm_put_text(out, ttm_buf_str(&tail), width, TTM_FORM_ASCII);
  ttm_buf_free(&tail);
}

int ttm_progress_show(void *context, const ttm_progress *progress) {
  ttm_progress_line *line = context;
  if (!line->wanted) return 0;
  double seconds = seconds_since(&line->start);
  if (seconds < 0.5) return 0;
  ttm_buf out = {0};
  ttm_buf_puts(&out, "\r\x1b[K");
  ttm_progress_format(&out, progress, seconds, line->columns, line->utf8);
  write_quietly(ttm_buf_str(&out));
  ttm_buf_free(&out);
  line->shown = true;
  return 0;
}

void ttm_progress_end(ttm_progress_line *line) {
  if (line->shown) write_quietly(TTM_LIT("\r\x1b[K"));
  line->shown = false;
}
