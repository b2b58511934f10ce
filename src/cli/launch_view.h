/* SPDX-License-Identifier: Apache-2.0 */
/* What a person sees while a program runs: its own output on standard output, and on standard error, when that is a terminal, one
 * line of figures below it and a warning when memory gets tight. In a pipe nothing but the program's output is written. */
#ifndef TTM_CLI_LAUNCH_VIEW_H
#define TTM_CLI_LAUNCH_VIEW_H

#include <pthread.h>

#include "cli/options.h"
#include "launch/pump.h"

typedef struct ttm_launch_view {
  const char *program; /* ours, for messages */
  bool live;           /* the status line is wanted */
  bool color, utf8;
  bool shares;          /* output and status line are on one terminal */
  pthread_mutex_t lock; /* guards what follows, and standard error */
  bool drawn;
  bool mid_line; /* the output stands inside a line */
  bool warned[TTM_MEMORIES];
  int64_t drawn_at;
} ttm_launch_view;

void ttm_launch_view_begin(ttm_launch_view *view, const ttm_options *options, bool quiet);
/* Takes the status line away; its viewer still says sentences afterwards. There is nothing to free. */
void ttm_launch_view_end(ttm_launch_view *view);

/* For a launch. Sentences become lines of their own on standard error, "ttmem: " before them, control characters made harmless. */
ttm_launch_viewer ttm_launch_view_viewer(ttm_launch_view *view);

#endif
