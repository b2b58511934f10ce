/* SPDX-License-Identifier: Apache-2.0 */
#include "store/report_find.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/source.h"
#include "parse/json_text.h"
#include "profile/read_report.h"
#include "report/report.h"
#include "store/folder.h"

/* ---- Finding ------------------------------------------------------------------------------------------------------ */

static bool is_one(const char *file, const char *suffix) {
  return ttm_view_ends(ttm_view_of(file), ttm_view_of(suffix)) && file[0] != '.';
}

static bool is_log(const char *file) {
  return is_one(file, "_profile.log") || is_one(file, "_profile.log.gz") || is_one(file, "_profile.log.zst");
}

/* The path of `file` when it ends so; the first in the order of names wins, so that the answer is always the same. */
static bool take(char **slot, const char *folder, const char *file, const char *suffix) {
  if (!is_one(file, suffix)) return true;
  char *path = ttm_folder_join(folder, file, "");
  if (!path) return false;
  if (*slot && strcmp(*slot, path) <= 0) {
    ttm_free(path);
    return true;
  }
  ttm_free(*slot);
  *slot = path;
  return true;
}

static int list(ttm_report_found *out, const char *folder, ttm_error *err) {
  DIR *dir = opendir(folder);
  if (!dir) return ttm_error_set(err, TTM_EIO, "cannot read the folder '%s': %s", folder, strerror(errno));
  bool enough = true;
  for (struct dirent *entry; enough && (entry = readdir(dir));) {
    const char *file = entry->d_name;
    if (is_log(file)) out->logs++;
    enough = (!is_log(file) || take(&out->log, folder, file, "")) &&
             take(&out->recording, folder, file, "_recording.json") && take(&out->page, folder, file, "_report.html") &&
             take(&out->memory, folder, file, "_memory.json");
  }
  closedir(dir);
  return enough ? TTM_OK : ttm_error_nomem(err);
}

static const char *base_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* The start of the file's name. */
static char *stem_of(const char *path, const char *suffix) {
  const char *base = base_of(path);
  size_t n = strlen(base) - strlen(suffix);
  char *stem = ttm_alloc(n + 1);
  if (stem) memcpy(stem, base, n);
  return stem;
}

/* A later ttmem may mean other things by the same words: its reports are left alone. */
static int check_schema(ttm_view findings, const char *folder, ttm_error *err) {
  double schema = ttm_json_get_number(ttm_json_get_member(findings, "schema_version"), 0);
  if (!(schema > TTM_FINDINGS_SCHEMA)) return TTM_OK;
  return ttm_error_set(
      err, TTM_EFORMAT,
      "the report in '%s' was written by a later ttmem (schema %.0f, this one knows %d) and was left as it "
      "is; use that ttmem, or make a page from the log: ttmem html LOG -o OUT",
      folder, schema, TTM_FINDINGS_SCHEMA);
}

static int read_origin(ttm_report_found *out, ttm_view findings, ttm_error *err) {
  ttm_buf path = {0};
  ttm_json_get_string(&path, ttm_json_get_member(ttm_json_get_member(findings, "input"), "path"));
  ttm_buf_char(&path, '\0');
  if (!path.failed) out->origin = ttm_alloc(path.n);
  if (out->origin) memcpy(out->origin, path.at, path.n);
  ttm_buf_free(&path);
  return out->origin ? TTM_OK : ttm_error_nomem(err);
}

/* A run may leave a log and a recording: the report is of one of them, and the findings name it. */
static void choose_source(ttm_report_found *out) {
  char **other = NULL;
  if (!out->log || !out->recording) return;
  if (!strcmp(base_of(out->origin), base_of(out->recording))) other = &out->log;
  if (!strcmp(base_of(out->origin), base_of(out->log))) other = &out->recording;
  if (other) {
    ttm_free(*other);
    *other = NULL;
  }
}

/* A file of the report that may be missing; one that is there and cannot be read is another matter. */
static bool is_missing(const char *path) {
  struct stat st;
  return stat(path, &st) && errno == ENOENT;
}

/* What the first lines of the findings tell, when there are any. */
static int read_head(ttm_report_found *out, const char *folder, ttm_error *err) {
  char first[16384], *path = ttm_folder_join(folder, out->name, "_findings.json");
  ttm_source *source;
  size_t n = 0;
  if (!path) return ttm_error_nomem(err);
  bool missing = is_missing(path);
  int code = missing ? TTM_OK : ttm_source_open(&source, path, err);
  if (!code && !missing) {
    code = ttm_source_read(source, first, sizeof first, &n, err);
    ttm_source_close(source);
  }
  ttm_free(path);
  if (code || missing) return code;
  code = check_schema((ttm_view){first, n}, folder, err);
  if (!code) code = read_origin(out, (ttm_view){first, n}, err);
  if (!code) choose_source(out);
  return code;
}

static int name_of(ttm_report_found *out, const char *folder, ttm_error *err) {
  if (out->memory) {
    out->name = stem_of(out->memory, "_memory.json");
  } else if (out->page) {
    out->name = stem_of(out->page, "_report.html");
  } else if (out->log) {
    const char *mark = strstr(base_of(out->log), "_profile.log");
    out->name = stem_of(out->log, mark ? mark : "");
  } else if (out->recording) {
    out->name = stem_of(out->recording, "_recording.json");
  } else {
    return ttm_error_set(err, TTM_ENODATA,
                         "'%s' holds no report: neither NAME_memory.json, NAME_report.html, NAME_profile.log nor "
                         "NAME_recording.json; give the log itself, or the folder that 'ttmem analyze LOG' wrote",
                         folder);
  }
  return out->name ? TTM_OK : ttm_error_nomem(err);
}

int ttm_report_find(ttm_report_found *out, const char *folder, ttm_error *err) {
  *out = (ttm_report_found){0};
  int code = list(out, folder, err);
  if (!code) code = name_of(out, folder, err);
  return code ? code : read_head(out, folder, err);
}

void ttm_report_found_free(ttm_report_found *found) {
  ttm_free(found->name);
  ttm_free(found->log);
  ttm_free(found->recording);
  ttm_free(found->page);
  ttm_free(found->memory);
  ttm_free(found->origin);
  *found = (ttm_report_found){0};
}

int ttm_report_source(char **out, const char *folder, ttm_error *err) {
  ttm_report_found found;
  struct stat st;
  *out = NULL;
  int code = ttm_report_find(&found, folder, err);
  if (!code && found.log && found.logs > 1)
    code = ttm_error_set(err, TTM_ENODATA, "'%s' holds %zu logs; name the one you mean, %s for example", folder,
                         found.logs, found.log);
  if (!code) {
    bool outside = found.origin && !stat(found.origin, &st) && S_ISREG(st.st_mode);
    char **source = found.log ? &found.log : found.recording ? &found.recording : outside ? &found.origin : NULL;
    if (source) {
      *out = *source;
      *source = NULL;
    } else {
      bool named = found.origin && *found.origin && strcmp(found.origin, "-") != 0;
      code = ttm_error_set(
          err, TTM_ENODATA,
          "'%s' holds a report, but the log it was made of%s%s is not there; give the log, or look at the "
          "report itself: ttmem html '%s'",
          folder, named ? ", " : "", named ? found.origin : "", folder);
    }
  }
  ttm_report_found_free(&found);
  return code;
}

/* ---- Reading ------------------------------------------------------------------------------------------------------ */

static int slurp(const char *path, ttm_buf *out, ttm_error *err) {
  ttm_source *source;
  size_t got = 1;
  int code = ttm_source_open(&source, path, err);
  if (code) return code;
  while (!code && got) {
    if (!ttm_buf_room(out, 1 << 20)) code = ttm_error_nomem(err);
    if (!code) code = ttm_source_read(source, out->at + out->n, 1 << 20, &got, err);
    if (!code) out->n += got;
  }
  ttm_source_close(source);
  return code;
}

static int slurp_beside(const char *folder, const char *name, const char *suffix, ttm_buf *out, ttm_error *err) {
  char *path = ttm_folder_join(folder, name, suffix);
  if (!path) return ttm_error_nomem(err);
  int code = is_missing(path) ? TTM_OK : slurp(path, out, err);
  ttm_free(path);
  return code;
}

int ttm_report_read_json(ttm_profile **out, const ttm_report_found *found, const char *folder, ttm_buf *findings,
                         ttm_error *err) {
  static const char *const suffixes[] = {"_operations.json", "_inputs_registry.json", "_ir.json"};
  ttm_buf memory = {0}, others[3] = {{0}};
  int code = slurp(found->memory, &memory, err);
  for (int i = 0; i < 3 && !code; i++) code = slurp_beside(folder, found->name, suffixes[i], &others[i], err);
  if (!code) code = slurp_beside(folder, found->name, "_findings.json", findings, err);
  if (!code) {
    ttm_report_texts texts = {.memory = ttm_buf_view(&memory),
                              .operations = ttm_buf_view(&others[0]),
                              .registry = ttm_buf_view(&others[1]),
                              .ir = ttm_buf_view(&others[2]),
                              .findings = ttm_buf_view(findings)};
    code = ttm_profile_read_report(out, &texts, folder, err);
  }
  ttm_buf_free(&memory);
  for (int i = 0; i < 3; i++) ttm_buf_free(&others[i]);
  return code;
}

int ttm_report_renew_page(const ttm_report_found *found, ttm_out *out, ttm_error *err) {
  ttm_buf page = {0};
  int code = slurp(found->page, &page, err);
  if (!code) code = ttm_html_renew(ttm_buf_view(&page), ttm_view_of(found->name), out, err);
  ttm_buf_free(&page);
  return code;
}
