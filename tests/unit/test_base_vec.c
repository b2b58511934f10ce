/* SPDX-License-Identifier: Apache-2.0 */
#include "base/vec.h"
#include "unit.h"

static void grows_and_keeps(void **state) {
  (void)state;
  TTM_VEC(uint32_t) v = {0};
  for (uint32_t i = 0; i < 100000; i++) assert_int_equal(ttm_vec_push(&v, i * 3), TTM_OK);
  assert_int_equal(v.n, 100000);
  for (uint32_t i = 0; i < v.n; i++) assert_int_equal(v.at[i], i * 3);
  assert_true(v.cap >= v.n && v.cap < 2 * v.n); /* geometric, not wasteful */
  ttm_vec_free(&v);
  assert_null(v.at);
  assert_int_equal(v.n + v.cap, 0);
}

static void holds_structs(void **state) {
  (void)state;
  TTM_VEC(ttm_str) v = {0};
  assert_int_equal(ttm_vec_push(&v, (ttm_str){"ab", 2}), TTM_OK); /* commas inside the braces */
  assert_view(v.at[0], "ab");
  ttm_vec_free(&v);
}

static void reserve_is_exact_when_large(void **state) {
  (void)state;
  TTM_VEC(uint64_t) v = {0};
  assert_int_equal(ttm_vec_reserve(&v, 1000), TTM_OK);
  assert_true(v.cap >= 1000);
  assert_int_equal(v.n, 0);
  uint64_t *before = v.at;
  for (uint64_t i = 0; i < 1000; i++) assert_int_equal(ttm_vec_push(&v, i), TTM_OK);
  assert_ptr_equal(before, v.at); /* what was reserved does not move */
  assert_int_equal(ttm_vec_reserve(&v, 0), TTM_OK);
  ttm_vec_free(&v);
}

static void refuses_sizes_that_wrap(void **state) {
  (void)state;
  TTM_VEC(uint64_t) v = {0};
  assert_int_equal(ttm_vec_push(&v, 5), TTM_OK);
  assert_int_equal(ttm_vec_grow_((void **)&v.at, &v.cap, SIZE_MAX / 4, sizeof *v.at), TTM_ENOMEM);
  assert_true(v.n == 1 && v.at[0] == 5); /* a refusal leaves it as it was */
  ttm_vec_free(&v);
}

static void free_of_empty(void **state) {
  (void)state;
  TTM_VEC(char) v = {0};
  ttm_vec_free(&v);
  ttm_vec_free(&v);
  assert_null(v.at);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(grows_and_keeps),
      cmocka_unit_test(holds_structs),
      cmocka_unit_test(reserve_is_exact_when_large),
      cmocka_unit_test(refuses_sizes_that_wrap),
      cmocka_unit_test(free_of_empty),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
