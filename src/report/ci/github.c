/* SPDX-License-Identifier: Apache-2.0 */
#include "base/format.h"
#include "report/ci/ci.h"
#include "report/run/statements.h"

/* ---- Workflow commands -------------------------------------------------------------------------------------------- */

/* What the runner takes apart: '%' and line ends everywhere, ':' and ',' between properties. */
static void put_escaped(ttm_buf *out, ttm_str text, bool property) {
  ttm_buf clean = {0};
  ttm_put_text(&clean, text, SIZE_MAX, TTM_FORM_UTF8);
  for (size_t i = 0; i < clean.n; i++) {
    char c = clean.at[i];
    if (c == '%' || (property && (c == ':' || c == ',')))
      ttm_buf_printf(out, "%%%02X", (unsigned char)c);
    else
      ttm_buf_char(out, c);
  }
  out->failed |= clean.failed;
  ttm_buf_free(&clean);
}

static void put_property(ttm_buf *out, const char *name, ttm_str value, const char **separator) {
  ttm_buf_printf(out, "%s%s=", *separator, name);
  put_escaped(out, value, true);
  *separator = ",";
}

void ttm_github_command(ttm_buf *out, const char *level, ttm_str file, uint32_t line, ttm_str title, ttm_str text) {
  const char *separator = " ";
  ttm_buf_printf(out, "::%s", level);
  if (file.n) put_property(out, "file", file, &separator);
  if (file.n && line) ttm_buf_printf(out, ",line=%u", line);
  put_property(out, "title", title, &separator);
  ttm_buf_puts(out, "::");
  put_escaped(out, text, false);
  ttm_buf_char(out, '\n');
}

ttm_str ttm_github_path(ttm_str file, const char *root) {
  ttm_str rest = file;
  if (!root || !*root || !ttm_str_take(&rest, ttm_str_of(root))) return file;
  return ttm_str_take(&rest, TTM_LIT("/")) || root[strlen(root) - 1] == '/' ? rest : file;
}

void ttm_github_commands(const ttm_ci *ci, const char *root, ttm_buf *out) {
  for (size_t i = 0; i < ci->checks->at.n; i++) {
    const ttm_check *check = &ci->checks->at.at[i];
    const ttm_statement *s = &ci->checks->said.at.at[check->statement];
    bool bad = check->outcome == TTM_FAILED || check->outcome == TTM_UNJUDGED;
    ttm_buf title = {0}, text = {0};
    if (!bad && s->severity != TTM_SEVERITY_NOTE) continue;
    ttm_buf_puts(&title, "ttmem: ");
    ttm_buf_put(&title, check->name);
    ttm_buf_put(&text, s->headline);
    if (s->detail.n) ttm_buf_puts(&text, ". "), ttm_buf_put(&text, s->detail);
    ttm_github_command(out, bad ? "error" : "notice", ttm_github_path(check->file, root), check->line,
                       ttm_buf_str(&title), ttm_buf_str(&text));
    ttm_buf_free(&title);
    ttm_buf_free(&text);
  }
}

/* ---- The summary of a step ---------------------------------------------------------------------------------------- */

int ttm_github_summary(const ttm_ci *ci, ttm_buf *out) {
  static const char *const heads[] = {"Check", "Result", "What was found"};
  static const char *const results[] = {[TTM_PASSED] = "✅ passed",
                                        [TTM_FAILED] = "❌ failed",
                                        [TTM_SKIPPED] = "⚪ unknown",
                                        [TTM_UNJUDGED] = "⚠️ no answer"};
  const ttm_checks *all = ci->checks;
  ttm_doc d = {.out = out, .form = TTM_DOC_MARKDOWN, .utf8 = true, .comment = true};
  ttm_buf title = {0};
  ttm_buf_printf(&title, "ttmem %s: ", ci->command);
  ttm_buf_put(&title, ci->name);
  ttm_buf_char(&title, '\0');
  if (!title.failed) ttm_doc_heading(&d, title.at);
  ttm_doc_table(&d, heads, 3);
  for (size_t i = 0; i < all->at.n; i++) {
    ttm_doc_cell_text(&d, all->at.at[i].name);
    ttm_doc_cell(&d, "%s", results[all->at.at[i].outcome]);
    ttm_doc_cell_text(&d, all->said.at.at[all->at.at[i].statement].headline);
  }
  ttm_doc_table_end(&d);
  for (size_t i = 0; i < all->at.n; i++) {
    const ttm_statement *s = &all->said.at.at[all->at.at[i].statement];
    if (all->at.at[i].outcome == TTM_FAILED) ttm_doc_statement(&d, &all->said, s, 0);
  }
  out->failed |= title.failed;
  ttm_buf_free(&title);
  return ttm_doc_end(&d);
}
