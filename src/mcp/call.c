/* SPDX-License-Identifier: Apache-2.0 */
/* One question in a process of its own: what it prints is kept up to a limit, and it ends when the limit of time is reached. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/os.h"
#include "mcp/tools.h"

enum { MOST_PRINTED = 1 << 18, MOST_SECONDS = 1800 };

typedef struct talk {
  int to, from[2]; /* the ends of the pipes: standard input; output and errors; -1 once closed */
  ttm_str input;   /* still to be given */
  ttm_buf *printed[2];
  bool cut;
} talk;

static void give(talk *t) {
  ssize_t n = t->input.n ? write(t->to, t->input.p, t->input.n) : 0;
  if (n > 0) t->input = ttm_str_from(t->input, (size_t)n);
  if (t->input.n && (n > 0 || errno == EAGAIN || errno == EINTR)) return;
  close(t->to);
  t->to = -1;
}

static void take(talk *t, int which) {
  char piece[16384];
  ttm_buf *printed = t->printed[which];
  ssize_t n = read(t->from[which], piece, sizeof piece);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) {
    close(t->from[which]);
    t->from[which] = -1;
    return;
  }
  size_t room = printed->n < MOST_PRINTED ? MOST_PRINTED - printed->n : 0, kept = (size_t)n < room ? (size_t)n : room;
  t->cut |= kept < (size_t)n;
  ttm_buf_put(printed, (ttm_str){piece, kept});
}

static void hold_talk(talk *t, pid_t child) {
  time_t end = time(NULL) + MOST_SECONDS;
  while (t->from[0] >= 0 || t->from[1] >= 0) {
    struct pollfd ends[3] = {{t->from[0], POLLIN, 0}, {t->from[1], POLLIN, 0}, {t->to, POLLOUT, 0}};
    if (poll(ends, 3, 1000) < 0 && errno != EINTR) break;
    for (int i = 0; i < 2; i++)
      if (t->from[i] >= 0 && ends[i].revents) take(t, i);
    if (t->to >= 0 && ends[2].revents) give(t);
    if (time(NULL) > end) kill(-child, SIGKILL);
  }
}

static void begin_child(char *const *words, const ttm_mcp *inside, int pipes[3][2]) {
  setpgid(0, 0);
  if (dup2(pipes[0][0], STDIN_FILENO) < 0 || dup2(pipes[1][1], STDOUT_FILENO) < 0 ||
      dup2(pipes[2][1], STDERR_FILENO) < 0)
    _exit(127);
  if (inside) {
    int argc = 0;
    while (words[argc]) argc++;
    int status = inside->run(argc, words);
    fflush(NULL);
    _exit(status);
  }
  execv(words[0], words);
  _exit(127);
}

static void end_talk(const talk *t, pid_t child, int *status) {
  int ended;
  if (t->to >= 0) close(t->to);
  for (int i = 0; i < 2; i++)
    if (t->from[i] >= 0) close(t->from[i]);
  while (waitpid(child, &ended, 0) < 0 && errno == EINTR) continue;
  *status = WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
  if (t->cut) ttm_buf_puts(t->printed[0], "\n... and more: ask for less\n");
}

static int open_pipes(int pipes[3][2], ttm_error *err) {
  for (int i = 0; i < 3; i++) {
    if (!ttm_os_pipe(pipes[i])) continue;
    for (int k = 0; k < i; k++) close(pipes[k][0]), close(pipes[k][1]);
    return ttm_error_set(err, TTM_EIO, "no pipe: %s", strerror(errno));
  }
  return TTM_OK;
}

int ttm_mcp_call_run(const ttm_mcp_call *call, const ttm_mcp *inside, ttm_buf *printed, ttm_buf *noted, int *status,
                     ttm_error *err) {
  int pipes[3][2];
  TTM_VEC(char *) words = {0};
  int code = TTM_OK;
  for (size_t i = 0; i <= call->words.n && !code; i++)
    if (ttm_vec_push(&words, i < call->words.n ? call->words.at[i] : NULL)) code = ttm_error_nomem(err);
  if (!code) code = open_pipes(pipes, err);
  pid_t child = code ? 0 : fork();
  if (!code && !child) begin_child(words.at, inside, pipes);
  ttm_vec_free(&words);
  if (code) return code;
  close(pipes[0][0]), close(pipes[1][1]), close(pipes[2][1]);
  fcntl(pipes[0][1], F_SETFL, O_NONBLOCK);
  talk t = {pipes[0][1], {pipes[1][0], pipes[2][0]}, ttm_buf_str(&call->input), {printed, noted}, false};
  if (child < 0) {
    close(t.to), close(t.from[0]), close(t.from[1]);
    return ttm_error_set(err, TTM_EIO, "no process: %s", strerror(errno));
  }
  hold_talk(&t, child);
  end_talk(&t, child, status);
  return printed->failed || noted->failed ? ttm_error_nomem(err) : TTM_OK;
}
