/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* environ */
#include "launch/child.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/os.h"

enum { PIPE_BYTES = 1024 * 1024 };

static int cannot_start(const char *program, int why, ttm_error *err) {
  if (why == ENOEXEC)
    return ttm_error_set(err, TTM_EUSAGE, "'%s' cannot be executed: it has no '#!' line; name its interpreter: sh %s",
                         program, program);
  return ttm_error_set(err, why == ENOENT || why == EACCES ? TTM_EUSAGE : TTM_EIO, "cannot start '%s': %s", program,
                       strerror(why));
}

int ttm_child_spawn(pid_t *pid, char *const *argv, char *const *environment, const int files[3], const sigset_t *mask) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t how;
  sigset_t usual;
  int why = posix_spawn_file_actions_init(&actions);
  if (why) return why;
  why = posix_spawnattr_init(&how);
  if (why) {
    posix_spawn_file_actions_destroy(&actions);
    return why;
  }
  sigemptyset(&usual);
  sigaddset(&usual, SIGPIPE); /* we ignore these, programs do not expect to */
  sigaddset(&usual, SIGXFSZ);
  posix_spawnattr_setsigdefault(&how, &usual);
  posix_spawnattr_setsigmask(&how, mask);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  for (int i = 0; i < 3 && !why; i++) why = posix_spawn_file_actions_adddup2(&actions, files[i], i);
  if (!why) why = posix_spawnp(pid, argv[0], &actions, &how, argv, environment);
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&actions);
  return why;
}

int ttm_child_start(ttm_child *child, char *const *argv, const sigset_t *mask, ttm_error *err) {
  int ends[2];
  *child = (ttm_child){.output = -1};
  if (ttm_os_pipe(ends)) return ttm_error_set(err, TTM_EIO, "cannot make a pipe: %s", strerror(errno));
  ttm_os_widen_pipe(ends[0], PIPE_BYTES); /* fewer, larger reads; the usual size works too */
  int why = ttm_child_spawn(&child->pid, argv, environ, (int[]){STDIN_FILENO, ends[1], ends[1]}, mask);
  close(ends[1]); /* the program's own end is the only one left: its end is the end of the pipe */
  if (why) {
    close(ends[0]);
    return cannot_start(argv[0], why, err);
  }
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  child->output = ends[0];
  return TTM_OK;
}

bool ttm_child_check(ttm_child *child) {
  if (!child->gone && waitpid(child->pid, &child->status, WNOHANG) == child->pid) child->gone = true;
  return child->gone;
}

int ttm_child_exit_status(const ttm_child *child) {
  return WIFSIGNALED(child->status) ? 128 + WTERMSIG(child->status) : WEXITSTATUS(child->status);
}
