/* SPDX-License-Identifier: Apache-2.0 */
/* What the fuzz targets share: the door libFuzzer calls, and the checks that end the run when something does not hold. */
#ifndef TTM_FUZZ_FUZZ_H
#define TTM_FUZZ_FUZZ_H

#include <stdlib.h>

#include "base/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void check(bool holds) {
  if (!holds) abort();
}

/* A view that was given back lies inside the text; empty ones may be anywhere. */
static inline void check_inside(ttm_str text, ttm_str v) {
  check(!v.n || (v.p >= text.p && v.p + v.n <= text.p + text.n));
}

#endif
