/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* setenv, environ */
#include "launch/fit_cache.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/os.h"
#include "base/out_file.h"
#include "base/own_dir.h"
#include "launch/embedded.h"
#include "parse/json_text.h"
#include "report/write/json.h"
#include "store/folder.h"
#include "ttmem/version.h"

enum { LARGE = 64 << 20 }; /* of a file above this only size and time are compared */

void ttm_fit_cache_begin(ttm_fit_cache *cache, bool on) {
  cache->on = on && !ttm_own_dir(cache->folder, "fit", NULL) && strlen(cache->folder) < PATH_MAX - 64;
}

/* ---- Which answer --------------------------------------------------------------------------------------------------- */

/* Variables that differ from shell to shell and mean nothing to a program. */
static bool is_of_the_shell(const char *variable) {
  static const char *const names[] = {
      "_=",   "SHLVL=", "OLDPWD=", "PWD=",     "TERM",  "COLUMNS=",         "LINES=",      "SSH_",      "XDG_SESS",
      "TMUX", "STY=",   "PS1=",    "WINDOWID", "DBUS_", TTM_CREW_FILES "=", "TTMEM_HOME=", "NO_COLOR=", "CLICOLOR"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strncmp(variable, names[i], strlen(names[i]))) return true;
  return false;
}

static int compare_texts(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void put_environment(ttm_buf *key) {
  TTM_VEC(char *) all = {0};
  for (char **variable = environ; variable && *variable; variable++)
    if (!is_of_the_shell(*variable)) key->failed |= ttm_vec_push(&all, *variable) != TTM_OK;
  if (all.n) qsort(all.at, all.n, sizeof *all.at, compare_texts);
  for (size_t i = 0; i < all.n; i++) ttm_buf_put(key, (ttm_str){all.at[i], strlen(all.at[i]) + 1});
  ttm_vec_free(&all);
}

/* The file of an answer; false without memory. */
static bool name_entry(const ttm_fit_cache *cache, const char *board, char *const *words, char out[PATH_MAX + 64]) {
  ttm_buf key = {0};
  char folder[PATH_MAX];
  ttm_buf_puts(&key, "ttmem " TTM_VERSION);
  for (size_t i = 0; i < ttm_hook_files_count; i++)
    ttm_buf_u64(&key, ttm_hash(ttm_hook_files[i].bytes, ttm_hook_files[i].n, 0));
  ttm_buf_put(&key, (ttm_str){board, strlen(board) + 1});
  ttm_buf_puts(&key, getcwd(folder, sizeof folder) ? folder : "");
  ttm_buf_char(&key, '\0');
  for (; *words; words++) ttm_buf_put(&key, (ttm_str){*words, strlen(*words) + 1});
  ttm_buf_char(&key, '\0');
  put_environment(&key);
  bool there = !key.failed;
  if (there)
    snprintf(out, PATH_MAX + 64, "%s/%016" PRIx64 "%016" PRIx64 ".json", cache->folder, ttm_hash(key.at, key.n, 0),
             ttm_hash(key.at, key.n, 1));
  ttm_buf_free(&key);
  return there;
}

/* ---- Files ---------------------------------------------------------------------------------------------------------- */

static bool read_file(const char *path, ttm_buf *out) {
  FILE *f = fopen(path, "re");
  size_t got;
  if (!f) return false;
  while (ttm_buf_room(out, 1 << 16) && (got = fread(out->at + out->n, 1, 1 << 16, f)) > 0) out->n += got;
  bool whole = !ferror(f) && !out->failed;
  fclose(f);
  return whole;
}

/* "SIZE-TIME" of a large file, "SIZE-HASH" of others; false for what is no file. */
static bool describe_file(const char *path, char out[64]) {
  struct stat st;
  ttm_buf bytes = {0};
  if (stat(path, &st) || !S_ISREG(st.st_mode)) return false;
  if (st.st_size > LARGE) {
    struct timespec modified = ttm_os_modified(&st);
    snprintf(out, 64, "%jd-%jd.%09ld", (intmax_t)st.st_size, (intmax_t)modified.tv_sec, modified.tv_nsec);
    return true;
  }
  bool whole = read_file(path, &bytes);
  snprintf(out, 64, "%zu-%016" PRIx64, bytes.n, ttm_hash(bytes.at, bytes.n, 0));
  ttm_buf_free(&bytes);
  return whole;
}

static void put_file(ttm_json *j, const char *path) {
  char description[64], full[PATH_MAX];
  if (!realpath(path, full) || !describe_file(full, description)) return; /* gone: a temporary file */
  ttm_json_put_object(j, NULL);
  ttm_json_put_name(j, "path", full);
  ttm_json_put_name(j, "is", description);
  ttm_json_end(j);
}

/* What the program listed, and what the command line names. False when it listed nothing. */
static bool put_files(ttm_json *j, const ttm_crew_run *run, char *const *words) {
  char path[PATH_MAX + 8];
  ttm_buf list = {0};
  snprintf(path, sizeof path, "%s/files", run->dir.path);
  bool there = read_file(path, &list) && list.n;
  ttm_buf_char(&list, '\0');
  ttm_json_put_rows(j, "files");
  for (char *rest = list.at, *line; there && !list.failed && (line = strsep(&rest, "\n"));)
    if (*line) put_file(j, line);
  for (; *words; words++) put_file(j, *words);
  put_file(j, run->board);
  ttm_json_end(j);
  there &= !list.failed;
  ttm_buf_free(&list);
  return there;
}

static bool files_are_the_same(ttm_str files) {
  ttm_str file;
  ttm_buf path = {0}, was = {0};
  bool same = true;
  while (same && ttm_json_get_element(&files, &file)) {
    char is[64];
    ttm_buf_clear(&path), ttm_buf_clear(&was);
    ttm_json_get_string(&path, ttm_json_get_member(file, "path"));
    ttm_buf_char(&path, '\0');
    ttm_json_get_string(&was, ttm_json_get_member(file, "is"));
    same = !path.failed && !was.failed && describe_file(path.at, is) && ttm_str_eq(ttm_str_of(is), ttm_buf_str(&was));
  }
  ttm_buf_free(&path), ttm_buf_free(&was);
  return same;
}

/* ---- The answer as a text ------------------------------------------------------------------------------------------- */

typedef enum member_kind { NUMBER, SMALL, FLAG, TEXT } member_kind;
#define MEMBER(kind, name) \
  { #name, kind, offsetof(ttm_fit_case, name) }
static const struct member {
  const char *key;
  member_kind kind;
  size_t at;
} members[] = {
    MEMBER(SMALL, fits),
    MEMBER(SMALL, exit_status),
    MEMBER(FLAG, measured),
    MEMBER(NUMBER, operations),
    MEMBER(NUMBER, dram_banks),
    MEMBER(NUMBER, dram_bank),
    MEMBER(NUMBER, dram_peak),
    MEMBER(NUMBER, l1_core),
    MEMBER(NUMBER, l1_peak),
    MEMBER(NUMBER, l1_tensors),
    MEMBER(NUMBER, l1_programs),
    MEMBER(NUMBER, clashes),
    MEMBER(NUMBER, silent),
    MEMBER(FLAG, dram_least),
    MEMBER(FLAG, l1_least),
    MEMBER(NUMBER, traces),
    MEMBER(NUMBER, chips),
    MEMBER(NUMBER, processes),
    MEMBER(FLAG, one_chip),
    MEMBER(NUMBER, largest_batch),
    MEMBER(FLAG, refused),
    MEMBER(FLAG, survived),
    MEMBER(SMALL, verdict),
    MEMBER(NUMBER, shortfall),
    MEMBER(TEXT, operation),
    MEMBER(TEXT, at),
    MEMBER(TEXT, way),
    MEMBER(TEXT, growth),
    MEMBER(SMALL, what.kind),
    MEMBER(SMALL, what.about),
    MEMBER(TEXT, what.text),
    MEMBER(TEXT, what.memory),
    MEMBER(NUMBER, what.size),
    MEMBER(NUMBER, what.banks),
    MEMBER(NUMBER, what.needed_per_bank),
    MEMBER(NUMBER, what.bank_size),
    MEMBER(NUMBER, what.allocated_per_bank),
    MEMBER(NUMBER, what.free_per_bank),
    MEMBER(NUMBER, what.largest_free_block),
    MEMBER(NUMBER, what.program),
    MEMBER(NUMBER, what.l1_buffer_at),
    MEMBER(NUMBER, what.buffers_end),
    MEMBER(NUMBER, what.l1_size),
    MEMBER(NUMBER, what.limit),
    MEMBER(NUMBER, what.placeable),
    MEMBER(NUMBER, what.window),
    MEMBER(TEXT, what.core_range),
    MEMBER(FLAG, what.dataflow),
    MEMBER(FLAG, what.service),
};
enum { MEMBERS = sizeof members / sizeof *members };
_Static_assert(sizeof(ttm_fits) == sizeof(int) && sizeof(ttm_verdict) == sizeof(int) &&
                   sizeof(ttm_incident_kind) == sizeof(int) && sizeof(ttm_incident_about) == sizeof(int),
               "enumerations are read and written as int");

static void put_answer(ttm_json *j, const ttm_fit_case *c) {
  ttm_json_put_object(j, "answer");
  for (const struct member *m = members; m < members + MEMBERS; m++) {
    const void *at = (const char *)c + m->at;
    switch (m->kind) {
      case NUMBER:
        ttm_json_put_known(j, m->key, *(const uint64_t *)at);
        break;
      case SMALL:
        ttm_json_put_i64(j, m->key, *(const int *)at);
        break;
      case FLAG:
        ttm_json_put_bool(j, m->key, *(const bool *)at);
        break;
      case TEXT:
        ttm_json_put_str(j, m->key, *(const ttm_str *)at);
        break;
    }
  }
  ttm_json_end(j);
}

/* Texts go to `texts`, which has room for all of them. */
static void get_answer(ttm_fit_case *c, ttm_str answer, ttm_buf *texts) {
  *c = (ttm_fit_case){.why = TTM_LIT(""), .run_on = TTM_LIT("")};
  for (const struct member *m = members; m < members + MEMBERS; m++) {
    void *at = (char *)c + m->at;
    ttm_str value = ttm_json_get_member(answer, m->key);
    size_t start = texts->n;
    switch (m->kind) {
      case NUMBER:
        *(uint64_t *)at = ttm_json_get_count(value, TTM_UNKNOWN);
        break;
      case SMALL:
        *(int *)at = (int)ttm_json_get_count(value, 0);
        break;
      case FLAG:
        *(bool *)at = ttm_str_eq(value, TTM_LIT("true"));
        break;
      case TEXT:
        ttm_json_get_string(texts, value);
        *(ttm_str *)at = (ttm_str){texts->at + start, texts->n - start};
        break;
    }
  }
}

/* ---- Get and put ---------------------------------------------------------------------------------------------------- */

#define CHECK ",\n\"check\":\""

/* The entry without its last member; empty when it is not what was written. */
static ttm_str check_entry(ttm_str text) {
  char check[32];
  int n = snprintf(check, sizeof check, "%016" PRIx64 "\"}\n", (uint64_t)0);
  size_t tail = strlen(CHECK) + (size_t)n;
  if (text.n < tail) return TTM_LIT("");
  ttm_str body = ttm_str_first(text, text.n - tail), rest = ttm_str_from(text, body.n);
  snprintf(check, sizeof check, "%016" PRIx64 "\"}\n", ttm_hash(body.p, body.n, 0));
  return ttm_str_take(&rest, TTM_LIT(CHECK)) && ttm_str_eq(rest, ttm_str_of(check)) ? body : TTM_LIT("");
}

static int add_kept(ttm_fit_cases *cases, const char *board, ttm_str entry) {
  ttm_fit_case c;
  ttm_buf texts = {0};
  if (!ttm_buf_room(&texts, entry.n)) return TTM_ENOMEM;
  get_answer(&c, ttm_json_get_member(entry, "answer"), &texts);
  c.board = ttm_str_of(board);
  int status = ttm_fit_cases_add_kept(cases, &c);
  ttm_buf_free(&texts);
  return status ? status : 1;
}

int ttm_fit_cache_get(const ttm_fit_cache *cache, const char *board, char *const *words, ttm_fit_cases *cases) {
  char path[PATH_MAX + 64];
  ttm_buf text = {0};
  int found = 0;
  if (cache->on && name_entry(cache, board, words, path) && read_file(path, &text)) {
    ttm_str entry = check_entry(ttm_buf_str(&text));
    if (entry.n && files_are_the_same(ttm_json_get_member(entry, "files"))) found = add_kept(cases, board, entry);
  }
  ttm_buf_free(&text);
  return found;
}

void ttm_fit_cache_put(const ttm_fit_cache *cache, const ttm_crew_run *run, char *const *words,
                       const ttm_fit_case *answer) {
  char path[PATH_MAX + 64];
  ttm_out out;
  ttm_buf body = {0};
  ttm_json j = {.out = &body};
  if (!cache->on) return;
  ttm_json_put_object(&j, NULL);
  put_answer(&j, answer);
  bool listed = put_files(&j, run, words);
  if (listed && answer->fits != TTM_FITS_UNKNOWN && !body.failed && name_entry(cache, run->board, words, path) &&
      !ttm_folder_make(cache->folder, NULL) && !ttm_out_open(&out, path, NULL)) {
    ttm_buf_put(&out.buf, ttm_buf_str(&body));
    ttm_buf_printf(&out.buf, CHECK "%016" PRIx64 "\"}\n", ttm_hash(body.at, body.n, 0));
    ttm_out_close(&out, NULL);
  }
  ttm_buf_free(&body);
}
