/* SPDX-License-Identifier: Apache-2.0 */
/* Effects, top lists and peaks. */
#include "profile_fixture.h"

static int64_t effect(const ttm_profile *p, uint32_t op, ttm_memory memory) {
  int64_t out;
  assert_true(ttm_op_effect(p, op, memory, &out));
  return out;
}

static void effect_is_next_state_of_the_rank(void **state) {
  (void)state;
  ttm_profile *p = fx_new(2);
  uint32_t add = fx_text(p, "ttnn.add", TTM_OP_PLAIN, FX_TILE, NULL);
  uint32_t a = fx_call(p, "main", 0, TTM_NONE), b = fx_call(p, "main", 1, TTM_NONE);
  uint32_t a0 = fx_op(p, add, a);
  fx_state(p, 0, a0, 100, 0);
  uint32_t b0 = fx_op(p, add, b);
  fx_state(p, 1, b0, 900, 7);
  uint32_t a1 = fx_op(p, add, a);
  fx_state(p, 0, a1, 130, 4);
  uint32_t b1 = fx_op(p, add, b);
  fx_state(p, 1, b1, 850, 7);
  assert_int_equal(effect(p, a0, TTM_DRAM), 30);
  assert_int_equal(effect(p, a0, TTM_L1), 4);
  assert_int_equal(effect(p, b0, TTM_DRAM), -50);
  assert_int_equal(effect(p, b0, TTM_L1), 0);
  int64_t none;
  assert_false(ttm_op_effect(p, a1, TTM_DRAM, &none));  /* nothing after it */
  assert_false(ttm_op_effect(p, a0, TTM_TRACE, &none)); /* no block shows it */
  assert_false(ttm_op_effect(p, TTM_NONE, TTM_DRAM, &none));
  uint32_t bare = fx_op(p, add, a);
  assert_false(ttm_op_effect(p, bare, TTM_DRAM, &none)); /* no block */
  ttm_profile_free(p);
}

static void top_ranks_what_was_added(void **state) {
  (void)state;
  ttm_profile *p = fx_new(1);
  uint32_t add = fx_text(p, "ttnn.add", TTM_OP_PLAIN, FX_TILE, NULL);
  uint32_t drop = fx_text(p, "ttnn.deallocate", TTM_OP_DEALLOCATE, NULL, NULL);
  uint32_t call = fx_call(p, "main", 0, TTM_NONE);
  uint32_t dram = 0;
  for (uint32_t i = 0; i < 12; i++) { /* operation i adds i % 6 */
    fx_step(p, add, call, dram);
    dram += i % 6;
  }
  fx_state(p, 0, fx_free(p, drop, call, TTM_NONE, 0), dram, 0); /* "adds" 500: not an element */
  fx_state(p, 0, TTM_STATE_AFTER_SUBMIT, dram + 500, 0);
  ttm_findings *f = fx_findings(p);
  const ttm_consumers *c = &f->consumers[TTM_DRAM];
  assert_int_equal(c->n, 1); /* the same operation: one row */
  assert_int_equal(c->at[0].most.op, 5);
  assert_int_equal(c->at[0].most.effect, 5);
  assert_int_equal(c->at[0].total, 30);
  assert_int_equal(c->at[0].places, 10); /* two of the twelve add nothing */
  assert_int_equal(c->at[0].members, 10);
  assert_int_equal(c->members.at[c->at[0].first_member].op, 1);
  assert_int_equal(f->consumers[TTM_L1].n, 0);
  assert_int_equal(f->peak[TTM_DRAM].cause, 12); /* a deallocate whose effect was positive stays the cause */
  assert_int_equal(f->peak[TTM_DRAM].effect, 500);
  ttm_findings_free(f);
  ttm_profile_free(p);
}

static void a_short_list_is_short(void **state) {
  (void)state;
  ttm_profile *p = fx_new(1);
  uint32_t add = fx_text(p, "ttnn.add", TTM_OP_PLAIN, FX_TILE, NULL), call = fx_call(p, "main", 0, TTM_NONE);
  fx_step(p, add, call, 10);
  fx_step(p, add, call, 30);
  fx_step(p, add, call, 20);
  ttm_findings *f = fx_findings(p);
  assert_int_equal(f->consumers[TTM_DRAM].n, 1);
  assert_int_equal(f->consumers[TTM_DRAM].at[0].most.op, 0);
  assert_int_equal(f->consumers[TTM_DRAM].at[0].most.effect, 20);
  ttm_findings_free(f);
  ttm_profile_free(p);
}

static void peak_names_the_operation_before_it(void **state) {
  (void)state;
  ttm_profile *p = fx_new(2);
  uint32_t add = fx_text(p, "ttnn.add", TTM_OP_PLAIN, FX_TILE, NULL);
  uint32_t drop = fx_text(p, "ttnn.deallocate", TTM_OP_DEALLOCATE, NULL, NULL);
  uint32_t a = fx_call(p, "main", 0, TTM_NONE), b = fx_call(p, "main", 1, TTM_NONE);
  uint32_t a0 = fx_step(p, add, a, 10);
  fx_step(p, add, b, 50);
  fx_state(p, 0, fx_free(p, drop, a, TTM_NONE, 0), 90, 0); /* the peak stands at a deallocate */
  fx_step(p, add, b, 90);                                  /* as high, later */
  ttm_findings *f = fx_findings(p);
  assert_true(f->peak[TTM_DRAM].known);
  assert_int_equal(f->peak[TTM_DRAM].state, 2);
  assert_int_equal(f->peak[TTM_DRAM].level.allocated, 90);
  assert_int_equal(f->peak[TTM_DRAM].level.banks, 12);
  assert_int_equal(f->peak[TTM_DRAM].cause, a0);
  assert_int_equal(f->peak[TTM_DRAM].effect, 80);
  assert_true(f->peak[TTM_L1].known); /* always empty: nobody filled it */
  assert_int_equal(f->peak[TTM_L1].cause, TTM_NONE);
  assert_int_equal(f->peak[TTM_L1].state, 0);
  assert_false(f->peak[TTM_TRACE].known);
  assert_int_equal(f->peak[TTM_TRACE].state, TTM_NONE);
  ttm_findings_free(f);
  ttm_profile_free(p);
}

static void peak_without_a_witness_has_no_cause(void **state) {
  (void)state;
  ttm_profile *p = fx_new(1);
  uint32_t add = fx_text(p, "ttnn.add", TTM_OP_PLAIN, FX_TILE, NULL), call = fx_call(p, "main", 0, TTM_NONE);
  fx_state(p, 0, TTM_STATE_BEFORE_SUBMIT, 10, 5);
  fx_op(p, add, call); /* no block of its own */
  fx_op(p, add, call);
  fx_state(p, 0, TTM_STATE_AFTER_SUBMIT, 40, 5);
  ttm_findings *f = fx_findings(p);
  assert_int_equal(f->peak[TTM_DRAM].state, 1);
  assert_int_equal(f->peak[TTM_DRAM].cause, TTM_NONE);
  assert_int_equal(f->peak[TTM_L1].state, 0); /* there from the start */
  assert_int_equal(f->peak[TTM_L1].cause, TTM_NONE);
  ttm_findings_free(f);
  ttm_profile_free(p);
}

static void missing_memory_is_no_change(void **state) {
  (void)state;
  ttm_profile *p = fx_new(1);
  uint32_t add = fx_text(p, "ttnn.add", TTM_OP_PLAIN, FX_TILE, NULL), call = fx_call(p, "main", 0, TTM_NONE);
  uint32_t first = fx_op(p, add, call);
  fx_state(p, 0, first, 10, 3);
  p->state_bases.at[p->states.at[0].base].present = 1 << TTM_DRAM; /* a cut block */
  fx_state(p, 0, fx_op(p, add, call), 10, 8);
  ttm_findings *f = fx_findings(p);
  int64_t none;
  assert_false(ttm_op_effect(p, first, TTM_L1, &none));
  assert_int_equal(f->consumers[TTM_L1].n, 0);
  assert_int_equal(f->peak[TTM_L1].state, 1);
  assert_int_equal(f->peak[TTM_L1].cause, TTM_NONE);
  ttm_findings_free(f);
  ttm_profile_free(p);
}

static void in_operation_peak_comes_from_the_message(void **state) {
  (void)state;
  ttm_profile *p = fx_new(1);
  uint32_t add = fx_text(p, "ttnn.add", TTM_OP_PLAIN, FX_TILE, NULL), call = fx_call(p, "main", 0, TTM_NONE);
  fx_step(p, add, call, 1000);
  ttm_incident oom = {.what = {.kind = TTM_INCIDENT_OOM, .memory = TTM_LIT("DRAM")}, .state = 0};
  const uint64_t allocated[] = {1048576 + 500 /* rounding */, 3000000, 2000000, TTM_UNKNOWN};
  for (size_t i = 0; i < 4; i++) {
    oom.what.allocated_per_bank = allocated[i];
    fx_ok(ttm_vec_push(&p->incidents, oom));
  }
  ttm_findings *f = fx_findings(p);
  assert_int_equal(f->peak[TTM_DRAM].in_op_bytes, 3000000);
  assert_int_equal(f->peak[TTM_DRAM].in_op_incident, 1);
  assert_int_equal(f->peak[TTM_L1].in_op_bytes, 0);
  assert_int_equal(f->peak[TTM_L1].in_op_incident, TTM_NONE);
  ttm_findings_free(f);
  p->incidents.n = 1;
  f = fx_findings(p);
  assert_int_equal(f->peak[TTM_DRAM].in_op_bytes, 0);
  ttm_findings_free(f);
  ttm_profile_free(p);
}

/* Another rank's operation stands between the load_cached and what runs inside it. */
static void const_eval_belongs_to_its_load_cached(void **state) {
  (void)state;
  ttm_profile *p = fx_new(2);
  uint32_t add = fx_text(p, "ttnn.add", TTM_OP_PLAIN, FX_TILE, NULL);
  uint32_t load = fx_text(p, "ttcore.load_cached", TTM_OP_LOAD_CACHED, FX_TILE, NULL);
  uint32_t drop = fx_text(p, "ttnn.deallocate", TTM_OP_DEALLOCATE, NULL, NULL);
  uint32_t a = fx_call(p, "main", 0, TTM_NONE), b = fx_call(p, "main", 1, TTM_NONE);
  uint32_t call = fx_step(p, load, a, 100);
  fx_step(p, add, b, 5);
  uint32_t inside = fx_call(p, "main_const_eval_0", 0, a);
  p->calls.at[inside].caller = call;
  uint32_t up = fx_step(p, add, inside, 100);
  fx_step(p, add, inside, 140);
  fx_state(p, 0, fx_free(p, drop, inside, TTM_NONE, 0), 190, 0);
  uint32_t after = fx_step(p, add, a, 150);
  uint32_t hit = fx_step(p, load, a, 157);
  fx_step(p, add, a, 157);
  ttm_findings *f = fx_findings(p);
  int64_t whole;
  uint32_t ops;
  assert_int_equal(effect(p, call, TTM_DRAM), 0);
  assert_true(ttm_op_effect_whole(p, call, TTM_DRAM, &whole));
  assert_int_equal(whole, 50);
  assert_int_equal(ttm_op_inside(p, call, TTM_DRAM, &ops), 90);
  assert_int_equal(ops, 2);
  assert_true(ttm_op_effect_whole(p, hit, TTM_DRAM, &whole)); /* nothing ran inside */
  assert_int_equal(whole, 0);
  assert_int_equal(ttm_op_program(p, hit), TTM_NONE);
  assert_int_equal(ttm_op_program(p, up), TTM_NONE);
  assert_int_equal(f->consumers[TTM_DRAM].n, 2);
  assert_int_equal(f->consumers[TTM_DRAM].at[0].most.op, call);
  assert_int_equal(f->consumers[TTM_DRAM].at[0].most.effect, 50);
  assert_int_equal(f->consumers[TTM_DRAM].at[1].most.op, after);
  assert_int_equal(f->attribution.const_eval, 50);
  assert_int_equal(f->attribution.added, 7);
  assert_int_equal(f->attribution.total, 57);
  ttm_findings_free(f);
  ttm_profile_free(p);
}

static void every_change_has_its_owner(void **state) {
  (void)state;
  ttm_profile *p = fx_new(1);
  uint32_t add = fx_text(p, "ttnn.add", TTM_OP_PLAIN, FX_TILE, NULL);
  uint32_t drop = fx_text(p, "ttnn.deallocate", TTM_OP_DEALLOCATE, NULL, NULL);
  fx_state(p, 0, TTM_STATE_BEFORE_SUBMIT, 10, 0);
  uint32_t first = fx_call(p, "main", 0, TTM_NONE);
  fx_step(p, add, first, 30);                                  /* the host brought 20; adds 7 */
  fx_step(p, add, first, 37);                                  /* gives 2 back */
  fx_state(p, 0, fx_free(p, drop, first, TTM_NONE, 0), 35, 0); /* frees 4 */
  fx_step(p, add, first, 31);                                  /* falls by 6 when the program is over */
  fx_state(p, 0, TTM_STATE_AFTER_SUBMIT, 25, 0);
  ttm_findings *f = fx_findings(p);
  assert_int_equal(f->attribution.host, 20 - 6);
  assert_int_equal(f->attribution.added, 7);
  assert_int_equal(f->attribution.given_back, -2);
  assert_int_equal(f->attribution.freed, -4);
  assert_int_equal(f->attribution.const_eval, 0);
  assert_int_equal(f->attribution.total, 15);
  ttm_findings_free(f);
  ttm_profile_free(p);
}

/* The last operation of a run frees 2 MB; what goes beyond that before the next state is the host's. */
static void a_last_deallocation_is_its_own(void **state) {
  (void)state;
  static const struct {
    int32_t fall, freed;
    bool next_run, argument;
  } cases[] = {{2000, 2000, false, false}, {2000, 2000, true, false}, {2500, 2000, false, false},
               {2500, 2000, true, false},  {1999, 1999, true, false}, {2500, 2500, false, true},
               {2500, 0, true, true},      {-300, 0, true, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ttm_profile *p = fx_new(1);
    uint32_t add = fx_text(p, "ttnn.add", TTM_OP_PLAIN, FX_BIG, NULL);
    uint32_t drop = fx_text(p, "ttnn.deallocate", TTM_OP_DEALLOCATE, NULL, NULL), top = fx_call(p, "main", 0, TTM_NONE);
    uint32_t made = fx_step(p, add, top, 3000), tensor = cases[i].argument ? TTM_NONE : p->ops.at[made].tensor;
    fx_state(p, 0, fx_free(p, drop, top, tensor, 0), 5000, 0);
    uint32_t end = (uint32_t)(5000 - cases[i].fall);
    if (cases[i].next_run)
      fx_step(p, add, fx_call(p, "main", 0, TTM_NONE), end);
    else
      fx_state(p, 0, TTM_STATE_AFTER_SUBMIT, end, 0);
    ttm_findings *f = fx_findings(p);
    assert_int_equal(f->attribution.added, 2000);
    assert_int_equal(f->attribution.freed, -cases[i].freed);
    assert_int_equal(f->attribution.host, cases[i].freed - cases[i].fall);
    ttm_findings_free(f);
    ttm_profile_free(p);
  }
}

/* States around programs alone do not tell who changed them: not the host. */
static void nobody_is_blamed_between_submits(void **state) {
  (void)state;
  for (int told = 0; told < 2; told++) {
    ttm_profile *p = fx_new(1);
    uint32_t add = fx_text(p, "ttnn.add", TTM_OP_PLAIN, FX_BIG, NULL), call = fx_call(p, "main", 0, TTM_NONE);
    fx_state(p, 0, TTM_STATE_BEFORE_SUBMIT, 0, 0);
    uint32_t op = fx_op(p, add, call);
    if (told) fx_state(p, 0, op, 0, 0);
    fx_state(p, 0, TTM_STATE_AFTER_SUBMIT, 2000, 0);
    ttm_findings *f = fx_findings(p);
    assert_int_equal(f->attribution.known, told);
    if (told) assert_int_equal(f->attribution.added, 2000);
    ttm_findings_free(f);
    ttm_profile_free(p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(effect_is_next_state_of_the_rank),
      cmocka_unit_test(top_ranks_what_was_added),
      cmocka_unit_test(a_short_list_is_short),
      cmocka_unit_test(peak_names_the_operation_before_it),
      cmocka_unit_test(peak_without_a_witness_has_no_cause),
      cmocka_unit_test(missing_memory_is_no_change),
      cmocka_unit_test(in_operation_peak_comes_from_the_message),
      cmocka_unit_test(a_last_deallocation_is_its_own),
      cmocka_unit_test(const_eval_belongs_to_its_load_cached),
      cmocka_unit_test(every_change_has_its_owner),
      cmocka_unit_test(nobody_is_blamed_between_submits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
