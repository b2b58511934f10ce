/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* realpath */
#include "history/origin.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/os.h"

/* ---- git ---------------------------------------------------------------------------------------------------------- */

/* A pipe that somebody put into a folder above ours would keep us for ever. */
static FILE *open_regular(const char *path) {
  struct stat st;
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  FILE *in = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) ? fdopen(fd, "r") : NULL;
  if (!in && fd >= 0) close(fd);
  return in;
}

/* The first line of a small file; false when there is none. */
static bool read_line(char line[PATH_MAX], const char *folder, const char *file) {
  char path[2 * PATH_MAX];
  int n = snprintf(path, sizeof path, "%s/%s", folder, file);
  FILE *in = n > 0 && (size_t)n < sizeof path ? open_regular(path) : NULL;
  bool fine = in && fgets(line, PATH_MAX, in);
  if (in) fclose(in);
  if (fine) line[strcspn(line, "\r\n")] = '\0';
  return fine;
}

static bool is_commit(const char *text) {
  size_t n = strspn(text, "0123456789abcdef");
  return (n == 40 || n == 64) && text[n] == '\0';
}

/* The folder of git's files: a real folder, or what the file .git of a worktree names. */
static bool find_git(char git[PATH_MAX], const char *folder) {
  char dot_git[PATH_MAX + 8];
  struct stat st;
  snprintf(dot_git, sizeof dot_git, "%s/.git", folder);
  if (stat(dot_git, &st)) return false;
  if (S_ISDIR(st.st_mode)) return snprintf(git, PATH_MAX, "%s", dot_git) < PATH_MAX;
  char line[PATH_MAX];
  if (!read_line(line, folder, ".git") || strncmp(line, "gitdir: ", 8) != 0) return false;
  const char *named = line + 8;
  return snprintf(git, PATH_MAX, named[0] == '/' ? "%s" : "%s/%s", named[0] == '/' ? named : folder, named) < PATH_MAX;
}

static bool find_packed(char line[PATH_MAX], const char *git, const char *name) {
  char path[2 * PATH_MAX + 16];
  snprintf(path, sizeof path, "%s/packed-refs", git);
  FILE *in = open_regular(path);
  bool found = false;
  while (in && !found && fgets(line, PATH_MAX, in)) {
    line[strcspn(line, "\r\n")] = '\0';
    char *blank = strchr(line, ' ');
    found = blank && !strcmp(blank + 1, name);
    if (found) *blank = '\0';
  }
  if (in) fclose(in);
  return found;
}

static bool read_head(char line[PATH_MAX], const char *git) {
  char name[PATH_MAX], shared[PATH_MAX], common[2 * PATH_MAX];
  if (!read_line(line, git, "HEAD")) return false;
  if (strncmp(line, "ref: ", 5) != 0) return true;
  memcpy(name, line + 5, sizeof name - 5);
  bool worktree = read_line(shared, git, "commondir"); /* branches are those of the repository */
  snprintf(common, sizeof common, worktree && shared[0] != '/' ? "%s/%s" : "%s",
           worktree && shared[0] == '/' ? shared : git, shared);
  return read_line(line, common, name) || find_packed(line, common, name);
}

void ttm_git_head(ttm_buf *out, const char *folder) {
  char at[PATH_MAX], git[PATH_MAX], line[PATH_MAX];
  if (!realpath(folder, at)) return;
  while (!find_git(git, at)) {
    char *slash = strrchr(at, '/');
    if (!slash || slash == at) return;
    *slash = '\0';
  }
  if (read_head(line, git) && is_commit(line)) ttm_buf_puts(out, line);
}

/* What the user or the CI says; else, of a program that ran here, what is checked out. */
static void find_commit(ttm_buf *out, const ttm_run_about *about) {
  static const char *const variables[] = {"TTMEM_COMMIT", "GITHUB_SHA", "CI_COMMIT_SHA"};
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
    const char *value = getenv(variables[i]);
    if (value && *value) return ttm_buf_puts(out, value);
  }
  if (about->here) ttm_git_head(out, ".");
}

/* ---- The id ------------------------------------------------------------------------------------------------------- */

static int64_t micros(struct timespec t) { return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000; }

/* True for a file; *out has its path, size and time. */
static bool find_file(ttm_run_origin *out, const char *path) {
  struct stat st;
  char *real = path && strcmp(path, "-") != 0 ? realpath(path, NULL) : NULL;
  bool fine = real && !stat(real, &st) && S_ISREG(st.st_mode);
  if (fine) {
    ttm_buf_puts(&out->source, real);
    out->bytes = (uint64_t)st.st_size;
    out->time_us = micros(ttm_os_modified(&st));
  }
  free(real); /* realpath's own */
  return fine;
}

int ttm_run_origin_find(ttm_run_origin *out, const ttm_run_about *about, const char *method, ttm_str board) {
  *out = (ttm_run_origin){.bytes = 0};
  ttm_buf key = {0};
  struct timespec now;
  struct tm day;
  char text[16];
  char *report = about->report ? realpath(about->report, NULL) : NULL;
  if (report) ttm_buf_puts(&out->report, report);
  free(report); /* realpath's own */
  ttm_host_name(out->host);
  clock_gettime(CLOCK_REALTIME, &now);
  find_commit(&out->commit, about);
  bool file = find_file(out, about->source);
  if (!file) out->time_us = micros(now);
  ttm_buf_printf(&key, "%s|%s|%.*s|%lld|%llu|%.*s|", out->host, method, TTM_ARGS(board), (long long)out->time_us,
                 (unsigned long long)out->bytes, TTM_ARGS(ttm_buf_str(&out->source)));
  if (!file) ttm_buf_printf(&key, "%ld.%ld", (long)getpid(), now.tv_nsec);
  time_t seconds = (time_t)(out->time_us / 1000000);
  if (!gmtime_r(&seconds, &day) || !strftime(text, sizeof text, "%Y%m%d-%H%M%S", &day)) strcpy(text, "00000000-000000");
  ttm_str all = ttm_buf_str(&key);
  snprintf(out->run, sizeof out->run, "%s-%012llx", text, (unsigned long long)(ttm_hash(all.p, all.n, 0) >> 16));
  bool failed = key.failed || out->source.failed || out->report.failed || out->commit.failed;
  ttm_buf_free(&key);
  return failed ? TTM_ENOMEM : TTM_OK;
}

void ttm_run_origin_free(ttm_run_origin *origin) {
  ttm_buf_free(&origin->source);
  ttm_buf_free(&origin->report);
  ttm_buf_free(&origin->commit);
}

/* ---- The model ---------------------------------------------------------------------------------------------------- */

static bool is_separator(char c) { return c == '-' || c == '_' || c == '.' || c == ':' || c == 'T'; }

/* Bytes of the last part when it is a separator and 2, 4, 6 or more digits, as parts of dates and times are; 0. */
static size_t last_part(ttm_str name, size_t *digits) {
  size_t n = 0;
  while (n < name.n && ttm_is_digit(name.p[name.n - n - 1])) n++;
  bool fits = n == 2 || n == 4 || n >= 6;
  if (!fits || n + 1 >= name.n || !is_separator(name.p[name.n - n - 1])) return 0;
  *digits += n;
  return n + 1;
}

void ttm_history_model(ttm_buf *out, ttm_str name) {
  size_t digits = 0, part;
  ttm_str model = name;
  while ((part = last_part(model, &digits))) model.n -= part;
  ttm_buf_put(out, digits >= 6 ? model : name);
}
