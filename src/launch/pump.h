/* SPDX-License-Identifier: Apache-2.0 */
/* Running a program and keeping what it prints: both streams in order into a log, shown as they come, and parsed on the way.
 *
 *   program -> pipe -> log file (at once) -> ring -> shown   (a thread of its own)
 *                                                 -> parsed  (another one)
 *
 * What was shown is in the log; memory stays bounded: whoever is slowest slows the program down, as in a pipe. */
#ifndef TTM_LAUNCH_PUMP_H
#define TTM_LAUNCH_PUMP_H

#include <signal.h>

#include "launch/host.h"
#include "profile/feed.h"

/* Who watches a launch. */
typedef struct ttm_launch_viewer {
  void *context; /* for the functions */
  /* Shows bytes; or, without bytes, that the figures have changed. Called by one thread. False ends the showing. NULL: nothing is shown. */
  bool (*show)(void *context, ttm_str bytes, const ttm_feed_figures *figures);
  /* Shows a sentence of ours. NULL instead of one: we are about to be stopped (Ctrl-Z), the screen should be left in order. */
  void (*say)(void *context, const char *sentence);
} ttm_launch_viewer;

typedef struct ttm_pump_options {
  char *const *argv; /* NULL-terminated; argv[0] is looked up in PATH */
  int log;           /* descriptor the log is written to */
  const char *path;  /* of the log, for sentences */
  ttm_feed *feed;    /* NULL: not parsed */
  ttm_launch_viewer viewer;
} ttm_pump_options;

typedef struct ttm_pump_result {
  int exit_status;  /* of the program; 128 + signal when one ended it */
  int signal;       /* 0, or the signal that ended it */
  uint64_t bytes;   /* seen in all */
  int log_errno;    /* why the log is not complete; 0: it is */
  bool fed;         /* all of it went into the feed */
  bool interrupted; /* it was asked to end */
  ttm_host_watch host;
} ttm_pump_result;

/* Runs to the end of the program. 0, also for one that failed; TTM_EUSAGE or TTM_EIO when it could not be started.
 * SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGUSR1/2 sent to us are passed on. They stay blocked afterwards, so that an impatient Ctrl-C
 * does not cost the report; a caller that lives on puts its signal mask back. */
int ttm_pump_run(ttm_pump_result *out, const ttm_pump_options *options, ttm_error *err);

/* The signals that a launch takes: those that ask to end, stop or go on, and SIGCHLD. */
void ttm_pump_signals(sigset_t *out);
/* Stops us as SIGTSTP, which is blocked, would have; then goes on where it was. */
void ttm_pump_stop_ourselves(const ttm_launch_viewer *viewer);

/* Formats a sentence and has it shown. */
void ttm_launch_say(const ttm_launch_viewer *viewer, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Milliseconds of a clock that only goes forward. */
int64_t ttm_now_ms(void);

#endif
