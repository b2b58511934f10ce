/* SPDX-License-Identifier: Apache-2.0 */
/* A program we started: its two output streams in one pipe, in the order they were written.
 * It stays in our process group, so that Ctrl-C, Ctrl-Z and reading from the terminal work as if we were not there. */
#ifndef TTM_LAUNCH_CHILD_H
#define TTM_LAUNCH_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "ttmem/error.h"

typedef struct ttm_child {
  pid_t pid;
  int output; /* read end of the pipe, not blocking */
  bool gone;  /* it ended, and `status` is from waitpid */
  int status;
} ttm_child;

/* Starts argv (looked up in PATH) with our environment and the signal mask `mask`. 0, or TTM_EUSAGE / TTM_EIO with the reason. */
int ttm_child_start(ttm_child *child, char *const *argv, const sigset_t *mask, ttm_error *err);

/* The start alone: argv (looked up in PATH) with that environment, with those descriptors as its standard input, output and error, and the
 * signal mask `mask`. 0 or an errno. */
int ttm_child_spawn(pid_t *pid, char *const *argv, char *const *environment, const int files[3], const sigset_t *mask);

/* Notes the end if it came; true when it is gone. */
bool ttm_child_check(ttm_child *child);

/* As a shell would say it: the exit status, or 128 + the signal. */
int ttm_child_exit_status(const ttm_child *child);

#endif
