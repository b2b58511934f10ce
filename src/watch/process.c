/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "watch/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/os.h"

#define SECOND UINT64_C(1000000000)

/* Up to `cap` bytes of a file in /proc; -1 when it cannot be read. */
static ssize_t read_proc(int32_t pid, const char *file, char *out, size_t cap) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  size_t n = 0;
  ssize_t got = 1;
  do {
    got = read(fd, out + n, cap - n);
    if (got > 0) n += (size_t)got;
  } while (got >= 4096 && n < cap); /* a file in /proc gives less than a page only at its end */
  close(fd);
  return got < 0 ? -1 : (ssize_t)n;
}

static uint64_t nanoseconds(struct timespec t) { return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec; }

/* "123 (name) S 1 ...": the state and the 22nd field, clock ticks after the start of the machine. */
static bool read_stat(char *text, size_t n, char *state, uint64_t *start_ticks) {
  text[n] = '\0';
  char *at = strrchr(text, ')'); /* the name may hold anything, also ')' */
  if (!at || at[1] != ' ') return false;
  *state = at[2];
  at += 2;
  for (int field = 3; field < 22 && at; field++) at = strchr(at + 1, ' ');
  if (!at) return false;
  *start_ticks = strtoull(at, NULL, 10);
  return true;
}

ttm_process ttm_process_look(int32_t pid) {
  ttm_process process = {.pid = pid};
  char text[1024], state;
  struct timespec now;
  uint64_t ticks;
  if (pid <= 0) return process;
  ssize_t n = read_proc(pid, "stat", text, sizeof text - 1);
  if (n < 0) {
    process.there = !kill(pid, 0) || errno == EPERM; /* gone, or hidden from us */
    return process;
  }
  bool known = read_stat(text, (size_t)n, &state, &ticks);
  process.there = !known || (state != 'Z' && state != 'X');
  if (!known) return process;
  process.start = ticks;
  clock_gettime(CLOCK_REALTIME, &now);
  process.began_ns = nanoseconds(now) - nanoseconds(ttm_os_since_boot());
  process.began_ns += (uint64_t)((double)ticks / (double)sysconf(_SC_CLK_TCK) * (double)SECOND);
  return process;
}

bool ttm_process_wrote(const ttm_process *process, uint64_t updated_ns, const char *name) {
  char now_called[64];
  if (!process->there || process->began_ns <= updated_ns) return process->there;
  if (process->began_ns > updated_ns + 5 * SECOND) return false;
  ssize_t n = read_proc(process->pid, "comm", now_called, sizeof now_called - 1);
  if (n <= 0) return false;
  now_called[n - 1] = '\0'; /* the line's end */
  return !strcmp(now_called, name);
}

bool ttm_process_is_of(int32_t pid, uid_t owner) {
  char text[4096];
  unsigned long real, effective;
  ssize_t n =
      read_proc(pid, "status", text, sizeof text - 1); /* the folder of a process that hides its memory is root's */
  text[n > 0 ? n : 0] = '\0';
  const char *line = strstr(text, "\nUid:");
  return line && sscanf(line, "\nUid: %lu %lu", &real, &effective) == 2 && (real == owner || effective == owner);
}

bool ttm_process_variable(int32_t pid, const char *variable, ttm_buf *out) {
  enum { MOST = 1 << 18 };
  size_t length = strlen(variable);
  char *text = ttm_alloc(MOST + 1);
  bool found = false;
  if (!text) return false;
  ssize_t n = read_proc(pid, "environ", text, MOST);
  for (char *at = text; n > 0 && at < text + n && !found; at += strlen(at) + 1) {
    found = !strncmp(at, variable, length) && at[length] == '=' && at[length + 1];
    if (found) ttm_buf_puts(out, at + length + 1);
  }
  ttm_free(text);
  return found;
}
