/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* realpath, getpwuid_r, getgrgid_r */
#include "base/own_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

bool ttm_put_home(ttm_buf *out) {
  const char *home = getenv("HOME");
  if (home && *home) {
    ttm_buf_puts(out, home);
    return true;
  }
  char text[4096];
  struct passwd entry, *found = NULL;
  if (getpwuid_r(getuid(), &entry, text, sizeof text, &found) || !found || !found->pw_dir || !*found->pw_dir)
    return false;
  ttm_buf_puts(out, found->pw_dir);
  return true;
}

/* ---- Who can write ------------------------------------------------------------------------------------------------- */

/* Another user may have it as the first group, which makes no member of it. */
static bool is_first_group_of_others(const struct stat *st) {
  const struct passwd *entry;
  bool others = false;
  setpwent();
  while (!others && (entry = getpwent())) others = entry->pw_gid == st->st_gid && entry->pw_uid != st->st_uid;
  endpwent();
  return others;
}

/* A group with the number and no member but its user: what Debian gives to everyone, with a umask that lets it write. */
static bool is_private_group(const struct stat *st) {
  char text[4096];
  struct group entry, *found = NULL;
  if (st->st_gid != st->st_uid || !st->st_gid) return st->st_gid == st->st_uid;
  bool alone = !getgrgid_r(st->st_gid, &entry, text, sizeof text, &found) && found && !*found->gr_mem;
  return alone && !is_first_group_of_others(st);
}

/* Whoever owns / is as good as root: below a user namespace that is another number. */
static bool is_trusted(uid_t owner) {
  struct stat top;
  return !owner || owner == geteuid() || (!stat("/", &top) && owner == top.st_uid);
}

static bool is_open(const struct stat *st) {
  unsigned open = st->st_mode & (S_IWGRP | S_IWOTH);
  return open && !(open == S_IWGRP && is_private_group(st));
}

bool ttm_is_own(const struct stat *st) { return is_trusted(st->st_uid) && !is_open(st); }

static int refuse(const char *path, const char *why, ttm_error *err) {
  return ttm_error_set(err, TTM_EUSAGE, "%s is not safe to keep programs in: %s; set TTMEM_HOME to a folder of yours",
                       path, why);
}

static int check_folder(const char *path, ttm_error *err) {
  struct stat st;
  char why[64];
  if (lstat(path, &st)) return ttm_error_set(err, TTM_EIO, "cannot look at %s: %s", path, strerror(errno));
  if (S_ISLNK(st.st_mode)) return refuse(path, "it is a link", err);
  if (!S_ISDIR(st.st_mode)) return refuse(path, "it is no folder", err);
  snprintf(why, sizeof why, "it belongs to user %lu", (unsigned long)st.st_uid);
  if (!is_trusted(st.st_uid)) return refuse(path, why, err);
  /* In a sticky folder nobody else can take away what is there, and what is there is checked next. */
  return is_open(&st) && !(st.st_mode & S_ISVTX) ? refuse(path, "other users can write to it", err) : TTM_OK;
}

/* ---- The path ------------------------------------------------------------------------------------------------------ */

/* Calls `visit` with the absolute or relative path up to each of its parts from `from` on. */
static int for_each_part(char *path, size_t from, int (*visit)(const char *, ttm_error *), ttm_error *err) {
  for (char *c = path + from;; c++) {
    if (*c && *c != '/') continue;
    char end = *c;
    *c = '\0';
    int status = visit(path, err);
    *c = end;
    if (status || !end) return status;
  }
}

static int make_open(const char *path, ttm_error *err) {
  struct stat st;
  int why = mkdir(path, 0755) ? errno : 0;
  if (!why || (!stat(path, &st) && S_ISDIR(st.st_mode))) return TTM_OK;
  return ttm_error_set(err, TTM_EIO, "cannot make folder %s: %s", path, strerror(why));
}

static int make_own(const char *path, ttm_error *err) {
  int why = mkdir(path, 0700) ? errno : 0; /* other than EEXIST on a read-only system, though the folder is there */
  if (why && why != EEXIST && access(path, F_OK))
    return ttm_error_set(err, TTM_EIO, "cannot make folder %s: %s", path, strerror(why));
  return check_folder(path, err);
}

/* What the user's settings say, and what we call our folder there. */
static bool find_base(ttm_buf *out, const char **ours) {
  static const char *const settings[] = {"TTMEM_HOME", "XDG_CACHE_HOME"};
  for (size_t i = 0; i < 2; i++) {
    const char *value = getenv(settings[i]);
    *ours = i ? "ttmem" : "cache";
    if (!value || !*value || strchr(value, ':')) continue;
    ttm_buf_puts(out, value);
    return true;
  }
  bool found = ttm_put_home(out);
  ttm_buf_puts(out, "/.cache");
  return found;
}

static int place(char out[PATH_MAX], char *base, const char *ours, const char *name, ttm_error *err) {
  int status = for_each_part(base, 1, make_open, err);
  if (status) return status;
  if (!realpath(base, out)) return ttm_error_set(err, TTM_EIO, "cannot look at %s: %s", base, strerror(errno));
  size_t n = strlen(out);
  if (strchr(out, ':')) return refuse(out, "a ':' in its name would split PYTHONPATH", err);
  if (n + strlen(ours) + strlen(name) + 3 > PATH_MAX) return refuse(out, "its name is too long", err);
  status = check_folder("/", err);
  if (!status) status = for_each_part(out, 1, check_folder, err);
  snprintf(out + n, PATH_MAX - n, "/%s/%s", ours, name);
  if (!status) status = for_each_part(out, n + 1, make_own, err);
  if (status || !access(out, W_OK)) return status;
  return ttm_error_set(err, TTM_EIO, "cannot write to %s: %s", out, strerror(errno));
}

/* Where no home can be written: as tmux does it. It stays, so that nobody else can make it. */
static int place_in_tmp(char out[PATH_MAX], const char *name, ttm_error *err) {
  const char *folder = getenv("TMPDIR");
  char base[PATH_MAX], ours[32];
  snprintf(base, sizeof base, "%s", folder && *folder && !strchr(folder, ':') ? folder : "/tmp");
  snprintf(ours, sizeof ours, "ttmem-%lu", (unsigned long)geteuid());
  return place(out, base, ours, name, err);
}

int ttm_own_dir(char out[PATH_MAX], const char *name, ttm_error *err) {
  ttm_buf base = {0};
  const char *ours;
  bool found = find_base(&base, &ours);
  ttm_buf_char(&base, '\0');
  int status = base.failed ? ttm_error_nomem(err) : found ? place(out, base.at, ours, name, err) : TTM_EIO;
  ttm_buf_free(&base);
  return status == TTM_EIO ? place_in_tmp(out, name, err) : status;
}

/* ---- What is in it ------------------------------------------------------------------------------------------------- */

static int check_entry(const char *folder, DIR *dir, const char *name, ttm_error *err) {
  char path[PATH_MAX];
  struct stat st;
  if (fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW)) /* programs that run may take a file away */
    return errno == ENOENT ? TTM_OK : ttm_error_set(err, TTM_EIO, "cannot look at %s: %s", folder, strerror(errno));
  int n = snprintf(path, sizeof path, "%s/%s", folder, name);
  if (n < 0 || (size_t)n >= sizeof path) return refuse(folder, "a name in it is too long", err);
  if (is_trusted(st.st_uid)) return S_ISDIR(st.st_mode) ? ttm_own_contents(path, err) : TTM_OK;
  return ttm_error_set(err, TTM_EUSAGE, "%s is not safe to run: it belongs to user %lu; delete %s", path,
                       (unsigned long)st.st_uid, folder);
}

int ttm_own_contents(const char *folder, ttm_error *err) {
  int status = TTM_OK;
  DIR *dir = opendir(folder);
  if (!dir) return ttm_error_set(err, TTM_EIO, "cannot look at %s: %s", folder, strerror(errno));
  for (struct dirent *entry; !status && (entry = readdir(dir));) {
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
      status = check_entry(folder, dir, entry->d_name, err);
  }
  closedir(dir);
  return status;
}
