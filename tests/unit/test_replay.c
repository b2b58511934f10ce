/* SPDX-License-Identifier: Apache-2.0 */
/* The log played through the allocator again: who holds which block when, and that it keeps to what is measured. */
#include "analyze/replay.h"
#include "profile_fixture.h"

enum { MB = 1 << 20 };

static ttm_replay play(const ttm_profile *p, uint32_t rank) {
  ttm_replay r;
  fx_ok(ttm_replay_init(&r, p, rank));
  fx_ok(ttm_replay_to_op(&r, (uint32_t)p->ops.n));
  return r;
}

static void lies_at(const ttm_replay *r, uint32_t tensor, uint64_t want) {
  uint64_t at;
  assert_true(ttm_replay_block(r, tensor, &at));
  assert_int_equal(at, want);
}

static void is_gone(const ttm_replay *r, uint32_t tensor) {
  uint64_t at;
  assert_false(ttm_replay_block(r, tensor, &at));
}

static void end(fx_world *w, ttm_replay *r) {
  ttm_replay_free(r);
  ttm_profile_free(w->p);
}

static void first_fit_by_address(void **state) {
  (void)state;
  fx_world w = fx_begin(1);
  uint32_t a = fx_make(&w, 0), b = fx_make(&w, 2000);
  fx_drop(&w, a, 4000);
  uint32_t c = fx_make(&w, 2000), d = fx_make(&w, 4000); /* c takes the hole */
  fx_make(&w, 6000);
  ttm_replay r = play(w.p, 0);
  is_gone(&r, a);
  lies_at(&r, b, 2 * MB);
  lies_at(&r, c, 0);
  lies_at(&r, d, 4 * MB);
  assert_int_equal(ttm_replay_held(&r.memories[TTM_REPLAY_DRAM]), 8 * MB);
  assert_int_equal(r.memories[TTM_REPLAY_DRAM].extras.n, 0);
  end(&w, &r);
}

static void what_was_there_before_lies_at_the_bottom(void **state) {
  (void)state;
  fx_world w = fx_begin(1);
  uint32_t a = fx_make(&w, 5000); /* 5 MB that no operation explains */
  fx_make(&w, 7000);
  ttm_replay r = play(w.p, 0);
  lies_at(&r, a, 5 * MB);
  assert_int_equal(r.memories[TTM_REPLAY_DRAM].extras.n, 1);
  assert_true(r.memories[TTM_REPLAY_DRAM].extras.at[0].from_start);
  end(&w, &r);
}

static void a_result_that_takes_nothing_is_a_view(void **state) {
  (void)state;
  fx_world w = fx_begin(1);
  uint32_t a = fx_make(&w, 0), view = fx_make(&w, 2000);
  fx_drop(&w, a, 2000); /* frees nothing: the view lives on */
  fx_make(&w, 2000);
  fx_state(w.p, 0, fx_op(w.p, w.make, w.call), 4000, 0);
  ttm_replay r = play(w.p, 0);
  is_gone(&r, view);
  lies_at(&r, a, 0);
  end(&w, &r);
}

static void leftovers_go_when_the_level_falls(void **state) {
  (void)state;
  fx_world w = fx_begin(1);
  uint32_t kept = fx_make(&w, 0), result = fx_make(&w, 2000);
  fx_make(&w, 4000);
  w.call = fx_call(w.p, "main", 0, TTM_NONE);
  uint32_t next = fx_make(&w, 2000); /* two of the three went between the runs */
  fx_make(&w, 4000);
  ttm_replay r = play(w.p, 0);
  uint64_t at;
  int there = ttm_replay_block(&r, kept, &at) + ttm_replay_block(&r, result, &at) + ttm_replay_block(&r, 2, &at);
  assert_int_equal(there, 1);
  assert_true(ttm_replay_block(&r, next, &at));
  assert_int_equal(ttm_replay_held(&r.memories[TTM_REPLAY_DRAM]), 6 * MB);
  end(&w, &r);
}

/* The host brings 3 MB while 2 MB of the dead program go: only their difference is printed. */
static void a_program_that_died_takes_all_with_it(void **state) {
  (void)state;
  fx_world w = fx_begin(1);
  uint32_t lost = fx_make(&w, 0);
  uint32_t failing = fx_step(w.p, w.make, w.call, 2000);
  w.p->ops.at[failing].flags |= TTM_OP_FAILED;
  w.call = fx_call(w.p, "main", 0, TTM_NONE);
  fx_make(&w, 3000);
  ttm_replay r = play(w.p, 0);
  is_gone(&r, lost);
  assert_int_equal(r.memories[TTM_REPLAY_DRAM].extras.n, 1);
  assert_int_equal(r.memories[TTM_REPLAY_DRAM].extras.at[0].size / 1000, 3 * MB / 1000);
  end(&w, &r);
}

/* The other rank's operation line comes first, its block last: the states between belong to what ran before them. */
static void ranks_woven_together_are_played_apart(void **state) {
  (void)state;
  fx_world w = fx_begin(2);
  uint32_t other = fx_call(w.p, "main", 1, TTM_NONE);
  uint32_t late = fx_op(w.p, w.make, other);
  uint32_t a = fx_make(&w, 0), b = fx_make(&w, 2000);
  fx_state(w.p, 1, late, 0, 0);
  fx_make(&w, 4000);
  ttm_replay r = play(w.p, 0);
  lies_at(&r, a, 0);
  lies_at(&r, b, 2 * MB);
  assert_int_equal(r.memories[TTM_REPLAY_DRAM].extras.n, 0);
  assert_int_equal(r.memories[TTM_REPLAY_DRAM].states, 3);
  assert_int_equal(r.memories[TTM_REPLAY_DRAM].agree, 3);
  end(&w, &r);
}

static void freed_early_the_hole_is_used(void **state) {
  (void)state;
  fx_world w = fx_begin(1);
  uint32_t a = fx_make(&w, 0), b = fx_make(&w, 2000), c = fx_make(&w, 4000);
  w.p->tensors.at[a].last_use = w.p->tensors.at[b].birth;
  fx_drop(&w, a, 6000);
  fx_make(&w, 4000);
  ttm_replay r;
  fx_ok(ttm_replay_init(&r, w.p, 0));
  r.early = &a;
  r.early_count = 1;
  fx_ok(ttm_replay_to_op(&r, (uint32_t)w.p->ops.n));
  lies_at(&r, b, 2 * MB);
  lies_at(&r, c, 0);
  assert_int_equal(r.memories[TTM_REPLAY_DRAM].shift, 0); /* the log has caught up */
  end(&w, &r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(first_fit_by_address),
      cmocka_unit_test(what_was_there_before_lies_at_the_bottom),
      cmocka_unit_test(a_result_that_takes_nothing_is_a_view),
      cmocka_unit_test(leftovers_go_when_the_level_falls),
      cmocka_unit_test(a_program_that_died_takes_all_with_it),
      cmocka_unit_test(ranks_woven_together_are_played_apart),
      cmocka_unit_test(freed_early_the_hole_is_used),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
