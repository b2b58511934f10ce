/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a database of ttnn-visualizer: operations, profile and findings. */
#include "fuzz.h"

#include "analyze/findings.h"
#include "parse/visualizer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ttm_str bytes = {(const char *)data, size};
  ttm_profile *p = NULL;
  ttm_findings *f = NULL;
  if (!ttm_visualizer_detect(bytes) || ttm_profile_read_bytes(&p, bytes.p, bytes.n, NULL, NULL)) return 0;
  check(p->capture.schema != 0);
  if (!ttm_findings_make(&f, p, 1, NULL)) ttm_findings_free(f);
  ttm_profile_free(p);
  return 0;
}
