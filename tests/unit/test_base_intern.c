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

/* Strings that all want the same slot of a small table: told apart by their bytes, before and after it grows. */
static void collisions(void **state) {
  (void)state;
  enum { WANTED = 40, MASK = 4095 };
  static char texts[WANTED][16];
  ttm_intern pool = {0};
  uint64_t home = ttm_hash_bytes("0", 1).lo & MASK;
  uint32_t found = 0;
  for (uint32_t i = 0; found < WANTED; i++) {
    snprintf(texts[found], sizeof *texts, "%u", i);
    if ((ttm_hash_bytes(texts[found], strlen(texts[found])).lo & MASK) == home) found++;
  }
  for (uint32_t i = 0; i < WANTED; i++) {
    assert_int_equal(ttm_intern_find(&pool, ttm_str_of(texts[i])), 0);
    assert_int_equal(add(&pool, ttm_str_of(texts[i])), i + 1);
    for (uint32_t k = 0; k <= i; k++) assert_int_equal(ttm_intern_find(&pool, ttm_str_of(texts[k])), k + 1);
  }
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
