/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* mkdtemp, nftw */
#include "base/temp_dir.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at) {
  (void)st, (void)kind, (void)at;
  remove(path);
  return 0;
}

static void remove_folder(const char *path) { nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS); }

/* Folders of processes that were killed before they could remove them; ours only. */
static void remove_leftovers(const char *base, const char *prefix) {
  DIR *dir = opendir(base);
  size_t length = strlen(prefix);
  for (struct dirent *entry; dir && (entry = readdir(dir));) {
    char path[PATH_MAX], *end;
    struct stat st;
    if (strncmp(entry->d_name, prefix, length) != 0) continue;
    long pid = strtol(entry->d_name + length, &end, 10);
    if (pid <= 0 || *end != '-' || !kill((pid_t)pid, 0) || errno != ESRCH) continue;
    int n = snprintf(path, sizeof path, "%s/%s", base, entry->d_name);
    if (n <= 0 || (size_t)n >= sizeof path) continue;
    if (!lstat(path, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid()) remove_folder(path);
  }
  if (dir) closedir(dir);
}

int ttm_temp_dir_make(ttm_temp_dir *dir, const char *what, ttm_error *err) {
  const char *base = getenv("TMPDIR");
  char prefix[64];
  if (!base || !*base) base = "/tmp";
  snprintf(prefix, sizeof prefix, "ttmem-%s-", what);
  remove_leftovers(base, prefix);
  int n = snprintf(dir->path, sizeof dir->path, "%s/%s%ld-XXXXXX", base, prefix, (long)getpid());
  errno = ENAMETOOLONG;
  if (n > 0 && (size_t)n < sizeof dir->path && mkdtemp(dir->path)) return TTM_OK;
  int status = ttm_error_set(err, TTM_EIO, "cannot make a temporary folder %.200s: %s", dir->path, strerror(errno));
  dir->path[0] = '\0';
  return status;
}

void ttm_temp_dir_remove(ttm_temp_dir *dir) {
  if (dir->path[0]) remove_folder(dir->path);
  dir->path[0] = '\0';
}
