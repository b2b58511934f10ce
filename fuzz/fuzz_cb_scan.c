/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a host source or as a kernel: a scan and its reports, never a crash. */
#include "fuzz.h"

#include "base/alloc.h"
#include "cbscan/report.h"

static void scan(const char *path, ttm_str text) {
  static const cbs_define defines[] = {{{"n", 1}, 3}, {{"tiles", 5}, -1}};
  cbs_options options = {.threads = 1, .arch = TTM_ARCH_WORMHOLE, .defines = defines, .define_count = 2};
  cbs_scan *result;
  ttm_error err;
  if (cbs_scan_text(&result, path, text, &options, &err)) return;
  ttm_buf out = {0};
  ttm_doc doc = {.out = &out, .form = TTM_DOC_HTML, .columns = 80};
  ttm_doc_begin(&doc, "fuzz");
  cbs_write(&doc, result);
  ttm_doc_end(&doc);
  ttm_json json = {.out = &out};
  cbs_json(&json, NULL, result);
  if (ttm_json_finish(&json) == TTM_EUSAGE) abort();
  ttm_buf_free(&out);
  cbs_scan_free(result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > 1 << 16) return 0;
  scan(size & 1 ? "factory.cpp" : "kernels/reader.hpp", (ttm_str){(const char *)data, size});
  return 0;
}
