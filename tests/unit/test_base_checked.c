/* SPDX-License-Identifier: Apache-2.0 */
#include "base/checked.h"
#include "unit.h"

static void add(void **state) {
  (void)state;
  assert_true(ttm_add_sat(2, 3) == 5);
  assert_true(ttm_add_sat(UINT64_MAX, 0) == UINT64_MAX);
  assert_true(ttm_add_sat(UINT64_MAX - 1, 1) == UINT64_MAX);
  assert_true(ttm_add_sat(UINT64_MAX, 1) == UINT64_MAX);
  assert_true(ttm_add_sat(UINT64_MAX, UINT64_MAX) == UINT64_MAX);
}

static void multiply(void **state) {
  (void)state;
  assert_true(ttm_mul_sat(6, 7) == 42);
  assert_true(ttm_mul_sat(0, UINT64_MAX) == 0);
  assert_true(ttm_mul_sat(UINT64_MAX, 1) == UINT64_MAX);
  assert_true(ttm_mul_sat(UINT64_C(1) << 32, UINT64_C(1) << 32) == UINT64_MAX);
  assert_true(ttm_mul_sat(UINT64_C(1) << 32, UINT64_C(1) << 31) == UINT64_C(1) << 63);
}

static void divide_up(void **state) {
  (void)state;
  assert_true(ttm_div_up(0, 32) == 0);
  assert_true(ttm_div_up(1, 32) == 1);
  assert_true(ttm_div_up(32, 32) == 1);
  assert_true(ttm_div_up(33, 32) == 2);
  assert_true(ttm_div_up(UINT64_MAX, 2) == UINT64_C(1) << 63);
  assert_true(ttm_div_up(UINT64_MAX, 1) == UINT64_MAX);
  assert_true(ttm_div_up(5, 0) == 0);
}

static void round_to_multiples(void **state) {
  (void)state;
  assert_true(ttm_round_up(0, 32) == 0);
  assert_true(ttm_round_up(1, 32) == 32);
  assert_true(ttm_round_up(64, 32) == 64);
  assert_true(ttm_round_up(65, 48) == 96);
  assert_true(ttm_round_up(7, 0) == 7);
  assert_true(ttm_round_up(UINT64_MAX, 32) == UINT64_MAX);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(add),
      cmocka_unit_test(multiply),
      cmocka_unit_test(divide_up),
      cmocka_unit_test(round_to_multiples),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
