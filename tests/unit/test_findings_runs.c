/* SPDX-License-Identifier: Apache-2.0 */
/* Program runs: where each starts, ends and is highest. */
#include "profile_fixture.h"

static void run_is(const ttm_findings *f, size_t i, uint32_t start, uint32_t end, uint32_t peak) {
  assert_true(i < f->runs.n);
  assert_int_equal(f->runs.at[i].start, start);
  assert_int_equal(f->runs.at[i].end, end);
  assert_int_equal(f->runs.at[i].peak, peak);
}

static void edges_are_elements(void **state) {
  (void)state;
  ttm_profile *p = fx_new(1);
  uint32_t add = fx_text(p, "ttnn.add", TTM_OP_PLAIN, FX_TILE, NULL);
  uint32_t drop = fx_text(p, "ttnn.deallocate", TTM_OP_DEALLOCATE, NULL, NULL);
  uint32_t top = fx_call(p, "main", 0, TTM_NONE);
  fx_op_only(p, drop, top);
  uint32_t inside = fx_call(p, "main_const_eval_0", 0, top);
  fx_op(p, add, inside);
  fx_op(p, add, top);
  fx_op_only(p, drop, top);
  fx_call(p, "empty", 0, TTM_NONE);
  ttm_findings *f = fx_findings(p);
  assert_int_equal(f->runs.n, 2);
  assert_int_equal(f->runs.at[0].call, top);
  assert_int_equal(f->runs.at[0].first_op, 1);
  assert_int_equal(f->runs.at[0].last_op, 2);
  assert_int_equal(f->runs.at[1].first_op, TTM_NONE);
  assert_int_equal(f->runs.at[1].last_op, TTM_NONE);
  run_is(f, 0, TTM_NONE, TTM_NONE, TTM_NONE); /* no state tells */
  ttm_findings_free(f);
  ttm_profile_free(p);
}

static void submit_states_bound_a_run(void **state) {
  (void)state;
  ttm_profile *p = fx_new(1);
  uint32_t add = fx_text(p, "ttnn.add", TTM_OP_PLAIN, FX_TILE, NULL);
  for (uint32_t i = 0; i < 2; i++) {
    uint32_t before = fx_state(p, 0, TTM_STATE_BEFORE_SUBMIT, 100 + i, 0);
    uint32_t top = fx_call(p, "main", 0, TTM_NONE);
    p->calls.at[top].before = before;
    fx_step(p, add, top, 110);
    fx_step(p, add, top, 150);
    uint32_t after = fx_state(p, 0, TTM_STATE_AFTER_SUBMIT, 101 + 100 * i, 0);
    p->calls.at[top].after = after;
  }
  ttm_findings *f = fx_findings(p);
  run_is(f, 0, 100, 101, 150);
  run_is(f, 1, 101, 201, 201); /* highest after its last operation */
  ttm_findings_free(f);
  ttm_profile_free(p);
}

static void the_next_state_shows_what_the_last_operation_did(void **state) {
  (void)state;
  ttm_profile *p = fx_new(2);
  uint32_t add = fx_text(p, "ttnn.add", TTM_OP_PLAIN, FX_TILE, NULL);
  uint32_t a0 = fx_call(p, "main", 0, TTM_NONE), b0 = fx_call(p, "main", 1, TTM_NONE);
  fx_step(p, add, a0, 10);
  fx_step(p, add, b0, 500);
  fx_step(p, add, a0, 30);
  uint32_t a1 = fx_call(p, "main", 0, TTM_NONE);
  fx_step(p, add, b0, 400);
  fx_step(p, add, a1, 20);
  fx_step(p, add, a1, 25);
  ttm_findings *f = fx_findings(p);
  run_is(f, 0, 10, 20, 30);
  run_is(f, 1, 500, 400, 500); /* the other rank: its last state */
  run_is(f, 2, 20, 25, 25);
  ttm_findings_free(f);
  ttm_profile_free(p);
}

static void only_submit_states(void **state) {
  (void)state;
  ttm_profile *p = fx_new(1);
  uint32_t before = fx_state(p, 0, TTM_STATE_BEFORE_SUBMIT, 7, 0);
  uint32_t top = fx_call(p, "main", 0, TTM_NONE);
  p->calls.at[top].before = before;
  ttm_findings *f = fx_findings(p);
  run_is(f, 0, 7, 7, 7); /* cut here */
  ttm_findings_free(f);
  p->calls.at[top].after = fx_state(p, 0, TTM_STATE_AFTER_SUBMIT, 9, 0);
  f = fx_findings(p);
  run_is(f, 0, 7, 9, 9);
  ttm_findings_free(f);
  ttm_profile_free(p);
}

static void bare_states_count_inside_a_run(void **state) {
  (void)state;
  ttm_profile *p = fx_new(1);
  uint32_t add = fx_text(p, "ttnn.add", TTM_OP_PLAIN, FX_TILE, NULL), top = fx_call(p, "main", 0, TTM_NONE);
  fx_step(p, add, top, 10);
  fx_state(p, 0, TTM_STATE_BARE, 90, 0);
  fx_step(p, add, top, 12);
  ttm_findings *f = fx_findings(p);
  run_is(f, 0, 10, 12, 90);
  ttm_findings_free(f);
  ttm_profile_free(p);
}

/* Runs of one program that rise by so much each; the last one dies when `dies`. */
static ttm_findings *runs_that_rise(ttm_profile **out, const uint32_t *rises, size_t n, bool dies) {
  ttm_profile *p = *out = fx_new(1);
  uint32_t add = fx_text(p, "ttnn.add", TTM_OP_PLAIN, FX_TILE, NULL);
  for (size_t i = 0; i < n; i++) {
    uint32_t top = fx_call(p, "main", 0, TTM_NONE);
    p->calls.at[top].finished = !dies || i + 1 < n;
    fx_step(p, add, top, 100);
    fx_step(p, add, top, 100 + rises[i]);
    fx_step(p, add, top, 100);
  }
  ttm_findings *f = fx_findings(p);
  assert_int_equal(f->programs.n, 1);
  assert_int_equal(f->programs.at[0].runs, n);
  return f;
}

static void warm_up_is_what_comes_before_the_usual_run(void **state) {
  (void)state;
  static const struct {
    uint32_t rises[8], n, warm_up, odd, usual;
    bool dies;
  } cases[] = {
      {{90, 40, 41, 40, 40, 40}, 6, 1, 0, 5, false}, /* the log rounds */
      {{90, 40, 40, 40, 40, 12}, 6, 1, 1, 4, true},  /* the last one died */
      {{40, 40, 70, 40, 40, 40}, 6, 0, 1, 5, false}, /* one odd one */
      {{90, 60, 40, 40}, 4, 2, 0, 3, false},
      {{40, 40, 40, 40}, 4, 0, 0, 3, false},
      {{90, 40}, 2, 1, 0, 1, false}, /* no two alike */
      {{90, 40}, 2, 0, 1, 0, true},
      {{40}, 1, 0, 0, 0, false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ttm_profile *p;
    ttm_findings *f = runs_that_rise(&p, cases[i].rises, cases[i].n, cases[i].dies);
    const ttm_program_runs *program = &f->programs.at[0];
    assert_int_equal(program->warm_up, cases[i].warm_up);
    assert_int_equal(program->odd, cases[i].odd);
    assert_int_equal(program->usual_run, cases[i].usual);
    ttm_findings_free(f);
    ttm_profile_free(p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(edges_are_elements),
      cmocka_unit_test(submit_states_bound_a_run),
      cmocka_unit_test(the_next_state_shows_what_the_last_operation_did),
      cmocka_unit_test(only_submit_states),
      cmocka_unit_test(bare_states_count_inside_a_run),
      cmocka_unit_test(warm_up_is_what_comes_before_the_usual_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
