/* SPDX-License-Identifier: Apache-2.0 */
/* Leaks: found when every run proves them, and never in a clean log. */
#include "profile_fixture.h"

typedef struct model {
  ttm_profile *p;
  uint32_t keep, work, drop;
} model;

static model make(uint32_t ranks) {
  model m = {.p = fx_new(ranks)};
  m.keep = fx_text(m.p, "ttnn.matmul", TTM_OP_PLAIN, FX_BIG, NULL);
  m.work = fx_text(m.p, "ttnn.add", TTM_OP_PLAIN, FX_BIG, NULL);
  m.drop = fx_text(m.p, "ttnn.deallocate", TTM_OP_DEALLOCATE, NULL, NULL);
  return m;
}

/* One run: a temporary that is freed, and one result per `leaks` that is not. Starts at `start`, ends at `end`. */
static void run(model *m, const char *name, uint32_t rank, uint32_t start, uint32_t end, bool leaks) {
  ttm_profile *p = m->p;
  uint32_t before = fx_state(p, rank, TTM_STATE_BEFORE_SUBMIT, start, 0);
  uint32_t top = fx_call(p, name, rank, TTM_NONE);
  p->calls.at[top].before = before;
  uint32_t temporary = fx_step(p, m->work, top, start);
  if (leaks) fx_step(p, m->keep, top, start + 2000);
  uint32_t freed = fx_free(p, m->drop, top, p->ops.at[temporary].tensor, 0);
  fx_state(p, rank, freed, end + 2000, 0);
  p->calls.at[top].after = fx_state(p, rank, TTM_STATE_AFTER_SUBMIT, end, 0);
}

static ttm_findings *done(model *m) { return fx_findings(m->p); }

static void leaks_are(model *m, size_t n) {
  ttm_findings *f = done(m);
  assert_int_equal(f->leaks.n, n);
  ttm_findings_free(f);
  ttm_profile_free(m->p);
}

static void steady_growth_names_its_operation(void **state) {
  (void)state;
  model m = make(1);
  run(&m, "main", 0, 100, 5100, true); /* warm-up */
  for (uint32_t i = 0; i < 6; i++) run(&m, "main", 0, 5100 + 2000 * i, 7100 + 2000 * i, true);
  ttm_findings *f = done(&m);
  assert_int_equal(f->leaks.n, 1);
  assert_int_equal(f->leaks.at[0].per_run, 2000);
  assert_int_equal(f->leaks.at[0].runs_seen, 5);
  assert_int_equal(f->leaks.at[0].op, 4); /* the matmul of the second run */
  assert_string_equal(f->leaks.at[0].confidence, "high");
  ttm_findings_free(f);
  ttm_profile_free(m.p);
}

/* Two operations of 2 MB and one of 1 MB are never freed; the level rises by 3 MB each run. */
static void culprits_add_up_or_are_said_not_to(void **state) {
  (void)state;
  for (int alike = 0; alike < 2; alike++) {
    model m = make(1);
    ttm_profile *p = m.p;
    uint32_t half = fx_text(p, "ttnn.half", TTM_OP_PLAIN,
                            "tensor<1536x4096xbf16, " FX_LAYOUT("48x128", "dram", ", <interleaved>"), NULL);
    uint32_t other = fx_text(p, "ttnn.other", TTM_OP_PLAIN, FX_BIG, NULL);
    for (uint32_t i = 0; i < 8; i++) {
      uint32_t level = i * 3000;
      fx_state(p, 0, TTM_STATE_BEFORE_SUBMIT, level, 0);
      uint32_t top = fx_call(p, "main", 0, TTM_NONE);
      fx_step(p, m.keep, top, level);
      if (alike) fx_step(p, other, top, level + 2000); /* the caller lets go of one of the two: which, no size tells */
      fx_step(p, half, top, level + 2000 + alike * 2000);
      p->calls.at[top].after = fx_state(p, 0, TTM_STATE_AFTER_SUBMIT, level + 3000, 0);
    }
    ttm_findings *f = done(&m);
    assert_int_equal(f->leaks.n, 1);
    const ttm_leak *leak = &f->leaks.at[0];
    assert_int_equal(leak->per_run, 3000);
    assert_int_equal(leak->culprits.n, 2);
    assert_int_equal(leak->culprits.several, alike);
    assert_int_equal(leak->culprits.at[0].bank_bytes, 2 << 20);
    assert_int_equal(leak->culprits.at[1].bank_bytes, 1 << 20);
    assert_int_equal(p->ops.at[leak->culprits.at[1].op].text, half);
    assert_int_equal(leak->op, leak->culprits.at[0].op);
    assert_string_equal(leak->confidence, alike ? "medium" : "high");
    assert_int_equal(leak->first_run, 1);
    assert_int_equal(leak->last_run, 7);
    ttm_findings_free(f);
    ttm_profile_free(p);
  }
}

/* Two results of the right size stay: one of them is it, and both are shown. */
static void alternatives_are_all_named(void **state) {
  (void)state;
  model m = make(1);
  ttm_profile *p = m.p;
  uint32_t other = fx_text(p, "ttnn.other", TTM_OP_PLAIN, FX_BIG, NULL);
  for (uint32_t i = 0; i < 8; i++) {
    fx_state(p, 0, TTM_STATE_BEFORE_SUBMIT, i * 2000, 0);
    uint32_t top = fx_call(p, "main", 0, TTM_NONE);
    fx_step(p, m.keep, top, i * 2000);
    fx_step(p, other, top, i * 2000 + 2000);
    p->calls.at[top].after = fx_state(p, 0, TTM_STATE_AFTER_SUBMIT, i * 2000 + 2000, 0);
  }
  ttm_findings *f = done(&m);
  assert_int_equal(f->leaks.n, 1);
  assert_int_equal(f->leaks.at[0].culprits.n, 2);
  assert_true(f->leaks.at[0].culprits.several);
  assert_string_equal(f->leaks.at[0].confidence, "medium");
  ttm_findings_free(f);
  ttm_profile_free(p);
}

static void fewer_rises_are_less_sure(void **state) {
  (void)state;
  model m = make(1);
  for (uint32_t i = 0; i < 5; i++) run(&m, "main", 0, 2000 * i + i % 2, 2000 + 2000 * i, true); /* rounding */
  ttm_findings *f = done(&m);
  assert_int_equal(f->leaks.n, 1);
  assert_int_equal(f->leaks.at[0].runs_seen, 3);
  assert_string_equal(f->leaks.at[0].confidence, "medium");
  ttm_findings_free(f);
  ttm_profile_free(m.p);
}

static void growth_without_a_tensor_is_low(void **state) {
  (void)state;
  model m = make(1);
  for (uint32_t i = 0; i < 9; i++) run(&m, "main", 0, 3000 * i, 3000 + 3000 * i, true); /* 3 MB, the tensor has 2 */
  ttm_findings *f = done(&m);
  assert_int_equal(f->leaks.n, 1);
  assert_int_equal(f->leaks.at[0].op, TTM_NONE);
  assert_string_equal(f->leaks.at[0].confidence, "low");
  ttm_findings_free(f);
  ttm_profile_free(m.p);
}

static void a_tensor_missing_in_one_run_is_not_it(void **state) {
  (void)state;
  model m = make(1);
  for (uint32_t i = 0; i < 9; i++) run(&m, "main", 0, 2000 * i, 2000 + 2000 * i, i != 4);
  ttm_findings *f = done(&m);
  assert_int_equal(f->leaks.n, 1);
  assert_int_equal(f->leaks.at[0].op, TTM_NONE);
  ttm_findings_free(f);
  ttm_profile_free(m.p);
}

static void clean_logs_have_none(void **state) {
  (void)state;
  model level = make(1); /* outputs returned each run, freed outside */
  for (uint32_t i = 0; i < 9; i++) run(&level, "main", 0, 100, 2100, true);
  leaks_are(&level, 0);
  model few = make(1); /* two rises prove nothing */
  for (uint32_t i = 0; i < 4; i++) run(&few, "main", 0, 2000 * i, 2000 + 2000 * i, true);
  leaks_are(&few, 0);
  model pause = make(1); /* one run did not grow */
  for (uint32_t i = 0; i < 9; i++) run(&pause, "main", 0, 2000 * (i - (i > 5)), 2000 + 2000 * (i - (i > 5)), true);
  leaks_are(&pause, 0);
  model uneven = make(1);
  for (uint32_t i = 0; i < 9; i++) run(&uneven, "main", 0, 2000 * i + i * i, 2000 + 2000 * i, true);
  leaks_are(&uneven, 0);
  model ends = make(1); /* starts rise, ends do not */
  for (uint32_t i = 0; i < 9; i++) run(&ends, "main", 0, 2000 * i, 90000, true);
  leaks_are(&ends, 0);
  model noise = make(1); /* no more than rounding */
  for (uint32_t i = 0; i < 9; i++) run(&noise, "main", 0, 2 * i, 2 * i, false);
  leaks_are(&noise, 0);
  model others = make(1); /* nine different programs */
  for (uint32_t i = 0; i < 9; i++) {
    char name[16];
    snprintf(name, sizeof name, "main%u", i);
    run(&others, name, 0, 2000 * i, 2000 + 2000 * i, true);
  }
  leaks_are(&others, 0);
  model nameless = make(1);
  for (uint32_t i = 0; i < 9; i++) run(&nameless, "", 0, 2000 * i, 2000 + 2000 * i, true);
  leaks_are(&nameless, 0);
}

static void one_leak_is_told_once(void **state) {
  (void)state;
  model m = make(2); /* on both ranks, and seen by a second program that runs in turn */
  for (uint32_t i = 0; i < 8; i++) {
    run(&m, "other", 0, 2000 * i, 2000 * i, false);
    run(&m, "main", 0, 2000 * i, 2000 + 2000 * i, true);
    run(&m, "main", 1, 9000 + 2000 * i, 11000 + 2000 * i, true);
  }
  ttm_findings *f = done(&m);
  assert_int_equal(f->leaks.n, 1);
  assert_int_not_equal(f->leaks.at[0].op, TTM_NONE);
  assert_int_equal(m.p->ops.at[f->leaks.at[0].op].text, m.keep);
  assert_string_equal(f->leaks.at[0].confidence, "high");
  ttm_findings_free(f);
  ttm_profile_free(m.p);
}

static void programs_in_turn_leak_each_their_own(void **state) {
  (void)state;
  model m = make(1);
  uint32_t concat = fx_text(m.p, "ttnn.concat", TTM_OP_PLAIN, FX_BIG, NULL);
  model other = {m.p, concat, m.work, m.drop};
  for (uint32_t i = 0; i < 6; i++) {
    run(&m, "main", 0, 4000 * i, 2000 + 4000 * i, true);
    run(&other, "other", 0, 2000 + 4000 * i, 4000 + 4000 * i, true);
  }
  ttm_findings *f = done(&m);
  assert_int_equal(f->leaks.n, 2);
  for (size_t i = 0; i < 2; i++) {
    assert_int_equal(f->leaks.at[i].per_run, 2000);
    assert_int_not_equal(f->leaks.at[i].op, TTM_NONE);
    assert_int_equal(m.p->ops.at[f->leaks.at[i].op].text, i ? concat : m.keep);
  }
  ttm_findings_free(f);
  ttm_profile_free(m.p);
}

static void growth_that_cannot_be_split_is_told_once(void **state) {
  (void)state;
  model m = make(1); /* main returns 5 MB more than it found, other gives 3 MB back */
  for (uint32_t i = 0; i < 6; i++) {
    run(&m, "main", 0, 2000 * i, 5000 + 2000 * i, true);
    run(&m, "other", 0, 5000 + 2000 * i, 2000 + 2000 * i, false);
  }
  ttm_findings *f = done(&m);
  assert_int_equal(f->leaks.n, 1);
  assert_int_equal(f->leaks.at[0].per_run, 2000);
  ttm_findings_free(f);
  ttm_profile_free(m.p);
}

/* A request: one run of main, which holds 7 MB until the request is over, then some of decode. */
static uint32_t request(model *m, uint32_t level, uint32_t decodes, bool main_leaks, bool decode_leaks) {
  run(m, "main", 0, level, level + 7000, main_leaks);
  level += main_leaks ? 2000 : 0;
  for (uint32_t i = 0; i < decodes; i++) {
    run(m, "decode", 0, level + 7000, level + 7000, decode_leaks);
    level += decode_leaks ? 2000 : 0;
  }
  return level;
}

static void requests_of_several_programs(void **state) {
  (void)state;
  for (int kind = 0; kind < 4; kind++) {
    model m = make(1);
    uint32_t level = 1000;
    for (uint32_t i = 0; i < 8; i++) level = request(&m, level, 1 + i * 5 % 4, kind & 1, kind & 2);
    ttm_findings *f = done(&m);
    assert_int_equal(f->suspects.n, 0);
    assert_int_equal(f->leaks.n, kind > 0);
    if (kind) {
      const ttm_leak *leak = &f->leaks.at[0];
      assert_int_equal(m.p->ops.at[leak->op].text, m.keep);
      assert_int_equal(leak->uneven, kind == 3); /* one of them alone leaves the same each time it runs */
      if (kind == 2) assert_int_equal(leak->per_run, 2000);
      if (kind == 3) assert_true(leak->least == 4000 && leak->most == 10000);
    }
    ttm_findings_free(f);
    ttm_profile_free(m.p);
  }
}

/* Too few rises to prove it, but as large as a result that stays; one of another size is no hint. */
static void few_runs_are_a_suspicion(void **state) {
  (void)state;
  for (uint32_t n = 2; n < 5; n++) {
    for (uint32_t rise = 2000; rise < 4000; rise += 1000) {
      model m = make(1);
      for (uint32_t i = 0; i < n; i++) run(&m, "main", 0, rise * i, rise + rise * i, true);
      ttm_findings *f = done(&m);
      assert_int_equal(f->leaks.n, 0);
      assert_int_equal(f->suspects.n, n > 2 && rise == 2000);
      assert_int_equal(ttm_statements_find(&f->statements, "leak.suspected", 0) != NULL, f->suspects.n);
      ttm_findings_free(f);
      ttm_profile_free(m.p);
    }
  }
}

static void the_last_run_may_be_cut(void **state) {
  (void)state;
  model m = make(1);
  for (uint32_t i = 0; i < 7; i++) run(&m, "main", 0, 2000 * i, 2000 + 2000 * i, true);
  uint32_t before = fx_state(m.p, 0, TTM_STATE_BEFORE_SUBMIT, 14000, 0);
  uint32_t top = fx_call(m.p, "main", 0, TTM_NONE);
  m.p->calls.at[top].before = before;
  m.p->calls.at[top].finished = false;
  fx_step(m.p, m.work, top, 14000);
  ttm_findings *f = done(&m);
  assert_int_equal(f->leaks.n, 1);
  assert_string_equal(f->leaks.at[0].confidence, "high");
  ttm_findings_free(f);
  ttm_profile_free(m.p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(steady_growth_names_its_operation),
      cmocka_unit_test(culprits_add_up_or_are_said_not_to),
      cmocka_unit_test(alternatives_are_all_named),
      cmocka_unit_test(fewer_rises_are_less_sure),
      cmocka_unit_test(growth_without_a_tensor_is_low),
      cmocka_unit_test(a_tensor_missing_in_one_run_is_not_it),
      cmocka_unit_test(clean_logs_have_none),
      cmocka_unit_test(one_leak_is_told_once),
      cmocka_unit_test(programs_in_turn_leak_each_their_own),
      cmocka_unit_test(growth_that_cannot_be_split_is_told_once),
      cmocka_unit_test(requests_of_several_programs),
      cmocka_unit_test(few_runs_are_a_suspicion),
      cmocka_unit_test(the_last_run_may_be_cut),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
