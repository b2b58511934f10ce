/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a memory report of tt-mlir: a profile or a reason, and findings of whatever profile it gives. */
#include "fuzz.h"

#include "analyze/findings.h"
#include "base/buf.h"
#include "parse/memory_report.h"
#include "profile/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ttm_buf text = {0};
  ttm_profile *profile = NULL;
  ttm_findings *findings = NULL;
  ttm_error err;
  if (!ttm_memory_report_detect((ttm_str){(const char *)data, size})) ttm_buf_puts(&text, "[{\"loc\":\"a\",");
  ttm_buf_put(&text, (ttm_str){(const char *)data, size});
  int status = ttm_profile_read_bytes(&profile, text.at, text.n, NULL, &err);
  if (!status && (!profile->after_ops || !profile->states.n)) abort();
  for (int m = 0; !status && m < TTM_HELD_MEMORIES; m++)
    for (size_t i = 1; i < profile->held[m].n; i++)
      check(profile->held[m].at[i - 1].address <= profile->held[m].at[i].address);
  if (!status) ttm_findings_make(&findings, profile, 1, &err);
  ttm_findings_free(findings);
  ttm_profile_free(profile);
  ttm_buf_free(&text);
  return 0;
}
