/* SPDX-License-Identifier: Apache-2.0 */
/* Values of an argument, and the search for the largest that fits: for every boundary it is found, within the promised number of tries. */
#include "analyze/search.h"

#include "ttmem/profile.h"
#include "unit.h"

static void check_values(const char *text, const char *want) {
  ttm_variable v;
  ttm_error err;
  ttm_buf got = {0};
  assert_int_equal(ttm_variable_parse(&v, text, &err), 0);
  for (uint64_t i = 0; i < v.n; i++) {
    if (i) ttm_buf_char(&got, ' ');
    ttm_variable_put(&v, i, &got);
  }
  ttm_buf_char(&got, '\0');
  assert_string_equal(got.at, want);
  ttm_buf_free(&got);
  ttm_variable_free(&v);
}

static void values(void **state) {
  (void)state;
  check_values("BATCH=1..4", "1 2 3 4");
  check_values("BATCH=7..7", "7");
  check_values("BATCH=32..100+32", "32 64 96");
  check_values("SEQ=1024..5000*2", "1024 2048 4096");
  check_values("SEQ=1..1000*10", "1 10 100 1000");
  check_values("L=1,2,16", "1 2 16");
  check_values("dtype=bf16,bfp8", "bf16 bfp8");
  check_values("_a1=9007199254740991..9007199254740992", "9007199254740991 9007199254740992");
}

static void refusals(void **state) {
  (void)state;
  static const char *const wrong[] = {"",
                                      "BATCH",
                                      "=1..2",
                                      "1A=1..2",
                                      "A B=1..2",
                                      "A=",
                                      "A=1..",
                                      "A=4..1",
                                      "A=1..4+0",
                                      "A=1..4*1",
                                      "A=0..8*2",
                                      "A=1..4*",
                                      "A=1..4-1",
                                      "A=a..b",
                                      "A=1,,2",
                                      "A=1,",
                                      "A=,1",
                                      "A=1..4 ",
                                      "A=..4",
                                      "A=1...4",
                                      "A=99999999999999999999..2",
                                      "A=1..18446744073709551615"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    ttm_variable v;
    ttm_error err;
    if (ttm_variable_parse(&v, wrong[i], &err) != TTM_EUSAGE) fail_msg("taken: '%s'", wrong[i]);
    ttm_variable_free(&v);
  }
}

/* What a program does: needs `base + each * value` (rounded up to `tile` values) of `capacity`; ends for another reason unless divisible. */
typedef struct model {
  uint64_t base, each, tile, capacity, divisor, most;
} model;

static ttm_search_try run(const model *m, const ttm_variable *v, uint64_t i) {
  uint64_t value = ttm_variable_number(v, i), peak = m->base + m->each * ((value + m->tile - 1) / m->tile * m->tile);
  bool fits = peak <= m->capacity;
  bool odd = value % m->divisor || (m->most && value > m->most);
  ttm_outcome outcome = odd ? TTM_OUTCOME_UNKNOWN : fits ? TTM_OUTCOME_FITS : TTM_OUTCOME_REFUSED;
  return (ttm_search_try){i, outcome, {fits ? peak : 0, 7}, {m->capacity, 8}};
}

/* The number of tries; *s is freed by the caller. */
static size_t play(ttm_search *s, const ttm_variable *v, const model *m) {
  *s = (ttm_search){.of = v};
  uint64_t most = ttm_search_most(s), at;
  while ((at = ttm_search_next(s)) != TTM_UNKNOWN) {
    assert_true(at < v->n);
    assert_null(ttm_search_tried(s, at));
    assert_int_equal(ttm_search_add(s, run(m, v, at)), 0);
    assert_true(s->tries.n + ttm_search_most(s) <= most); /* what was promised stays */
  }
  return s->tries.n;
}

static void every_boundary(void **state) {
  (void)state;
  static const char *const texts[] = {"B=1..256",     "B=1..3",       "B=5..5",
                                      "B=32..512+32", "S=1..65536*2", "B=1,2,3,50,51,400"};
  for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
    ttm_variable v;
    ttm_error err;
    assert_int_equal(ttm_variable_parse(&v, texts[k], &err), 0);
    for (uint64_t tile = 1; tile <= 32; tile += 31) {
      for (uint64_t capacity = 0; capacity < 5400; capacity += 7) {
        model m = {.base = 100, .each = 10, .tile = tile, .capacity = capacity, .divisor = 1};
        uint64_t want = TTM_UNKNOWN;
        ttm_search s;
        for (uint64_t i = 0; i < v.n; i++)
          if (run(&m, &v, i).outcome == TTM_OUTCOME_FITS) want = i;
        play(&s, &v, &m);
        assert_int_equal(ttm_search_largest(&s), want);
        if (want != TTM_UNKNOWN && want + 1 < v.n) assert_int_equal(ttm_search_refused(&s), want + 1);
        ttm_search_free(&s);
      }
    }
    ttm_variable_free(&v);
  }
}

/* Where memory grows evenly the boundary is computed, and then tried. */
static void few_tries(void **state) {
  (void)state;
  ttm_variable v;
  ttm_error err;
  ttm_search s;
  assert_int_equal(ttm_variable_parse(&v, "B=1..100000", &err), 0);
  model m = {.base = 1000, .each = 3, .tile = 1, .capacity = 120000, .divisor = 1};
  assert_true(play(&s, &v, &m) <= 5); /* both ends, 2, the guess, the one above */
  assert_int_equal(ttm_variable_number(&v, ttm_search_largest(&s)), (120000 - 1000) / 3);
  ttm_search_free(&s);
  ttm_variable_free(&v);
}

/* Values that end for another reason are neither; the search ends and does not claim a boundary. */
static void check_other(const char *text, model m, uint64_t largest, uint64_t refused) {
  ttm_variable v;
  ttm_error err;
  ttm_search s;
  assert_int_equal(ttm_variable_parse(&v, text, &err), 0);
  play(&s, &v, &m);
  uint64_t found = ttm_search_largest(&s), above = ttm_search_refused(&s);
  assert_int_equal(found == TTM_UNKNOWN ? 0 : ttm_variable_number(&v, found), largest);
  assert_int_equal(above == TTM_UNKNOWN ? 0 : ttm_variable_number(&v, above), refused);
  ttm_search_free(&s);
  ttm_variable_free(&v);
}

static void other_reasons(void **state) {
  (void)state;
  model m = {.base = 0, .each = 1, .tile = 1, .capacity = 100, .divisor = 32};
  check_other("B=32..256", m, 96, 128); /* multiples of 32 only */
  m.capacity = 180;
  check_other("B=32..256", m, 160, 192);
  m.divisor = 1000; /* none */
  check_other("B=32..256", m, 0, 0);
  m = (model){.base = 0, .each = 1, .tile = 1, .capacity = 1000, .divisor = 1, .most = 32};
  check_other("B=1..64", m, 32, 0); /* larger ones are not supported, and memory would suffice */
  m.capacity = 20;
  check_other("B=1..64", m, 20, 21);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values),    cmocka_unit_test(refusals),      cmocka_unit_test(every_boundary),
      cmocka_unit_test(few_tries), cmocka_unit_test(other_reasons),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
