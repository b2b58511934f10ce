/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/os.h"

const char *const ttm_os_without_ttnn = NULL;

int ttm_os_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

void ttm_os_widen_pipe(int fd, int bytes) { fcntl(fd, F_SETPIPE_SZ, bytes); }

int ttm_os_socket(int family) { return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); }

int ttm_os_socket_pair(int ends[2]) { return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends); }

void ttm_os_read_ahead(int fd) { posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL); }

int ttm_os_open_regular(int dir, const char *path) {
  char known[32];
  struct stat st;
  int place = openat(dir, path, O_PATH | O_CLOEXEC), fd = -1, why = EINVAL;
  if (place < 0) return -1;
  snprintf(known, sizeof known, "/proc/self/fd/%d", place);
  bool plain = !fstat(place, &st) && S_ISREG(st.st_mode) && st.st_size > 0;
  if (plain && (fd = open(known, O_RDONLY | O_NONBLOCK | O_CLOEXEC)) < 0) why = errno;
  close(place);
  errno = why;
  return fd;
}

int ttm_os_exchange(const char *a, const char *b) {
  return (int)syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, 2u /* RENAME_EXCHANGE */);
}

struct timespec ttm_os_modified(const struct stat *st) {
  return st->st_mtim;
}

int ttm_os_reserve(int fd, uint64_t from, uint64_t to) {
  struct statfs disk;
  if (fstatfs(fd, &disk) || disk.f_type == TMPFS_MAGIC || disk.f_type == RAMFS_MAGIC) return -1;
  if ((to - from) / (uint64_t)disk.f_bsize > disk.f_bavail / 2) return -1;
  return fallocate(fd, 0, (off_t)from, (off_t)(to - from));
}

uint64_t ttm_os_mapped_bytes(void) {
  char counts[128];
  unsigned long pages;
  int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  ssize_t n = read(fd, counts, sizeof counts - 1);
  close(fd);
  counts[n < 0 ? 0 : n] = '\0';
  return sscanf(counts, "%*u %*u %lu", &pages) == 1 ? (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

int ttm_os_program(char *path, size_t size) {
  ssize_t n = readlink("/proc/self/exe", path, size - 1);
  if (n < 0) return errno;
  path[n] = '\0';
  return 0;
}

unsigned ttm_os_processors(void) {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) ? 1 : (unsigned)CPU_COUNT(&set);
}

uint64_t ttm_os_memory_limit(void) {
  struct rlimit data;
  return getrlimit(RLIMIT_DATA, &data) ? UINT64_MAX : data.rlim_cur;
}

void ttm_os_end_with_parent(void) { prctl(PR_SET_PDEATHSIG, SIGTERM); }

void ttm_os_adopt_orphans(void) { prctl(PR_SET_CHILD_SUBREAPER, 1); }

/* The kernel hands every process 16 random bytes. glibc guards the stack with them, so that only a hash of them is passed on. */
uint64_t ttm_os_random(void) {
  const void *random = (const void *)getauxval(AT_RANDOM);
  return random ? ttm_hash(random, 16, 0) : 0;
}

struct timespec ttm_os_since_boot(void) {
  struct timespec t = {0};
  clock_gettime(CLOCK_BOOTTIME, &t);
  return t;
}

const clockid_t ttm_os_condition_clock = CLOCK_MONOTONIC;

void ttm_os_condition_init(pthread_cond_t *condition) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, ttm_os_condition_clock);
  pthread_cond_init(condition, &attributes);
  pthread_condattr_destroy(&attributes);
}

int ttm_os_signals(const sigset_t *set) { return signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK); }

bool ttm_os_signal_take(int signals, ttm_os_signal *out) {
  struct signalfd_siginfo info;
  if (read(signals, &info, sizeof info) != (ssize_t)sizeof info) return false;
  *out = (ttm_os_signal){(int)info.ssi_signo, info.ssi_code <= 0};
  return true;
}

bool ttm_os_signal_within(const sigset_t *set, uint64_t ms) {
  struct timespec wait = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
  return sigtimedwait(set, NULL, &wait) > 0;
}
