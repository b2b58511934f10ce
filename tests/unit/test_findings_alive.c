/* SPDX-License-Identifier: Apache-2.0 */
/* The live set, and the padding of what is alive. */
#include "profile_fixture.h"

/* Texts every test uses. */
typedef struct texts {
  uint32_t tile, row, l1, host, pair, drop, cached, device;
} texts;

static texts make_texts(ttm_profile *p) {
  return (texts){
      .tile = fx_text(p, "ttnn.add", TTM_OP_PLAIN, FX_TILE, NULL),
      .row = fx_text(p, "ttnn.mean", TTM_OP_PLAIN, FX_ROW, NULL),
      .l1 = fx_text(p, "ttnn.to_memory_config", TTM_OP_PLAIN, FX_L1, NULL),
      .host = fx_text(p, "ttnn.from_device", TTM_OP_PLAIN, FX_HOST, NULL),
      .pair = fx_text(p, "ttnn.max_pool", TTM_OP_PLAIN, FX_TILE, FX_ROW),
      .drop = fx_text(p, "ttnn.deallocate", TTM_OP_DEALLOCATE, NULL, NULL),
      .cached = fx_text(p, "ttcore.load_cached", TTM_OP_LOAD_CACHED, FX_ROW, NULL),
      .device = fx_text(p, "ttnn.get_device", TTM_OP_GET_DEVICE, "!ttnn.device", NULL),
  };
}

static uint32_t tensor_of(const ttm_profile *p, uint32_t op) { return p->ops.at[op].tensor; }

/* Steps once and checks the DRAM sums after it. */
static void step(ttm_alive *live, uint64_t logical, uint64_t stored, uint64_t tensors) {
  ttm_alive_step(live);
  assert_int_equal(live->dram.logical_bytes, logical);
  assert_int_equal(live->dram.stored_bytes, stored);
  assert_int_equal(live->dram.tensors, tensors);
}

static void births_and_frees(void **state) {
  (void)state;
  ttm_profile *p = fx_new(1);
  texts t = make_texts(p);
  uint32_t call = fx_call(p, "main", 0, TTM_NONE);
  fx_op(p, t.device, call);
  uint32_t a = fx_op(p, t.pair, call);
  uint32_t b = fx_op(p, t.l1, call);
  fx_op(p, t.host, call);
  uint32_t failed = fx_op_only(p, t.tile, call);
  p->ops.at[failed].flags |= TTM_OP_FAILED;
  fx_free(p, t.drop, call, tensor_of(p, a), TTM_OP_RETAINED);
  fx_free(p, t.drop, call, TTM_NONE, 0); /* an argument */
  fx_free(p, t.drop, call, tensor_of(p, a) + 1, 0);
  fx_free(p, t.drop, call, tensor_of(p, a) + 1, 0); /* twice */
  fx_free(p, t.drop, call, tensor_of(p, b), 0);
  ttm_alive live;
  fx_ok(ttm_alive_init(&live, p));
  step(&live, 0, 0, 0);
  step(&live, 2048 + 64, 4096, 2);
  step(&live, 2048 + 64, 4096, 2);
  assert_int_equal(live.l1.stored_bytes, 2048);
  assert_int_equal(live.l1.tensors, 1);
  step(&live, 2048 + 64, 4096, 2); /* host */
  step(&live, 2048 + 64, 4096, 2); /* failed */
  step(&live, 2048 + 64, 4096, 2); /* retained */
  step(&live, 2048 + 64, 4096, 2); /* argument */
  step(&live, 2048, 2048, 1);
  step(&live, 2048, 2048, 1);
  step(&live, 2048, 2048, 1);
  assert_int_equal(live.l1.tensors, 0);
  assert_int_equal(live.next, p->ops.n);
  step(&live, 2048, 2048, 1); /* past the end: nothing happens */
  ttm_alive_free(&live);
  ttm_profile_free(p);
}

static void load_cached_counts_what_its_program_makes(void **state) {
  (void)state;
  ttm_profile *p = fx_new(1);
  texts t = make_texts(p);
  uint32_t main0 = fx_call(p, "main", 0, TTM_NONE);
  uint32_t load = fx_op_only(p, t.cached, main0);
  uint32_t inside = fx_call(p, "main_const_eval_0", 0, main0);
  uint32_t temporary = fx_op(p, t.tile, inside);
  uint32_t made = fx_op(p, t.row, inside);
  fx_free(p, t.drop, inside, tensor_of(p, temporary), 0);
  fx_results(p, load, tensor_of(p, made)); /* its row comes when it is done */
  fx_op(p, t.tile, main0);                 /* returned */
  fx_free(p, t.drop, main0, tensor_of(p, load), TTM_OP_RETAINED);
  uint32_t main1 = fx_call(p, "main", 0, TTM_NONE);
  uint32_t hit = fx_results(p, fx_op_only(p, t.cached, main1), tensor_of(p, made));
  fx_op(p, t.tile, main1);
  fx_free(p, t.drop, main1, tensor_of(p, hit), 0);
  ttm_alive live;
  fx_ok(ttm_alive_init(&live, p));
  step(&live, 64, 2048, 1);   /* the load: as if its program had run */
  step(&live, 2048, 2048, 1); /* inside: only what is there */
  step(&live, 2048 + 64, 4096, 2);
  step(&live, 64, 2048, 1);
  step(&live, 2048 + 64, 4096, 2); /* main's own */
  step(&live, 2048 + 64, 4096, 2);
  step(&live, 64, 2048, 1); /* next run: the output is gone, the cache stays, the hit adds nothing */
  step(&live, 2048 + 64, 4096, 2);
  step(&live, 2048, 2048, 1);
  ttm_alive_free(&live);
  ttm_profile_free(p);
}

static void load_cached_without_its_program_comes_back(void **state) {
  (void)state;
  ttm_profile *p = fx_new(1);
  texts t = make_texts(p);
  uint32_t main0 = fx_call(p, "main", 0, TTM_NONE);
  uint32_t load = fx_op(p, t.cached, main0); /* the log starts after its const-eval */
  fx_op(p, t.tile, main0);
  uint32_t main1 = fx_call(p, "main", 0, TTM_NONE);
  uint32_t again = fx_results(p, fx_op_only(p, t.cached, main1), tensor_of(p, load));
  fx_results(p, fx_op_only(p, t.cached, main1), tensor_of(p, load)); /* once is enough */
  fx_free(p, t.drop, main1, tensor_of(p, again), 0);
  fx_results(p, fx_op_only(p, t.cached, main1), tensor_of(p, load)); /* so it was not freed for good */
  ttm_alive live;
  fx_ok(ttm_alive_init(&live, p));
  step(&live, 64, 2048, 1);
  step(&live, 2048 + 64, 4096, 2);
  step(&live, 64, 2048, 1);
  step(&live, 64, 2048, 1);
  step(&live, 0, 0, 0);
  step(&live, 64, 2048, 1);
  ttm_alive_free(&live);
  ttm_profile_free(p);
}

static void outputs_leave_with_the_next_run_of_their_rank(void **state) {
  (void)state;
  ttm_profile *p = fx_new(2);
  texts t = make_texts(p);
  uint32_t a0 = fx_call(p, "main", 0, TTM_NONE), b0 = fx_call(p, "main", 1, TTM_NONE);
  uint32_t out = fx_op(p, t.tile, a0);
  fx_op(p, t.tile, b0);
  fx_op(p, t.row, b0);
  uint32_t a1 = fx_call(p, "main", 0, TTM_NONE);
  fx_op(p, t.row, a1);
  fx_op(p, t.tile, b0);
  fx_free(p, t.drop, a1, tensor_of(p, out), 0); /* counted out already */
  ttm_alive live;
  fx_ok(ttm_alive_init(&live, p));
  step(&live, 2048, 2048, 1);
  step(&live, 2048, 2048, 1);
  step(&live, 2048 + 64, 4096, 2);
  step(&live, 64, 2048, 1);
  step(&live, 4096 + 64, 6144, 3);
  step(&live, 64, 2048, 1);
  ttm_alive_free(&live);
  ttm_profile_free(p);
}

static void live_at_the_peak(void **state) {
  (void)state;
  ttm_profile *p = fx_new(1);
  texts t = make_texts(p);
  uint32_t main0 = fx_call(p, "main", 0, TTM_NONE);
  fx_step(p, t.tile, main0, 0);
  fx_step(p, t.row, main0, 2);
  uint32_t highest = fx_step(p, t.tile, main0, 9); /* its own result is not there yet */
  fx_step(p, t.tile, main0, 5);
  ttm_findings *f = fx_findings(p);
  assert_int_equal(f->peak[TTM_DRAM].state, p->ops.at[highest].state);
  assert_int_equal(f->alive_at_peak.tensors, 2);
  assert_int_equal(f->alive_at_peak.logical_bytes, 2048 + 64);
  assert_int_equal(f->alive_at_peak.stored_bytes, 4096);
  ttm_findings_free(f);
  fx_state(p, 0, TTM_STATE_AFTER_SUBMIT, 20, 0); /* after the last operation */
  f = fx_findings(p);
  assert_int_equal(f->alive_at_peak.tensors, 4);
  ttm_findings_free(f);
  uint32_t main1 = fx_call(p, "main", 0, TTM_NONE);
  fx_op(p, t.tile, main1); /* between two runs: what was returned is still there */
  f = fx_findings(p);
  assert_int_equal(f->alive_at_peak.tensors, 4);
  ttm_findings_free(f);
  ttm_profile_free(p);
}

static void peak_inside_const_eval_has_no_foresight(void **state) {
  (void)state;
  ttm_profile *p = fx_new(1);
  texts t = make_texts(p);
  uint32_t main0 = fx_call(p, "main", 0, TTM_NONE);
  uint32_t load = fx_op_only(p, t.cached, main0);
  fx_state(p, 0, load, 1, 0);
  uint32_t inside = fx_call(p, "main_const_eval_0", 0, main0);
  uint32_t made = fx_step(p, t.row, inside, 5);
  fx_results(p, load, tensor_of(p, made));
  ttm_findings *f = fx_findings(p);
  assert_int_equal(f->alive_at_peak.tensors, 0);
  ttm_findings_free(f);
  ttm_profile_free(p);
}

static void padding_of_the_live_set(void **state) {
  (void)state;
  ttm_profile *p = fx_new(1);
  texts t = make_texts(p);
  uint32_t call = fx_call(p, "main", 0, TTM_NONE);
  uint32_t big = fx_op(p, t.tile, call);
  fx_op(p, t.row, call);                          /* 4096 for 2112 */
  fx_free(p, t.drop, call, tensor_of(p, big), 0); /* 2048 for 64, but no element shows it */
  fx_op(p, t.tile, call);
  ttm_findings *f = fx_findings(p);
  assert_int_equal((int)(f->padding_peak_pct * 1000), (int)(1984.0 / 2112 * 100000));
  ttm_findings_free(f);
  ttm_profile_free(p);
}

static void padding_rows(void **state) {
  (void)state;
  ttm_profile *p = fx_new(1);
  texts t = make_texts(p);
  uint32_t half = fx_text(p, "ttnn.slice", TTM_OP_PLAIN, FX_HALF, NULL);
  uint32_t lost = fx_text(p, "ttnn.concat", TTM_OP_PLAIN, FX_ROW, NULL);
  uint32_t call = fx_call(p, "main", 0, TTM_NONE);
  fx_op(p, half, call);   /* 1024 too many */
  fx_op(p, t.tile, call); /* none */
  fx_op(p, t.host, call);
  uint32_t failed = fx_op_only(p, t.pair, call);
  uint32_t pair = fx_op(p, t.pair, call); /* result 1: 1984 too many */
  uint32_t row = fx_op(p, t.row, call);   /* as many */
  fx_op(p, t.row, call);
  uint32_t never = fx_op_only(p, lost, call);
  p->ops.at[failed].flags |= TTM_OP_FAILED;
  p->ops.at[never].flags |= TTM_OP_FAILED;
  ttm_findings *f = fx_findings(p);
  assert_int_equal(f->padding.n, 3);
  assert_int_equal(f->padding.at[0].op, pair);
  assert_int_equal(f->padding.at[0].result, 1);
  assert_int_equal(f->padding.at[0].times, 1);
  assert_int_equal(f->padding.at[1].op, row);
  assert_int_equal(f->padding.at[1].times, 2);
  assert_int_equal(f->padding.at[1].logical_bytes, 64);
  assert_int_equal(f->padding.at[1].stored_bytes, 2048);
  assert_int_equal(f->padding.at[2].op, 0);
  ttm_findings_free(f);
  ttm_profile_free(p);
}

static void padding_keeps_the_first_ten(void **state) {
  (void)state;
  ttm_profile *p = fx_new(1);
  uint32_t text[13];
  for (uint32_t i = 0; i < 13; i++) {
    char name[] = "ttnn.a";
    name[5] = (char)('a' + i);
    text[i] = fx_text(p, name, TTM_OP_PLAIN, i == 11 ? FX_ROW : FX_HALF, NULL);
  }
  uint32_t call = fx_call(p, "main", 0, TTM_NONE);
  for (uint32_t i = 13; i-- > 0;) fx_op(p, text[i], call); /* texts are not in the order of the operations */
  ttm_findings *f = fx_findings(p);
  assert_int_equal(f->padding.n, TTM_TOP);
  assert_int_equal(f->padding.at[0].op, 1);
  assert_int_equal(f->padding.at[1].op, 0);
  for (uint32_t i = 2; i < TTM_TOP; i++) assert_int_equal(f->padding.at[i].op, i);
  ttm_findings_free(f);
  ttm_profile_free(p);
}

static void padding_of_all_layers_is_one_row(void **state) {
  (void)state;
  ttm_profile *p = fx_new(1);
  uint32_t call = fx_call(p, "main", 0, TTM_NONE), text[3];
  static const char *const places[] = {"layers.0|MLP|dot.1", "layers.1|MLP|dot.1", "head1|dot.1"};
  for (uint32_t i = 0; i < 3; i++) {
    text[i] = fx_text(p, "ttnn.add", TTM_OP_PLAIN, FX_HALF, NULL);
    p->texts.at[text[i]].location = fx_str(p, places[i]);
  }
  for (uint32_t i = 0; i < 3; i++) fx_op(p, text[i], call);
  ttm_findings *f = fx_findings(p);
  assert_int_equal(f->padding.n, 2);
  assert_int_equal(f->padding.at[0].places, 2);
  assert_view(f->padding.at[0].name, "layers.*|MLP|dot.1");
  assert_view(f->padding.at[1].name, "head1|dot.1");
  ttm_findings_free(f);
  ttm_profile_free(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(births_and_frees),
      cmocka_unit_test(load_cached_counts_what_its_program_makes),
      cmocka_unit_test(load_cached_without_its_program_comes_back),
      cmocka_unit_test(outputs_leave_with_the_next_run_of_their_rank),
      cmocka_unit_test(live_at_the_peak),
      cmocka_unit_test(peak_inside_const_eval_has_no_foresight),
      cmocka_unit_test(padding_of_the_live_set),
      cmocka_unit_test(padding_rows),
      cmocka_unit_test(padding_keeps_the_first_ten),
      cmocka_unit_test(padding_of_all_layers_is_one_row),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
