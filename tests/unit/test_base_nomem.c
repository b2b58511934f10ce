/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of the base containers made to fail in turn. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "base/vec.h"
#include "starving.h"

static void vec_keeps_what_it_has(void **state) {
  (void)state;
  TTM_VEC(int) v = {0};
  starve_allowed = 1;
  size_t pushed = 0;
  while (ttm_vec_push(&v, (int)pushed) == TTM_OK) pushed++;
  assert_true(pushed > 0);
  assert_int_equal(v.n, pushed);
  for (size_t i = 0; i < pushed; i++) assert_int_equal(v.at[i], i);
  ttm_vec_free(&v);
}

static void arena_goes_on_after_a_refusal(void **state) {
  (void)state;
  ttm_arena arena = {0};
  starve_allowed = 0;
  assert_null(ttm_arena_alloc(&arena, 10));
  assert_null(ttm_arena_copy(&arena, TTM_LIT("abc")));
  starve_allowed = 1;
  char *kept = ttm_arena_copy(&arena, TTM_LIT("abc"));
  assert_memory_equal(kept, "abc", 3);
  assert_null(ttm_arena_alloc(&arena, 1 << 20));
  assert_memory_equal(ttm_arena_copy(&arena, TTM_LIT("d")), "d", 1); /* the block at hand still serves */
  assert_memory_equal(kept, "abc", 3);
  ttm_arena_free(&arena);
}

static void buf_remembers(void **state) {
  (void)state;
  ttm_buf buf = {0};
  starve_allowed = 0;
  ttm_buf_puts(&buf, "lost");
  starve_allowed = 10;
  ttm_buf_puts(&buf, "also lost: a text with a hole would be worse");
  assert_true(buf.failed);
  assert_int_equal(buf.n, 0);
  ttm_buf_free(&buf);
}

/* Whichever allocation fails, the pool stays usable and the next try gives the same answers. */
static void intern_survives_every_refusal(void **state) {
  (void)state;
  for (long limit = 0; limit < 12; limit++) {
    ttm_intern pool = {0};
    starve_allowed = limit;
    char text[2] = {0};
    uint32_t id = 0, n = 0;
    for (; n < 100; n++) {
      text[0] = (char)(n + 1);
      if (ttm_intern_add(&pool, (ttm_view){text, 1}, &id)) break;
      assert_int_equal(id, n + 1);
    }
    starve_allowed = 100;
    for (uint32_t i = 0; i < 100; i++) {
      text[0] = (char)(i + 1);
      assert_int_equal(ttm_intern_add(&pool, (ttm_view){text, 1}, &id), TTM_OK);
      assert_int_equal(id, i + 1);
    }
    ttm_intern_free(&pool);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(vec_keeps_what_it_has),
      cmocka_unit_test(arena_goes_on_after_a_refusal),
      cmocka_unit_test(buf_remembers),
      cmocka_unit_test(intern_survives_every_refusal),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
