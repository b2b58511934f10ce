/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the JSON files of a report, all the way to the page: never a crash. The input is cut at NUL bytes into the files. */
#include "fuzz.h"

#include "analyze/findings.h"
#include "profile/read_report.h"
#include "report/files/report.h"
#include "report/files/statements_json.h"
#include "report/run/statements.h"
#include "report/run/text.h"

static ttm_str next_file(ttm_str *rest) {
  size_t end = ttm_str_find_char(*rest, '\0');
  ttm_str file = ttm_str_first(*rest, end);
  *rest = end == TTM_NOT_FOUND ? ttm_str_from(*rest, rest->n) : ttm_str_from(*rest, end + 1);
  return file;
}

/* Statements are read from the findings file itself; the other texts are written from what was read. */
static void write_texts(const ttm_findings *f, ttm_str findings_json) {
  ttm_summary_style style = {.columns = 80, .utf8 = true};
  ttm_statements statements;
  ttm_buf text = {0};
  ttm_doc doc = {.out = &text, .columns = 80, .utf8 = true};
  if (ttm_statements_read(&statements, findings_json)) abort();
  ttm_doc_statements(&doc, &statements);
  if (ttm_doc_end(&doc)) abort();
  ttm_statements_free(&statements);
  if (ttm_summary_write(f, &style, &text) || ttm_llm_write(f, TTM_LIT("fuzz"), TTM_DOC_MARKDOWN, false, &text)) abort();
  ttm_buf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ttm_str rest = {(const char *)data, size};
  ttm_report_files files = {.memory.text = next_file(&rest)};
  files.operations.text = next_file(&rest);
  files.findings = next_file(&rest);
  files.ir.text = next_file(&rest);
  files.registry.text = next_file(&rest);
  ttm_profile *p = NULL;
  ttm_findings *f = NULL;
  ttm_error err;
  if (ttm_profile_read_report(&p, &files, "fuzz", &err)) return 0;
  if (ttm_findings_make(&f, p, 1, &err)) abort();
  write_texts(f, files.findings);
  ttm_out page = ttm_out_memory();
  if (ttm_report_html(f, TTM_LIT("fuzz"), &page, &err)) abort();
  /* The page renews to itself. */
  ttm_out again = ttm_out_memory();
  if (ttm_html_renew(ttm_buf_str(&page.buf), TTM_LIT("fuzz"), &again, &err)) abort();
  if (!ttm_str_eq(ttm_buf_str(&page.buf), ttm_buf_str(&again.buf))) abort();
  ttm_out_abandon(&page);
  ttm_out_abandon(&again);
  ttm_findings_free(f);
  ttm_profile_free(p);
  return 0;
}
