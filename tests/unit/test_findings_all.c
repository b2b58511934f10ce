/* SPDX-License-Identifier: Apache-2.0 */
/* Distribution, report indices, and profiles with little or nothing in them. */
#include "profile_fixture.h"

static void counted_by_name(void **state) {
  (void)state;
  ttm_profile *p = fx_new(1);
  const uint32_t repeat = fx_text(p, "RepeatOp", TTM_OP_PLAIN, NULL, NULL);
  const uint32_t add = fx_text(p, "ttnn.add", TTM_OP_PLAIN, FX_TILE, NULL);
  const uint32_t other_add = fx_text(p, "ttnn.add", TTM_OP_PLAIN, FX_ROW, NULL);
  const uint32_t old_add = fx_text(p, "ttir.add", TTM_OP_PLAIN, FX_ROW, NULL);
  const uint32_t load = fx_text(p, "ttcore.load_cached", TTM_OP_LOAD_CACHED, FX_ROW, NULL);
  const uint32_t drop = fx_text(p, "ttnn.deallocate", TTM_OP_DEALLOCATE, NULL, NULL);
  fx_text(p, "ttnn.never_run", TTM_OP_PLAIN, NULL, NULL);
  uint32_t call = fx_call(p, "main", 0, TTM_NONE);
  const uint32_t order[] = {load, repeat, other_add, drop, drop, drop, drop, add, old_add, repeat, load};
  for (size_t i = 0; i < sizeof order / sizeof *order; i++) fx_op_only(p, order[i], call);
  p->ops.at[2].flags |= TTM_OP_FAILED; /* it ran all the same */
  ttm_findings *f = fx_findings(p);
  assert_int_equal(f->distribution.n, 3);
  assert_view(f->distribution.at[0].name, "add");
  assert_int_equal(f->distribution.at[0].n, 3);
  assert_view(f->distribution.at[1].name, "load_cached"); /* as often, but first */
  assert_int_equal(f->distribution.at[1].n, 2);
  assert_view(f->distribution.at[2].name, "RepeatOp");
  assert_int_equal(f->elements, 7);
  ttm_findings_free(f);
  ttm_profile_free(p);
}

static void indices_skip_what_is_no_element(void **state) {
  (void)state;
  ttm_profile *p = fx_new(1);
  uint32_t add = fx_text(p, "ttnn.add", TTM_OP_PLAIN, NULL, NULL);
  uint32_t device = fx_text(p, "ttnn.get_device", TTM_OP_GET_DEVICE, NULL, NULL);
  uint32_t call = fx_call(p, "main", 0, TTM_NONE), n = 5 * TTM_INDEX_STEP + 77;
  for (uint32_t i = 0; i < n; i++) fx_op_only(p, i % 3 == 1 ? device : add, call);
  ttm_findings *f = fx_findings(p);
  for (uint32_t i = 0, index = 0; i < n; i++) {
    assert_int_equal(ttm_findings_index(f, i), i % 3 == 1 ? TTM_NONE : index);
    index += i % 3 != 1;
  }
  assert_int_equal(ttm_findings_index(f, n), TTM_NONE);
  assert_int_equal(ttm_findings_index(f, TTM_NONE), TTM_NONE);
  ttm_findings_free(f);
  ttm_profile_free(p);
}

static void nothing_at_all(void **state) {
  (void)state;
  ttm_profile *p = fx_new(0);
  ttm_findings *f = fx_findings(p);
  assert_int_equal(f->elements, 0);
  assert_false(f->peak[TTM_DRAM].known);
  assert_int_equal(f->peak[TTM_DRAM].cause, TTM_NONE);
  assert_int_equal(f->consumers[TTM_DRAM].n, 0);
  assert_int_equal(f->padding.n + f->runs.n + f->leaks.n + f->distribution.n + f->incidents.n, 0);
  assert_int_equal(ttm_findings_index(f, 0), TTM_NONE);
  ttm_findings_free(f);
  ttm_findings_free(NULL);
  ttm_profile_free(p);
}

static void operations_without_blocks(void **state) {
  (void)state;
  ttm_profile *p = fx_new(1);
  uint32_t add = fx_text(p, "ttnn.add", TTM_OP_PLAIN, FX_ROW, NULL), call = fx_call(p, "main", 0, TTM_NONE);
  fx_op(p, add, call);
  ttm_findings *f = fx_findings(p);
  assert_int_equal(f->elements, 1);
  assert_int_equal(f->padding.n, 1);
  assert_int_equal(f->alive_at_peak.tensors, 0); /* no peak is known */
  assert_true(f->padding_peak_pct > 3099 && f->padding_peak_pct < 3101);
  ttm_findings_free(f);
  ttm_profile_free(p);
}

static void blocks_without_operation_lines(void **state) {
  (void)state;
  ttm_profile *p = fx_new(1);
  uint32_t repeat = fx_text(p, "RepeatOp", TTM_OP_PLAIN, NULL, NULL), call = fx_call(p, "", 0, TTM_NONE);
  fx_step(p, repeat, call, 10);
  fx_step(p, repeat, call, 30);
  ttm_findings *f = fx_findings(p);
  assert_int_equal(f->peak[TTM_DRAM].cause, 0);
  assert_int_equal(f->padding.n, 0);
  ttm_findings_free(f);
  ttm_profile_free(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counted_by_name),
      cmocka_unit_test(indices_skip_what_is_no_element),
      cmocka_unit_test(nothing_at_all),
      cmocka_unit_test(operations_without_blocks),
      cmocka_unit_test(blocks_without_operation_lines),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
