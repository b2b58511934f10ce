/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* O_NOFOLLOW */
#include "serve/compare.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/os.h"
#include "report/run/diff.h"
#include "store/catalog.h"
#include "store/folder.h"
#include "store/report_find.h"

enum { THREADS = 1, LARGEST = 1 << 30 }; /* bytes of a log that are read because somebody follows a link */

typedef struct side {
  char *folder; /* path */
  char *source; /* NULL: the JSON files */
  ttm_profile *profile;
  ttm_findings *findings;
  ttm_buf kept;
} side;

void ttm_comparer_init(ttm_comparer *c) {
  *c = (ttm_comparer){.page = -1};
  pthread_mutex_init(&c->lock, NULL);
}

void ttm_comparer_free(ttm_comparer *c) {
  if (c->page >= 0) close(c->page);
  pthread_mutex_destroy(&c->lock);
}

/* ---- What is compared ---------------------------------------------------------------------------------------------- */

static uint64_t stamp(const struct stat *st, uint64_t seed) {
  struct timespec modified = ttm_os_modified(st);
  uint64_t of[] = {(uint64_t)st->st_dev, st->st_ino, (uint64_t)st->st_size, (uint64_t)modified.tv_sec,
                   (uint64_t)modified.tv_nsec};
  return ttm_hash(of, sizeof of, seed);
}

/* Neither links nor pipes: what is read by name below is what stands there. Its files go into the key. */
static bool is_plain(int dir, uint64_t *key) {
  int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *files = copy < 0 ? NULL : fdopendir(copy);
  bool plain = files;
  uint64_t sum = 0; /* in any order */
  if (!files && copy >= 0) close(copy);
  for (struct dirent *file; plain && (file = readdir(files));) {
    struct stat st;
    plain = !fstatat(dir, file->d_name, &st, AT_SYMLINK_NOFOLLOW) && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
    if (plain && S_ISREG(st.st_mode)) sum += stamp(&st, 0);
  }
  if (files) closedir(files);
  *key = ttm_hash(&sum, sizeof sum, *key);
  return plain;
}

static int check_report(const ttm_compared *asked, const char *name, uint64_t *key, ttm_error *err) {
  ttm_catalog_entry entry = {0};
  int dir = ttm_catalog_folder(asked->root_fd, name);
  int status = dir < 0 ? TTM_ENODATA : ttm_catalog_entry_read(&entry, dir, name);
  bool fine = !status && is_plain(dir, key);
  *key = ttm_hash(name, strlen(name) + 1, *key);
  ttm_catalog_entry_free(&entry);
  if (dir >= 0) close(dir);
  if (status == TTM_ENOMEM) return ttm_error_nomem(err);
  if (status) return ttm_error_set(err, TTM_ENODATA, "There is no such report.");
  return fine ? TTM_OK : ttm_error_set(err, TTM_EFORMAT, "The report holds links or pipes, which are not followed.");
}

/* The log or recording of the report, when there is one to be read. */
static int find_source(side *s, bool follow, uint64_t *key, ttm_error *err) {
  ttm_report_found found = {0};
  struct stat st;
  int status = follow ? ttm_report_source(&s->source, s->folder, NULL, err) : ttm_report_find(&found, s->folder, err);
  if (!follow && !status) status = ttm_report_kept_source(&s->source, &found, s->folder, err);
  ttm_report_found_free(&found);
  if (status == TTM_ENODATA) return TTM_OK;
  if (status || !s->source) return status;
  if (stat(s->source, &st)) return ttm_error_set(err, TTM_EIO, "A log cannot be read: %s", strerror(errno));
  *key = stamp(&st, *key);
  if (st.st_size <= LARGEST) return TTM_OK;
  return ttm_error_set(err, TTM_EUSAGE,
                       "These logs are too large to be read here: ttmem diff BEFORE AFTER --html -o OUT");
}

static int find_side(side *s, const ttm_compared *asked, const char *name, uint64_t *key, ttm_error *err) {
  int status = check_report(asked, name, key, err);
  if (status) return status;
  s->folder = ttm_folder_join(asked->root, name, "");
  return s->folder ? find_source(s, asked->follow, key, err) : ttm_error_nomem(err);
}

/* ---- The page ------------------------------------------------------------------------------------------------------ */

static int go_on(void *context, const ttm_progress *progress) {
  (void)progress;
  return atomic_load(&((ttm_comparer *)context)->stopped);
}

static int read_side(ttm_comparer *c, side *s, ttm_error *err) {
  ttm_read_options options = {sizeof options, THREADS, false, go_on, c};
  if (!s->source) return ttm_report_read_json(&s->profile, &s->findings, s->folder, THREADS, &s->kept, err);
  int status = ttm_profile_read_opts(&s->profile, s->source, &options, err);
  return status ? status : ttm_findings_make(&s->findings, s->profile, THREADS, err);
}

static void free_side(side *s) {
  ttm_findings_free(s->findings);
  ttm_profile_free(s->profile);
  ttm_buf_free(&s->kept);
  ttm_free(s->folder);
  ttm_free(s->source);
}

/* A file without a name: it goes with the last who has it open. */
static int open_nameless(ttm_error *err) {
  FILE *file = tmpfile();
  int fd = file ? fcntl(fileno(file), F_DUPFD_CLOEXEC, 0) : -1;
  if (fd < 0) ttm_error_set(err, TTM_EIO, "The page cannot be written: %s", strerror(errno));
  if (file) fclose(file);
  return fd;
}

static int write_page(const ttm_diff *diff, const ttm_compared *asked, int fd, ttm_error *err) {
  ttm_str names[2] = {ttm_str_of(asked->names[0]), ttm_str_of(asked->names[1])};
  ttm_out out;
  int status = ttm_out_open_fd(&out, fd, "the page", err);
  if (status) return status;
  status = ttm_diff_html(diff, names, false, &out, err);
  if (status) return ttm_out_abandon(&out), status;
  return ttm_out_close(&out, err);
}

static int make_page(ttm_comparer *c, side sides[2], const ttm_compared *asked, ttm_error *err) {
  ttm_diff diff = {0};
  int fd = -1, status = read_side(c, &sides[0], err);
  if (!status) status = read_side(c, &sides[1], err);
  if (!status && ttm_diff_make(&diff, sides[0].findings, sides[1].findings, TTM_DIFF_TOLERANCE))
    status = ttm_error_nomem(err);
  if (!status && (fd = open_nameless(err)) < 0) status = TTM_EIO;
  if (!status) status = write_page(&diff, asked, fd, err);
  ttm_diff_free(&diff);
  if (status && fd >= 0) close(fd);
  if (status) return status;
  if (c->page >= 0) close(c->page);
  c->page = fd;
  return TTM_OK;
}

/* For a reader that closes it. All share one position, which the server's reads leave alone. */
static int open_again(int fd, ttm_error *err) {
  int again = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (again < 0) ttm_error_set(err, TTM_EIO, "The page cannot be read: %s", strerror(errno));
  return again;
}

int ttm_compare(ttm_comparer *c, const ttm_compared *asked, int *fd, uint64_t *key, ttm_error *err) {
  side sides[2] = {{0}};
  int status = TTM_OK;
  if (pthread_mutex_trylock(&c->lock))
    return ttm_error_set(err, TTM_ECANCELED, "Another comparison is in the making. Reload this page in a moment.");
  *key = 1;
  for (int s = 0; s < 2 && !status; s++) status = find_side(&sides[s], asked, asked->names[s], key, err);
  if (!status && (c->page < 0 || c->key != *key)) status = make_page(c, sides, asked, err);
  if (!status) c->key = *key;
  *fd = status ? -1 : open_again(c->page, err);
  if (!status && *fd < 0) status = TTM_EIO;
  pthread_mutex_unlock(&c->lock);
  for (int s = 0; s < 2; s++) free_side(&sides[s]);
  return status;
}
