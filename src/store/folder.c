/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* flock, syscall, realpath */
#include "store/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os.h"
#include "base/out_file.h"

#define TEMP_MARK ".tmp-"
enum { TRIES = 1000, NAME_LIMIT = 200 }; /* a name of at most 255 bytes has room for what we add */

/* ---- Paths ------------------------------------------------------------------------------------------------------- */

char *ttm_folder_join(const char *folder, const char *name, const char *suffix) {
  size_t n = strlen(folder), size = n + strlen(name) + strlen(suffix) + 2;
  char *path = ttm_alloc(size);
  if (path) snprintf(path, size, "%s%s%s%s", folder, n && folder[n - 1] == '/' ? "" : "/", name, suffix);
  return path;
}

static int cannot(const char *what, const char *path, int why, ttm_error *err) {
  return ttm_error_set(err, TTM_EIO, "cannot %s %s: %s", what, path, strerror(why));
}

static bool is_folder(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int ttm_folder_make(const char *folder, ttm_error *err) {
  char *path = ttm_str_copy(ttm_str_of(folder));
  if (!path) return ttm_error_nomem(err);
  int code = TTM_OK;
  for (char *c = path + 1; !code; c++) {
    if (*c && *c != '/') continue;
    char end = *c;
    *c = 0;
    int why = mkdir(path, 0777) ? errno : 0; /* other than EEXIST on a read-only system, though the folder is there */
    if (!why) ttm_folder_sync_of(path);      /* what is put into it is to be found again */
    if (why && !is_folder(path)) code = cannot("make folder", path, why == EEXIST ? ENOTDIR : why, err);
    *c = end;
    if (!end) break;
  }
  ttm_free(path);
  return code;
}

/* ---- What a folder holds ----------------------------------------------------------------------------------------- */

typedef struct contents {
  size_t ours, others;
  bool unknown; /* could not be listed */
} contents;

typedef enum origin { GONE, OURS, OTHERS } origin;

/* Looks through the open folder: no path is built, so this works without memory too. A folder that another writer has
 * just replaced is being emptied while we read it: what is gone is nobody's. */
static origin origin_of(DIR *dir, const char *file, const char *name, ttm_folder_ours *ours) {
  struct stat st;
  if (strcmp(file, ".") == 0 || strcmp(file, "..") == 0) return GONE;
  if (fstatat(dirfd(dir), file, &st, AT_SYMLINK_NOFOLLOW)) return errno == ENOENT ? GONE : OTHERS;
  return S_ISREG(st.st_mode) && (ttm_out_temp_owner(file) || ours(file, name)) ? OURS : OTHERS;
}

static contents look_into(const char *path, const char *name, ttm_folder_ours *ours) {
  contents found = {0};
  DIR *dir = opendir(path);
  if (!dir) return (contents){.unknown = errno != ENOENT};
  for (struct dirent *entry; (entry = readdir(dir));) {
    origin from = origin_of(dir, entry->d_name, name, ours);
    found.ours += from == OURS;
    found.others += from == OTHERS;
  }
  closedir(dir);
  return found;
}

/* Deletes a folder in which everything is ours; false (and nothing deleted) when there is something else. */
static bool remove_ours(const char *path, const char *name, ttm_folder_ours *ours) {
  contents found = look_into(path, name, ours);
  DIR *dir = found.unknown || found.others ? NULL : opendir(path);
  if (!dir) return false;
  for (struct dirent *entry; (entry = readdir(dir));) {
    if (origin_of(dir, entry->d_name, name, ours) == OURS) unlinkat(dirfd(dir), entry->d_name, 0);
  }
  closedir(dir);
  return rmdir(path) == 0;
}

/* ---- Leftovers --------------------------------------------------------------------------------------------------- */

/* The process in ".name.tmp-123-4", 0 for any other name. */
static long folder_owner(const char *file) {
  const char *mark = NULL;
  if (file[0] != '.') return 0;
  for (const char *at = file; (at = strstr(at, TEMP_MARK)); at++) mark = at;
  if (!mark) return 0;
  ttm_str rest = ttm_str_of(mark + sizeof TEMP_MARK - 1);
  uint64_t pid, number;
  bool whole =
      ttm_str_take_u64(&rest, &pid) && ttm_str_take(&rest, TTM_LIT("-")) && ttm_str_take_u64(&rest, &number) && !rest.n;
  return whole && pid > 0 && pid <= INT32_MAX ? (long)pid : 0;
}

/* Process ids mean nothing across containers and hosts that share a home, so a leftover must also be unlocked: its
 * writer holds the lock as long as it lives. */
static bool is_abandoned(const char *path, long pid) {
  if (kill((pid_t)pid, 0) == 0 || errno != ESRCH) return false;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  bool free = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
  if (fd >= 0) close(fd);
  return free;
}

void ttm_folder_clean(const char *folder, ttm_folder_ours *ours) {
  DIR *dir = opendir(folder);
  if (!dir) return;
  for (struct dirent *entry; (entry = readdir(dir));) {
    long file_owner = ttm_out_temp_owner(entry->d_name), owner = file_owner ? file_owner : folder_owner(entry->d_name);
    char *path = owner ? ttm_folder_join(folder, entry->d_name, "") : NULL;
    if (path && is_abandoned(path, owner)) {
      if (file_owner)
        unlink(path);
      else if (ours)
        remove_ours(path, NULL, ours);
    }
    ttm_free(path);
  }
  closedir(dir);
}

/* ---- A folder in the making -------------------------------------------------------------------------------------- */

static void forget(ttm_fresh *fresh) {
  if (fresh->lock >= 0) close(fresh->lock);
  ttm_free(fresh->target);
  ttm_free(fresh->path);
  *fresh = (ttm_fresh){.lock = -1};
}

/* The target without trailing slashes; where it really lies when it is there. NULL without memory. */
static char *settle_target(const char *target) {
  size_t n = strlen(target);
  while (n > 1 && target[n - 1] == '/') n--;
  char *plain = ttm_str_copy((ttm_str){target, n}), *real = plain ? realpath(plain, NULL) : NULL;
  if (!real) return plain;
  ttm_free(plain);
  plain = ttm_str_copy(ttm_str_of(real));
  free(real); /* realpath's own */
  return plain;
}

static int check_target(const char *target, const char *name, ttm_folder_ours *ours, ttm_error *err) {
  struct stat st;
  const char *slash = strrchr(target, '/'), *last = slash ? slash + 1 : target;
  if (!*last || strcmp(last, ".") == 0 || strcmp(last, "..") == 0) {
    return ttm_error_set(err, TTM_EUSAGE, "\"%s\" cannot be a report folder: it has no name of its own", target);
  }
  if (lstat(target, &st)) return TTM_OK;
  contents found = S_ISDIR(st.st_mode) ? look_into(target, name, ours) : (contents){.others = 1};
  if (found.unknown) return cannot("read", target, errno, err);
  if (!found.others || found.ours) return TTM_OK;
  return ttm_error_set(err, TTM_EUSAGE, "%s exists and is not a report; it was not changed. Choose another folder.",
                       target);
}

/* Makes `.name.tmp-<pid>-<n>` in the target's folder. */
static int make_hidden(ttm_fresh *fresh, ttm_error *err) {
  const char *slash = strrchr(fresh->target, '/');
  int parent = slash ? (int)(slash - fresh->target) + 1 : 0;
  size_t size = strlen(fresh->target) + 64;
  fresh->path = ttm_alloc(size);
  if (!fresh->path) return ttm_error_nomem(err);
  for (int i = 0; i < TRIES; i++) {
    snprintf(fresh->path, size, "%.*s.%.*s" TEMP_MARK "%ld-%d", parent, fresh->target, NAME_LIMIT,
             fresh->target + parent, (long)getpid(), i);
    if (mkdir(fresh->path, 0777) == 0) {
      fresh->lock = open(fresh->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      if (fresh->lock >= 0) (void)!flock(fresh->lock, LOCK_EX | LOCK_NB);
      return TTM_OK;
    }
    if (errno != EEXIST) break;
  }
  return cannot("make folder", fresh->path, errno, err);
}

int ttm_fresh_open(ttm_fresh *fresh, const char *target, const char *name, ttm_folder_ours *ours, ttm_error *err) {
  *fresh = (ttm_fresh){.lock = -1};
  fresh->target = settle_target(target);
  if (!fresh->target) return ttm_error_nomem(err);
  int code = check_target(fresh->target, name, ours, err);
  char *slash = strrchr(fresh->target, '/');
  if (!code && slash && slash != fresh->target) {
    *slash = 0;
    code = ttm_folder_make(fresh->target, err);
    if (!code) ttm_folder_clean(fresh->target, ours);
    *slash = '/';
  }
  if (!code) code = make_hidden(fresh, err);
  if (code) forget(fresh);
  return code;
}

/* Renames `from` to the first free <target>.old-N and gives that name; NULL when that failed (errno). */
static char *keep_as_old(const char *from, const char *target) {
  size_t size = strlen(target) + 32;
  char *kept = ttm_alloc(size);
  struct stat st;
  for (int i = 1; kept && i <= TRIES; i++) {
    snprintf(kept, size, "%s.old-%d", target, i);
    if (lstat(kept, &st) == 0) continue;
    if (rename(from, kept) == 0) return kept;
    if (errno != EEXIST && errno != ENOTEMPTY) break;
  }
  ttm_free(kept);
  return NULL;
}

/* The old report goes only when the new one is on the disk in its place. */
static void sync_place(const ttm_fresh *fresh) {
  if (fresh->sync) ttm_folder_sync_of(fresh->target);
}

/* Without an exchange there is a moment without a report; the last one then lies under .old-N, which nobody ever
 * cleans. */
static int swap_by_hand(ttm_fresh *fresh, const char *name, ttm_folder_ours *ours) {
  char *kept = keep_as_old(fresh->target, fresh->target);
  if (!kept) return -1;
  int result = rename(fresh->path, fresh->target), why = errno;
  if (result == 0) sync_place(fresh);
  if (result == 0)
    remove_ours(kept, name, ours);
  else
    (void)!rename(kept, fresh->target);
  ttm_free(kept);
  errno = why;
  return result;
}

/* 0 or -1 with errno. */
static int place(ttm_fresh *fresh, const char *name, ttm_folder_ours *ours) {
  for (int i = 0; i < TRIES; i++) {
    if (rename(fresh->path, fresh->target) == 0) return sync_place(fresh), 0; /* nothing there, or an empty folder */
    if (errno != ENOTEMPTY && errno != EEXIST) return -1;
    if (!fresh->no_exchange && ttm_os_exchange(fresh->path, fresh->target) == 0) {
      sync_place(fresh);
      if (!remove_ours(fresh->path, name, ours)) ttm_free(keep_as_old(fresh->path, fresh->target));
      return 0;
    }
    if (errno == ENOENT) continue; /* another writer took it away in between */
    return swap_by_hand(fresh, name, ours);
  }
  return -1;
}

int ttm_fresh_place(ttm_fresh *fresh, const char *name, ttm_folder_ours *ours, ttm_error *err) {
  if (fresh->sync) ttm_folder_sync(fresh->path);
  int code = place(fresh, name, ours) ? cannot("put the report at", fresh->target, errno, err) : TTM_OK;
  if (code)
    ttm_fresh_abandon(fresh, name, ours);
  else
    forget(fresh);
  return code;
}

void ttm_fresh_abandon(ttm_fresh *fresh, const char *name, ttm_folder_ours *ours) {
  if (fresh->path) remove_ours(fresh->path, name, ours);
  forget(fresh);
}
