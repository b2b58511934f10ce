/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a recording of ttmem live: a profile or a reason, and findings of whatever profile it gives. */
#include "fuzz.h"

#include "analyze/findings.h"
#include "base/buf.h"
#include "profile/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ttm_buf text = {0};
  ttm_profile *profile = NULL;
  ttm_findings *findings = NULL;
  ttm_error err;
  ttm_buf_puts(&text, "ttmem-live 1\n");
  ttm_buf_put(&text, (ttm_str){(const char *)data, size});
  int status = ttm_profile_read_bytes(&profile, text.at, text.n, NULL, &err);
  if (!status && (profile->kind != TTM_LOG_LIVE || !profile->states.n)) abort();
  if (!status && profile->tensors.n) abort();
  if (!status && !ttm_findings_make(&findings, profile, 1, &err) && findings->leaks.n) abort();
  ttm_findings_free(findings);
  ttm_profile_free(profile);
  ttm_buf_free(&text);
  return 0;
}
