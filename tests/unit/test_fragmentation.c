/* SPDX-License-Identifier: Apache-2.0 */
/* Free memory out of reach: measured, the moments it would refuse the largest tensor, and who stands in the way. */
#include "profile_fixture.h"

enum { MB = 1 << 20, BLOCKS = 5 };
#define FX_BULK "tensor<307200x4096xbf16, " FX_LAYOUT("9600x128", "dram", ", <interleaved>") /* 200 MB in each bank */

/* Five tensors of 200 MB fill the bank; the second and fourth go. */
static ttm_profile *comb(bool gaps) {
  ttm_profile *p = fx_new(1);
  p->kind = TTM_LOG_FULL;
  uint32_t make = fx_text(p, "ttnn.bulk", TTM_OP_PLAIN, FX_BULK, NULL), call = fx_call(p, "main", 0, TTM_NONE);
  uint32_t drop = fx_text(p, "ttnn.deallocate", TTM_OP_DEALLOCATE, NULL, NULL), tensors[BLOCKS], level = 0;
  for (uint32_t i = 0; i < BLOCKS; i++) {
    uint32_t op = fx_step(p, make, call, level);
    tensors[i] = p->ops.at[op].tensor;
    level += 200000;
  }
  for (uint32_t i = 1; i < BLOCKS; i += gaps ? 2 : 1) {
    uint32_t state = fx_state(p, 0, fx_free(p, drop, call, tensors[i], 0), level, 0);
    p->states.at[state].dram_largest = level == 1000000 ? 0 : 200000;
    if (!gaps) p->states.at[state].dram_largest = p->states.at[state].dram_free;
    level -= 200000;
  }
  uint32_t last = fx_step(p, fx_text(p, "ttnn.end", TTM_OP_PLAIN, NULL, NULL), call, level);
  if (gaps) p->states.at[p->ops.at[last].state].dram_largest = 200000;
  return p;
}

static void pins_stand_between_free_blocks(void **state) {
  (void)state;
  ttm_profile *p = comb(true);
  ttm_findings *f = fx_findings(p);
  const ttm_fragmentation *x = &f->fragmentation;
  assert_true(x->known);
  assert_int_equal(x->worst_state, p->states.n - 1);
  assert_int_equal(x->worst_free, 400 * (uint64_t)MB);
  assert_int_equal(x->worst_largest, 200 * (uint64_t)MB);
  assert_true(ttm_fragmentation_pct(x->worst_free, x->worst_largest) == 50.0);
  assert_int_equal(x->pin_count, 1);
  assert_int_equal(x->pins[0].at, 400 * (uint64_t)MB);
  assert_int_equal(x->pins[0].size, 200 * (uint64_t)MB);
  assert_int_equal(x->pins[0].merged, 600 * (uint64_t)MB);
  assert_int_equal(x->pins[0].tensors, 1);
  assert_int_equal(p->tensors.at[x->pins[0].tensor].birth, 2);
  assert_int_equal(x->largest_request, 200 * (uint64_t)MB);
  assert_int_equal(x->refusing_states, 0); /* the largest tensor of the log fits into either gap */
  ttm_findings_free(f);
  ttm_profile_free(p);
}

/* With an operation that would want 300 MB the same states refuse it. */
static void moments_that_refuse_the_largest_request(void **state) {
  (void)state;
  ttm_profile *p = comb(true);
  uint32_t want = fx_text(p, "ttnn.more", TTM_OP_PLAIN,
                          "tensor<460800x4096xbf16, " FX_LAYOUT("14400x128", "dram", ", <interleaved>"), NULL);
  uint32_t op = fx_op(p, want, 0);
  p->ops.at[op].flags |= TTM_OP_FAILED;
  ttm_findings *f = fx_findings(p);
  assert_int_equal(f->fragmentation.largest_request, 300 * (uint64_t)MB);
  assert_int_equal(f->fragmentation.request_op, op);
  assert_int_equal(f->fragmentation.refusing_states, 1);
  assert_int_equal(f->fragmentation.refusing[0], f->fragmentation.worst_state);
  ttm_findings_free(f);
  ttm_profile_free(p);
}

static void one_free_block_is_not_fragmented(void **state) {
  (void)state;
  ttm_profile *p = comb(false);
  ttm_findings *f = fx_findings(p);
  assert_true(f->fragmentation.known);
  assert_int_equal(f->fragmentation.worst_free, f->fragmentation.worst_largest);
  assert_int_equal(f->fragmentation.pin_count, 0);
  assert_int_equal(f->fragmentation.refusing_states, 0);
  assert_true(ttm_fragmentation_pct(0, 0) == 0.0);
  ttm_findings_free(f);
  ttm_profile_free(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pins_stand_between_free_blocks),
      cmocka_unit_test(moments_that_refuse_the_largest_request),
      cmocka_unit_test(one_free_block_is_not_fragmented),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
