/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* mkdtemp, nftw */
#include "base/temp_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/own_dir.h"

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at) {
  (void)st, (void)kind, (void)at;
  remove(path);
  return 0;
}

static void remove_folder(const char *path) { nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS); }

/* The owner's lock, which ends with its process; < 0 when another one holds it. */
static int lock_folder(const char *path) {
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0 || !flock(fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK) return fd; /* some file systems have no locks */
  close(fd);
  return -1;
}

/* True for a folder of this user whose process is gone. The process number is not enough: in another container with the same home
 * it may be somebody who lives; neither is the lock, which a folder made just now does not have yet. */
static bool is_left_over(const char *path, long pid) {
  enum { JUST_NOW_S = 60 };
  struct stat st;
  if (pid <= 0 || !kill((pid_t)pid, 0) || errno != ESRCH) return false;
  if (lstat(path, &st) || !S_ISDIR(st.st_mode) || st.st_uid != geteuid()) return false;
  if (time(NULL) - st.st_mtime < JUST_NOW_S) return false;
  int fd = lock_folder(path);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

/* Folders of processes that were killed before they could remove them. */
static void remove_leftovers(const char *base, const char *prefix) {
  DIR *dir = opendir(base);
  size_t length = strlen(prefix);
  for (struct dirent *entry; dir && (entry = readdir(dir));) {
    char path[PATH_MAX], *end;
    if (strncmp(entry->d_name, prefix, length) != 0) continue;
    long pid = strtol(entry->d_name + length, &end, 10);
    int n = snprintf(path, sizeof path, "%s/%s", base, entry->d_name);
    if (*end != '-' || n <= 0 || (size_t)n >= sizeof path) continue;
    if (is_left_over(path, pid)) remove_folder(path);
  }
  if (dir) closedir(dir);
}

int ttm_temp_dir_make(ttm_temp_dir *dir, const char *what, ttm_error *err) {
  char base[PATH_MAX], prefix[64];
  int status = ttm_own_dir(base, "tmp", err);
  dir->path[0] = '\0';
  if (status) return status;
  snprintf(prefix, sizeof prefix, "ttmem-%s-", what);
  remove_leftovers(base, prefix);
  int n = snprintf(dir->path, sizeof dir->path, "%s/%s%ld-XXXXXX", base, prefix, (long)getpid());
  errno = ENAMETOOLONG;
  if (n > 0 && (size_t)n < sizeof dir->path && mkdtemp(dir->path)) {
    dir->lock = lock_folder(dir->path);
    return TTM_OK;
  }
  status = ttm_error_set(err, TTM_EIO, "cannot make a temporary folder %.200s: %s", dir->path, strerror(errno));
  dir->path[0] = '\0';
  return status;
}

void ttm_temp_dir_remove(ttm_temp_dir *dir) {
  if (!dir->path[0]) return;
  remove_folder(dir->path);
  if (dir->lock >= 0) close(dir->lock);
  dir->path[0] = '\0';
}
