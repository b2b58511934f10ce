/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and writing while signals arrive every millisecond, with a handler that does not restart system calls: EINTR at every
 * turn, short reads and short writes. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/out_file.h"
#include "profile/profile.h"
#include "unit.h"

static const char LOG[] = TTMEM_SOURCE "/tests/cli/data/two_runs_oom_profile.log";
static volatile sig_atomic_t interruptions;

static void on_alarm(int number) {
  (void)number;
  interruptions++;
}

static void interrupt(bool on) {
  struct sigaction action = {.sa_handler = on ? on_alarm : SIG_IGN}; /* no SA_RESTART */
  struct itimerval every = {{0, on ? 1000 : 0}, {0, on ? 1000 : 0}};
  assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
  assert_int_equal(setitimer(ITIMER_REAL, &every, NULL), 0);
}

/* A child that moves bytes a few at a time and pauses, so that the other end waits. `other` is the end that is not its own. */
static pid_t start_slow(int from, int to, int other, size_t piece) {
  pid_t child = fork();
  assert_true(child >= 0);
  if (child) return child;
  char bytes[4096];
  ssize_t n;
  close(other);
  while ((n = read(from, bytes, piece)) > 0) {
    usleep(1500);
    if (to >= 0 && write(to, bytes, (size_t)n) != n) _exit(1);
  }
  _exit(n ? 1 : 0);
}

static void expect_end(pid_t child) {
  int status;
  while (waitpid(child, &status, 0) < 0) {}
  assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
}

static void reading(void **state) {
  (void)state;
  int pipe_fds[2], file = open(LOG, O_RDONLY), kept = dup(STDIN_FILENO);
  ttm_profile *whole, *piped;
  assert_true(file >= 0 && !pipe(pipe_fds));
  assert_int_equal(ttm_profile_read(&whole, LOG, NULL), TTM_OK);
  pid_t child = start_slow(file, pipe_fds[1], pipe_fds[0], 1024);
  close(pipe_fds[1]);
  dup2(pipe_fds[0], STDIN_FILENO);
  interruptions = 0;
  interrupt(true);
  int status = ttm_profile_read(&piped, "-", NULL);
  interrupt(false);
  if (kept >= 0) dup2(kept, STDIN_FILENO), close(kept);
  close(pipe_fds[0]);
  close(file);
  expect_end(child);
  assert_int_equal(status, TTM_OK);
  assert_true(interruptions > 0);
  assert_int_equal(piped->seen.lines, whole->seen.lines);
  assert_int_equal(piped->ops.n, whole->ops.n);
  assert_int_equal(piped->states.n, whole->states.n);
  ttm_profile_free(whole);
  ttm_profile_free(piped);
}

static void writing(void **state) {
  (void)state;
  enum { BYTES = 200000 };
  int pipe_fds[2];
  char *bytes = malloc(BYTES);
  assert_non_null(bytes);
  assert_true(!pipe(pipe_fds));
  memset(bytes, 'x', BYTES);
  pid_t child = start_slow(pipe_fds[0], -1, pipe_fds[1], 4096);
  close(pipe_fds[0]);
  interruptions = 0;
  interrupt(true);
  int why = ttm_write_all(pipe_fds[1], bytes, BYTES);
  interrupt(false);
  close(pipe_fds[1]);
  expect_end(child);
  assert_int_equal(why, 0);
  assert_true(interruptions > 0);
  free(bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(reading), cmocka_unit_test(writing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
