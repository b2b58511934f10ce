/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/facts.h"

#include "base/format.h"
#include "report/files/statements_json.h"
#include "report/run/statements.h"

ttm_panel *ttm_facts_panel(const ttm_screen *screen, const ttm_catalog *catalog, const ttm_catalog_entry *entry) {
  ttm_text_form form = ttm_screen_form(screen);
  ttm_buf out = {0}, findings = {0};
  ttm_doc doc = {.out = &out, .columns = (unsigned)screen->columns - 2, .color = true, .utf8 = screen->utf8};
  ttm_statements all = {0};
  ttm_catalog_findings(catalog, entry, &findings);
  ttm_buf_puts(&out,
               "\x1b[33mIts log is gone, and so are its memory states: this is what its findings hold.\x1b[0m\n\n");
  ttm_buf_puts(&out, "\x1b[1mLog\x1b[0m  ");
  ttm_put_text(&out, ttm_str_of(*entry->log ? entry->log : "unknown"), doc.columns - 5, form);
  ttm_buf_puts(&out, "\n     ");
  ttm_put_counted(&out, entry->operations, "operation");
  ttm_buf_puts(&out, "\n\n");
  if (!entry->has_findings) {
    ttm_buf_puts(&out, "This report has no findings; s in the list serves its files.\n");
  } else {
    out.failed |= ttm_statements_read(&all, ttm_buf_str(&findings)) != TTM_OK;
    ttm_doc_statements(&doc, &all);
    ttm_doc_end(&doc);
  }
  ttm_statements_free(&all);
  ttm_buf_free(&findings);
  return ttm_text_panel("Report", entry->folder, &out);
}
