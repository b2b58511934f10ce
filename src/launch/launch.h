/* SPDX-License-Identifier: Apache-2.0 */
/* One run of a program in a folder of its own: its log, the recording of what it allocates with ttnn, and the profile of both. */
#ifndef TTM_LAUNCH_LAUNCH_H
#define TTM_LAUNCH_LAUNCH_H

#include "launch/plan.h"
#include "launch/pump.h"
#include "launch/record.h"

typedef struct ttm_launch_options {
  char *const *words; /* the program and its arguments, as typed */
  bool always_script; /* the first word is a Python script whatever its name */
  const char *name;   /* of the run; NULL: that of the program */
  const char *base;   /* where the folder NAME_YYYYMMDD_HHMMSS is made */
  const char
      *store; /* where it really lies, `base` then has a link to it; NULL, or it cannot be written: in `base` itself */
  const char *board;    /* mock board, by name or as the path of a cluster descriptor; NULL: the hardware there is */
  bool record;          /* ttnn's allocations too; a board needs it */
  bool follow;          /* parse the log while it is written */
  bool quiet;           /* say only what is wrong */
  const char *headline; /* said when the program starts; NULL: its command line and its log */
  ttm_launch_viewer viewer;
} ttm_launch_options;

typedef struct ttm_launch {
  ttm_launch_plan plan;
  ttm_buf folder, log, recording; /* NUL-terminated */
  ttm_buf stored;                 /* what `folder` is a link to; empty: it is none */
  const char *source;             /* the log or the recording: what the profile is made of */
  ttm_record *record;             /* NULL: nothing is recorded */
  int log_fd;
  ttm_feed *feed;
  ttm_pump_result result;
} ttm_launch;

/* Runs the program to its end, with the logger variables of a full log where the user has not set them. 0, also for a program that
 * failed; else TTM_EUSAGE, TTM_EIO or TTM_ENOMEM, and no folder is left behind. Freed in any case. Signals: see ttm_pump_run. */
int ttm_launch_run(ttm_launch *launch, const ttm_launch_options *options, ttm_error *err);

/* True when the program opened a ttnn device: there is a recording. */
bool ttm_launch_is_recorded(const ttm_launch *launch);

/* The profile of the log, or of the recording where that has more. TTM_ENODATA when neither has any memory. Once. */
int ttm_launch_profile(ttm_launch *launch, ttm_profile **out, ttm_error *err);

void ttm_launch_free(ttm_launch *launch);

#endif
