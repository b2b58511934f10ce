/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a decision trace of tt-mlir beside a small run. */
#include "fuzz.h"

#include "analyze/findings.h"
#include "profile/profile.h"

static const char RUN[] =
    "RuntimeTTNN | DEBUG | Starting execution of program: main\n"
    "RuntimeTTNN | DEBUG | Executing operation: %0 = \"ttnn.matmul\"() : () -> tensor<32x32xbf16> "
    "loc(\"layer.0|matmul\")\n"
    "RuntimeTTNN | DEBUG | Executing operation: %1 = \"ttnn.relu\"(%0) : (tensor<32x32xbf16>) -> tensor<32x32xbf16> "
    "loc(\"layer.0|relu\")\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ttm_profile *profile = NULL;
  ttm_findings *findings = NULL;
  ttm_decision_trace trace;
  ttm_error err;
  if (ttm_decision_trace_read_bytes(&trace, (ttm_str){(const char *)data, size}, &err)) {
    ttm_decision_trace_free(&trace);
    return 0;
  }
  check(!ttm_profile_read_bytes(&profile, RUN, sizeof RUN - 1, NULL, &err));
  check(!ttm_vec_push(&profile->plans, trace)); /* frees it with the profile */
  check(!ttm_findings_make(&findings, profile, 1, &err));
  const ttm_decisions *d = &findings->decisions.at[0];
  check(d->by_location + d->by_order + d->missing == profile->plans.at[0].ops.n);
  check(d->moved <= d->layouts && d->layouts <= d->rows.n && d->compared <= d->rows.n);
  for (size_t i = 1; i < d->rows.n; i++) check(d->rows.at[i - 1].apart >= d->rows.at[i].apart);
  ttm_findings_free(findings);
  ttm_profile_free(profile);
  return 0;
}
