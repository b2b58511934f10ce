/* SPDX-License-Identifier: Apache-2.0 */
/* Findings for what runs pipelines: SARIF 2.1.0 (code scanning), and GitHub's annotations with the summary of a step. */
#include "report/ci/ci.h"
#include "base/format.h"
#include "cbscan/report.h"
#include "ttmem/version.h"

enum { SHOWN = 100 };

static const struct rule {
  const char *id, *text;
  ttm_cb_level level; /* at most */
} RULES[] = {
    {"deadlock", "A kernel waits for, or reserves, more pages than the buffer holds", TTM_CB_ERROR},
    {"does-not-divide", "The total size is not a multiple of the page size", TTM_CB_ERROR},
    {"index-too-large", "No core has that many circular buffers", TTM_CB_ERROR},
    {"over-l1", "The buffers of a program on the same cores take more than a core's L1", TTM_CB_ERROR},
    {"never-created", "A kernel uses an index that the program does not create", TTM_CB_WARNING},
    {"never-consumed", "A buffer is pushed but never waited for", TTM_CB_WARNING},
    {"never-produced", "A buffer is waited for but never pushed", TTM_CB_WARNING},
    {"uneven-batch", "Pushes do not divide the buffer: one batch crosses its end", TTM_CB_WARNING},
    {"single-buffered", "One page: producer and consumer take turns", TTM_CB_NOTE},
};
enum { RULE_COUNT = sizeof RULES / sizeof *RULES };

/* ---- SARIF -------------------------------------------------------------------------------------------------------- */

static void put_text(ttm_json *j, const char *key, ttm_str text) {
  ttm_json_put_object(j, key);
  ttm_json_put_str(j, "text", text);
  ttm_json_end(j);
}

/* A relative path is one of the repository; everything but letters, digits and a few marks is escaped. */
static void put_uri(ttm_json *j, ttm_str path) {
  static const char plain[] = "-._~/";
  ttm_buf uri = {0};
  bool absolute = path.n && path.p[0] == '/';
  while (ttm_str_take(&path, TTM_LIT("./"))) {}
  if (absolute) ttm_buf_puts(&uri, "file://");
  for (size_t i = 0; i < path.n; i++) {
    unsigned char c = (unsigned char)path.p[i];
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || ttm_is_digit((char)c);
    letter || (c && strchr(plain, c)) ? ttm_buf_char(&uri, (char)c) : ttm_buf_printf(&uri, "%%%02X", c);
  }
  ttm_json_put_object(j, "artifactLocation");
  ttm_json_put_words(j, "uri", &uri);
  if (!absolute) ttm_json_put_name(j, "uriBaseId", "%SRCROOT%");
  ttm_json_end(j);
}

static void put_location(ttm_json *j, ttm_str path, uint32_t line) {
  ttm_json_put_array(j, "locations");
  ttm_json_put_object(j, NULL);
  ttm_json_put_object(j, "physicalLocation");
  put_uri(j, path);
  if (line) {
    ttm_json_put_object(j, "region");
    ttm_json_put_u64(j, "startLine", line);
    ttm_json_end(j);
  }
  ttm_json_end(j);
  ttm_json_end(j);
  ttm_json_end(j);
}

static void put_tool(ttm_json *j) {
  ttm_json_put_object(j, "tool");
  ttm_json_put_sections(j, "driver");
  ttm_json_put_name(j, "name", "ttmem cb scan");
  ttm_json_put_name(j, "semanticVersion", TTM_VERSION);
  ttm_json_put_rows(j, "rules");
  for (size_t i = 0; i < RULE_COUNT; i++) {
    ttm_json_put_object(j, NULL);
    ttm_json_put_name(j, "id", RULES[i].id);
    put_text(j, "shortDescription", ttm_str_of(RULES[i].text));
    ttm_json_put_object(j, "defaultConfiguration");
    ttm_json_put_name(j, "level", ttm_cb_level_name(RULES[i].level));
    ttm_json_end(j);
    ttm_json_end(j);
  }
  ttm_json_end(j);
  ttm_json_end(j);
  ttm_json_end(j);
}

static void put_results(ttm_json *j, const cbs_scan *scan) {
  for (size_t i = 0; scan && i < scan->findings.n; i++) {
    const cbs_finding *f = &scan->findings.at[i];
    size_t rule = 0;
    while (rule < RULE_COUNT && strcmp(RULES[rule].id, f->rule) != 0) rule++;
    ttm_json_put_object(j, NULL);
    ttm_json_put_name(j, "ruleId", f->rule);
    if (rule < RULE_COUNT) ttm_json_put_u64(j, "ruleIndex", rule);
    ttm_json_put_name(j, "level", ttm_cb_level_name(f->level));
    put_text(j, "message", f->text);
    put_location(j, ttm_str_of(scan->files.at[f->file].path), f->line);
    ttm_json_end(j);
  }
}

/* A file that could not be read: the scan is not whole. */
static void put_unread(ttm_json *j, const cbs_scan *scan) {
  for (size_t i = 0; scan && i < scan->files.n; i++) {
    const cbs_file *file = &scan->files.at[i];
    if (!file->failure) continue;
    ttm_json_put_object(j, NULL);
    ttm_json_put_name(j, "level", "error");
    put_text(j, "message", ttm_str_of(file->failure));
    put_location(j, ttm_str_of(file->path), 0);
    ttm_json_end(j);
  }
}

static bool is_whole(const cbs_scan *scan) {
  for (size_t i = 0; scan && i < scan->files.n; i++)
    if (scan->files.at[i].failure) return false;
  return true;
}

int cbs_sarif(ttm_buf *out, const cbs_scan *const scans[2]) {
  ttm_json json = {.out = out}, *j = &json;
  ttm_json_put_sections(j, NULL);
  ttm_json_put_name(j, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
  ttm_json_put_name(j, "version", "2.1.0");
  ttm_json_put_rows(j, "runs");
  ttm_json_put_sections(j, NULL);
  put_tool(j);
  ttm_json_put_array(j, "invocations");
  ttm_json_put_object(j, NULL);
  ttm_json_put_bool(j, "executionSuccessful", is_whole(scans[0]) && is_whole(scans[1]));
  ttm_json_put_rows(j, "toolExecutionNotifications");
  for (int s = 0; s < 2; s++) put_unread(j, scans[s]);
  ttm_json_end(j);
  ttm_json_end(j);
  ttm_json_end(j);
  ttm_json_put_rows(j, "results");
  for (int s = 0; s < 2; s++) put_results(j, scans[s]);
  ttm_json_end(j);
  ttm_json_end(j);
  ttm_json_end(j);
  ttm_json_end(j);
  return ttm_json_finish(j);
}

/* ---- GitHub ------------------------------------------------------------------------------------------------------- */

/* GitHub shows the first ten of each level: errors come first. */
void cbs_github_commands(ttm_buf *out, const cbs_scan *scan, const char *root) {
  static const char *const levels[] = {
      [TTM_CB_ERROR] = "error", [TTM_CB_WARNING] = "warning", [TTM_CB_NOTE] = "notice"};
  for (ttm_cb_level level = 0; level < TTM_CB_LEVELS; level++)
    for (size_t i = 0; scan && i < scan->findings.n; i++) {
      const cbs_finding *f = &scan->findings.at[i];
      if (f->level == level)
        ttm_github_command(out, levels[level], ttm_github_path(ttm_str_of(scan->files.at[f->file].path), root), f->line,
                           ttm_str_of(f->rule), f->text);
    }
}

int cbs_github_summary(ttm_buf *out, const cbs_scan *scan) {
  static const char *const heads[] = {"Level", "Finding", "Place", "What was found"};
  ttm_doc d = {.out = out, .form = TTM_DOC_MARKDOWN, .utf8 = true, .comment = true};
  ttm_doc_heading(&d, "ttmem cb scan");
  ttm_doc_line(&d, "%zu findings in %zu files.", scan->findings.n, scan->files.n);
  if (scan->findings.n) ttm_doc_table(&d, heads, 4);
  for (size_t i = 0; i < scan->findings.n && i < SHOWN; i++) {
    const cbs_finding *f = &scan->findings.at[i];
    ttm_doc_cell(&d, "%s", ttm_cb_level_name(f->level));
    ttm_doc_cell(&d, "%s", f->rule);
    ttm_doc_cell(&d, "%s:%u", scan->files.at[f->file].path, f->line);
    ttm_doc_cell_text(&d, f->text);
  }
  ttm_doc_table_end(&d);
  if (scan->findings.n > SHOWN) ttm_doc_line(&d, "And %zu more.", scan->findings.n - SHOWN);
  return ttm_doc_end(&d);
}
