/* SPDX-License-Identifier: Apache-2.0 */
/* tests/data/program.mlir: a weight made by const-eval, a view on a product, an L1 tensor, a view as the result. Every large tensor takes
 * 4096x4096 bf16 tiles: M. */
#include "profile/module_run.h"

#include "starving.h"
#include "unit.h"

enum { BANKS = 12, L1_BANKS = 64 };
#define M (UINT64_C(1366) * 2048) /* 16,384 tiles over 12 banks */

typedef struct level {
  uint64_t held, peak, after; /* after: when the last function has returned */
  uint32_t op;
} level;

static ttm_str program(void) { return file_view(TTMEM_SOURCE "/tests/data/program.mlir"); }

/* DRAM and L1 over the events of one run of `r`. */
static void play(const ttm_module_run *r, size_t run, level out[2]) {
  size_t end = run + 1 < r->runs.n ? r->runs.at[run + 1] : r->events.n;
  memset(out, 0, 2 * sizeof *out);
  for (size_t i = 0; i < end; i++) {
    const ttm_run_event *e = &r->events.at[i];
    for (int k = 0; k < 2 && e->act == TTM_RUN_LEAVE; k++) out[k].after = out[k].held;
    if (e->act != TTM_RUN_TAKE && e->act != TTM_RUN_GIVE) continue;
    const ttm_tensor_type *type = &r->types.at[r->buffers.at[e->what].type];
    level *l = &out[type->buffer == TTM_BUFFER_L1];
    uint64_t bytes =
        ttm_tensor_bank_bytes(type, type->buffer == TTM_BUFFER_L1 ? L1_BANKS : BANKS, (ttm_alignment){32, 16});
    l->held += e->act == TTM_RUN_TAKE ? bytes : -bytes;
    if (i >= r->runs.at[run] && l->held > l->peak) l->peak = l->held, l->op = e->op;
  }
}

static void peak_is(const ttm_module_run *r, size_t run, uint64_t dram, const char *op, uint64_t after) {
  level l[2];
  play(r, run, l);
  assert_int_equal(l[0].peak, dram);
  assert_int_equal(r->module->ops.at[l[0].op].name.n, strlen(op));
  assert_memory_equal(r->module->ops.at[l[0].op].name.p, op, strlen(op));
  assert_int_equal(l[0].after, after);
  assert_int_equal(l[1].peak, 2 * 2048);
  assert_int_equal(l[1].after, 0);
}

/* Held throughout: the input (M), its mask, and from const-eval on the weight (M). */
#define MASK (UINT64_C(11) * 2048)

static void the_runtime_frees_a_view_with_its_last_value(void **state) {
  (void)state;
  ttm_str text = program();
  ttm_module m;
  ttm_module_run r;
  assert_int_equal(ttm_module_parse(&m, text), TTM_OK);
  assert_int_equal(m.unread, 0);
  assert_int_equal(ttm_module_run_make(&r, &m, TTM_RUNNER_COMPILED, 2, NULL), TTM_OK);
  assert_int_equal(r.runs.n, 2);
  peak_is(&r, 0, 4 * M + MASK, "ttnn.gelu", 3 * M + MASK); /* input, weight, product, gelu */
  peak_is(&r, 1, 4 * M + MASK, "ttnn.gelu", 3 * M + MASK); /* the first run's result is gone, the weight is cached */
  ttm_module_run_free(&r);
  ttm_module_free(&m);
  free((char *)text.p);
}

static void emitted_python_keeps_it_to_the_end(void **state) {
  (void)state;
  ttm_str text = program();
  ttm_module m;
  ttm_module_run r;
  assert_int_equal(ttm_module_parse(&m, text), TTM_OK);
  assert_int_equal(ttm_module_run_make(&r, &m, TTM_RUNNER_PYTHON, 1, NULL), TTM_OK);
  peak_is(&r, 0, 5 * M + MASK, "ttnn.silu", 3 * M + MASK); /* the product is still there */
  ttm_module_run_free(&r);
  ttm_module_free(&m);
  free((char *)text.p);
}

/* What a log showed of an operation counts more than the rules: here the reshape copied. */
static void a_lesson_is_applied(void **state) {
  (void)state;
  ttm_str text = program();
  ttm_module m;
  ttm_module_run r;
  ttm_run_lessons lessons = {0};
  assert_int_equal(ttm_module_parse(&m, text), TTM_OK);
  for (size_t i = 0; i < m.ops.n; i++) {
    if (ttm_str_eq(m.ops.at[i].name, TTM_LIT("ttnn.reshape")))
      assert_int_equal(ttm_map_set(&lessons.ops, ttm_op_signature(&m, &m.ops.at[i]), TTM_SEEN_TAKING), TTM_OK);
  }
  assert_int_equal(ttm_module_run_make(&r, &m, TTM_RUNNER_COMPILED, 1, &lessons), TTM_OK);
  peak_is(&r, 0, 4 * M + MASK, "ttnn.reshape", 3 * M + MASK); /* input, weight, product, its copy */
  ttm_module_run_free(&r);
  ttm_map_free(&lessons.ops);
  ttm_module_free(&m);
  free((char *)text.p);
}

/* Another program of the same weights has brought them: the const-eval of this one is a cache hit. */
static void a_weight_that_is_there_costs_nothing(void **state) {
  (void)state;
  ttm_str text = program();
  ttm_module m;
  ttm_module_run first, second;
  ttm_run_lessons lessons = {0};
  assert_int_equal(ttm_module_parse(&m, text), TTM_OK);
  assert_int_equal(ttm_module_run_make(&first, &m, TTM_RUNNER_COMPILED, 1, NULL), TTM_OK);
  assert_true(first.brought.n >= 1);
  for (size_t i = 0; i < first.brought.n; i++)
    assert_int_equal(ttm_map_set(&lessons.there, first.brought.at[i], 1), TTM_OK);
  assert_int_equal(ttm_module_run_make(&second, &m, TTM_RUNNER_COMPILED, 2, &lessons), TTM_OK);
  assert_int_equal(second.brought.n, 0);
  peak_is(&second, 0, 3 * M + MASK, "ttnn.gelu", 2 * M + MASK);
  peak_is(&second, 1, 3 * M + MASK, "ttnn.gelu", 2 * M + MASK);
  ttm_module_run_free(&first);
  ttm_module_run_free(&second);
  ttm_map_free(&lessons.there);
  ttm_module_free(&m);
  free((char *)text.p);
}

static bool run_starved(void *context, bool plenty) {
  ttm_str *text = context;
  ttm_module m;
  ttm_module_run r = {0};
  int status = ttm_module_parse(&m, *text);
  if (!status) status = ttm_module_run_make(&r, &m, TTM_RUNNER_COMPILED, 2, NULL);
  ttm_module_run_free(&r);
  ttm_module_free(&m);
  return plenty || (status == TTM_OK) == (starve_allowed >= 0);
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  ttm_str text = program();
  starve_walk(run_starved, &text);
  free((char *)text.p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_runtime_frees_a_view_with_its_last_value),
      cmocka_unit_test(emitted_python_keeps_it_to_the_end),
      cmocka_unit_test(a_lesson_is_applied),
      cmocka_unit_test(a_weight_that_is_there_costs_nothing),
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
