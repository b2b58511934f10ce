/* SPDX-License-Identifier: Apache-2.0 */
/* Who holds which block from when to when, and what that comes to at a moment. */
#include "analyze/moment.h"
#include "analyze/parts.h"
#include "profile_fixture.h"

enum { MB = 1 << 20 };

static const ttm_occupant *row_of(const ttm_occupancy *o, uint32_t tensor) {
  for (size_t i = 0; i < o->rows.n; i++)
    if (o->rows.at[i].tensor == tensor) return &o->rows.at[i];
  fail_msg("tensor %u holds nothing", tensor);
  return NULL;
}

static ttm_occupancy occupy(const ttm_findings *f) {
  ttm_occupancy o;
  assert_true(ttm_occupancy_possible(f->profile));
  fx_ok(ttm_occupancy_make(&o, f, 0));
  for (size_t i = 1; i < o.rows.n; i++) assert_true(o.rows.at[i - 1].from <= o.rows.at[i].from);
  return o;
}

static ttm_moment at_op(const ttm_occupancy *o, uint32_t op) {
  ttm_moment m;
  fx_ok(ttm_moment_make(&m, o, TTM_DRAM, ttm_instant_of_op(o->findings->profile, op)));
  return m;
}

static void end(ttm_profile *p, ttm_findings *f, ttm_occupancy *o) {
  ttm_occupancy_free(o);
  ttm_findings_free(f);
  ttm_profile_free(p);
}

static void from_birth_to_free(void **state) {
  (void)state;
  fx_world w = fx_begin(1);
  uint32_t a = fx_make(&w, 0), b = fx_make(&w, 2000); /* operations 0 and 1 */
  fx_drop(&w, a, 4000);                               /* 2 */
  uint32_t c = fx_make(&w, 2000);                     /* 3: takes a's place */
  fx_make(&w, 4000);
  ttm_findings *f = fx_findings(w.p);
  ttm_occupancy o = occupy(f);
  const ttm_occupant *first = row_of(&o, a), *last = row_of(&o, c);
  assert_int_equal(first->from, 1);
  assert_int_equal(first->to, 3);
  assert_int_equal(first->state_from, 1);
  assert_int_equal(first->state_to, 3);
  assert_int_equal(first->at, 0);
  assert_int_equal(last->at, 0);
  assert_int_equal(last->from, 4);
  assert_int_equal(last->to, TTM_NONE);
  assert_int_equal(row_of(&o, b)->at, 2 * MB);
  ttm_moment m = at_op(&o, 3); /* only b is there, above a hole */
  assert_int_equal(m.set.tensors, 1);
  assert_int_equal(m.rows.n, 1);
  assert_int_equal(m.blocks.n, 2);
  assert_int_equal(m.blocks.at[0].at, 0);
  assert_int_equal(m.blocks.at[0].size, 2 * MB);
  assert_int_equal(m.blocks.at[1].at, 4 * MB);
  assert_false(m.agrees); /* the fixture's states know of no hole */
  ttm_moment_free(&m);
  end(w.p, f, &o);
}

/* What a run leaves is an activation until the next one begins. */
static void results_of_an_earlier_run(void **state) {
  (void)state;
  fx_world w = fx_begin(1);
  uint32_t left = fx_make(&w, 0);
  w.call = fx_call(w.p, "main", 0, TTM_NONE);
  fx_make(&w, 2000);
  fx_make(&w, 4000);
  ttm_findings *f = fx_findings(w.p);
  ttm_occupancy o = occupy(f);
  const ttm_occupant *row = row_of(&o, left);
  assert_int_equal(row->class, TTM_ALIVE_ACTIVATION);
  assert_int_equal(row->kept, 1);
  assert_int_equal(row->state_kept, 1);
  ttm_moment m = at_op(&o, 2);
  assert_int_equal(m.set.by_class[TTM_ALIVE_KEPT], 2 * MB);
  assert_int_equal(m.set.by_class[TTM_ALIVE_ACTIVATION], 2 * MB);
  ttm_moment_free(&m);
  end(w.p, f, &o);
}

/* Memory that was there before goes from its upper end; the rest keeps its place. */
static void what_was_there_before_shrinks(void **state) {
  (void)state;
  fx_world w = fx_begin(1);
  fx_make(&w, 8000);
  w.call = fx_call(w.p, "main", 0, TTM_NONE);
  fx_make(&w, 7000); /* 3 MB went between the runs, of which 2 MB were the first result */
  fx_make(&w, 9000);
  ttm_findings *f = fx_findings(w.p);
  ttm_occupancy o = occupy(f);
  uint64_t stays = 0, goes = 0;
  for (size_t i = 0; i < o.rows.n; i++) {
    if (o.rows.at[i].class != TTM_ALIVE_UNACCOUNTED) continue;
    *(o.rows.at[i].to == TTM_NONE ? &stays : &goes) += o.rows.at[i].bytes;
    assert_int_equal(o.rows.at[i].from, 0);
    assert_int_equal(o.rows.at[i].at, o.rows.at[i].to == TTM_NONE ? 0 : 7 * MB);
  }
  assert_int_equal(stays, 7 * MB);
  assert_int_equal(goes, MB);
  end(w.p, f, &o);
}

/* At every state the blocks add up to what was measured, and at the peak by class to the live set of the findings. */
static void a_whole_log_adds_up(void **state) {
  (void)state;
  static const char *const logs[] = {TTMEM_SOURCE "/tests/golden/small.log",
                                     TTMEM_SOURCE "/tests/golden/llama-tiny/tiny_profile.log",
                                     TTMEM_SOURCE "/demo/llama_small.log.zst"};
  for (size_t k = 0; k < sizeof logs / sizeof *logs; k++) {
    ttm_profile *p = NULL;
    fx_ok(ttm_profile_read(&p, logs[k], NULL));
    ttm_findings *f = fx_findings(p);
    ttm_occupancy o = occupy(f);
    for (uint32_t s = 0; s < p->states.n; s += 1 + (uint32_t)p->states.n / 300) {
      ttm_moment m;
      fx_ok(ttm_moment_make(&m, &o, TTM_DRAM, (ttm_instant){ttm_op_after_state(p, s, 0), s}));
      uint64_t sum = 0;
      for (int c = 0; c < TTM_ALIVE_CLASSES; c++) sum += m.set.by_class[c];
      assert_true(sum <= m.set.measured_bytes + m.set.over_bytes + TTM_LEVEL_SLACK);
      assert_true(sum + TTM_LEVEL_SLACK + 1 >= m.set.measured_bytes);
      ttm_moment_free(&m);
    }
    for (int memory = TTM_DRAM; memory <= TTM_L1; memory++) {
      const ttm_alive_set *set = &f->alive_set[memory];
      ttm_moment m;
      fx_ok(ttm_moment_make(&m, &o, (ttm_memory)memory, ttm_instant_of_peak(f, (ttm_memory)memory)));
      assert_int_equal(m.set.tensors, set->tensors);
      for (int c = 0; c < TTM_ALIVE_CLASSES; c++) assert_int_equal(m.set.by_class[c], set->by_class[c]);
      assert_int_equal(m.set.groups.n, set->groups.n);
      for (size_t i = 0; i < set->groups.n; i++) {
        assert_true(ttm_str_eq(m.set.groups.at[i].name, set->groups.at[i].name));
        assert_int_equal(m.set.groups.at[i].bank_bytes, set->groups.at[i].bank_bytes);
      }
      ttm_moment_free(&m);
    }
    end(p, f, &o);
  }
}

/* The line of an error message means the operation before it. */
static void lines_and_operations(void **state) {
  (void)state;
  fx_world w = fx_begin(1);
  fx_make(&w, 0);
  fx_make(&w, 2000);
  uint32_t line = w.p->ops.at[1].line;
  assert_int_equal(ttm_instant_of_line(w.p, line).op, 1);
  assert_int_equal(ttm_instant_of_line(w.p, line - 1).op, 0);
  assert_int_equal(ttm_instant_of_line(w.p, line + 100).op, 1);
  assert_int_equal(ttm_instant_of_line(w.p, 0).op, 0);
  assert_int_equal(ttm_instant_of_line(w.p, line).state, 1);
  ttm_profile_free(w.p);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(from_birth_to_free), cmocka_unit_test(results_of_an_earlier_run),
                                     cmocka_unit_test(what_was_there_before_shrinks),
                                     cmocka_unit_test(a_whole_log_adds_up), cmocka_unit_test(lines_and_operations)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
