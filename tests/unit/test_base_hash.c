/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include "unit.h"

/* Tags of pages are kept by browsers from one run of the server to the next. */
static void is_xxh3(void **state) {
  (void)state;
  assert_true(ttm_hash("", 0, 0) == UINT64_C(0x2d06800538d394c2));
  assert_true(ttm_hash(NULL, 0, 0) == ttm_hash("", 0, 0));
}

static void the_seed_counts(void **state) {
  (void)state;
  char text[600];
  memset(text, 'x', sizeof text);
  for (size_t n = 1; n <= sizeof text; n++) assert_true(ttm_hash(text, n, 1) != ttm_hash(text, n, 2));
}

static void a_process_has_one_seed(void **state) {
  (void)state;
  assert_true(ttm_hash_seed() != 0);
  assert_true(ttm_hash_seed() == ttm_hash_seed());
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(is_xxh3),
      cmocka_unit_test(the_seed_counts),
      cmocka_unit_test(a_process_has_one_seed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
