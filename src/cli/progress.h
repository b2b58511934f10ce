/* SPDX-License-Identifier: Apache-2.0 */
/* The line on standard error that says how far reading has come. It appears only on a terminal and only when reading takes more
 * than half a second, and leaves nothing behind. */
#ifndef TTM_CLI_PROGRESS_H
#define TTM_CLI_PROGRESS_H

#include <time.h>

#include "base/buf.h"
#include "ttmem/profile.h"

typedef struct ttm_progress_line {
  bool wanted, shown, utf8;
  unsigned columns;
  struct timespec start;
} ttm_progress_line;

/* `quiet` keeps it from ever showing. */
void ttm_progress_begin(ttm_progress_line *line, bool quiet);

/* For ttm_read_options.on_progress; `context` is the line. */
int ttm_progress_show(void *context, const ttm_progress *progress);

/* Clears the line. */
void ttm_progress_end(ttm_progress_line *line);

/* What the line says after `seconds`, for a screen of `columns`; one line without its end. */
void ttm_progress_format(ttm_buf *out, const ttm_progress *progress, double seconds, unsigned columns, bool utf8);

#endif
