/* SPDX-License-Identifier: Apache-2.0 */
/* Running a program and keeping what it prints: both streams in order into a log, shown as they come, and parsed on the way.
 *
 *   program -> pipe -> log file (at once) -> ring -> shown   (a thread of its own)
 *                                                 -> parsed  (another one)
 *
 * What was shown is in the log; memory stays bounded: whoever is slowest slows the program down, as in a pipe. */
#ifndef TTM_CAPTURE_CAPTURE_H
#define TTM_CAPTURE_CAPTURE_H

#include "profile/feed.h"

typedef enum ttm_capture_note {
  TTM_CAPTURE_LOG_FAILED, /* the log cannot be written any more; number: errno. The program goes on, and is shown and parsed */
  TTM_CAPTURE_STILL_RUNS, /* asked to end some seconds ago; number: its process id */
  TTM_CAPTURE_KILLED,     /* asked three times: SIGKILL was sent; number: its process id */
  TTM_CAPTURE_HELD_OPEN,  /* the program is gone, but a process it left behind keeps its output open */
  TTM_CAPTURE_STOPPING,   /* Ctrl-Z: about to be stopped with it */
} ttm_capture_note;

typedef struct ttm_capture_options {
  char *const *argv; /* NULL-terminated; argv[0] is looked up in PATH */
  int log;           /* descriptor the log is written to */
  ttm_feed *feed;    /* NULL: not parsed */
  void *context;     /* for the functions below */
  /* Shows bytes; or, without bytes, that the figures have changed. Called by one thread. False: nobody looks any more. */
  bool (*show)(void *context, ttm_str bytes, const ttm_feed_figures *figures);
  void (*note)(void *context, ttm_capture_note note, long number);
} ttm_capture_options;

typedef struct ttm_capture_result {
  int exit_status;  /* of the program; 128 + signal when one ended it */
  int signal;       /* 0, or the signal that ended it */
  uint64_t bytes;   /* seen in all */
  int log_errno;    /* why the log is not complete; 0: it is */
  bool fed;         /* all of it went into the feed */
  bool interrupted; /* somebody asked it to end */
} ttm_capture_result;

/* Runs to the end of the program. 0, also for one that failed; TTM_EUSAGE or TTM_EIO when it could not be started.
 * SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGUSR1/2 sent to us are passed on. They stay blocked afterwards, so that an impatient Ctrl-C
 * does not cost the report; a caller that lives on puts its signal mask back. */
int ttm_capture_run(ttm_capture_result *out, const ttm_capture_options *options, ttm_error *err);

#endif
