/* SPDX-License-Identifier: Apache-2.0 */
#include "store/report_find.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/source.h"
#include "parse/json_text.h"
#include "profile/feed.h"
#include "profile/read_report.h"
#include "report/files/report.h"
#include "report/files/statements_json.h"
#include "store/folder.h"
#include "store/report_dir.h"

/* ---- Finding ------------------------------------------------------------------------------------------------------ */

static bool is_one(const char *file, const char *suffix) {
  return ttm_str_ends(ttm_str_of(file), ttm_str_of(suffix)) && file[0] != '.';
}

static bool is_log(const char *file) {
  return is_one(file, "_profile.log") || is_one(file, "_profile.log.gz") || is_one(file, "_profile.log.zst");
}

/* Or what ttnn-visualizer reads. */
static bool is_recording(const char *file) { return is_one(file, "_recording.json") || !strcmp(file, "db.sqlite"); }

/* Paths of logs and recordings. */
typedef TTM_VEC(char *) source_list;

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

static int list(ttm_report_found *out, source_list *sources, const char *folder, ttm_error *err) {
  DIR *dir = opendir(folder);
  if (!dir) return ttm_error_set(err, TTM_EIO, "cannot read the folder '%s': %s", folder, strerror(errno));
  bool enough = true;
  for (struct dirent *entry; enough && (entry = readdir(dir));) {
    const char *file = entry->d_name;
    if (is_log(file) || is_recording(file)) {
      char *path = ttm_folder_join(folder, file, "");
      enough = path && !ttm_vec_push(sources, path);
      if (!enough) ttm_free(path);
    }
    enough =
        enough && take(&out->page, folder, file, "_report.html") && take(&out->memory, folder, file, "_memory.json");
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
  return ttm_str_copy((ttm_str){base, n});
}

/* A later ttmem may mean other things by the same words: its reports are left alone. */
static int check_schema(ttm_str findings, const char *folder, ttm_error *err) {
  double schema = ttm_json_get_number(ttm_json_get_member(findings, "schema_version"), 0);
  if (!(schema > TTM_FINDINGS_SCHEMA)) return TTM_OK;
  return ttm_error_set(
      err, TTM_EFORMAT,
      "the report in '%s' was written by a later ttmem (schema %.0f, this one knows %d) and was left as it "
      "is; use that ttmem, or make a page from the log: ttmem html LOG -o OUT",
      folder, schema, TTM_FINDINGS_SCHEMA);
}

static int read_origin(ttm_report_found *out, ttm_str findings, ttm_error *err) {
  ttm_str input = ttm_json_get_member(findings, "input");
  ttm_buf path = {0};
  ttm_json_get_string(&path, ttm_json_get_member(input, "path"));
  out->origin = ttm_buf_take(&path);
  out->origin_bytes = ttm_json_get_count(ttm_json_get_member(input, "bytes"), 0);
  ttm_str quoted = ttm_json_get_member(input, "fingerprint");
  if (quoted.n > 2) out->file = ttm_fingerprint_read((ttm_str){quoted.p + 1, quoted.n - 2});
  return out->origin ? TTM_OK : ttm_error_nomem(err);
}

/* Without what compression appends: a log may have been packed since. */
static ttm_str plain_name(const char *path) {
  ttm_str name = ttm_str_of(base_of(path));
  if (ttm_str_ends(name, TTM_LIT(".gz"))) return ttm_str_first(name, name.n - 3);
  return ttm_str_ends(name, TTM_LIT(".zst")) ? ttm_str_first(name, name.n - 4) : name;
}

/* A report that tells what it was made of is of nothing else: whatever else lies there is not its source. The list owns the paths. */
static void choose_sources(ttm_report_found *out, const source_list *sources) {
  bool told = out->origin && *out->origin;
  out->log = out->recording = NULL;
  out->logs = out->recordings = 0;
  for (size_t i = 0; i < sources->n; i++) {
    char *path = sources->at[i];
    bool recording = is_recording(base_of(path));
    char **slot = recording ? &out->recording : &out->log;
    if (told && !ttm_str_eq(plain_name(path), plain_name(out->origin))) continue;
    *(recording ? &out->recordings : &out->logs) += 1;
    if (!*slot || strcmp(path, *slot) < 0) *slot = path;
  }
}

/* A file of the report that may be missing; one that is there and cannot be read is another matter. */
static bool is_missing(const char *path) {
  struct stat st;
  return stat(path, &st) && errno == ENOENT;
}

/* What was chosen is the report's, the rest goes. */
static void free_sources(const ttm_report_found *kept, source_list *sources) {
  for (size_t i = 0; i < sources->n; i++) {
    if (sources->at[i] != kept->log && sources->at[i] != kept->recording) ttm_free(sources->at[i]);
  }
  ttm_vec_free(sources);
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
  code = check_schema((ttm_str){first, n}, folder, err);
  return code ? code : read_origin(out, (ttm_str){first, n}, err);
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
    out->name =
        stem_of(out->recording, is_one(base_of(out->recording), "_recording.json") ? "_recording.json" : ".sqlite");
  } else {
    return ttm_error_set(
        err, TTM_ENODATA,
        "'%s' holds no report: neither NAME_memory.json, NAME_report.html, NAME_profile.log, "
        "NAME_recording.json nor db.sqlite; give the log itself, or the folder that 'ttmem analyze LOG' wrote",
        folder);
  }
  return out->name ? TTM_OK : ttm_error_nomem(err);
}

static bool is_file(const char *path) {
  struct stat st;
  return path && *path && !stat(path, &st) && S_ISREG(st.st_mode);
}

/* A log of another name that was put beside its report. */
static int find_beside(ttm_report_found *out, source_list *sources, const char *folder, ttm_error *err) {
  if (!out->origin || !*base_of(out->origin)) return TTM_OK;
  char *path = ttm_folder_join(folder, base_of(out->origin), "");
  bool known = !is_file(path);
  for (size_t i = 0; i < sources->n && path && !known; i++) known = !strcmp(sources->at[i], path);
  if (path && !known && !ttm_vec_push(sources, path)) return TTM_OK;
  int code = !path || !known ? ttm_error_nomem(err) : TTM_OK;
  ttm_free(path);
  return code;
}

int ttm_report_find(ttm_report_found *out, const char *folder, ttm_error *err) {
  source_list sources = {0};
  *out = (ttm_report_found){0};
  int code = list(out, &sources, folder, err);
  choose_sources(out, &sources); /* where nothing else does, they name the report */
  if (!code) code = name_of(out, folder, err);
  if (!code) code = read_head(out, folder, err);
  if (!code) code = find_beside(out, &sources, folder, err);
  choose_sources(out, &sources);
  free_sources(out, &sources);
  return code;
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

/* ---- What it was made of ------------------------------------------------------------------------------------------ */

/* Ends the feed. What was held back until the end of the log counts too. */
static int ended_with_operations(ttm_feed *feed, bool *out, ttm_error *err) {
  ttm_profile *profile = NULL;
  int code = ttm_feed_end(feed, &profile, err);
  *out = !code && profile->ops.n;
  ttm_profile_free(profile);
  return code == TTM_ENODATA ? TTM_OK : code;
}

/* Reads no further than the first operations. */
static int has_operations(const char *log, bool *out, ttm_error *err) {
  enum { PIECE = 1 << 16 };
  ttm_source *source = NULL;
  ttm_feed *feed = NULL;
  char *piece = ttm_alloc(PIECE);
  size_t got = 1;
  *out = false;
  int code = piece ? ttm_source_open(&source, log, err) : ttm_error_nomem(err);
  if (!code) code = ttm_feed_begin(&feed, log, NULL, err);
  while (!code && got && !*out) {
    code = ttm_source_read(source, piece, PIECE, &got, err);
    if (!code) code = ttm_feed_put(feed, piece, got, err);
    if (!code) *out = ttm_feed_now(feed)->operations > 0;
  }
  if (code || *out)
    ttm_feed_free(feed);
  else
    code = ended_with_operations(feed, out, err);
  ttm_source_close(source);
  ttm_free(piece);
  return code;
}

static int one_of_several(const char *folder, size_t n, const char *what, const char *first, ttm_error *err) {
  return ttm_error_set(err, TTM_ENODATA, "'%s' holds %zu %s; name the one you mean, %s for example", folder, n, what,
                       first);
}

static int choose_kept(char **out, const ttm_report_found *found, const char *folder, ttm_error *err) {
  bool of_log = found->log;
  int code = TTM_OK;
  *out = NULL;
  if (!found->log && !found->recording) return TTM_OK;
  if (found->logs > 1) return one_of_several(folder, found->logs, "logs", found->log, err);
  if (found->log && found->recording) code = has_operations(found->log, &of_log, err);
  if (code) return code;
  if (!of_log && found->recordings > 1)
    return one_of_several(folder, found->recordings, "recordings", found->recording, err);
  *out = ttm_str_copy(ttm_str_of(of_log ? found->log : found->recording));
  return *out ? TTM_OK : ttm_error_nomem(err);
}

/* Reports of earlier versions tell no more than the size of the text. Behind a capture there may be a line's end. */
static bool has_size(const char *path, uint64_t then) {
  ttm_source *source;
  if (!then) return true;
  if (ttm_source_open(&source, path, NULL)) return false;
  uint64_t size = ttm_source_size(source);
  bool same = !ttm_source_is_seekable(source) || (size >= then && size - then <= 2);
  ttm_source_close(source);
  return same;
}

/* Whether the file is still, or is a copy of, what the report was made of. It may have been packed since. */
static bool is_unchanged(const ttm_report_found *found, const char *path) {
  if (!found->file.bytes) return has_size(path, found->origin_bytes);
  ttm_fingerprint now;
  if (ttm_fingerprint_of(&now, path)) return false;
  if (ttm_fingerprint_same(&now, &found->file)) return true;
  ttm_str packed = ttm_str_of(base_of(path)), plain = ttm_str_of(base_of(found->origin));
  if (packed.n <= plain.n || !ttm_str_eq(plain_name(path), plain)) return false;
  now = ttm_fingerprint_of_text(path);
  return ttm_fingerprint_same_text(&now, &found->file);
}

static int has_changed(const char *folder, const char *path, ttm_error *err) {
  return ttm_error_set(err, TTM_ENODATA,
                       "'%s' is not, or no longer, the log that the report in '%s' was made of; give the log you mean, "
                       "or look at the report itself: ttmem html '%s'",
                       path, folder, folder);
}

static int is_gone(const ttm_report_found *found, const char *folder, ttm_error *err) {
  bool named = found->origin && *found->origin && strcmp(found->origin, "-") != 0;
  return ttm_error_set(
      err, TTM_ENODATA,
      "'%s' holds a report, but the log it was made of%s%s%s is not there; give the log, or look at the "
      "report itself: ttmem html '%s'",
      folder, named ? ", " : "", named ? found->origin : "", named ? "," : "", folder);
}

static int check_source(char **out, const ttm_report_found *found, const char *folder, bool *changed, ttm_error *err) {
  if (changed) *changed = false;
  if (!*out || is_unchanged(found, *out)) return TTM_OK;
  if (changed) return *changed = true, TTM_OK;
  int code = has_changed(folder, *out, err);
  ttm_free(*out);
  *out = NULL;
  return code;
}

int ttm_report_kept_source(char **out, const ttm_report_found *found, const char *folder, ttm_error *err) {
  int code = choose_kept(out, found, folder, err);
  return code ? code : check_source(out, found, folder, NULL, err);
}

int ttm_report_source(char **out, const char *folder, bool *changed, ttm_error *err) {
  ttm_report_found found;
  *out = NULL;
  int code = ttm_report_find(&found, folder, err);
  if (!code) code = choose_kept(out, &found, folder, err);
  if (!code && !*out && is_file(found.origin) && !(*out = ttm_str_copy(ttm_str_of(found.origin))))
    code = ttm_error_nomem(err);
  if (!code) code = *out ? check_source(out, &found, folder, changed, err) : is_gone(&found, folder, err);
  ttm_report_found_free(&found);
  return code;
}

static bool is_same_file(const char *a, const char *b) {
  struct stat x, y;
  if (!strcmp(a, b)) return true;
  return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* The text without its last line, if that is ours. */
static bool take_markdown(ttm_buf *out, const char *folder, const char *name) {
  enum { LARGEST = 64 << 20 };
  ttm_buf end = {0};
  char *path = ttm_folder_join(folder, name, "_report.md");
  bool fine = path && !is_missing(path) && !ttm_source_read_small(out, path, LARGEST, NULL);
  ttm_report_markdown_end(&end);
  fine = fine && end.n && !end.failed && ttm_str_ends(ttm_buf_str(out), ttm_buf_str(&end));
  out->n = fine ? out->n - end.n : 0;
  ttm_buf_free(&end);
  ttm_free(path);
  return fine;
}

bool ttm_report_kept_markdown(ttm_buf *out, const char *log) {
  ttm_report_found found = {0};
  ttm_fingerprint now = {0};
  ttm_buf name = {0}, folder = {0};
  ttm_report_name(&name, log);
  ttm_buf_char(&name, '\0');
  bool fine = !name.failed && !ttm_report_root(&folder, NULL);
  ttm_buf_printf(&folder, "/%s", fine ? name.at : "");
  ttm_buf_char(&folder, '\0');
  fine = fine && !folder.failed && !ttm_report_find(&found, folder.at, NULL) && !strcmp(found.name, name.at);
  fine = fine && found.origin && is_same_file(found.origin, log);
  fine = fine && !ttm_fingerprint_of(&now, log);
  fine = fine && ttm_fingerprint_same(&now, &found.file) && take_markdown(out, folder.at, name.at);
  ttm_report_found_free(&found);
  ttm_buf_free(&folder);
  ttm_buf_free(&name);
  return fine;
}

int ttm_report_other_origin(char **out, const char *folder, const char *log) {
  ttm_report_found found;
  int code = ttm_report_find(&found, folder, NULL);
  bool other = code != TTM_ENOMEM && found.name && !(found.origin && is_same_file(found.origin, log));
  *out = other ? ttm_str_copy(ttm_str_of(found.origin)) : NULL;
  ttm_report_found_free(&found);
  return code == TTM_ENOMEM || (other && !*out) ? TTM_ENOMEM : TTM_OK;
}

/* ---- Reading ------------------------------------------------------------------------------------------------------ */

static int slurp(ttm_source *source, ttm_buf *out, ttm_error *err) {
  size_t got = 1;
  int code = TTM_OK;
  while (!code && got) {
    if (!ttm_buf_room(out, 1 << 20)) code = ttm_error_nomem(err);
    if (!code) code = ttm_source_read(source, out->at + out->n, 1 << 20, &got, err);
    if (!code) out->n += got;
  }
  return code;
}

/* A file of the report. The source stays NULL when it is missing; it names `path` in errors, so both go together. */
typedef struct beside {
  char *path;
  ttm_source *source;
} beside;

static int open_beside(beside *out, const char *folder, const char *name, const char *suffix, ttm_error *err) {
  out->path = ttm_folder_join(folder, name, suffix);
  if (!out->path) return ttm_error_nomem(err);
  return is_missing(out->path) ? TTM_OK : ttm_source_open(&out->source, out->path, err);
}

static int read_files(ttm_profile **out, const char *name, const char *folder, ttm_buf *findings, ttm_error *err) {
  enum { MEMORY, OPERATIONS, REGISTRY, IR, FINDINGS, FILES };
  static const char *const suffixes[FILES] = {"_memory.json", "_operations.json", "_inputs_registry.json", "_ir.json",
                                              "_findings.json"};
  beside files[FILES] = {{NULL, NULL}};
  int code = TTM_OK;
  for (int i = 0; i < FILES && !code; i++) code = open_beside(&files[i], folder, name, suffixes[i], err);
  if (!code && files[FINDINGS].source) code = slurp(files[FINDINGS].source, findings, err);
  if (!code) {
    ttm_report_files parts = {.memory.source = files[MEMORY].source,
                              .operations.source = files[OPERATIONS].source,
                              .registry.source = files[REGISTRY].source,
                              .ir.source = files[IR].source,
                              .findings = ttm_buf_str(findings)};
    code = ttm_profile_read_report(out, &parts, folder, err);
  }
  for (int i = 0; i < FILES; i++) {
    ttm_source_close(files[i].source);
    ttm_free(files[i].path);
  }
  return code;
}

static int restore_statements(ttm_findings *f, ttm_str findings_json, ttm_error *err) {
  ttm_statements said, made = f->statements;
  int code = ttm_statements_read(&said, findings_json);
  bool restored = !code && said.at.n;
  if (restored) f->statements = said;
  ttm_statements_free(restored ? &made : &said);
  return code ? ttm_error_nomem(err) : TTM_OK;
}

int ttm_report_read_json(ttm_profile **profile, ttm_findings **findings, const char *folder, unsigned threads,
                         ttm_buf *text, ttm_error *err) {
  ttm_report_found found = {0};
  int code = ttm_report_find(&found, folder, err);
  if (!code && !found.memory) code = ttm_error_set(err, TTM_ENODATA, "'%s' holds no memory states", folder);
  if (!code) code = read_files(profile, found.name, folder, text, err);
  if (!code) code = ttm_findings_make(findings, *profile, threads, err);
  if (!code) code = restore_statements(*findings, ttm_buf_str(text), err);
  ttm_report_found_free(&found);
  return code;
}

/* ---- Conclusions alone -------------------------------------------------------------------------------------------- */

/* A figure in 0.001 MB. */
static uint32_t milli_of(ttm_str object, const char *key) {
  double mb = ttm_json_get_number(ttm_json_get_member(object, key), 0);
  return mb > 0 && mb < 4e6 ? (uint32_t)(mb * 1000 + 0.5) : 0;
}

static bool is_true(ttm_str object, const char *key) {
  return ttm_str_eq(ttm_json_get_member(object, key), TTM_LIT("true"));
}

static ttm_peak peak_of(ttm_str row) {
  ttm_str inside = ttm_json_get_member(row, "in_operation_peak");
  uint64_t banks = ttm_json_get_count(ttm_json_get_member(row, "banks"), 0);
  return (ttm_peak){.known = row.n && row.p[0] == '{',
                    .at_least = is_true(row, "lower_bound"),
                    .derived = is_true(row, "measured_is_lower_bound"),
                    .measured = milli_of(row, "measured_per_bank_MB"),
                    .level = {.banks = banks < TTM_NONE ? (uint32_t)banks : 0,
                              .total = milli_of(row, "capacity_per_bank_MB"),
                              .allocated = milli_of(row, "allocated_per_bank_MB"),
                              .free = milli_of(row, "free_per_bank_MB"),
                              .largest = milli_of(row, "largest_free_per_bank_MB")},
                    .state = TTM_NONE,
                    .before = TTM_NONE,
                    .opened = TTM_NONE,
                    .cause = TTM_NONE,
                    .in_op_bytes = ttm_json_get_count(ttm_json_get_member(inside, "allocated_per_bank_B"), 0),
                    .in_op_incident = TTM_NONE};
}

/* The figures of the summary, which are made of operations otherwise. */
static int restore_figures(ttm_findings *f, ttm_str findings_json) {
  ttm_str total = ttm_json_get_member(ttm_json_get_member(findings_json, "operations"), "total"), row;
  ttm_str peaks = ttm_json_get_member(findings_json, "peak"), runs = ttm_json_get_member(findings_json, "runs");
  uint64_t elements = ttm_json_get_count(total, 0);
  f->elements = elements < TTM_NONE ? (uint32_t)elements : 0;
  for (int m = 0; m < TTM_MEMORIES; m++) {
    ttm_str peak = ttm_json_get_member(peaks, ttm_memory_name((ttm_memory)m));
    ttm_str devices = ttm_json_get_member(peak, "devices");
    ttm_device_peaks *all = &f->devices[m];
    *all = (ttm_device_peaks){.at[0] = f->peak[m] = peak_of(peak), .n = 0};
    while (all->n < TTM_DEVICE_KINDS && ttm_json_get_element(&devices, &row)) all->at[all->n++] = peak_of(row);
    if (!all->n) all->n = all->at[0].known;
  }
  while (ttm_json_get_element(&runs, &row))
    if (ttm_vec_push(&f->runs, (ttm_run){0})) return TTM_ENOMEM;
  return TTM_OK;
}

int ttm_report_read_findings(ttm_profile **profile, ttm_findings **findings, ttm_str text, const char *folder,
                             ttm_error *err) {
  ttm_report_files parts = {.findings = text};
  int code = ttm_profile_read_report(profile, &parts, folder, err);
  if (!code) code = ttm_findings_make(findings, *profile, 1, err);
  if (!code) code = restore_statements(*findings, text, err);
  return !code && restore_figures(*findings, text) ? ttm_error_nomem(err) : code;
}

int ttm_report_renew_page(const ttm_report_found *found, ttm_out *out, ttm_error *err) {
  ttm_buf page = {0};
  ttm_source *source = NULL;
  int code = ttm_source_open(&source, found->page, err);
  if (!code) code = slurp(source, &page, err);
  ttm_source_close(source);
  if (!code) code = ttm_html_renew(ttm_buf_str(&page), ttm_str_of(found->name), out, err);
  ttm_buf_free(&page);
  return code;
}
