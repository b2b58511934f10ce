/* SPDX-License-Identifier: Apache-2.0 */
/* Steps told from noise: the stated rate of false alarms, and steps found where they are. */
#define _XOPEN_SOURCE 700 /* M_PI */
#include <math.h>

#include "history/steps.h"
#include "unit.h"

/* ---- Seeded noise ------------------------------------------------------------------------------------------------- */

static uint64_t seed;

static double uniform(void) { /* above 0, below 1 */
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void) { return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform()); }
static double flat(void) { return (uniform() - 0.5) * 3.5; }
static double laplace(void) {
  double u = uniform() - 0.5;
  return (u < 0 ? 1 : -1) * log(1 - 2 * fabs(u)) / 1.4;
}
static double three_values(void) { return floor(uniform() * 3) - 1; }
static double spikes(void) { return uniform() < 0.05 ? 10 : 0; }

enum { LEVEL = 1000000000, LONGEST = 60 };

/* How many of 10,000 flat rows of 3 to 60 numbers show a step. `percent`: the noise of the level. */
static size_t alarms(double (*noise)(void), double percent) {
  size_t found = 0;
  for (uint64_t i = 0; i < 10000; i++) {
    int64_t x[LONGEST];
    size_t n = 3 + i % (LONGEST - 2);
    ttm_steps steps = {0};
    seed = (i + 1) * UINT64_C(0x9E3779B97F4A7C15);
    for (size_t k = 0; k < n; k++) x[k] = (int64_t)(LEVEL * (1 + percent / 100 * noise()));
    assert_int_equal(ttm_steps_find(&steps, x, n, 0.1), TTM_OK);
    found += steps.n > 0;
    ttm_vec_free(&steps);
  }
  return found;
}

static void test_false_alarms(void **state) {
  (void)state;
  for (double percent = 0.2; percent < 20; percent *= 5) {
    size_t of_normal = alarms(normal, percent), of_flat = alarms(flat, percent), of_laplace = alarms(laplace, percent);
    print_message("noise of %g %%: %zu normal, %zu uniform, %zu Laplace of 10,000\n", percent, of_normal, of_flat,
                  of_laplace);
    assert_in_range(of_normal, 0, 10); /* TTM_STEP_ALPHA */
    assert_in_range(of_flat, 0, 10);
    assert_in_range(of_laplace, 0, 50);
  }
  size_t values = alarms(three_values, 2), of_spikes = alarms(spikes, 2);
  print_message("%zu of three values, %zu of spikes\n", values, of_spikes);
  assert_in_range(values, 0, 200);
  assert_in_range(of_spikes, 0, 600); /* one row in twenty ends with a spike, a step as far as anybody knows */
}

/* ---- Steps -------------------------------------------------------------------------------------------------------- */

/* Without noise every step is found, where it is, however short the row. */
static void test_exact(void **state) {
  (void)state;
  for (size_t n = 3; n <= 40; n++) {
    for (size_t at = 2; at < n; at++) {
      int64_t x[40];
      ttm_steps steps = {0};
      for (size_t k = 0; k < n; k++) x[k] = k < at ? LEVEL : LEVEL * 103LL / 100;
      assert_int_equal(ttm_steps_find(&steps, x, n, 1), TTM_OK);
      assert_int_equal(steps.n, 1);
      assert_int_equal(steps.at[0].at, at);
      assert_int_equal(steps.at[0].runs_before, at);
      ttm_vec_free(&steps);
      assert_int_equal(ttm_steps_find(&steps, x, n, 5), TTM_OK); /* within the tolerance */
      assert_int_equal(steps.n, 0);
      ttm_vec_free(&steps);
    }
  }
}

static void test_noisy_step(void **state) {
  (void)state;
  size_t missed = 0, elsewhere = 0;
  for (uint64_t i = 0; i < 2000; i++) {
    int64_t x[LONGEST];
    size_t n = 20 + i % 40, at = 8 + i % (n - 16);
    ttm_steps steps = {0};
    seed = (i + 1) * UINT64_C(0xD1B54A32D192ED03);
    for (size_t k = 0; k < n; k++) x[k] = (int64_t)(LEVEL * (1 + 0.01 * normal() + (k < at ? 0 : 0.1)));
    assert_int_equal(ttm_steps_find(&steps, x, n, 1), TTM_OK);
    missed += steps.n != 1;
    elsewhere += steps.n == 1 && steps.at[0].at != at;
    ttm_vec_free(&steps);
  }
  print_message("a step of ten times the noise: %zu missed, %zu elsewhere of 2,000\n", missed, elsewhere);
  assert_in_range(missed, 0, 4);
  assert_in_range(elsewhere, 0, 4);
}

static size_t steps_of(const int64_t *x, size_t n, size_t at[8]) {
  ttm_steps steps = {0};
  assert_int_equal(ttm_steps_find(&steps, x, n, 1), TTM_OK);
  size_t found = steps.n;
  for (size_t i = 0; i < found && i < 8; i++) at[i] = steps.at[i].at;
  ttm_vec_free(&steps);
  return found;
}
#define STEPS(at, ...) steps_of((int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / 8, at)

static void test_shapes(void **state) {
  (void)state;
  size_t at[8];
  assert_int_equal(STEPS(at, 5, 5, 5, 5), 0);
  assert_int_equal(STEPS(at, 5, 9), 0); /* two numbers tell nothing */
  assert_int_equal(STEPS(at, 5), 0);
  assert_int_equal(STEPS(at, 100, 100, 100, 100, 120, 120, 120, 120, 90, 90, 90, 90), 2);
  assert_int_equal(at[0], 4);
  assert_int_equal(at[1], 8);
  assert_int_equal(STEPS(at, 100, 100, 100, 100, 120, 100, 100, 100, 100), 0); /* one that stands out */
  assert_int_equal(STEPS(at, 0, 0, 0, 0, 8, 8, 8), 1);
  assert_int_equal(at[0], 4);
  assert_int_equal(STEPS(at, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30), 0);
  int64_t many[3000];
  for (size_t i = 0; i < 3000; i++) many[i] = i < 2500 ? 1000 : 1100;
  assert_int_equal(steps_of(many, 3000, at), 1);
  assert_int_equal(at[0], 2500);
}

/* ---- Student and trends ------------------------------------------------------------------------------------------- */

static void test_student(void **state) {
  (void)state;
  const struct {
    double t;
    size_t freedom;
    double tail;
  } known[] = {{12.706, 1, 0.05}, {4.303, 2, 0.05},  {3.182, 3, 0.05},
               {2.228, 10, 0.05}, {5.959, 6, 0.001}, {2.704, 40, 0.01}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    assert_true(fabs(ttm_student_tail(known[i].t, known[i].freedom) / known[i].tail - 1) < 0.003);
  assert_true(ttm_student_tail(0, 5) == 1);
}

static void test_trend(void **state) {
  (void)state;
  int64_t x[30];
  for (int i = 0; i < 30; i++) x[i] = 1000 + 10 * i;
  ttm_trend exact = ttm_trend_of(x, 30);
  assert_true(exact.rises && fabs(exact.slope - 10) < 1e-6 && fabs(exact.last - 1290) < 1e-6);
  assert_true(exact.low > 9.99 && exact.high < 10.01);
  assert_false(ttm_trend_of(x, 4).rises);
  for (int i = 0; i < 30; i++) x[i] = 1000;
  assert_false(ttm_trend_of(x, 30).rises);
  size_t rising = 0, inside = 0;
  for (uint64_t r = 0; r < 5000; r++) {
    seed = (r + 1) * UINT64_C(0x9E3779B97F4A7C15);
    for (int i = 0; i < 30; i++) x[i] = (int64_t)(1e9 + 1e7 * normal() + (r % 2 ? 2e6 * i : 0));
    ttm_trend t = ttm_trend_of(x, 30);
    double truth = r % 2 ? 2e6 : 0;
    rising += !(r % 2) && t.rises;
    inside += t.low <= truth && truth <= t.high;
  }
  print_message("%zu of 2,500 flat rows rise; %zu of 5,000 intervals hold the slope\n", rising, inside);
  assert_in_range(rising, 0, 25); /* half of 1 %, with room */
  assert_in_range(inside, 4650, 4850);
}

/* A single run that is unlike all others is no step, wherever it stands, as soon as another one has followed it. */
static void test_lone_run(void **state) {
  (void)state;
  enum { N = 40 };
  for (double percent = 0; percent < 1; percent += 0.3) {
    for (size_t at = 0; at < N - 1; at++) {
      int64_t x[N];
      ttm_steps steps = {0};
      seed = (at + 1) * UINT64_C(0x9E3779B97F4A7C15);
      for (size_t k = 0; k < N; k++) x[k] = (int64_t)(LEVEL * (1 + percent / 100 * normal() + (k == at ? 0.3 : 0)));
      assert_int_equal(ttm_steps_find(&steps, x, N, 1), TTM_OK);
      if (steps.n) fail_msg("noise of %g %%: the run at %zu makes %zu steps", percent, at, steps.n);
      ttm_vec_free(&steps);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lone_run),   cmocka_unit_test(test_false_alarms), cmocka_unit_test(test_exact),
      cmocka_unit_test(test_noisy_step), cmocka_unit_test(test_shapes),       cmocka_unit_test(test_student),
      cmocka_unit_test(test_trend),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
