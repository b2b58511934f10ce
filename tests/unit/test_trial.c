/* SPDX-License-Identifier: Apache-2.0 */
/* Changes tried on recorded allocations: what they mean, what they take, where it then fits. */
#include "analyze/trial.h"
#include "base/error.h"
#include "profile_fixture.h"

enum { MB = 1 << 20 };

typedef struct world {
  fx_world log;
  ttm_findings *f;
  ttm_ledger ledger;
} world;

static world begin(void) {
  world w = {.log = fx_begin(1)};
  w.log.p->texts.at[w.log.make].location = fx_str(w.log.p, "layers.0|add.1");
  return w;
}

/* The failure of an operation at `dram`: `needed` MB in each bank, of which `largest` are free in one block. */
static void refused(world *w, uint32_t dram, uint64_t needed, uint64_t free, uint64_t largest) {
  uint32_t op = fx_step(w->log.p, w->log.make, w->log.call, dram);
  ttm_incident incident = {.op = op, .state = w->log.p->ops.at[op].state, .line = fx_line(w->log.p)};
  ttm_incident_clear(&incident.what);
  incident.what.kind = TTM_INCIDENT_OOM;
  incident.what.memory = TTM_LIT("DRAM");
  incident.what.size = needed * MB * 12;
  incident.what.banks = 12;
  incident.what.needed_per_bank = needed * MB;
  incident.what.bank_size = 1000 * UINT64_C(1048576);
  incident.what.free_per_bank = free;
  incident.what.largest_free_block = largest;
  fx_ok(ttm_vec_push(&w->log.p->incidents, incident));
  w->log.p->ops.at[op].flags |= TTM_OP_FAILED;
}

static void settle(world *w) {
  w->f = fx_findings(w->log.p);
  fx_ok(ttm_ledger_make(&w->ledger, w->f));
}

static void end(world *w) {
  ttm_ledger_free(&w->ledger);
  ttm_findings_free(w->f);
  ttm_profile_free(w->log.p);
}

static ttm_trial try(const world *w, const char *text) {
  ttm_change change;
  ttm_trial before, after;
  fx_ok(ttm_change_parse(&change, ttm_str_of(text), NULL));
  fx_ok(ttm_trial_run(&before, &w->ledger, NULL, 0));
  fx_ok(ttm_trial_run(&after, &w->ledger, &change, 1));
  ttm_trial_judge(&after, &before, &w->ledger);
  return after;
}

/* ---- Levels ------------------------------------------------------------------------------------------------------- */

static void nothing_changed_is_as_recorded(void **state) {
  (void)state;
  world w = begin();
  uint32_t a = fx_make(&w.log, 5000);
  fx_make(&w.log, 7000);
  fx_drop(&w.log, a, 9000);
  fx_make(&w.log, 7000);
  settle(&w);
  ttm_trial t;
  fx_ok(ttm_trial_run(&t, &w.ledger, NULL, 0));
  assert_true(t.fits);
  assert_int_equal(t.memories[TTM_REPLAY_DRAM].peak, 9 * MB);
  assert_int_equal(t.memories[TTM_REPLAY_DRAM].peak_op, 1);
  assert_int_equal(t.misplaced, 0);
  end(&w);
}

static void a_smaller_dtype_takes_less(void **state) {
  (void)state;
  world w = begin();
  fx_make(&w.log, 0);
  fx_make(&w.log, 2000);
  fx_state(w.log.p, 0, TTM_STATE_AFTER_SUBMIT, 4000, 0);
  settle(&w);
  ttm_trial t = try(&w, "dtype=bfp8:layers.*");
  assert_int_equal(t.match[0].matched, 2);
  assert_int_equal(t.match[0].changed, 2);
  assert_int_equal(t.memories[TTM_REPLAY_DRAM].peak, 2 * 1024 * 1088);
  assert_null(t.estimate);
  t = try(&w, "dtype=bfp8:layers.*,!#1");
  assert_int_equal(t.match[0].changed, 1);
  assert_int_equal(t.memories[TTM_REPLAY_DRAM].peak, 2 * MB + 1024 * 1088);
  t = try(&w, "dtype=f32:ttnn.add");
  assert_int_equal(t.memories[TTM_REPLAY_DRAM].peak, 8 * MB);
  end(&w);
}

static void freed_at_the_last_use(void **state) {
  (void)state;
  world w = begin();
  uint32_t a = fx_make(&w.log, 0);
  fx_make(&w.log, 2000);
  w.log.p->tensors.at[a].last_use = 1; /* it still stands beside the result of its last use */
  fx_make(&w.log, 4000);
  fx_make(&w.log, 6000);
  fx_drop(&w.log, a, 8000);
  fx_state(w.log.p, 0, TTM_STATE_AFTER_SUBMIT, 6000, 0);
  settle(&w);
  ttm_trial t = try(&w, "free=last-use:#0");
  assert_int_equal(t.match[0].changed, 1);
  assert_int_equal(t.memories[TTM_REPLAY_DRAM].peak, 6 * MB);
  end(&w);
}

static void freed_when_the_run_ends(void **state) {
  (void)state;
  world w = begin();
  fx_make(&w.log, 0);
  w.log.call = fx_call(w.log.p, "main", 0, TTM_NONE);
  fx_make(&w.log, 2000); /* the first run's result is still there */
  fx_state(w.log.p, 0, TTM_STATE_AFTER_SUBMIT, 4000, 0);
  settle(&w);
  ttm_trial t = try(&w, "free=run-end:#0");
  assert_int_equal(t.memories[TTM_REPLAY_DRAM].peak, 2 * MB);
  end(&w);
}

static void another_memory_layout_and_shape(void **state) {
  (void)state;
  world w = begin();
  uint32_t narrow = fx_text(w.log.p, "ttnn.concat", TTM_OP_PLAIN,
                            "tensor<98304x1xbf16, #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, "
                            "memref<3072x1x!ttcore.tile<32x32, bf16>, #ttnn.buffer_type<dram>>, <interleaved>>>",
                            NULL);
  fx_step(w.log.p, narrow, w.log.call, 0);
  fx_state(w.log.p, 0, TTM_STATE_AFTER_SUBMIT, 500, 0);
  settle(&w);
  ttm_trial t = try(&w, "move=l1:ttnn.concat");
  assert_int_equal(t.memories[TTM_REPLAY_DRAM].peak, 0);
  assert_int_equal(t.memories[TTM_REPLAY_L1].peak, 3072 / 64 * 2048);
  assert_non_null(t.estimate); /* circular buffers are not seen */
  t = try(&w, "move=host:ttnn.concat");
  assert_int_equal(t.memories[TTM_REPLAY_DRAM].peak + t.memories[TTM_REPLAY_L1].peak, 0);
  t = try(&w, "reshape=1024x96:ttnn.concat");
  assert_int_equal(t.memories[TTM_REPLAY_DRAM].peak, 96 / 12 * 2048);
  t = try(&w, "reshape=1024x97:ttnn.concat");
  assert_int_equal(t.match[0].changed, 0);
  assert_string_equal(t.match[0].why, "has another number of values");
  t = try(&w, "layout=row_major:ttnn.concat"); /* a row of 2 B takes 32 */
  assert_int_equal(t.memories[TTM_REPLAY_DRAM].peak, 98304 / 12 * 32);
  t = try(&w, "shard=height,8:ttnn.concat");
  assert_int_equal(t.memories[TTM_REPLAY_L1].peak, 3072 / 8 * 2048);
  t = try(&w, "divide=4:ttnn.concat");
  assert_int_equal(t.memories[TTM_REPLAY_DRAM].peak, 3072 / 4 / 12 * 2048);
  end(&w);
}

static void batch_and_board(void **state) {
  (void)state;
  world w = begin();
  fx_make(&w.log, 0);
  fx_state(w.log.p, 0, TTM_STATE_AFTER_SUBMIT, 2000, 0);
  settle(&w);
  assert_int_equal(try(&w, "batch=3").memories[TTM_REPLAY_DRAM].peak, 6 * MB);
  assert_int_equal(try(&w, "batch=1/2").memories[TTM_REPLAY_DRAM].peak, MB);
  ttm_trial t = try(&w, "board=p150");
  assert_int_equal(t.memories[TTM_REPLAY_DRAM].peak, 96 * 128 / 8 * 2048);
  assert_int_equal(t.memories[TTM_REPLAY_DRAM].size, 4277141376);
  assert_non_null(t.estimate);
  end(&w);
}

/* ---- Failures ------------------------------------------------------------------------------------------------------- */

/* 494 MB from before, then four tensors of 2 MB in a row; 498 are free behind them. */
static world with_failure(uint64_t needed) {
  world w = begin();
  for (uint32_t i = 0; i < 4; i++) fx_make(&w.log, 494000 + 2000 * i);
  refused(&w, 502000, needed, 498 * UINT64_C(1048576), 498 * UINT64_C(1048576));
  settle(&w);
  return w;
}

static void what_failed_fits_when_enough_is_freed_beside_the_room(void **state) {
  (void)state;
  world w = with_failure(499);
  ttm_trial t = try(&w, "order=first:#0");
  assert_int_equal(t.failures, 1);
  assert_int_equal(t.failures_left, 1);
  assert_null(t.estimate);
  assert_int_equal(try(&w, "free=now:#0").failures_left, 1); /* enough in all, but not in one block */
  t = try(&w, "free=now:#3");
  assert_int_equal(t.failures_left, 0);
  assert_true(t.fits);
  assert_int_equal(t.entries_after, 0);
  assert_int_equal(t.memories[TTM_REPLAY_DRAM].peak, (494 + 6 + 499) * (uint64_t)MB);
  end(&w);
}

static void the_failing_tensor_itself_can_be_changed(void **state) {
  (void)state;
  world w = with_failure(499);
  ttm_trial t = try(&w, "divide=2:#4");
  assert_int_equal(t.match[0].matched, 1);
  assert_true(t.fits);
  assert_string_equal(t.estimate, "what is done with the parts is not known");
  end(&w);
}

static void a_replay_that_contradicts_the_message_is_an_estimate(void **state) {
  (void)state;
  world w = begin();
  fx_make(&w.log, 494000);
  refused(&w, 496000, 500, 504 * UINT64_C(1048576), 400 * UINT64_C(1048576));
  settle(&w);
  assert_non_null(try(&w, "dtype=bfp8:#0").estimate);
  end(&w);
}

static void what_had_room_may_have_none_then(void **state) {
  (void)state;
  world w = begin();
  fx_make(&w.log, 0);
  fx_make(&w.log, 998000 - 2);
  fx_state(w.log.p, 0, TTM_STATE_AFTER_SUBMIT, 1000000 - 2, 0);
  settle(&w);
  ttm_trial t = try(&w, "dtype=f32:#1");
  assert_false(t.fits);
  assert_int_equal(t.failures, 0);
  assert_int_equal(t.refused_op, 1);
  assert_int_equal(t.refusal.needed_per_bank, 4 * MB);
  end(&w);
}

/* ---- Words ------------------------------------------------------------------------------------------------------------ */

static void what_is_no_change(void **state) {
  (void)state;
  static const char *const wrong[] = {
      "",           "dtype",      "dtype=bfp8", "dtype=bfp8:",     "dtype=int8:x", "free=soon:x",
      "move=sea:x", "layout=:x",  "shard=64:x", "shard=block,8:x", "batch=0",      "batch=1/0",
      "batch=2:x",  "board=n151", "divide=0:x", "order=last:x",    "reshape=3x:x", "colour=red:x"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    ttm_change change;
    ttm_error err;
    assert_int_equal(ttm_change_parse(&change, ttm_str_of(wrong[i]), &err), TTM_EUSAGE);
    assert_true(err.message[0] != '\0');
  }
}

static bool meant(const char *pattern, ttm_label label, uint32_t index) {
  char text[128];
  ttm_change change;
  bool by_class;
  snprintf(text, sizeof text, "free=now:%s", pattern);
  fx_ok(ttm_change_parse(&change, ttm_str_of(text), NULL));
  return ttm_change_means(&change, &label, index, &by_class);
}

static void patterns(void **state) {
  (void)state;
  ttm_label label = {TTM_LIT("model.layers.3.w,1"), TTM_LIT("ttnn.matmul"), TTM_LIT("model.py:17"), TTM_ALIVE_WEIGHT};
  assert_true(meant("model.layers.*", label, 4));
  assert_true(meant("*.w\\,1", label, 4));
  assert_true(meant("nothing,ttnn.mat*", label, 4));
  assert_true(meant("model.py:17", label, 4));
  assert_true(meant("weights", label, 4));
  assert_true(meant("#4", label, 4));
  assert_false(meant("#5", label, 4));
  assert_false(meant("layers.3", label, 4));
  assert_false(meant("*.w,1", label, 4));
  assert_false(meant("weights,!*matmul", label, 4));
  assert_false(meant("activations", label, 4));
  assert_true(meant("*", label, 4));
}

static void a_quoted_name_means_itself(void **state) {
  (void)state;
  static const char *const names[] = {"a,b", "a*b", "!a", "#12", "a\\b", "model.py:17"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    ttm_buf quoted = {0};
    ttm_change_quote(&quoted, ttm_str_of(names[i]));
    ttm_buf_char(&quoted, '\0');
    assert_true(meant(quoted.at, (ttm_label){.at = ttm_str_of(names[i])}, 3));
    assert_false(meant(quoted.at, (ttm_label){.at = TTM_LIT("axb")}, 12));
    ttm_buf_free(&quoted);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_changed_is_as_recorded),
      cmocka_unit_test(a_smaller_dtype_takes_less),
      cmocka_unit_test(freed_at_the_last_use),
      cmocka_unit_test(freed_when_the_run_ends),
      cmocka_unit_test(another_memory_layout_and_shape),
      cmocka_unit_test(batch_and_board),
      cmocka_unit_test(what_failed_fits_when_enough_is_freed_beside_the_room),
      cmocka_unit_test(the_failing_tensor_itself_can_be_changed),
      cmocka_unit_test(a_replay_that_contradicts_the_message_is_an_estimate),
      cmocka_unit_test(what_had_room_may_have_none_then),
      cmocka_unit_test(what_is_no_change),
      cmocka_unit_test(patterns),
      cmocka_unit_test(a_quoted_name_means_itself),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
