/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "unit.h"

static void pieces_are_aligned_and_apart(void **state) {
  (void)state;
  enum { COUNT = 5000 };
  static unsigned char *pieces[COUNT];
  static size_t sizes[COUNT];
  ttm_arena arena = {0};
  for (size_t i = 0; i < COUNT; i++) {
    sizes[i] = 1 + i * 7 % 97;
    pieces[i] = ttm_arena_alloc(&arena, sizes[i]);
    assert_non_null(pieces[i]);
    assert_int_equal((uintptr_t)pieces[i] % 8, 0);
    memset(pieces[i], (int)(i & 255), sizes[i]);
  }
  for (size_t i = 0; i < COUNT; i++)
    for (size_t k = 0; k < sizes[i]; k++) assert_int_equal(pieces[i][k], i & 255);
  ttm_arena_free(&arena);
}

static void copies_are_packed(void **state) {
  (void)state;
  ttm_arena arena = {0};
  char *a = ttm_arena_copy(&arena, TTM_LIT("abc"));
  char *b = ttm_arena_copy(&arena, TTM_LIT("de"));
  assert_memory_equal(a, "abc", 3);
  assert_memory_equal(b, "de", 2);
  assert_ptr_equal(a + 3, b);
  void *aligned = ttm_arena_alloc(&arena, 16); /* after an odd number of bytes */
  assert_int_equal((uintptr_t)aligned % 8, 0);
  assert_memory_equal(a, "abcde", 5);
  ttm_arena_free(&arena);
}

static void larger_than_a_block(void **state) {
  (void)state;
  ttm_arena arena = {0};
  char *small = ttm_arena_copy(&arena, TTM_LIT("kept"));
  size_t large = 1 << 20;
  char *big = ttm_arena_alloc(&arena, large);
  assert_non_null(big);
  memset(big, 1, large);
  char *after = ttm_arena_alloc(&arena, 100);
  assert_non_null(after);
  memset(after, 2, 100);
  assert_int_equal(big[large - 1], 1);
  assert_memory_equal(small, "kept", 4);
  ttm_arena_free(&arena);
}

static void fills_a_block_to_the_last_byte(void **state) {
  (void)state;
  ttm_arena arena = {0};
  for (int round = 0; round < 3; round++) {
    char *most = ttm_arena_alloc(&arena, 64 * 1024 - 3);
    assert_non_null(most);
    memset(most, 3, 64 * 1024 - 3);
    char *rest = ttm_arena_copy(&arena, TTM_LIT("xyz"));
    assert_memory_equal(rest, "xyz", 3);
    char *next = ttm_arena_alloc(&arena, 8); /* less left than the alignment would skip */
    assert_int_equal((uintptr_t)next % 8, 0);
    memset(next, 4, 8);
  }
  ttm_arena_free(&arena);
}

static void refuses_sizes_that_wrap(void **state) {
  (void)state;
  ttm_arena arena = {0};
  assert_null(ttm_arena_alloc(&arena, SIZE_MAX));
  assert_null(ttm_arena_alloc(&arena, SIZE_MAX - 8));
  char *still = ttm_arena_copy(&arena, TTM_LIT("works"));
  assert_memory_equal(still, "works", 5);
  ttm_arena_free(&arena);
}

static void reuse_after_free(void **state) {
  (void)state;
  ttm_arena arena = {0};
  ttm_arena_free(&arena);
  assert_non_null(ttm_arena_alloc(&arena, 1));
  ttm_arena_free(&arena);
  assert_non_null(ttm_arena_alloc(&arena, 1));
  ttm_arena_free(&arena);
  assert_null(arena.blocks);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pieces_are_aligned_and_apart), cmocka_unit_test(copies_are_packed),
      cmocka_unit_test(larger_than_a_block),          cmocka_unit_test(fills_a_block_to_the_last_byte),
      cmocka_unit_test(refuses_sizes_that_wrap),      cmocka_unit_test(reuse_after_free),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
