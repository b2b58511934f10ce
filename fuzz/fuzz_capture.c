/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a graph capture: nodes, profile, findings and the extractors. */
#include "fuzz.h"

#include "analyze/extract.h"
#include "analyze/findings.h"
#include "analyze/pitfalls.h"
#include "parse/capture.h"
#include "report/files/findings_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ttm_str text = {(const char *)data, size};
  ttm_capture_reader nodes;
  ttm_capture_init(&nodes, NULL, text);
  while (ttm_capture_next(&nodes)) {}
  ttm_capture_free(&nodes);
  ttm_profile *p = NULL;
  if (ttm_profile_read_bytes(&p, text.p, text.n, NULL, NULL)) return 0;
  ttm_findings *f = NULL;
  ttm_extracts x;
  ttm_extract(p, &x);
  ttm_core_use use;
  if (!ttm_core_use_make(&use, p)) {
    uint32_t found = ttm_pitfalls_find(p, &x, &use);
    ttm_buf words = {0};
    for (int i = 0; i < TTM_PITFALLS; i++)
      if (found >> i & 1) ttm_pitfall_write(&words, (ttm_pitfall)i, p, &x, &use);
    ttm_buf_free(&words);
  }
  ttm_core_use_free(&use);
  if (!ttm_findings_make(&f, p, 1, NULL)) {
    ttm_buf words = {0};
    ttm_json j = {.out = &words};
    ttm_json_put_object(&j, NULL);
    ttm_json_put_recording(&j, f);
    ttm_json_end(&j);
    if (ttm_json_finish(&j) == TTM_EUSAGE) abort();
    ttm_buf_free(&words);
    ttm_findings_free(f);
  }
  ttm_profile_free(p);
  return 0;
}
