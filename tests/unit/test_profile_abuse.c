/* SPDX-License-Identifier: Apache-2.0 */
/* A log may end at any byte and hold any byte: every prefix of a small log, and many byte flips, go through to the reports. */
#include "unit.h"

#include <stdio.h>

#include "analyze/findings.h"
#include "report/run/text.h"

static ttm_str small;

static int load(void **state) {
  (void)state;
  small = file_view(TTMEM_SOURCE "/tests/data/small.log");
  return 0;
}

static int unload(void **state) {
  (void)state;
  free((char *)small.p);
  return 0;
}

/* Reads exactly n bytes (ASan watches the end) and writes the reports. Operations found, or 0. */
static uint64_t digest(const char *bytes, size_t n, bool reports) {
  ttm_str copy = heap_view((ttm_str){bytes, n});
  ttm_profile *p = NULL;
  ttm_error err;
  uint64_t ops = 0;
  int rc = ttm_profile_read_bytes(&p, copy.p, copy.n, NULL, &err);
  free((void *)copy.p);
  if (rc) {
    assert_int_equal(rc, TTM_ENODATA);
    return 0;
  }
  ops = p->ops.n;
  if (reports) {
    ttm_findings *f = NULL;
    ttm_buf out = {0};
    assert_int_equal(ttm_findings_make(&f, p, 1, &err), TTM_OK);
    assert_int_equal(ttm_llm_write(f, TTM_LIT("x"), TTM_DOC_MARKDOWN, false, &out), TTM_OK);
    ttm_buf_free(&out);
    ttm_findings_free(f);
  }
  ttm_profile_free(p);
  return ops;
}

/* Longer prefixes never know fewer operations (but for the one on the cut line, which may look whole and then no more), and
 * the whole log knows them all. */
static void test_every_prefix(void **state) {
  (void)state;
  uint64_t last = 0, whole = 0;
  for (size_t n = 0; n <= small.n; n++) {
    uint64_t ops = digest(small.p, n, n % 16 == 0);
    assert_true(ops + 1 >= last);
    if (small.p[n ? n - 1 : 0] == '\n') assert_true(ops >= whole), whole = ops;
    last = ops;
  }
  assert_int_equal(last, 18);
}

static void test_byte_flips(void **state) {
  (void)state;
  char *copy = malloc(small.n);
  uint64_t seed = 88172645463325252u;
  for (int round = 0; round < 1500; round++) {
    memcpy(copy, small.p, small.n);
    for (int flips = 0; flips <= round % 24; flips++) {
      seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
      copy[seed % small.n] = (char)(seed >> 32);
    }
    digest(copy, small.n, true);
  }
  free(copy);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_prefix), cmocka_unit_test(test_byte_flips)};
  return cmocka_run_group_tests(tests, load, unload);
}
