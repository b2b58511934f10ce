/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions, strategies and what they do; the numbers of the guide (16 tiles, 4 held: 75 %) come out exactly. */
#include "l1/simulate.h"
#include "unit.h"

static ttm_error err;

static uint64_t value(const char *text) {
  ttm_name_value known[] = {{TTM_LIT("r_tiles"), 16}, {TTM_LIT("tiles_per_shard"), 8}};
  ttm_name_values names = {known, 2, 2};
  uint64_t out = 0;
  if (ttm_expression_value(ttm_str_of(text), &names, &out, &err)) fail_msg("'%s': %s", text, err.message);
  return out;
}

static void expect_error(const char *text, const char *wanted) {
  ttm_name_values none = {0};
  uint64_t out;
  assert_int_equal(ttm_expression_value(ttm_str_of(text), &none, &out, &err), TTM_EFORMAT);
  assert_string_equal(err.message, wanted);
}

static void expressions(void **state) {
  (void)state;
  assert_int_equal(value("1 + 2 * 3"), 7);
  assert_int_equal(value("(1 + 2) * 3 % 5"), 4);
  assert_int_equal(value("2 - 5"), 0);
  assert_int_equal(value("std::min(6u, tiles_per_shard + 2)"), 6);
  assert_int_equal(value("max(1, r_tiles, 3)"), 16);
  assert_int_equal(value("r_tiles > 16 || tiles_per_shard > 4 && !0 ? 2 : 6UL"), 2);
  assert_int_equal(value("1 ? 2 : 1 / 0"), 2); /* the branch not taken may be nonsense */
  assert_int_equal(value("0 && 1 / 0"), 0);
  assert_int_equal(value("r_tiles == 16 != 0"), 1);
  assert_true(value("18446744073709551615 * 2") == UINT64_MAX);
  expect_error("1 / 0", "division by zero at the end");
  expect_error("tilez + 1", "unknown name at 'tilez + 1'");
  expect_error("1 +", "number or name expected at the end");
  expect_error("(1", "')' missing at the end");
  expect_error("1 2", "not understood at '2'");
  expect_error("1 ? 2", "':' missing at the end");
  expect_error("18446744073709551616", "number too large at '18446744073709551616'");
  expect_error("4096B", "no such number at 'B'");
  char deep[3000];
  memset(deep, '(', sizeof deep - 1), deep[sizeof deep - 1] = 0;
  ttm_name_values none = {0};
  uint64_t out;
  assert_int_equal(ttm_expression_value(ttm_str_of(deep), &none, &out, &err), TTM_EFORMAT);
}

static ttm_cb_machine machine(void) {
  ttm_cb_machine m = {.tile_bytes = 4096};
  assert_int_equal(ttm_cb_machine_set(&m, TTM_ARCH_WORMHOLE, TTM_LIT("0.81.1"), &err), 0);
  return m;
}

static ttm_cb_result run(const char *strategy, uint64_t r, uint64_t t, const ttm_cb_machine *m) {
  ttm_cb_workload workload = {r, t};
  ttm_cb_plans plans;
  ttm_cb_result result;
  if (ttm_strategy_plan(&plans, ttm_str_of(strategy), &workload, &err)) fail_msg("%s", err.message);
  assert_int_equal(ttm_cb_simulate(&result, &plans, m), 0);
  return result;
}

static void the_worked_example(void **state) {
  (void)state;
  ttm_cb_machine m = machine();
  ttm_cb_result fixed = run(ttm_strategy_fixed, 16, 16, &m), adaptive = run(ttm_strategy_adaptive, 16, 16, &m);
  assert_int_equal(fixed.buffer_bytes, 64 * 1024); /* "Total: 64KB regardless of workload" */
  for (size_t i = 0; i < 4; i++) assert_int_equal(fixed.rows.at[i].bytes, 16 * 1024);
  assert_true(fixed.rows.at[1].miss_pct == 75.0); /* (16-4)/16 */
  assert_true(fixed.miss_pct == 75.0);
  assert_int_equal(fixed.worst, 1);
  assert_int_equal(fixed.thrashing, TTM_PRESSURE_MEDIUM);
  assert_true(fixed.pressure == 70.0);
  assert_int_equal(adaptive.rows.at[0].tiles, 6); /* min(6, 16 + 2) */
  assert_int_equal(adaptive.rows.at[1].tiles, 6); /* "Up to 6 tiles for 16-tile case" */
  assert_true(adaptive.miss_pct == 62.5);
  assert_true(adaptive.pressure < fixed.pressure);
  assert_int_equal(fixed.rows.at[0].address, 105824);
  assert_int_equal(fixed.buffers_end, 105824 + 65536);
  assert_int_equal(fixed.fit, TTM_L1_FITS);
  assert_int_equal(fixed.used + fixed.free_bytes, m.l1_bytes); /* every byte accounted for */
  ttm_cb_result_free(&fixed);
  ttm_cb_result_free(&adaptive);
  adaptive = run(ttm_strategy_adaptive, 17, 8, &m);
  assert_int_equal(adaptive.rows.at[0].tiles, 2); /* "Minimal for large workloads" */
  assert_int_equal(adaptive.rows.at[1].tiles, 2);
  ttm_cb_result_free(&adaptive);
  fixed = run(ttm_strategy_fixed, 4, 64, &m);
  assert_true(fixed.miss_pct == 0 &&
              fixed.level == TTM_PRESSURE_LOW); /* all of B is held; what streams by is no miss */
  ttm_cb_result_free(&fixed);
}

static void thresholds_of_the_guide(void **state) {
  (void)state;
  static const struct {
    uint64_t tiles;
    ttm_workload_class class_;
  } classes[] = {{1, TTM_WORKLOAD_SMALL},      {8, TTM_WORKLOAD_SMALL},  {9, TTM_WORKLOAD_MEDIUM},
                 {16, TTM_WORKLOAD_MEDIUM},    {17, TTM_WORKLOAD_LARGE}, {32, TTM_WORKLOAD_LARGE},
                 {33, TTM_WORKLOAD_VERY_LARGE}};
  for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
    assert_int_equal(ttm_workload_class_of(&(ttm_cb_workload){1, classes[i].tiles}), classes[i].class_);
  /* One row of the table: miss rate, score and level go together. */
  assert_int_equal(ttm_pressure_level_of(ttm_miss_score(24.9)), TTM_PRESSURE_LOW);
  assert_int_equal(ttm_pressure_level_of(ttm_miss_score(25)), TTM_PRESSURE_MEDIUM);
  assert_int_equal(ttm_pressure_level_of(ttm_miss_score(75)), TTM_PRESSURE_MEDIUM);
  assert_int_equal(ttm_pressure_level_of(ttm_miss_score(75.1)), TTM_PRESSURE_HIGH);
  assert_true(ttm_miss_score(0) == 0 && ttm_miss_score(100) == 100);
  for (int pct = 1; pct <= 100; pct++) assert_true(ttm_miss_score(pct) > ttm_miss_score(pct - 1));
}

static void tensors_and_clashes(void **state) {
  (void)state;
  ttm_cb_machine m = machine();
  m.small = 16384;
  assert_int_equal(ttm_vec_push(&m.tensors, (ttm_l1_region){0, 1300000, TTM_LIT("x")}), 0);
  ttm_cb_result r = run("cb0 = 20\ncb1 = 4 borrowed\n", 1, 1, &m);
  assert_int_equal(r.fit, TTM_L1_CLASHES);
  assert_int_equal(r.tensor_bytes, 1300000);
  assert_true(r.pressure == 100);
  assert_int_equal(r.fit_end, 105824 + 81920);
  assert_int_equal(r.map.buffers.at[r.map.buffers.n - 1].end, 105824 + 81920);
  assert_int_equal(ttm_l1_map_lowest_tensor(&r.map), 1499136 - 16384 - 1300000);
  assert_int_equal(r.buffer_bytes, 81920); /* the borrowed one takes nothing */
  ttm_cb_result_free(&r);
  assert_int_equal(ttm_vec_push(&m.tensors, (ttm_l1_region){0, 1300000, TTM_LIT("y")}), 0);
  r = run("cb0 = 1", 1, 1, &m);
  assert_false(r.tensors_fit);
  ttm_cb_result_free(&r);
  r = run("cb0 = 18446744073709551615\n cb1 = 18446744073709551615", 1, 1, &m);
  assert_int_equal(r.fit, TTM_L1_BEYOND);
  ttm_cb_result_free(&r);
  ttm_vec_free(&m.tensors);
}

/* One workload, one strategy: its findings by level and rule, and each in words. */
static void conclusions(void **state) {
  (void)state;
  static const struct {
    ttm_cb_level level;
    const char *rule, *text;
  } wanted[] = {
      {TTM_CB_NOTE, "kernels",
       "kernels take 10.0 KB (estimated) of the 69.0 KB ring below the base, nothing from the buffers"},
      {TTM_CB_ERROR, "l1-clash",
       "CB/tensor overlap 5.4 KB per core on [0-0 - 0-0]: circular buffers end at 204,128, the lowest L1 tensor starts "
       "at "
       "198,624"},
      {TTM_CB_WARNING, "misses",
       "cb0 holds 20 of 30 reused tiles and reads the others again in every pass; 10 more tiles (40.0 KB) do not fit: "
       "headroom is 0 B"},
      {TTM_CB_NOTE, "single-buffered",
       "cb1 holds one tile: producer and consumer take turns; two tiles let them overlap"},
      {TTM_CB_ERROR, "index-too-large", "c_32 does not exist: a Wormhole core has circular buffers 0 to 31"},
      {TTM_CB_NOTE, "spare",
       "the buffers hold 8.0 KB more than the workload needs at a time, which only smooths bursts"},
  };
  ttm_cb_simulation s = {.machine = machine()};
  ttm_cb_case one = {.workload = {1, 1}};
  assert_int_equal(ttm_vec_push(&s.machine.tensors, (ttm_l1_region){0, 1300512, TTM_LIT("x")}), 0);
  ttm_cb_result r = run("cb0 = 20 needs 30\ncb1 = 1 streams 9\ncb_32 = 3 needs 1\n", 1, 1, &s.machine);
  assert_int_equal(ttm_vec_push(&one.results, r), 0);
  assert_int_equal(ttm_vec_push(&s.cases, one), 0);
  assert_int_equal(ttm_cb_judge(&s), 0);
  assert_int_equal(s.findings.n, sizeof wanted / sizeof *wanted);
  for (size_t i = 0; i < s.findings.n; i++) {
    assert_int_equal(s.findings.at[i].level, wanted[i].level);
    assert_string_equal(s.findings.at[i].rule, wanted[i].rule);
    if (!ttm_str_eq(s.findings.at[i].text, ttm_str_of(wanted[i].text)))
      fail_msg("%.*s", TTM_ARGS(s.findings.at[i].text));
  }
  ttm_cb_simulation_free(&s);
}

static void wrong_strategies(void **state) {
  (void)state;
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"", "no buffer in it: write lines like 'cb0 = 4'"},
      {"cb0 = 4\ncb1", "line 2: neither 'strategy NAME' nor 'NAME = TILES': 'cb1'"},
      {"cb0 = tilez", "line 1: unknown name at 'tilez'"},
      {"cb0 = 4 dtype float12", "line 1: unknown dtype 'float12'"},
      {"cb0 = 4 cores everywhere", "line 1: no core range (0-0:7-7): 'everywhere'"},
      {"cb0 = 4\ncb0 = 5", "line 2: there is already a buffer 'cb0'"},
      {"c b = 4", "line 1: no name: 'c b'"},
      {"cb0 = 4 borrowed twice", "line 1: not understood: 'twice'"},
      {"cb0 = 4 needs", "line 1: number or name expected at the end"},
  };
  ttm_cb_workload workload = {1, 1};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ttm_cb_plans plans;
    assert_int_equal(ttm_strategy_plan(&plans, ttm_str_of(cases[i].text), &workload, &err), TTM_EFORMAT);
    assert_string_equal(err.message, cases[i].message);
    ttm_cb_plans_free(&plans);
  }
}

static void buffers_as_typed(void **state) {
  (void)state;
  ttm_cb_plans plans = {0};
  assert_int_equal(ttm_cb_plan_parse(&plans, TTM_LIT("in0=8/16:bfloat8_b@0-0:3-3+0-4:3-7"), &err), 0);
  assert_int_equal(plans.all.at[0].tiles, 8);
  assert_int_equal(plans.all.at[0].needed, 16);
  assert_int_equal(plans.all.at[0].tile_bytes, 1088);
  assert_int_equal(plans.all.at[0].cores.n, 1); /* merged, as CreateCircularBuffer does */
  assert_int_equal(ttm_cb_plan_parse(&plans, TTM_LIT("out=4096B@{[0-0 - 3-3], [0-4 - 3-7]}"), &err), 0);
  assert_int_equal(plans.all.at[1].tile_bytes, 1);
  assert_int_equal(plans.all.at[1].cores.n, 2); /* as printed */
  static const char *const bad[] = {"",       "=4",         "cb0",    "cb0=",   "cb0=x",
                                    "cb0=4x", "cb0=4:what", "cb0=4@", "cb0=4/", "cb0=4@9-9:1-1"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_int_equal(ttm_cb_plan_parse(&plans, ttm_str_of(bad[i]), &err), TTM_EUSAGE);
  assert_int_equal(plans.all.n, 2);
  ttm_cb_plans_free(&plans);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(expressions),
      cmocka_unit_test(the_worked_example),
      cmocka_unit_test(thresholds_of_the_guide),
      cmocka_unit_test(tensors_and_clashes),
      cmocka_unit_test(conclusions),
      cmocka_unit_test(wrong_strategies),
      cmocka_unit_test(buffers_as_typed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
