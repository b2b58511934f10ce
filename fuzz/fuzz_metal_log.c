/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a TT-Metal log or memory report, and the report on it in every form: no crash, nothing raw in HTML or a terminal. */
#include "fuzz.h"

#include "report/cb/cb_log.h"

static void write_form(const ttm_device_log *log, ttm_doc_form form) {
  ttm_buf out = {0};
  ttm_clash_hints hints = {0};
  ttm_doc doc = {.out = &out, .form = form, .columns = 80, .utf8 = true};
  ttm_doc_begin(&doc, "fuzz");
  ttm_cb_log_write(&doc, log, TTM_LIT("input"), &hints);
  ttm_doc_end(&doc);
  ttm_str text = ttm_buf_str(&out);
  if (ttm_str_find_char(text, '\x1b') != TTM_NOT_FOUND) abort();
  if (form == TTM_DOC_HTML && ttm_str_contains(text, TTM_LIT("<script"))) abort();
  ttm_buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ttm_device_log log;
  ttm_error err;
  ttm_clash_hints hints = {0};
  ttm_buf json = {0};
  if (!ttm_device_log_read_bytes(&log, (ttm_str){(const char *)data, size}, &err)) {
    for (int form = TTM_DOC_TERMINAL; form <= TTM_DOC_HTML; form++) write_form(&log, (ttm_doc_form)form);
    ttm_json j = {.out = &json};
    ttm_cb_log_json(&j, NULL, &log, TTM_LIT("input"), &hints);
    if (ttm_json_finish(&j) == TTM_EUSAGE) abort();
    for (size_t i = 0; i < json.n; i++) {
      if ((unsigned char)json.at[i] < 0x20 && json.at[i] != '\n') abort();
    }
  }
  ttm_buf_free(&json);
  ttm_device_log_free(&log);
  return 0;
}
