/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "store/rank_files.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/source.h"
#include "base/threads.h"
#include "base/zip.h"
#include "store/folder.h"

/* ---- Which ---------------------------------------------------------------------------------------------------------- */

static bool is_zip(const char *path) { return ttm_str_ends(ttm_str_of(path), TTM_LIT(".zip")); }
static bool is_archive(const char *path) { return strstr(path, ".tar") || strstr(path, ".tgz") || is_zip(path); }

static bool is_folder(const char *path) {
  struct stat st;
  return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* A log named after a rank. */
static bool is_rank_file(const char *name) {
  bool log = strstr(name, ".log") || strstr(name, ".txt") || strstr(name, "_recording.json");
  return name[0] != '.' && log && ttm_rank_of_name(ttm_str_of(name)) != UINT32_MAX;
}

static int add_path(ttm_rank_files *out, char *path, ttm_error *err) {
  if (path && !ttm_vec_push(&out->paths, path)) return TTM_OK;
  ttm_free(path);
  return ttm_error_nomem(err);
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static int add_folder(ttm_rank_files *out, const char *folder, ttm_error *err) {
  DIR *dir = opendir(folder);
  struct dirent *file;
  int status = TTM_OK;
  if (!dir) return ttm_error_set(err, TTM_EIO, "cannot read '%s': %s", folder, strerror(errno));
  while (!status && (file = readdir(dir)))
    if (is_rank_file(file->d_name)) status = add_path(out, ttm_folder_join(folder, file->d_name, ""), err);
  closedir(dir);
  if (out->paths.n) qsort(out->paths.at, out->paths.n, sizeof *out->paths.at, by_name);
  return status;
}

int ttm_rank_files_find(ttm_rank_files *out, const char *const *inputs, size_t n, ttm_error *err) {
  int status = TTM_OK;
  *out = (ttm_rank_files){.archive = n == 1 && is_archive(inputs[0]) && !is_folder(inputs[0])};
  if (n == 1 && is_folder(inputs[0])) return add_folder(out, inputs[0], err);
  for (size_t i = 0; i < n && !status; i++) status = add_path(out, ttm_str_copy(ttm_str_of(inputs[i])), err);
  return status;
}

bool ttm_rank_files_is(const char *path) {
  ttm_rank_files files = {.archive = false};
  if (!is_folder(path)) return is_archive(path);
  bool many = !add_folder(&files, path, NULL) && files.paths.n > 1;
  ttm_rank_files_free(&files);
  return many;
}

void ttm_rank_files_free(ttm_rank_files *files) {
  for (size_t i = 0; i < files->paths.n; i++) ttm_free(files->paths.at[i]);
  ttm_vec_free(&files->paths);
}

/* ---- Archives ------------------------------------------------------------------------------------------------------- */

enum { BLOCK = 512, PIECE = 65536, NAME = 8 * BLOCK, SHORT_NAME = 100 };

/* Takes the profile of a member, and owns it; below 0 ends the walk. */
typedef int take_member(void *context, ttm_profile *profile, const char *name);

typedef struct tar {
  ttm_source *source;
  bool named; /* what comes next, by the member before it: GNU's way with names that are too long for a head */
  char name[NAME + 1];
  char piece[PIECE];
} tar;

/* Exactly `n` bytes, or as many as there are. */
static int read_bytes(tar *t, char *out, size_t n, size_t *got, ttm_error *err) {
  int status = TTM_OK;
  for (*got = 0; *got < n && !status;) {
    size_t more = 0;
    status = ttm_source_read(t->source, out + *got, n - *got, &more, err);
    if (!more) break;
    *got += more;
  }
  return status;
}

/* The rest of a member through `feed` (NULL: past it), and its padding. */
static int read_member(tar *t, uint64_t bytes, ttm_feed *feed, ttm_error *err) {
  uint64_t padded = (bytes + BLOCK - 1) / BLOCK * BLOCK;
  int status = TTM_OK;
  for (uint64_t at = 0; at < padded && !status;) {
    size_t got, wanted = padded - at < PIECE ? (size_t)(padded - at) : PIECE;
    status = read_bytes(t, t->piece, wanted, &got, err);
    uint64_t left = at < bytes ? bytes - at : 0;
    if (!status && feed && left) status = ttm_feed_put(feed, t->piece, got < left ? got : (size_t)left, err);
    if (got < wanted) break;
    at += got;
  }
  return status;
}

static uint64_t octal(const char *text, size_t n) {
  uint64_t value = 0;
  for (size_t i = 0; i < n && value < UINT64_C(1) << 50; i++)
    if (text[i] >= '0' && text[i] <= '7') value = value * 8 + (uint64_t)(text[i] - '0');
  return value;
}

/* `wanted` NULL: any log. */
static bool is_meant(const char *name, const char *wanted) {
  const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
  return wanted ? !strcmp(name, wanted) : strstr(last, ".log") || strstr(last, ".txt");
}

static int read_name(tar *t, uint64_t bytes, ttm_error *err) {
  uint64_t padded = (bytes + BLOCK - 1) / BLOCK * BLOCK;
  size_t got;
  if (padded > NAME)
    return ttm_error_set(err, TTM_EFORMAT, "the archive has a name of %llu bytes", (unsigned long long)bytes);
  int status = read_bytes(t, t->name, (size_t)padded, &got, err);
  t->name[status ? 0 : got] = '\0';
  t->named = true;
  return status;
}

/* One member with the head `head`. */
static int walk_member(tar *t, const char head[BLOCK], const char *wanted, take_member *take, void *context,
                       ttm_error *err) {
  const char *name = t->name;
  uint64_t bytes = octal(head + 124, 12);
  if (head[156] == 'L') return read_name(t, bytes, err);
  if (!t->named) memcpy(t->name, head, SHORT_NAME), t->name[SHORT_NAME] = '\0';
  t->named = false;
  bool file = head[156] == '0' || head[156] == '\0';
  bool meant = file && is_meant(name, wanted);
  ttm_feed *feed = NULL;
  ttm_profile *profile = NULL;
  int status = meant ? ttm_feed_begin(&feed, name, NULL, err) : TTM_OK;
  if (!status) status = read_member(t, bytes, feed, err);
  if (status || !meant) return ttm_feed_free(feed), status;
  status = ttm_feed_end(feed, &profile, err);
  if (status == TTM_ENODATA) return take(context, NULL, name);
  return status ? status : take(context, profile, name);
}

static int feed_bytes(void *feed, const char *bytes, size_t n, ttm_error *err) {
  return ttm_feed_put(feed, bytes, n, err);
}

/* As ttm_profile_read_opts. */
static int read_zipped(ttm_profile **out, const ttm_zip *zip, size_t member, ttm_error *err) {
  ttm_feed *feed = NULL;
  int status = ttm_feed_begin(&feed, zip->members.at[member].name, NULL, err);
  if (!status) status = ttm_zip_read(zip, member, feed_bytes, feed, err);
  if (status) return ttm_feed_free(feed), status;
  return ttm_feed_end(feed, out, err);
}

/* The member of that name; the last, if there are several. */
static int find_zipped(ttm_profile **out, const char *path, const char *name, ttm_error *err) {
  ttm_zip zip;
  int status = ttm_zip_open(&zip, path, err);
  size_t i = status ? 0 : zip.members.n;
  while (i && strcmp(zip.members.at[i - 1].name, name) != 0) i--;
  if (i) status = read_zipped(out, &zip, i - 1, err);
  ttm_zip_close(&zip);
  return status;
}

/* An archive ends with a block of zeros; *damage says when it ends before. */
static int walk_archive(const char *path, const char *wanted, take_member *take, void *context, const char **damage,
                        ttm_error *err) {
  char head[BLOCK];
  size_t got = BLOCK;
  tar *t = ttm_alloc(sizeof *t);
  int status = t ? ttm_source_open(&t->source, path, err) : ttm_error_nomem(err);
  if (status) return ttm_free(t), status;
  while (!status && !(status = read_bytes(t, head, BLOCK, &got, err)) && got == BLOCK && head[0]) {
    if (memcmp(head + 257, "ustar", 5) != 0)
      status = ttm_error_set(err, TTM_EFORMAT, "'%s' is no tar archive", path);
    else
      status = walk_member(t, head, wanted, take, context, err);
  }
  *damage = ttm_source_damage(t->source);
  if (!*damage && got < BLOCK) *damage = "the archive is cut";
  ttm_source_close(t->source);
  ttm_free(t);
  return status;
}

/* ---- Reading -------------------------------------------------------------------------------------------------------- */

typedef struct reading {
  const ttm_rank_files *files;
  const ttm_zip *zip; /* whose members are the files; NULL */
  ttm_ranks *ranks;
  pthread_mutex_t lock; /* of what follows, and of the ranks */
  size_t next;
  const char *damage; /* of the archive; NULL */
  size_t failed;      /* the first file that did, whichever thread came to its end first */
  int status;
  ttm_error err;
} reading;

static void note_failure(reading *r, size_t place, int status, const ttm_error *err) {
  if (r->status && r->failed < place) return;
  r->failed = place;
  r->status = status;
  r->err = *err;
}

/* Adds a profile, which is freed; NULL is a file without memory. */
static int add_profile(reading *r, ttm_profile *profile, const char *path, size_t place) {
  ttm_findings *findings = NULL;
  ttm_error err;
  int status = profile ? ttm_findings_make(&findings, profile, 1, &err) : TTM_OK;
  pthread_mutex_lock(&r->lock);
  if (findings && ttm_ranks_add(r->ranks, findings, path, (uint32_t)place)) status = ttm_error_nomem(&err);
  r->ranks->skipped += !profile;
  if (status) note_failure(r, place, status, &err);
  pthread_mutex_unlock(&r->lock);
  ttm_findings_free(findings);
  ttm_profile_free(profile);
  return status;
}

static int take_log(void *context, ttm_profile *profile, const char *name) {
  reading *r = context;
  return add_profile(r, profile, name, r->next++);
}

/* The next file, or member of a zip archive, that nobody has taken; NULL at the end, or when one has failed. */
static const char *next_file(reading *r, size_t *at) {
  const char *name = NULL;
  pthread_mutex_lock(&r->lock);
  while (!name && !r->status && r->next < (r->zip ? r->zip->members.n : r->files->paths.n)) {
    *at = r->next++;
    name = r->zip ? r->zip->members.at[*at].name : r->files->paths.at[*at];
    if (r->zip && !is_meant(name, NULL)) name = NULL;
  }
  pthread_mutex_unlock(&r->lock);
  return name;
}

static void *read_files(void *context) {
  reading *r = context;
  size_t at;
  for (const char *name; (name = next_file(r, &at));) {
    ttm_read_options options = {sizeof options, 1, false, NULL, NULL};
    ttm_profile *profile = NULL;
    ttm_error err;
    int status =
        r->zip ? read_zipped(&profile, r->zip, at, &err) : ttm_profile_read_opts(&profile, name, &options, &err);
    if (!status || status == TTM_ENODATA || (status == TTM_EFORMAT && !r->zip)) { /* others can be told about */
      add_profile(r, status ? NULL : profile, name, at);
      continue;
    }
    pthread_mutex_lock(&r->lock);
    note_failure(r, at, status, &err);
    pthread_mutex_unlock(&r->lock);
  }
  return NULL;
}

/* Side by side. */
static void read_all(reading *r, unsigned threads) {
  unsigned most = ttm_thread_count(threads);
  size_t n = r->zip ? r->zip->members.n : r->files->paths.n;
  ttm_threads_run(most < n ? most : (unsigned)n, read_files, r);
}

static void read_zip(reading *r, ttm_zip *zip, unsigned threads) {
  r->status = ttm_zip_open(zip, r->files->paths.at[0], &r->err);
  r->zip = zip;
  if (!r->status) read_all(r, threads);
  ttm_zip_close(zip);
}

int ttm_rank_files_read(ttm_ranks *out, const ttm_rank_files *files, unsigned threads, ttm_error *err) {
  reading r = {.files = files, .ranks = out, .lock = PTHREAD_MUTEX_INITIALIZER};
  ttm_zip zip;
  *out = (ttm_ranks){0};
  if (!files->archive)
    read_all(&r, threads);
  else if (is_zip(files->paths.at[0]))
    read_zip(&r, &zip, threads);
  else
    r.status = walk_archive(files->paths.at[0], NULL, take_log, &r, &r.damage, &r.err);
  pthread_mutex_destroy(&r.lock);
  if (r.status) return ttm_error_set(err, r.status, "%s", r.err.message);
  if (!out->at.n)
    return ttm_error_set(err, TTM_ENODATA,
                         "none of these %zu files has memory states or messages; 'ttmem doctor FILE' shows why",
                         out->skipped);
  return ttm_ranks_tell(out, r.damage) ? ttm_error_nomem(err) : TTM_OK;
}

static int take_profile(void *context, ttm_profile *profile, const char *name) {
  (void)name;
  ttm_profile_free(*(ttm_profile **)context); /* of an earlier one of this name */
  *(ttm_profile **)context = profile;
  return TTM_OK;
}

int ttm_rank_files_profile(ttm_profile **out, const ttm_rank_files *files, ttm_str path, unsigned threads,
                           ttm_error *err) {
  ttm_read_options options = {sizeof options, threads, true, NULL, NULL};
  const char *damage; /* told when all were read */
  char *name = ttm_str_copy(path);
  *out = NULL;
  int status = name ? TTM_OK : ttm_error_nomem(err);
  if (!status && files->archive)
    status = is_zip(files->paths.at[0]) ? find_zipped(out, files->paths.at[0], name, err)
                                        : walk_archive(files->paths.at[0], name, take_profile, out, &damage, err);
  else if (!status)
    status = ttm_profile_read_opts(out, name, &options, err);
  ttm_free(name);
  return status || *out ? status : ttm_error_set(err, TTM_ENODATA, "the archive has changed meanwhile");
}
