/* SPDX-License-Identifier: Apache-2.0 */
/* What a person sees while a program runs: its own output on standard output, and on standard error, when that is a terminal, one
 * line of figures below it and a warning when memory gets tight. In a pipe nothing but the program's output is written. */
#ifndef TTM_CLI_CAPTURE_VIEW_H
#define TTM_CLI_CAPTURE_VIEW_H

#include <pthread.h>

#include "capture/capture.h"

typedef struct ttm_capture_view {
  const char *program; /* ours, for messages */
  const char *log;     /* where the log is, for messages */
  bool live;           /* the status line is wanted */
  bool color, utf8;
  bool shares;          /* output and status line are on one terminal */
  pthread_mutex_t lock; /* guards what follows, and standard error */
  bool drawn;
  bool mid_line; /* the output stands inside a line */
  bool warned[TTM_MEMORIES];
  int64_t drawn_at;
} ttm_capture_view;

void ttm_capture_view_begin(ttm_capture_view *view, const char *program, const char *log, bool quiet,
                            const char *color);
/* Takes the status line away; ttm_capture_view_say still works afterwards. There is nothing to free. */
void ttm_capture_view_end(ttm_capture_view *view);

/* For ttm_capture_options; `context` is the view. */
bool ttm_capture_view_show(void *context, ttm_str bytes, const ttm_feed_figures *figures);
void ttm_capture_view_note(void *context, ttm_capture_note note, long number);

/* "ttmem: " and the text on standard error, as a line of its own; control characters made harmless. */
void ttm_capture_view_say(ttm_capture_view *view, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What the status line says on a screen of `columns`; without a line end. */
void ttm_status_format(ttm_buf *out, const ttm_feed_figures *figures, unsigned columns, bool utf8, bool color);

/* True when the memory's largest free block is below 5 % of a bank. */
bool ttm_memory_is_tight(uint32_t largest, uint32_t total);

#endif
