/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "cli/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/own_dir.h"
#include "store/report_dir.h"

/* What people repeat; the rest belongs to a command. */
static const ttm_option KEYS[] = {TTM_OPTION_PER, TTM_OPTION_COLOR, TTM_OPTION_PORT, TTM_OPTION_THREADS,
                                  TTM_OPTION_STORE};
enum { KEY_COUNT = sizeof KEYS / sizeof *KEYS, LARGEST = 65536 };

static int find_file(ttm_buf *path, ttm_error *err) {
  int status = ttm_home(path, err);
  ttm_buf_puts(path, "/config");
  ttm_buf_char(path, '\0');
  return status ? status : path->failed ? ttm_error_nomem(err) : TTM_OK;
}

/* *n stays 0 where there is no file. */
static int read_file(const char *path, char *text, size_t *n, ttm_error *err) {
  FILE *file = fopen(path, "rb");
  if (!file && (errno == ENOENT || errno == ENOTDIR)) return TTM_OK;
  if (!file) return ttm_error_set(err, TTM_EIO, "cannot read %s: %s", path, strerror(errno));
  *n = fread(text, 1, LARGEST, file);
  bool failed = ferror(file) != 0;
  fclose(file);
  if (failed || *n == LARGEST)
    return ttm_error_set(err, TTM_EUSAGE, "%s %s", path, failed ? "cannot be read" : "is no configuration: too large");
  text[*n] = '\0';
  return TTM_OK;
}

static char *trimmed(char *text) {
  text += strspn(text, " \t\r");
  size_t n = strlen(text);
  while (n && strchr(" \t\r", text[n - 1])) n--;
  text[n] = '\0';
  return text;
}

static int unknown_key(const char *key, ttm_error *err) {
  ttm_buf names = {0};
  for (size_t i = 0; i < KEY_COUNT; i++) ttm_buf_printf(&names, "%s%s", i ? ", " : "", ttm_option_table[KEYS[i]].name);
  int status = names.failed ? ttm_error_nomem(err)
                            : ttm_error_set(err, TTM_EUSAGE, "there is no setting '%.40s'; there are %.*s", key,
                                            (int)names.n, names.at);
  ttm_buf_free(&names);
  return status;
}

/* Runs are found by name in commands that take no --store: it goes where all of them look, unless the user says so there. */
static int apply_store(const char *value, bool own, ttm_error *err) {
  const char *home = !strncmp(value, "~/", 2) ? getenv("HOME") : NULL;
  ttm_buf path = {0};
  if (!*value) return ttm_error_set(err, TTM_EUSAGE, "'store' needs a value");
  if (!own)
    return ttm_error_set(err, TTM_EUSAGE, "'store' is not taken from a file that others can write to: chmod go-w");
  ttm_buf_printf(&path, "%s%s", home ? home : "", home ? value + 1 : value);
  ttm_buf_char(&path, '\0');
  int status = path.failed || setenv("TTMEM_STORE", path.at, 0) ? ttm_error_nomem(err) : TTM_OK;
  ttm_buf_free(&path);
  return status;
}

/* "per = chip" */
static int apply_line(ttm_options *options, char *line, bool own, ttm_error *err) {
  char *value = strchr(line, '=');
  if (!value) return ttm_error_set(err, TTM_EUSAGE, "'%.40s' is no setting: NAME = VALUE", line);
  *value++ = '\0';
  char *key = trimmed(line);
  value = trimmed(value);
  for (size_t i = 0; i < KEY_COUNT; i++) {
    if (strcmp(ttm_option_table[KEYS[i]].name, key) != 0) continue;
    return KEYS[i] == TTM_OPTION_STORE ? apply_store(value, own, err)
                                       : ttm_options_default(options, KEYS[i], value, err);
  }
  return unknown_key(key, err);
}

static int apply(ttm_options *options, char *text, const char *path, ttm_error *err) {
  ttm_error inner;
  struct stat st;
  bool own = !stat(path, &st) && ttm_is_own(&st);
  for (unsigned number = 1; text; number++) {
    char *end = strchr(text, '\n'), *comment;
    if (end) *end = '\0';
    if ((comment = strchr(text, '#'))) *comment = '\0';
    char *line = trimmed(text);
    if (*line && apply_line(options, line, own, &inner))
      return ttm_error_set(err, TTM_EUSAGE, "%s, line %u: %s", path, number, inner.message);
    text = end ? end + 1 : NULL;
  }
  return TTM_OK;
}

int ttm_config_apply(ttm_options *options, char **kept, ttm_error *err) {
  ttm_buf path = {0};
  size_t n = 0;
  *kept = ttm_alloc(LARGEST + 1);
  int status = *kept ? find_file(&path, err) : ttm_error_nomem(err);
  if (status == TTM_EUSAGE) { /* no home, no configuration */
    ttm_buf_free(&path);
    return TTM_OK;
  }
  if (!status) status = read_file(path.at, *kept, &n, err);
  if (!status && n) status = apply(options, *kept, path.at, err);
  ttm_buf_free(&path);
  return status;
}
