/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"

#include "base/hash.h"
#include "ttmem/error.h"
#include "unit.h"

static void set(ttm_map *map, uint64_t key, uint32_t value) { assert_int_equal(ttm_map_set(map, key, value), TTM_OK); }

static void an_empty_map_has_nothing(void **state) {
  (void)state;
  ttm_map map = {0};
  assert_int_equal(ttm_map_get(&map, 0, 7), 7);
  assert_int_equal(ttm_map_remove(&map, 0, 7), 7);
  ttm_map_clear(&map);
  set(&map, 0, 1); /* clearing what has no room yet hides nothing that comes later */
  assert_int_equal(ttm_map_get(&map, 0, 7), 1);
  ttm_map_free(&map);
  ttm_map_free(&map);
}

static void keys_of_all_64_bits(void **state) {
  (void)state;
  ttm_map map = {0};
  for (unsigned bit = 0; bit < 64; bit++) set(&map, UINT64_C(1) << bit, bit);
  set(&map, 0, 64);
  set(&map, UINT64_MAX, 65);
  for (unsigned bit = 0; bit < 64; bit++) assert_int_equal(ttm_map_get(&map, UINT64_C(1) << bit, 99), bit);
  assert_int_equal(ttm_map_get(&map, 0, 99), 64);
  assert_int_equal(ttm_map_get(&map, UINT64_MAX, 99), 65);
  assert_int_equal(ttm_map_get(&map, 3, 99), 99);
  ttm_map_free(&map);
}

/* Against a plain array: sets, changes, removals and clears, in rows that wrap around the end and through every growth. */
static void does_what_an_array_does(void **state) {
  (void)state;
  enum { KEYS = 5000, STEPS = 400000, NONE = UINT32_MAX };
  static uint32_t truth[KEYS];
  ttm_map map = {0};
  memset(truth, 0xFF, sizeof truth);
  for (uint32_t step = 0; step < STEPS; step++) {
    uint64_t random = ttm_hash(&step, sizeof step, 1);
    uint32_t range = step < STEPS / 2 ? 60 : KEYS, key = (uint32_t)(random % range);
    if (step % 40009 == 0) {
      ttm_map_clear(&map);
      memset(truth, 0xFF, sizeof truth);
    } else if (random >> 62 == 1) {
      assert_int_equal(ttm_map_remove(&map, key, NONE), truth[key]);
      truth[key] = NONE;
    } else {
      set(&map, key, step);
      truth[key] = step;
    }
    uint32_t other = (uint32_t)(random >> 32) % range;
    assert_int_equal(ttm_map_get(&map, other, NONE), truth[other]);
  }
  size_t n = 0;
  for (uint32_t key = 0; key < KEYS; key++) {
    assert_int_equal(ttm_map_get(&map, key, NONE), truth[key]);
    n += truth[key] != NONE;
  }
  assert_true(n > KEYS / 2);
  assert_int_equal(map.n, n);
  ttm_map_free(&map);
}

static void a_steady_number_of_keys_needs_no_more_room(void **state) {
  (void)state;
  ttm_map map = {0};
  for (uint32_t i = 0; i < 100; i++) set(&map, i, i);
  size_t slots = map.slot_count;
  for (uint32_t i = 100; i < 100000; i++) {
    assert_int_equal(ttm_map_remove(&map, i - 100, 0), i - 100);
    set(&map, i, i);
  }
  assert_int_equal(map.slot_count, slots);
  ttm_map_free(&map);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_empty_map_has_nothing),
      cmocka_unit_test(keys_of_all_64_bits),
      cmocka_unit_test(does_what_an_array_does),
      cmocka_unit_test(a_steady_number_of_keys_needs_no_more_room),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
