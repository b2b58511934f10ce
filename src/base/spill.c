/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* mkstemp, madvise */
#include "base/spill.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/os.h"

enum {
  BLOCKS = 64,
  LEAST_BESIDE = 4 << 20, /* bytes of a block that goes beside others: the input is large */
  RESIDENT = 32 << 20,    /* bytes of mapped files, the program's own included */
  LOOK_MS = 2,
  WATCH_STACK = 64 << 10,
  PAGE = 4096, /* or a multiple of it */
};

typedef struct block {
  char *at; /* NULL: a free place */
  size_t size;
  int fd;
  bool inherited; /* from the process that forked this one: the file is that one's, the pages are copies */
} block;

static atomic_size_t least_size = SIZE_MAX;
static atomic_size_t block_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all below */
static block blocks[BLOCKS + 1];                         /* the last stays empty: what is not found */
static uint64_t most_bytes, held_bytes;
static bool watched;

/* ---- Blocks that are not used -------------------------------------------------------------------------------------------- */

/* The pages of a shared mapping are the file's: dropping them loses nothing. */
static void drop_pages(void) {
  for (block *b = blocks; b < blocks + BLOCKS; b++)
    if (b->at && !b->inherited) madvise(b->at, b->size, MADV_DONTNEED);
}

static void *watch(void *nothing) {
  struct sched_param first = {.sched_priority = 1};
  pthread_setschedparam(pthread_self(), SCHED_RR, &first); /* on time, where we may */
  for (bool going = true; going;) {
    nanosleep(&(struct timespec){0, LOOK_MS * 1000000}, NULL);
    pthread_mutex_lock(&lock);
    if (ttm_os_mapped_bytes() > RESIDENT) drop_pages();
    going = watched = block_count > 0;
    pthread_mutex_unlock(&lock);
  }
  return nothing;
}

/* Without its thread all works, in more memory. Signals are for the others. */
static void begin_watch(void) {
  pthread_attr_t attributes;
  pthread_t thread;
  sigset_t all, before;
  if (watched || pthread_attr_init(&attributes)) return;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, WATCH_STACK);
  watched = !pthread_create(&thread, &attributes, watch, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
}

/* ---- Forks --------------------------------------------------------------------------------------------------------------- */

static void before_fork(void) { pthread_mutex_lock(&lock); }

static void after_fork(void) { pthread_mutex_unlock(&lock); }

/* Threads stay behind. What the child writes is its own, as with all its memory, or it ends here. */
static void in_child(void) {
  watched = false;
  for (block *b = blocks; b < blocks + BLOCKS; b++) {
    if (b->at && mmap(b->at, b->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, b->fd, 0) == MAP_FAILED) abort();
    b->inherited = true;
  }
  pthread_mutex_unlock(&lock);
}

static void prepare_forks(void) { pthread_atfork(before_fork, after_fork, in_child); }

/* ---- Files --------------------------------------------------------------------------------------------------------------- */

static int open_in(const char *folder) {
  char path[PATH_MAX];
  int n = folder && *folder ? snprintf(path, sizeof path, "%s/ttmem-XXXXXX", folder) : 0;
  int fd = n > 0 && (size_t)n < sizeof path ? mkstemp(path) : -1;
  if (fd < 0) return -1;
  unlink(path);
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  return fd;
}

/* A file of that size in the first folder that has room for it; -1. */
static int make_file(size_t size) {
  const char *const folders[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    int fd = open_in(folders[i]);
    if (fd >= 0 && !ttm_os_reserve(fd, 0, size)) return fd;
    if (fd >= 0) close(fd);
  }
  return -1;
}

static char *map(int fd, size_t size) {
  void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return at == MAP_FAILED ? NULL : at;
}

/* ---- Blocks -------------------------------------------------------------------------------------------------------------- */

static block *find(const char *at) {
  block *b = blocks;
  while (b < blocks + BLOCKS && b->at != at) b++;
  return b;
}

/* So many bytes more, in so many blocks more; false when they are too many. */
static bool take_room(uint64_t bytes, size_t more) {
  pthread_mutex_lock(&lock);
  bool allowed = held_bytes <= most_bytes && bytes <= most_bytes - held_bytes && block_count + more <= BLOCKS;
  if (allowed) held_bytes += bytes, block_count += more;
  pthread_mutex_unlock(&lock);
  return allowed;
}

static void give_room(uint64_t bytes, size_t fewer) {
  pthread_mutex_lock(&lock);
  held_bytes -= bytes;
  block_count -= fewer;
  pthread_mutex_unlock(&lock);
}

/* What it begins with is written, not copied: the pages do not become this process's. */
static bool fill(int fd, const char *bytes, size_t n) {
  for (size_t done = 0; done < n;) {
    ssize_t written = pwrite(fd, bytes + done, n - done, (off_t)done);
    if (written <= 0) return false;
    done += (size_t)written;
  }
  return true;
}

void ttm_spill_begin(size_t least, uint64_t most) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, prepare_forks);
  pthread_mutex_lock(&lock);
  most_bytes = most;
  if (least < least_size) least_size = least;
  pthread_mutex_unlock(&lock);
}

/* The disk may be slow: nobody waits for it at the lock. */
void *ttm_spill_new(size_t size, const void *from, size_t n) {
  if (size < least_size || !size || !take_room(size, 1)) return NULL;
  int fd = make_file(size);
  char *at = fd >= 0 && fill(fd, from, n) ? map(fd, size) : NULL;
  if (!at) {
    if (fd >= 0) close(fd);
    return give_room(size, 1), NULL;
  }
  pthread_mutex_lock(&lock);
  *find(NULL) = (block){at, size, fd, false};
  if (least_size > LEAST_BESIDE) least_size = LEAST_BESIDE;
  begin_watch();
  pthread_mutex_unlock(&lock);
  return at;
}

static block look_up(const void *p) {
  pthread_mutex_lock(&lock);
  block b = *find(p);
  pthread_mutex_unlock(&lock);
  return b;
}

/* Blocks of the heap seldom begin where a page does: they are told apart without the list. */
size_t ttm_spill_size(const void *p) { return !p || (uintptr_t)p % PAGE || !block_count ? 0 : look_up(p).size; }

void *ttm_spill_grow(void *p, size_t size) {
  block b = look_up(p);
  if (size <= b.size) return p;
  if (b.inherited || !take_room(size - b.size, 0)) return NULL;
  char *at = ttm_os_reserve(b.fd, b.size, size) ? NULL : map(b.fd, size);
  if (!at) return give_room(size - b.size, 0), NULL;
  pthread_mutex_lock(&lock);
  *find(p) = (block){at, size, b.fd, false};
  pthread_mutex_unlock(&lock);
  munmap(p, b.size); /* large ones take their time, and whoever drops pages must not wait */
  return at;
}

void ttm_spill_free(void *p) {
  pthread_mutex_lock(&lock);
  block *b = find(p), gone = *b;
  held_bytes -= gone.size;
  block_count--;
  *b = (block){0};
  pthread_mutex_unlock(&lock);
  munmap(gone.at, gone.size);
  close(gone.fd); /* which gives a large file's blocks back, one by one */
}
