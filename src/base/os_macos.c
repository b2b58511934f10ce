/* SPDX-License-Identifier: Apache-2.0 */
/* Built, but not run: the project has no such machine. */
#include <errno.h>
#include <fcntl.h>
#include <mach-o/dyld.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/event.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/os.h"

const char *const ttm_os_without_ttnn = "ttnn runs on Linux only, and this is macOS";

static void set_flags(int fd, int status) {
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  if (status) fcntl(fd, F_SETFL, status);
}

int ttm_os_pipe(int ends[2]) {
  if (pipe(ends)) return -1;
  for (int i = 0; i < 2; i++) set_flags(ends[i], 0);
  return 0;
}

void ttm_os_widen_pipe(int fd, int bytes) { (void)fd, (void)bytes; } /* grows by itself */

int ttm_os_socket(int family) {
  int fd = socket(family, SOCK_STREAM, 0);
  if (fd >= 0) set_flags(fd, O_NONBLOCK);
  return fd;
}

int ttm_os_socket_pair(int ends[2]) {
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return -1;
  for (int i = 0; i < 2; i++) set_flags(ends[i], 0);
  return 0;
}

void ttm_os_read_ahead(int fd) { fcntl(fd, F_RDAHEAD, 1); }

int ttm_os_open_regular(int dir, const char *path) {
  struct stat st;
  if (fstatat(dir, path, &st, 0)) return -1;
  if (S_ISREG(st.st_mode) && st.st_size > 0) return openat(dir, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  errno = EINVAL;
  return -1;
}

int ttm_os_exchange(const char *a, const char *b) { return renamex_np(a, b, RENAME_SWAP); }

struct timespec ttm_os_modified(const struct stat *st) {
  return st->st_mtimespec;
}

int ttm_os_reserve(int fd, uint64_t from, uint64_t to) { return (void)fd, (void)from, (void)to, -1; }

uint64_t ttm_os_mapped_bytes(void) { return 0; }

int ttm_os_program(char *path, size_t size) {
  uint32_t room = (uint32_t)size;
  return _NSGetExecutablePath(path, &room) ? ENAMETOOLONG : 0;
}

unsigned ttm_os_processors(void) {
  long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n < 1 ? 1 : (unsigned)n;
}

void ttm_os_adopt_orphans(void) {}

uint64_t ttm_os_memory_limit(void) {
  struct rlimit data;
  return getrlimit(RLIMIT_DATA, &data) ? UINT64_MAX : data.rlim_cur;
}

void ttm_os_end_with_parent(void) {} /* no such request here */

static uint64_t drawn;
static void draw(void) { arc4random_buf(&drawn, sizeof drawn); }

uint64_t ttm_os_random(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, draw);
  return drawn;
}

struct timespec ttm_os_since_boot(void) {
  struct timespec t = {0};
  clock_gettime(CLOCK_MONOTONIC, &t); /* goes on while the machine sleeps */
  return t;
}

const clockid_t ttm_os_condition_clock = CLOCK_REALTIME; /* conditions know no other */

void ttm_os_condition_init(pthread_cond_t *condition) { pthread_cond_init(condition, NULL); }

int ttm_os_signals(const sigset_t *set) {
  int queue = kqueue();
  if (queue < 0) return -1;
  set_flags(queue, 0);
  for (int number = 1; number < NSIG; number++) {
    struct kevent event;
    EV_SET(&event, (uintptr_t)number, EVFILT_SIGNAL, EV_ADD, 0, 0, NULL);
    if (sigismember(set, number) == 1) kevent(queue, &event, 1, NULL, 0, NULL);
  }
  return queue;
}

/* The queue only tells of a signal: taken away here, it does not come when signals are let through again. */
static bool take_waiting(const sigset_t *set, int *number) {
  sigset_t waiting;
  sigpending(&waiting);
  for (*number = 1; *number < NSIG; ++*number)
    if (sigismember(set, *number) == 1 && sigismember(&waiting, *number) == 1) return !sigwait(set, number);
  return false;
}

static bool is_key(int number) {
  return (number == SIGINT || number == SIGQUIT || number == SIGTSTP) && tcgetpgrp(STDERR_FILENO) == getpgrp();
}

bool ttm_os_signal_take(int signals, ttm_os_signal *out) {
  struct kevent event;
  sigset_t one;
  int taken;
  if (kevent(signals, NULL, 0, &event, 1, &(struct timespec){0, 0}) != 1) return false;
  *out = (ttm_os_signal){(int)event.ident, !is_key((int)event.ident)};
  sigemptyset(&one);
  sigaddset(&one, out->number);
  take_waiting(&one, &taken);
  return true;
}

bool ttm_os_signal_within(const sigset_t *set, uint64_t ms) {
  struct pollfd queue = {.fd = ttm_os_signals(set), .events = POLLIN};
  int number;
  bool taken = take_waiting(set, &number) || (poll(&queue, 1, (int)ms) > 0 && take_waiting(set, &number));
  if (queue.fd >= 0) close(queue.fd);
  return taken;
}
