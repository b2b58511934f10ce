/* SPDX-License-Identifier: Apache-2.0 */
/* Late frees, what they cost, and the way out of memory that they are. */
#include "profile_fixture.h"

enum { MB = 1 << 20 };

typedef struct world {
  ttm_profile *p;
  uint32_t make, other, use, drop, call, level;
} world;

static world begin(void) {
  world w = {.p = fx_new(1)};
  w.p->kind = TTM_LOG_FULL;
  w.make = fx_text(w.p, "ttnn.matmul", TTM_OP_PLAIN, FX_BIG, NULL);
  w.other = fx_text(w.p, "ttnn.other", TTM_OP_PLAIN, FX_BIG, NULL);
  w.use = fx_text(w.p, "ttnn.relu", TTM_OP_PLAIN, NULL, NULL);
  w.drop = fx_text(w.p, "ttnn.deallocate", TTM_OP_DEALLOCATE, NULL, NULL);
  w.call = fx_call(w.p, "main", 0, TTM_NONE);
  return w;
}

static uint32_t step(world *w, uint32_t text, int32_t adds) {
  uint32_t op = fx_step(w->p, text, w->call, w->level);
  w->level = (uint32_t)((int32_t)w->level + adds);
  return op;
}

/* The result of such an operation. */
static uint32_t result(world *w, uint32_t text, int32_t adds) {
  uint32_t op = step(w, text, adds);
  return w->p->ops.at[op].tensor;
}

/* A small operation that uses the tensor for the last time. */
static void use(world *w, uint32_t tensor) {
  uint32_t op = step(w, w->use, 0);
  w->p->tensors.at[tensor].last_use = op;
}

static void drop(world *w, uint32_t tensor, int32_t adds) {
  fx_state(w->p, 0, fx_free(w->p, w->drop, w->call, tensor, 0), w->level, 0);
  w->level = (uint32_t)((int32_t)w->level + adds);
}

/* A tensor of 2 MB, used once by a small operation, freed `late` operations after; another one of 2 MB is made meanwhile. */
static uint32_t round_of(world *w, uint32_t late) {
  uint32_t tensor = result(w, w->make, 2000);
  step(w, w->use, 0);
  use(w, tensor);
  if (!late) drop(w, tensor, -2000);
  uint32_t other = result(w, w->other, 2000);
  for (uint32_t i = 1; i < late; i++) step(w, w->use, 0);
  w->p->tensors.at[other].last_use = (uint32_t)w->p->ops.n - 1;
  drop(w, other, -2000);
  if (late) drop(w, tensor, -2000);
  return tensor;
}

static void late_frees_are_found_and_replayed(void **state) {
  (void)state;
  world w = begin();
  uint32_t first = round_of(&w, 6);
  round_of(&w, 6);
  step(&w, w.use, 0);
  ttm_findings *f = fx_findings(w.p);
  const ttm_lifetimes *l = &f->lifetimes;
  assert_int_equal(l->n, 1);
  assert_int_equal(l->late[0].tensor, first);
  assert_int_equal(l->late[0].times, 2);
  assert_int_equal(l->late[0].gap, 6);
  assert_int_equal(l->late[0].bank_bytes, 2 * MB);
  assert_int_equal(l->late[0].cost, 2 * 6 * 2 * (uint64_t)MB);
  assert_true(l->peak_bytes == 4 * (uint64_t)MB);
  assert_true(l->late[0].peak_bytes + MB < l->peak_bytes);
  assert_true(l->replayed && l->replay_agrees);
  assert_true(l->late[0].replayed && l->late[0].replay_agrees);
  assert_int_equal(f->peak_fixes.n, 1);
  assert_int_equal(f->peak_fixes.at[0].kind, TTM_FIX_FREE_EARLIER);
  assert_int_equal(f->peak_fixes.at[0].bytes, l->peak_bytes - l->replayed_peak_bytes);
  ttm_findings_free(f);
  ttm_profile_free(w.p);
}

/* Two kinds of tensors are late, of which only one stands at the peak: its own replay confirms it, the other has nothing to confirm. */
static void rows_are_replayed_one_by_one(void **state) {
  (void)state;
  world w = begin();
  uint32_t extra = fx_text(w.p, "ttnn.extra", TTM_OP_PLAIN, FX_BIG, NULL);
  uint32_t early = result(&w, extra, 2000); /* late, while nothing else is there */
  use(&w, early);
  for (int i = 0; i < 4; i++) step(&w, w.use, 0);
  drop(&w, early, -2000);
  uint32_t second = result(&w, w.make, 2000);
  use(&w, second);
  for (int i = 0; i < 3; i++) step(&w, w.use, 0);
  uint32_t other = result(&w, w.other, 2000);
  w.p->tensors.at[other].last_use = step(&w, w.use, 0);
  drop(&w, other, -2000);
  drop(&w, second, -2000);
  step(&w, w.use, 0);
  ttm_findings *f = fx_findings(w.p);
  const ttm_lifetimes *l = &f->lifetimes;
  assert_int_equal(l->n, 2);
  for (size_t i = 0; i < l->n; i++) {
    bool helps = l->late[i].tensor == second;
    assert_int_equal(l->late[i].replayed, helps);
    assert_int_equal(l->late[i].replay_agrees, helps);
    assert_true(l->late[i].peak_bytes / 1000 == (helps ? 2 : 4) * (uint64_t)MB / 1000);
  }
  ttm_findings_free(f);
  ttm_profile_free(w.p);
}

static void frees_in_time_are_not(void **state) {
  (void)state;
  world w = begin();
  round_of(&w, 0);
  round_of(&w, 2); /* two operations later is as compilers do it */
  step(&w, w.use, 0);
  ttm_findings *f = fx_findings(w.p);
  assert_int_equal(f->lifetimes.n, 0);
  assert_int_equal(f->peak_fixes.n, 0);
  ttm_findings_free(f);
  ttm_profile_free(w.p);
}

/* Memory ends in the next operation. */
static void out_of_memory(world *w, uint64_t needed, ttm_findings **f) {
  uint32_t failing = step(w, w->make, 0);
  w->p->ops.at[failing].flags |= TTM_OP_FAILED;
  ttm_incident oom = {.op = failing, .state = w->p->ops.at[failing].state, .copies = 1};
  oom.what = (ttm_incident_text){.kind = TTM_INCIDENT_OOM, .memory = TTM_LIT("DRAM"), .text = TTM_LIT("")};
  oom.what.needed_per_bank = needed;
  oom.what.banks = 12;
  oom.what.size = TTM_UNKNOWN;
  oom.what.bank_size = (uint64_t)1000 * MB;
  oom.what.allocated_per_bank = (uint64_t)w->level * MB / 1000;
  oom.what.free_per_bank = oom.what.largest_free_block = oom.what.bank_size - oom.what.allocated_per_bank;
  fx_ok(ttm_vec_push(&w->p->incidents, oom));
  *f = fx_findings(w->p);
}

/* 2 MB past their last use at the bottom, 997 MB in use above them, 1 MB free at the top. */
static void a_tensor_past_its_use_is_a_way_out(void **state) {
  (void)state;
  for (int which = 0; which < 3; which++) {
    bool known = which != 1, fits = which == 0;
    world w = begin();
    if (known) round_of(&w, 6);
    w.call = fx_call(w.p, "main", 0, TTM_NONE);
    uint32_t tensor = result(&w, w.make, 2000);
    step(&w, w.other, 2000);
    use(&w, tensor);
    uint32_t bulk = fx_text(w.p, "ttnn.bulk", TTM_OP_PLAIN,
                            "tensor<1528320x4096xbf16, " FX_LAYOUT("47760x128", "dram", ", <interleaved>"), NULL);
    step(&w, bulk, 995000);
    step(&w, w.use, 0);
    ttm_findings *f;
    out_of_memory(&w, which == 2 ? 5 * MB / 2 : 2 * MB, &f); /* 2.5 MB: together enough, but not in one piece */
    const ttm_rescue *rescue = &f->incidents.at[0].rescue;
    const ttm_remedy *fix = &f->failure_fixes.at[0].at[0];
    assert_int_equal(f->incidents.at[0].verdict, TTM_VERDICT_EXHAUSTED);
    assert_int_equal(rescue->n, known); /* without a like nobody knows that it is past its use */
    bool tried = f->failure_fixes.at[0].n && fix->kind == TTM_FIX_FREE_EARLIER;
    assert_int_equal(tried, fits);
    if (fits) {
      assert_int_equal(rescue->at[0].tensor, tensor);
      assert_int_equal(fix->bytes, 2 * MB);
      assert_int_equal(fix->check, TTM_FIX_REPLAYED);
      assert_true(fix->tried.fits);
      assert_int_equal(fix->tried.rest_fits, -1); /* nothing is recorded after it */
      assert_memory_equal(fix->tried.change.p, "free=last-use:#", 15);
    }
    ttm_findings_free(f);
    ttm_profile_free(w.p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(late_frees_are_found_and_replayed),
      cmocka_unit_test(frees_in_time_are_not),
      cmocka_unit_test(rows_are_replayed_one_by_one),
      cmocka_unit_test(a_tensor_past_its_use_is_a_way_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
