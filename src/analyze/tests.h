/* SPDX-License-Identifier: Apache-2.0 */
/* The tests of a recorded program: did the memory suffice for each? */
#ifndef TTM_ANALYZE_TESTS_H
#define TTM_ANALYZE_TESTS_H

#include "analyze/fit_case.h"
#include "analyze/tell.h"

/* The failure of memory that a test met last, a number of f->incidents; TTM_NONE. */
uint32_t ttm_test_refusal(const ttm_findings *f, uint32_t test);
/* A test that caught what it was refused fits. One that fails for another reason is unknown, but for an assertion: values mean nothing on a mock
 * board, and comparing them comes last. */
ttm_fits ttm_test_fits(const ttm_findings *f, uint32_t test);
/* "fits, passed", "does not fit: out of memory in DRAM ...", "unknown: failed: ..." */
void ttm_say_test(ttm_buf *out, const ttm_findings *f, uint32_t test);

#endif
