/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "report/write/doc.h"
#include "unit.h"

/* A list of two reports, at that many columns. */
static void put(ttm_buf *out, ttm_doc_form form, unsigned columns) {
  static const char *const heads[] = {"Report", ">UTC", ">Size", "<Failure"};
  ttm_doc doc = {.out = out, .form = form, .columns = columns};
  ttm_doc_begin(&doc, "Reports");
  ttm_doc_table(&doc, heads, sizeof heads / sizeof *heads);
  ttm_doc_cell(&doc, "llama-small-with-two-runs-on-the-real-allocator-and-more");
  ttm_doc_cell(&doc, "2026-11-18 13:33");
  ttm_doc_cell(&doc, "1.27 MB");
  ttm_doc_cell(&doc, "Out of memory in DRAM: fragmented, short by 1.33 MB per bank");
  ttm_doc_cell(&doc, "fine");
  ttm_doc_cell(&doc, "2026-11-18 13:34");
  ttm_doc_cell(&doc, "24.6 KB");
  ttm_doc_cell(&doc, "-");
  ttm_doc_table_end(&doc);
  assert_int_equal(ttm_doc_end(&doc), TTM_OK);
}

static void is_put(ttm_doc_form form, unsigned columns, const char *wanted) {
  ttm_buf out = {0};
  put(&out, form, columns);
  if (!ttm_str_contains(ttm_buf_str(&out), ttm_str_of(wanted)))
    fail_msg("no\n%s\nin\n%.*s", wanted, TTM_ARGS(ttm_buf_str(&out)));
  ttm_buf_free(&out);
}

/* Beside the others while there is room; below its row otherwise, and nothing there when it is empty. Names end their lines at a hyphen, dates do not. */
static void the_last_column_goes_below(void **state) {
  (void)state;
  is_put(TTM_DOC_TERMINAL, 160,
         "llama-small-with-two-runs-on-the-real-allocator-and-more  2026-11-18 13:33  1.27 MB  Out of memory in DRAM: "
         "fragmented, short by 1.33 MB per bank\n"
         "fine                                                      2026-11-18 13:34  24.6 KB  -\n");
  is_put(TTM_DOC_TERMINAL, 72,
         "Report                                                      UTC     Size\n"
         "llama-small-with-two-runs-on-the-real-         2026-11-18 13:33  1.27 MB\n"
         "allocator-and-more\n"
         "    Failure: Out of memory in DRAM: fragmented, short by 1.33 MB per\n"
         "    bank\n"
         "fine                                           2026-11-18 13:34  24.6 KB\n");
}

static void its_mark_is_shown_nowhere(void **state) {
  (void)state;
  is_put(TTM_DOC_MARKDOWN, 72, "| Report | UTC | Size | Failure |");
  is_put(TTM_DOC_CSV, 72, "Report,UTC,Size,Failure\r\n");
  is_put(TTM_DOC_JSON, 72, "\"Failure\"");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_last_column_goes_below),
      cmocka_unit_test(its_mark_is_shown_nowhere),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
