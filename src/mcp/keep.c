/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "mcp/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os.h"
#include "base/out_file.h"
#include "store/report_find.h"

enum { LONGEST_READ_MS = 30 * 60 * 1000 };

/* ---- Messages: lengths, then bytes ---------------------------------------------------------------------------------------- */

typedef struct frame {
  uint32_t status; /* of an answer: its exit status; of a question: how many words the first part has */
  uint32_t n[2];
} frame;

static bool put_frame(int line, uint32_t status, ttm_str first, ttm_str second) {
  frame f = {status, {(uint32_t)first.n, (uint32_t)second.n}};
  return !ttm_write_all(line, (const char *)&f, sizeof f) && !ttm_write_all(line, first.p, first.n) &&
         !ttm_write_all(line, second.p, second.n);
}

static bool take_bytes(int line, char *to, size_t n) {
  while (n) {
    ssize_t got = read(line, to, n);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    n -= (size_t)got;
  }
  return true;
}

static bool take_part(int line, ttm_buf *out, size_t n) {
  if (!n) return true;
  if (!ttm_buf_room(out, n) || !take_bytes(line, out->at + out->n, n)) return false;
  out->n += n;
  return true;
}

static bool take_frame(int line, uint32_t *status, ttm_buf *first, ttm_buf *second) {
  frame f;
  if (!take_bytes(line, (char *)&f, sizeof f)) return false;
  *status = f.status;
  return take_part(line, first, f.n[0]) && take_part(line, second, f.n[1]);
}

/* ---- The process that keeps ----------------------------------------------------------------------------------------------------- */

/* One question: the words as they came, in a process of its own. False when nobody asks any more. */
static bool answer_one(const ttm_mcp *mcp, int line) {
  ttm_buf words = {0}, printed = {0}, noted = {0};
  ttm_mcp_call call = {.input = {0}};
  uint32_t count;
  int status = 127;
  bool fine = take_frame(line, &count, &words, &call.input);
  for (char *at = words.at; fine && count; count--, at += strlen(at) + 1) fine = !ttm_vec_push(&call.words, at);
  if (fine && ttm_mcp_call_run(&call, mcp, &printed, &noted, &status, NULL)) printed.n = noted.n = 0, status = 127;
  if (fine) fine = put_frame(line, (uint32_t)status, ttm_buf_str(&printed), ttm_buf_str(&noted));
  ttm_buf *all[] = {&words, &printed, &noted, &call.input};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) ttm_buf_free(all[i]);
  ttm_vec_free(&call.words); /* the words themselves lie in one buffer */
  return fine;
}

/* What it prints while it reads concerns nobody. */
static void keep_quiet(void) {
  int nothing = open("/dev/null", O_RDWR);
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO && nothing >= 0; fd++) dup2(nothing, fd);
  if (nothing > STDERR_FILENO) close(nothing);
}

static void be_keeper(const ttm_mcp_keepers *keepers, const ttm_mcp *mcp, const char *path, int line) {
  for (size_t i = 0; i < TTM_MCP_KEPT; i++) /* theirs must end when the server closes them */
    if (keepers->at[i].pid) close(keepers->at[i].line);
  keep_quiet();
  bool fine = mcp->keep(path) && put_frame(line, 0, TTM_LIT(""), TTM_LIT(""));
  while (fine && answer_one(mcp, line)) continue;
  _exit(0);
}

/* ---- The server's side ------------------------------------------------------------------------------------------------------------ */

static ttm_mcp_mark mark_of(const char *path) {
  struct stat st;
  if (!path || stat(path, &st)) return (ttm_mcp_mark){0};
  struct timespec modified = ttm_os_modified(&st);
  return (ttm_mcp_mark){(uint64_t)st.st_dev, st.st_ino, (uint64_t)st.st_size, (uint64_t)modified.tv_sec,
                        (uint64_t)modified.tv_nsec};
}

static void mark_input(ttm_mcp_mark marks[2], const char *path) {
  struct stat st;
  char *log = NULL;
  if (!stat(path, &st) && S_ISDIR(st.st_mode)) ttm_report_source(&log, path, NULL, NULL);
  marks[0] = mark_of(path);
  marks[1] = mark_of(log);
  ttm_free(log);
}

static void drop(ttm_mcp_keeper *k) {
  if (!k->pid) return;
  close(k->line);
  kill(k->pid, SIGKILL);
  while (waitpid(k->pid, NULL, 0) < 0 && errno == EINTR) continue;
  ttm_free(k->path);
  *k = (ttm_mcp_keeper){.line = -1};
}

/* Pages that it alone has, or shares with what it forked. */
static uint64_t bytes_of(pid_t pid) {
  char name[64];
  unsigned long long pages = 0;
  snprintf(name, sizeof name, "/proc/%d/statm", (int)pid);
  FILE *file = fopen(name, "r");
  if (file && fscanf(file, "%*u %llu", &pages) != 1) pages = 0;
  if (file) fclose(file);
  return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static ttm_mcp_keeper *oldest(ttm_mcp_keepers *all) {
  ttm_mcp_keeper *found = NULL;
  for (size_t i = 0; i < TTM_MCP_KEPT; i++)
    if (all->at[i].pid && (!found || all->at[i].used < found->used)) found = &all->at[i];
  return found;
}

static void bound_memory(ttm_mcp_keepers *all) {
  uint64_t most = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 4;
  for (;;) {
    uint64_t sum = 0;
    for (size_t i = 0; i < TTM_MCP_KEPT; i++)
      if (all->at[i].pid) sum += bytes_of(all->at[i].pid);
    if (sum <= most) return;
    drop(oldest(all));
  }
}

/* A place for one more. */
static ttm_mcp_keeper *place(ttm_mcp_keepers *all) {
  for (size_t i = 0; i < TTM_MCP_KEPT; i++)
    if (!all->at[i].pid) return &all->at[i];
  ttm_mcp_keeper *k = oldest(all);
  drop(k);
  return k;
}

/* Whether it answers within the time that a question may take. */
static bool hears(const ttm_mcp_keeper *k) {
  struct pollfd end = {k->line, POLLIN, 0};
  int n;
  while ((n = poll(&end, 1, LONGEST_READ_MS)) < 0 && errno == EINTR) continue;
  return n > 0;
}

/* Starts one and waits until it has read; false when it cannot keep the input. */
static bool start(ttm_mcp_keepers *all, ttm_mcp_keeper *k, const ttm_mcp *mcp, const char *path) {
  int ends[2];
  ttm_buf nothing = {0};
  uint32_t status;
  if (ttm_os_socket_pair(ends)) return false;
  mark_input(k->marks, path); /* before it reads: what changes meanwhile counts as changed */
  pid_t pid = fork();
  if (!pid) {
    close(ends[0]);
    be_keeper(all, mcp, path, ends[1]);
  }
  close(ends[1]);
  if (pid < 0) return close(ends[0]), false;
  k->pid = pid;
  k->line = ends[0];
  k->path = ttm_str_copy(ttm_str_of(path));
  bool fine = k->path && hears(k) && take_frame(k->line, &status, &nothing, &nothing);
  if (!fine) drop(k);
  return fine;
}

/* The one that keeps the input as it is now; NULL when none can. */
static ttm_mcp_keeper *keeper_of(ttm_mcp_keepers *all, const ttm_mcp *mcp, const char *path) {
  ttm_mcp_mark marks[2];
  mark_input(marks, path);
  for (size_t i = 0; i < TTM_MCP_KEPT; i++) {
    ttm_mcp_keeper *k = &all->at[i];
    if (!k->pid || strcmp(k->path, path) != 0) continue;
    if (!memcmp(k->marks, marks, sizeof marks)) return k;
    drop(k);
  }
  ttm_mcp_keeper *k = place(all);
  return start(all, k, mcp, path) ? k : NULL;
}

static bool ask(const ttm_mcp_keeper *k, const ttm_mcp_call *call, ttm_buf *printed, ttm_buf *noted, int *status) {
  ttm_buf words = {0};
  uint32_t ended;
  for (size_t i = 0; i < call->words.n; i++)
    ttm_buf_put(&words, (ttm_str){call->words.at[i], strlen(call->words.at[i]) + 1});
  bool fine = !words.failed &&
              put_frame(k->line, (uint32_t)call->words.n, ttm_buf_str(&words), ttm_buf_str(&call->input)) && hears(k) &&
              take_frame(k->line, &ended, printed, noted);
  if (fine) *status = (int)ended;
  ttm_buf_free(&words);
  return fine;
}

int ttm_mcp_keepers_run(ttm_mcp_keepers *all, const ttm_mcp *mcp, const ttm_mcp_call *call, ttm_buf *printed,
                        ttm_buf *noted, int *status, ttm_error *err) {
  ttm_mcp_keeper *k = call->kept ? keeper_of(all, mcp, call->words.at[call->kept]) : NULL;
  bool answered = k && ask(k, call, printed, noted, status);
  if (answered) k->used = ++all->clock;
  if (k && !answered) { /* it died: the question is asked once more without it */
    drop(k);
    printed->n = noted->n = 0;
  }
  if (answered) bound_memory(all);
  return answered ? TTM_OK : ttm_mcp_call_run(call, NULL, printed, noted, status, err);
}

void ttm_mcp_keepers_end(ttm_mcp_keepers *all) {
  for (size_t i = 0; i < TTM_MCP_KEPT; i++) drop(&all->at[i]);
}
