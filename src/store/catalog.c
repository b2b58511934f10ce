/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* O_NOFOLLOW, fdopendir, unlinkat */
#include "store/catalog.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/os.h"
#include "parse/json_text.h"
#include "report/files/report.h"
#include "store/folder.h"
#include "store/report_dir.h"
#include "store/report_find.h"

enum { FINDINGS_LIMIT = 64 * 1024 * 1024 };

void ttm_catalog_entry_free(ttm_catalog_entry *entry) {
  ttm_free(entry->folder);
  ttm_free(entry->name);
  ttm_free(entry->log);
  ttm_free(entry->failure);
  *entry = (ttm_catalog_entry){0};
}

void ttm_catalog_free(ttm_catalog *catalog) {
  for (size_t i = 0; i < catalog->entries.n; i++) ttm_catalog_entry_free(&catalog->entries.at[i]);
  ttm_vec_free(&catalog->entries);
  ttm_free(catalog->root);
  *catalog = (ttm_catalog){0};
}

/* ---- Facts of one report ------------------------------------------------------------------------------------------- */

/* The target of a link that `ttmem run` made: a folder of the store. */
static bool read_link(int root, const char *name, char target[PATH_MAX]) {
  ttm_buf store = {0};
  char real[PATH_MAX];
  ssize_t n = readlinkat(root, name, target, PATH_MAX - 1);
  bool fine = n > 0 && !ttm_report_root(&store, NULL);
  ttm_buf_char(&store, '\0');
  fine = fine && !store.failed && realpath(store.at, real);
  if (fine) {
    size_t length = strlen(real);
    target[n] = '\0';
    fine = !strncmp(target, real, length) && target[length] == '/' && target[length + 1] != '.' &&
           !strchr(target + length + 1, '/');
  }
  ttm_buf_free(&store);
  return fine;
}

int ttm_catalog_folder(int root, const char *name) {
  char target[PATH_MAX];
  int folder = openat(root, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0 && (errno == ELOOP || errno == ENOTDIR) && read_link(root, name, target))
    folder = open(target, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  return folder;
}

/* The whole of a small file in `folder`; false when it cannot be had. */
static bool read_file(int folder, const char *file, ttm_buf *out) {
  int fd = openat(folder, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  struct stat st;
  if (fd < 0) return false;
  bool fine = !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= FINDINGS_LIMIT;
  while (fine && ttm_buf_room(out, 65536)) {
    ssize_t got = read(fd, out->at + out->n, 65536);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      fine = got == 0;
      break;
    }
    out->n += (size_t)got;
  }
  close(fd);
  return fine && !out->failed;
}

static char *text_member(ttm_str object, const char *key) {
  ttm_buf text = {0};
  ttm_json_get_string(&text, ttm_json_get_member(object, key));
  return ttm_buf_take(&text);
}

static uint64_t count_member(ttm_str object, const char *key) {
  return ttm_json_get_count(ttm_json_get_member(object, key), 0);
}

/* What the report says first of its failures. One of an earlier ttmem has no statements: the message itself. */
static char *failure_words(ttm_str text, ttm_str incident) {
  ttm_str statements = ttm_json_get_member(text, "statements"), first;
  return ttm_json_get_element(&statements, &first) ? text_member(first, "headline") : text_member(incident, "text");
}

static bool fails_first(ttm_str text) {
  ttm_str statements = ttm_json_get_member(text, "statements"), first;
  return ttm_json_get_element(&statements, &first) &&
         ttm_str_eq(ttm_json_get_member(first, "severity"), TTM_LIT("\"failure\""));
}

/* 0 or TTM_ENOMEM. */
static int read_findings(ttm_catalog_entry *entry, ttm_str text) {
  ttm_str input = ttm_json_get_member(text, "input"), peaks = ttm_json_get_member(text, "peak");
  ttm_str dram = ttm_json_get_member(peaks, "DRAM"), l1 = ttm_json_get_member(peaks, "L1");
  ttm_str incidents = ttm_json_get_member(text, "incidents"), one;
  entry->has_findings = input.n > 0;
  if (ttm_json_get_number(ttm_json_get_member(text, "schema_version"), 0) > TTM_FINDINGS_SCHEMA) {
    entry->failure = ttm_str_copy(TTM_LIT("written by a later ttmem: its numbers are not read"));
    entry->later = true;
    entry->has_findings = false;
    return entry->failure ? TTM_OK : TTM_ENOMEM;
  }
  entry->log = text_member(input, "path");
  entry->operations = count_member(ttm_json_get_member(text, "operations"), "total");
  entry->peak_mb = ttm_json_get_number(ttm_json_get_member(dram, "allocated_per_bank_MB"), -1);
  entry->peak_pct = ttm_json_get_number(ttm_json_get_member(dram, "utilization_pct"), -1);
  entry->l1_peak_mb = ttm_json_get_number(ttm_json_get_member(l1, "allocated_per_bank_MB"), -1);
  entry->l1_peak_pct = ttm_json_get_number(ttm_json_get_member(l1, "utilization_pct"), -1);
  while (ttm_json_get_element(&incidents, &one)) {
    if (!entry->failures++) entry->failure = failure_words(text, one);
  }
  if (!entry->failures && fails_first(text)) { /* a clash that a capture shows without a message */
    entry->failures = 1;
    entry->failure = failure_words(text, one);
  }
  return entry->log && (!entry->failures || entry->failure) ? TTM_OK : TTM_ENOMEM;
}

/* Where the stem ends in a file name of a report; 0 when it is none. */
static size_t stem_of(const char *file) {
  ttm_str suffix = ttm_report_suffix(file);
  return suffix.n && file[0] != '.' ? strlen(file) - suffix.n : 0;
}

/* The files of a folder that stays open; NULL with errno. */
static DIR *list_files(int folder) {
  int copy = dup(folder);
  DIR *dir = copy < 0 ? NULL : fdopendir(copy);
  if (dir)
    rewinddir(dir);
  else if (copy >= 0)
    close(copy);
  return dir;
}

/* Looks through the files. The first name in the alphabet wins should a folder hold several reports. */
static int look_into(ttm_catalog_entry *entry, int folder) {
  DIR *dir = list_files(folder);
  struct dirent *file;
  if (!dir) return TTM_EIO;
  while ((file = readdir(dir))) {
    struct stat st;
    size_t stem = stem_of(file->d_name);
    if (!stem || fstatat(folder, file->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode)) continue;
    ttm_str name = {file->d_name, stem};
    int order = entry->name ? ttm_str_order(name, ttm_str_of(entry->name)) : -1;
    if (order == 0) {
      if (st.st_mtime > entry->written) entry->written = st.st_mtime;
    } else if (order < 0) {
      ttm_free(entry->name);
      entry->name = ttm_str_copy(name);
      entry->written = st.st_mtime;
      if (!entry->name) return closedir(dir), TTM_ENOMEM;
    }
  }
  closedir(dir);
  return entry->name ? TTM_OK : TTM_ENODATA;
}

/* A file of the report; its stem is the name of a file, so this has room for it. */
typedef char file_name[NAME_MAX + 32];

static bool file_is_there(int folder, const char *name, const char *suffix) {
  file_name file;
  struct stat st;
  snprintf(file, sizeof file, "%s%s", name, suffix);
  return !fstatat(folder, file, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode);
}

/* The findings file of the report `name`; false when there is none, or no memory for it (out->failed). */
static bool read_findings_text(int folder, const char *name, ttm_buf *out) {
  file_name file;
  snprintf(file, sizeof file, "%s_findings.json", name);
  return read_file(folder, file, out);
}

int ttm_catalog_entry_read(ttm_catalog_entry *entry, int folder, const char *folder_name) {
  ttm_buf findings = {0};
  *entry = (ttm_catalog_entry){.peak_mb = -1, .peak_pct = -1, .l1_peak_mb = -1, .l1_peak_pct = -1};
  int status = look_into(entry, folder);
  if (status) return ttm_catalog_entry_free(entry), status;
  if (read_findings_text(folder, entry->name, &findings)) status = read_findings(entry, ttm_buf_str(&findings));
  if (findings.failed) status = TTM_ENOMEM;
  ttm_buf_free(&findings);
  if (status) return ttm_catalog_entry_free(entry), status;
  entry->has_page = file_is_there(folder, entry->name, "_report.html");
  entry->folder = ttm_str_copy(ttm_str_of(folder_name));
  if (!entry->log) entry->log = ttm_str_copy(TTM_LIT(""));
  if (!entry->failure) entry->failure = ttm_str_copy(TTM_LIT(""));
  if (entry->folder && entry->log && entry->failure) return TTM_OK;
  return ttm_catalog_entry_free(entry), TTM_ENOMEM;
}

/* ---- Has it changed? ----------------------------------------------------------------------------------------------- */

typedef struct traces {
  struct {
    uint64_t inode, size;
    int64_t changed, written, written_ns;
  } of[3];
} traces;

/* False when that was just now: clocks of file systems are slow, and the next change may leave no trace. */
static bool trace(traces *t, int at, const struct stat *st) {
  enum { JUST_NOW_S = 2 };
  t->of[at].inode = st->st_ino;
  t->of[at].size = (uint64_t)st->st_size;
  t->of[at].changed = st->st_ctime;
  t->of[at].written = st->st_mtime;
  t->of[at].written_ns = ttm_os_modified(st).tv_nsec;
  return time(NULL) - st->st_ctime > JUST_NOW_S;
}

/* Of the folder (or the link to it) and its findings, which may be written anew in place. */
static uint64_t stamp_of(int root, const char *folder, const char *name) {
  char path[2 * NAME_MAX + 32];
  struct stat st;
  traces t;
  memset(&t, 0, sizeof t);
  if (fstatat(root, folder, &st, AT_SYMLINK_NOFOLLOW) || !trace(&t, 0, &st)) return 0;
  if (S_ISLNK(st.st_mode) && (fstatat(root, folder, &st, 0) || !trace(&t, 1, &st))) return 0;
  snprintf(path, sizeof path, "%s/%s_findings.json", folder, name);
  if (!fstatat(root, path, &st, AT_SYMLINK_NOFOLLOW) && !trace(&t, 2, &st)) return 0;
  return ttm_hash(&t, sizeof t, 0) | 1;
}

/* ---- The list ------------------------------------------------------------------------------------------------------ */

static int newest_first(const void *a, const void *b) {
  const ttm_catalog_entry *left = a, *right = b;
  if (left->written != right->written) return left->written < right->written ? 1 : -1;
  return strcmp(left->folder, right->folder);
}

static int add_folder(ttm_catalog *out, int root, const char *name, ttm_error *err) {
  ttm_catalog_entry entry;
  int folder = ttm_catalog_folder(root, name);
  if (folder < 0) return TTM_OK;
  int status = ttm_catalog_entry_read(&entry, folder, name);
  close(folder);
  if (!status) entry.stamp = stamp_of(root, name, entry.name);
  if (status == TTM_ENOMEM || (!status && ttm_vec_push(&out->entries, entry))) {
    if (!status) ttm_catalog_entry_free(&entry);
    return ttm_error_nomem(err);
  }
  return TTM_OK;
}

/* The path's folder and last part, once "." and the like are resolved: a report is shown under its own name. TTM_ENODATA for "/". */
static int split_path(const char *path, char **root, char **name, ttm_error *err) {
  char *whole = realpath(path, NULL), *slash = whole ? strrchr(whole, '/') : NULL;
  if (!whole) return ttm_error_set(err, TTM_EIO, "cannot open '%s': %s", path, strerror(errno));
  *name = ttm_str_copy(ttm_str_of(slash + 1));
  *root = ttm_str_copy((ttm_str){whole, slash == whole ? 1 : (size_t)(slash - whole)});
  free(whole); /* realpath's own */
  if (!*name || !*root) return ttm_error_nomem(err);
  return **name ? TTM_OK : TTM_ENODATA;
}

/* The folder itself, when it is a report. */
static int read_single(ttm_catalog *out, int folder, const char *path, ttm_error *err) {
  ttm_catalog_entry entry;
  char *root = NULL, *name = NULL;
  int status = split_path(path, &root, &name, err);
  if (!status) status = ttm_catalog_entry_read(&entry, folder, name);
  ttm_free(name);
  if (status == TTM_ENOMEM) ttm_error_nomem(err);
  if (status == TTM_EIO) ttm_error_set(err, TTM_EIO, "cannot read '%s': %s", path, strerror(errno));
  if (status) return ttm_free(root), status;
  if (ttm_vec_push(&out->entries, entry)) {
    ttm_catalog_entry_free(&entry);
    ttm_free(root);
    return ttm_error_nomem(err);
  }
  out->root = root;
  out->only_entry = true;
  return TTM_OK;
}

static int read_many(ttm_catalog *out, int root, const char *path, ttm_error *err) {
  int status = TTM_OK;
  DIR *dir = list_files(root);
  struct dirent *file;
  if (!dir) return ttm_error_set(err, TTM_EIO, "cannot read '%s': %s", path, strerror(errno));
  while (!status && (file = readdir(dir))) {
    if (file->d_name[0] != '.') status = add_folder(out, root, file->d_name, err);
  }
  closedir(dir);
  out->root = status ? NULL : ttm_str_copy(ttm_str_of(path));
  return status || out->root ? status : ttm_error_nomem(err);
}

int ttm_catalog_read(ttm_catalog *out, const char *path, ttm_error *err) {
  *out = (ttm_catalog){0};
  int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return ttm_error_set(err, TTM_EIO, "cannot open the folder '%s': %s", path, strerror(errno));
  int status = read_single(out, folder, path, err);
  if (status == TTM_ENODATA) status = read_many(out, folder, path, err);
  close(folder);
  if (status) return ttm_catalog_free(out), status;
  if (out->entries.n) qsort(out->entries.at, out->entries.n, sizeof *out->entries.at, newest_first);
  return TTM_OK;
}

/* The entry of that folder when nothing of it has changed. */
static ttm_catalog_entry *find_same(const ttm_catalog *catalog, const ttm_map *places, int root, const char *folder) {
  uint32_t at = ttm_map_get(places, ttm_hash(folder, strlen(folder), 0), UINT32_MAX);
  ttm_catalog_entry *entry = at < catalog->entries.n ? &catalog->entries.at[at] : NULL;
  if (!entry || !entry->stamp || strcmp(entry->folder, folder) != 0) return NULL;
  return entry->stamp == stamp_of(root, folder, entry->name) ? entry : NULL;
}

/* What is new or changed goes to `fresh`, what is the same is marked in `kept`. */
static int read_changed(ttm_catalog *fresh, const ttm_catalog *old, bool *kept, const ttm_map *places, int root,
                        ttm_error *err) {
  int status = TTM_OK;
  DIR *dir = list_files(root);
  if (!dir) return ttm_error_set(err, TTM_EIO, "cannot read '%s': %s", old->root, strerror(errno));
  for (struct dirent *file; !status && (file = readdir(dir));) {
    if (file->d_name[0] == '.') continue;
    const ttm_catalog_entry *same = find_same(old, places, root, file->d_name);
    if (same)
      kept[same - old->entries.at] = true;
    else
      status = add_folder(fresh, root, file->d_name, err);
  }
  closedir(dir);
  return status;
}

/* The kept ones and the fresh ones, in order; true when that is something else than before. There is room. */
static bool merge(ttm_catalog *catalog, const bool *kept, ttm_catalog *fresh) {
  size_t n = 0, before = catalog->entries.n;
  for (size_t i = 0; i < before; i++) {
    if (kept[i])
      catalog->entries.at[n++] = catalog->entries.at[i];
    else
      ttm_catalog_entry_free(&catalog->entries.at[i]);
  }
  bool changed = n != before || fresh->entries.n;
  for (size_t i = 0; i < fresh->entries.n; i++) catalog->entries.at[n++] = fresh->entries.at[i];
  catalog->entries.n = n;
  fresh->entries.n = 0;
  if (n && changed) qsort(catalog->entries.at, n, sizeof *catalog->entries.at, newest_first);
  return changed;
}

int ttm_catalog_renew(ttm_catalog *catalog, const char *path, bool *changed, ttm_error *err) {
  size_t n = catalog->entries.n;
  ttm_catalog fresh = {0};
  ttm_map places = {0};
  bool *kept = ttm_alloc(n + 1);
  int root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int status = !kept      ? ttm_error_nomem(err)
               : root < 0 ? ttm_error_set(err, TTM_EIO, "cannot open the folder '%s': %s", path, strerror(errno))
                          : TTM_OK;
  for (size_t i = 0; i < n && !status; i++) {
    const char *folder = catalog->entries.at[i].folder;
    if (ttm_map_set(&places, ttm_hash(folder, strlen(folder), 0), (uint32_t)i)) status = ttm_error_nomem(err);
  }
  if (!status) status = read_changed(&fresh, catalog, kept, &places, root, err);
  if (!status && ttm_vec_reserve(&catalog->entries, fresh.entries.n)) status = ttm_error_nomem(err);
  if (!status) *changed = merge(catalog, kept, &fresh);
  ttm_catalog_free(&fresh);
  ttm_map_free(&places);
  ttm_free(kept);
  if (root >= 0) close(root);
  return status;
}

/* ---- One of them --------------------------------------------------------------------------------------------------- */

/* What `ttmem run` wrote beside the report. */
static bool is_source(const char *file, size_t stem) {
  return !strcmp(file + stem, "_profile.log") || !strcmp(file + stem, "_recording.json");
}

/* The folder stays when somebody keeps other things in it. A link goes with its folder. */
static int remove_entry(int root, const char *name) {
  char target[PATH_MAX];
  if (!unlinkat(root, name, AT_REMOVEDIR) || errno == ENOTEMPTY || errno == EEXIST) return 0;
  if (errno != ENOTDIR || !read_link(root, name, target)) return errno;
  if (rmdir(target)) return errno == ENOTEMPTY || errno == EEXIST ? 0 : errno;
  return unlinkat(root, name, 0) ? errno : 0;
}

int ttm_catalog_delete(const ttm_catalog *catalog, const ttm_catalog_entry *entry, bool sources, ttm_error *err) {
  int root = open(catalog->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC), failed = 0;
  int folder = root < 0 ? -1 : ttm_catalog_folder(root, entry->folder);
  DIR *dir = folder < 0 ? NULL : fdopendir(folder);
  struct dirent *file;
  if (!dir) failed = errno;
  while (dir && (file = readdir(dir))) {
    size_t stem = strlen(entry->name);
    bool its = !strncmp(file->d_name, entry->name, stem) &&
               (stem_of(file->d_name) == stem || (sources && is_source(file->d_name, stem)));
    if (its && unlinkat(dirfd(dir), file->d_name, 0)) failed = errno;
  }
  if (dir)
    closedir(dir);
  else if (folder >= 0)
    close(folder);
  if (!failed) failed = remove_entry(root, entry->folder);
  if (root >= 0) close(root);
  if (!failed) return TTM_OK;
  return ttm_error_set(err, TTM_EIO, "cannot delete '%s/%s': %s", catalog->root, entry->folder, strerror(failed));
}

void ttm_catalog_findings(const ttm_catalog *catalog, const ttm_catalog_entry *entry, ttm_buf *out) {
  int root = open(catalog->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int folder = root < 0 ? -1 : ttm_catalog_folder(root, entry->folder);
  if (folder >= 0) read_findings_text(folder, entry->name, out);
  if (folder >= 0) close(folder);
  if (root >= 0) close(root);
}

char *ttm_catalog_log(const ttm_catalog *catalog, const ttm_catalog_entry *entry, bool *changed) {
  char *folder = ttm_folder_join(catalog->root, entry->folder, ""), *log = NULL;
  *changed = false;
  if (folder) ttm_report_source(&log, folder, changed, NULL);
  ttm_free(folder);
  return log;
}
