/* SPDX-License-Identifier: Apache-2.0 */
#include "base/intern.h"

#include <stdio.h>

#include "base/hash.h"
#include "unit.h"

static uint32_t add(ttm_intern *pool, ttm_str s) {
  uint32_t id = UINT32_MAX;
  assert_int_equal(ttm_intern_add(pool, s, &id), TTM_OK);
  return id;
}

static void same_text_same_id(void **state) {
  (void)state;
  ttm_intern pool = {0};
  char changing[] = "ttnn.add";
  uint32_t a = add(&pool, ttm_str_of(changing));
  changing[0] = 'X'; /* the pool keeps its own copy */
  assert_int_equal(add(&pool, TTM_LIT("ttnn.add")), a);
  assert_int_not_equal(add(&pool, TTM_LIT("ttnn.ad")), a);
  assert_view(ttm_intern_get(&pool, a), "ttnn.add");
  ttm_intern_free(&pool);
}

static void empty_is_zero(void **state) {
  (void)state;
  ttm_intern pool = {0};
  assert_int_equal(add(&pool, TTM_LIT("")), 0);
  assert_view(ttm_intern_get(&pool, 0), "");
  assert_int_equal(ttm_intern_find(&pool, TTM_LIT("a")), 0);
  assert_int_equal(add(&pool, TTM_LIT("a")), 1); /* ids are dense, from 1 */
  assert_int_equal(add(&pool, TTM_LIT("")), 0);
  assert_view(ttm_intern_get(&pool, 2), "");
  assert_view(ttm_intern_get(&pool, UINT32_MAX), "");
  ttm_intern_free(&pool);
  ttm_intern_free(&pool);
}

static void bytes_of_any_kind(void **state) {
  (void)state;
  ttm_intern pool = {0};
  uint32_t nul = add(&pool, TTM_LIT("\0")), two = add(&pool, TTM_LIT("\0\0")), high = add(&pool, TTM_LIT("\xff\xfe"));
  assert_true(nul != two && two != high && nul != high);
  assert_view(ttm_intern_get(&pool, two), "\0\0");
  assert_int_equal(ttm_intern_find(&pool, TTM_LIT("\xff\xfe")), high);
  ttm_intern_free(&pool);
}

static void growth_keeps_ids_and_addresses(void **state) {
  (void)state;
  enum { COUNT = 50000 };
  ttm_intern pool = {0};
  char text[32];
  uint32_t first = add(&pool, TTM_LIT("the first one"));
  const char *where = ttm_intern_get(&pool, first).p;
  for (uint32_t i = 0; i < COUNT; i++) {
    snprintf(text, sizeof text, "loc_%u", i);
    assert_int_equal(add(&pool, ttm_str_of(text)), i + 2);
  }
  for (uint32_t i = 0; i < COUNT; i++) {
    snprintf(text, sizeof text, "loc_%u", i);
    assert_int_equal(ttm_intern_find(&pool, ttm_str_of(text)), i + 2);
    assert_true(ttm_str_eq(ttm_intern_get(&pool, i + 2), ttm_str_of(text)));
  }
  assert_ptr_equal(ttm_intern_get(&pool, first).p, where);
  assert_int_equal(ttm_intern_find(&pool, TTM_LIT("loc_50000")), 0);
  ttm_intern_free(&pool);
}

/* A string whose hash another one has is told apart by its bytes. */
static void collisions(void **state) {
  (void)state;
  ttm_intern pool = {0};
  uint32_t one = add(&pool, TTM_LIT("one"));
  uint64_t hash = ttm_hash("two", 3, pool.seed);
  assert_int_equal(ttm_map_set(&pool.ids, hash, one), TTM_OK);
  assert_int_equal(ttm_intern_find(&pool, TTM_LIT("two")), 0);
  uint32_t two = add(&pool, TTM_LIT("two"));
  assert_int_not_equal(two, one);
  assert_int_equal(add(&pool, TTM_LIT("two")), two);
  assert_int_equal(ttm_intern_find(&pool, TTM_LIT("two")), two);
  assert_view(ttm_intern_get(&pool, two), "two");
  ttm_intern_free(&pool);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(same_text_same_id), cmocka_unit_test(empty_is_zero),
      cmocka_unit_test(bytes_of_any_kind), cmocka_unit_test(growth_keeps_ids_and_addresses),
      cmocka_unit_test(collisions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
