/* SPDX-License-Identifier: Apache-2.0 */
/* What differs between the systems ttmem is built for: os_linux.c, os_macos.c. Descriptors made here are closed in programs that are started. */
#ifndef TTM_BASE_OS_H
#define TTM_BASE_OS_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

/* ttnn has packages for Linux only. NULL there; elsewhere a sentence that says so. */
extern const char *const ttm_os_without_ttnn;

/* ---- Files and pipes: as the calls they stand for, -1 and errno when they fail ---- */

int ttm_os_pipe(int ends[2]);
void ttm_os_widen_pipe(int fd, int bytes);
int ttm_os_socket(int family); /* a stream that does not block */
int ttm_os_socket_pair(int ends[2]);
void ttm_os_read_ahead(int fd); /* the file is read from its start to its end */
/* For reading, and nothing but a regular file that holds something: opening a device or a pipe does something already, and so does reading a file of the kernel
 * without a size (/proc/kmsg gives each line once, and waits for the next). */
int ttm_os_open_regular(int dir, const char *path);
int ttm_os_exchange(const char *a, const char *b); /* two names, in one step */
struct timespec ttm_os_modified(const struct stat *st);
/* Room on the disk for these bytes of a file, so that a page of it can always be written; -1 when it lies in memory, or more than half of what is free would go. */
int ttm_os_reserve(int fd, uint64_t from, uint64_t to);
uint64_t ttm_os_mapped_bytes(void); /* of files, in this process's memory; 0: unknown */

/* ---- Processes ---- */

extern char **environ; /* POSIX has no header for it */

/* The path of this program's file; 0, or an errno. */
int ttm_os_program(char *path, size_t size);
unsigned ttm_os_processors(void);   /* that this process may use */
uint64_t ttm_os_memory_limit(void); /* bytes; huge without one */
void ttm_os_end_with_parent(void);
void ttm_os_adopt_orphans(void); /* processes below us whose parent ends become our children */
uint64_t ttm_os_random(void);    /* the same in all of a process's life */
struct timespec ttm_os_since_boot(void);

/* For waits on a condition until a time of this clock. */
extern const clockid_t ttm_os_condition_clock;
void ttm_os_condition_init(pthread_cond_t *condition);

/* ---- Signals that are blocked ---- */

typedef struct ttm_os_signal {
  int number;
  bool sent; /* by a process, to us alone; not by a key pressed on the terminal */
} ttm_os_signal;

/* A descriptor that can be read when one of them waits; -1 and errno. */
int ttm_os_signals(const sigset_t *set);
/* Takes one of them; false when none waits. */
bool ttm_os_signal_take(int signals, ttm_os_signal *out);
/* Waits for one of them that long. */
bool ttm_os_signal_within(const sigset_t *set, uint64_t ms);

#endif
