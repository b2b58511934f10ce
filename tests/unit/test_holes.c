/* SPDX-License-Identifier: Apache-2.0 */
/* The holes of a bank against a bank of single bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "profile/load/holes.h"

enum { BASE = 1000, BYTES = 200 };

static uint64_t brute_largest(const bool *taken) {
  uint64_t largest = 0, run = 0;
  for (size_t i = 0; i < BYTES; i++) {
    run = taken[i] ? 0 : run + 1;
    if (run > largest) largest = run;
  }
  return largest;
}

static uint32_t next(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

/* Takes and gives at random, overlapping and reaching over both ends of the bank. */
static void test_random(void **unused) {
  (void)unused;
  for (uint32_t seed = 1; seed <= 50; seed++) {
    bool taken[BYTES] = {0};
    ttm_holes holes = {0};
    uint32_t state = seed;
    assert_int_equal(ttm_holes_begin(&holes, BASE, BYTES), TTM_OK);
    for (int step = 0; step < 400; step++) {
      bool take = next(&state) % 2;
      uint64_t at = next(&state) % BYTES, bytes = next(&state) % 40;
      if (!take && at + bytes > BYTES) bytes = BYTES - at; /* nobody gives back what lies outside */
      for (uint64_t i = at; i < at + bytes && i < BYTES; i++) taken[i] = take;
      int rc = take ? ttm_holes_take(&holes, BASE + at, bytes) : ttm_holes_give(&holes, BASE + at, bytes);
      assert_int_equal(rc, TTM_OK);
      assert_int_equal(ttm_holes_largest(&holes), brute_largest(taken));
      for (size_t i = 1; i < holes.at.n; i++) assert_true(holes.at.at[i - 1].end < holes.at.at[i].at);
    }
    ttm_holes_free(&holes);
  }
}

static void test_not_known(void **unused) {
  (void)unused;
  ttm_holes holes = {0};
  assert_int_equal(ttm_holes_take(&holes, 0, 100), TTM_OK);
  assert_int_equal(ttm_holes_give(&holes, 0, 100), TTM_OK);
  assert_int_equal(holes.at.n, 0);
  assert_int_equal(ttm_holes_begin(&holes, 0, 0), TTM_OK);
  assert_int_equal(ttm_holes_largest(&holes), 0);
  assert_int_equal(ttm_holes_begin(&holes, UINT64_MAX - 5, 100), TTM_OK); /* as far as addresses go */
  assert_int_equal(ttm_holes_largest(&holes), 5);
  ttm_holes_free(&holes);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_not_known)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
