/* SPDX-License-Identifier: Apache-2.0 */
/* The allocator against a plain model: a byte per unit, searched from one end. */
#include "base/bank.h"
#include "unit.h"

enum { UNITS = 700, STEPS = 20000 };

typedef struct model {
  char taken[UNITS];
} model;

static bool model_take(model *m, unsigned size, bool from_top, unsigned *at) {
  /* First fit by BLOCK: the whole run of free units counts, and the piece comes from its near end. */
  int best = -1;
  for (unsigned i = 0; i < UNITS;) {
    unsigned n = 0;
    while (i + n < UNITS && !m->taken[i + n]) n++;
    if (n >= size && (from_top || best < 0)) best = from_top ? (int)(i + n - size) : (int)i;
    i += n ? n : 1;
  }
  if (best < 0) return false;
  memset(m->taken + best, 1, size);
  *at = (unsigned)best;
  return true;
}

static void compare(const model *m, const ttm_bank *bank) {
  ttm_extent got[UNITS];
  size_t n = ttm_bank_blocks(bank, got, UNITS), seen = 0, largest = 0, room = 0;
  for (unsigned i = 0; i < UNITS;) {
    unsigned run = 0;
    while (i + run < UNITS && !m->taken[i + run]) run++;
    if (run) {
      assert_true(seen < n && got[seen].at == i && got[seen].size == run);
      seen++;
      room += run;
      if (run > largest) largest = run;
    }
    i += run ? run : 1;
  }
  assert_true(seen == n && ttm_bank_largest(bank) == largest && ttm_bank_room(bank) == room);
}

static void random_steps(void **state) {
  (void)state;
  static struct { unsigned at, size; } live[UNITS];
  size_t n = 0;
  model m = {{0}};
  ttm_bank bank;
  uint64_t seed = 7, refused = 0;
  assert_int_equal(ttm_bank_init(&bank, UNITS), TTM_OK);
  for (int step = 0; step < STEPS; step++) {
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    unsigned chance = (unsigned)(seed >> 33);
    if (n && chance % 100 < 48) {
      size_t i = chance / 100 % n;
      memset(m.taken + live[i].at, 0, live[i].size);
      assert_int_equal(ttm_bank_give(&bank, live[i].at, live[i].size), TTM_OK);
      live[i] = live[--n];
    } else {
      unsigned size = 1 + chance / 100 % 40, wanted;
      uint64_t at;
      bool top = chance & 64, fits = model_take(&m, size, top, &wanted);
      assert_int_equal(ttm_bank_take(&bank, size, top, &at), fits);
      refused += !fits;
      if (fits) assert_true(at == wanted), live[n].at = wanted, live[n++].size = size;
    }
    compare(&m, &bank);
  }
  assert_true(refused > 100); /* fragmentation was met */
  ttm_bank_free(&bank);
}

static void edges(void **state) {
  (void)state;
  ttm_bank bank;
  uint64_t at;
  assert_int_equal(ttm_bank_init(&bank, 0), TTM_OK);
  assert_false(ttm_bank_take(&bank, 1, false, &at));
  assert_true(ttm_bank_take(&bank, 0, false, &at));
  assert_true(ttm_bank_largest(&bank) == 0);
  ttm_bank_free(&bank);
  assert_int_equal(ttm_bank_init(&bank, UINT64_MAX), TTM_OK);
  assert_true(ttm_bank_take(&bank, UINT64_MAX, true, &at) && at == 0);
  assert_true(ttm_bank_blocks(&bank, NULL, 0) == 0);
  assert_int_equal(ttm_bank_give(&bank, 0, UINT64_MAX), TTM_OK);
  assert_true(ttm_bank_largest(&bank) == UINT64_MAX);
  ttm_bank_free(&bank);
}

/* A comb of 100,000 holes: every call stays cheap, or this test takes minutes. */
static void many_holes(void **state) {
  (void)state;
  enum { HOLES = 100000 };
  ttm_bank bank;
  uint64_t at;
  assert_int_equal(ttm_bank_init(&bank, 4 * HOLES), TTM_OK);
  for (uint64_t i = 0; i < 2 * HOLES; i++) assert_true(ttm_bank_take(&bank, 2, false, &at) && at == 2 * i);
  for (uint64_t i = 0; i < 2 * HOLES; i += 2) assert_int_equal(ttm_bank_give(&bank, 2 * i, 2), TTM_OK);
  assert_true(ttm_bank_blocks(&bank, NULL, 0) == HOLES);
  for (int i = 0; i < HOLES; i++) assert_false(ttm_bank_take(&bank, 3, i & 1, &at));
  ttm_bank copy;
  assert_int_equal(ttm_bank_copy(&copy, &bank), TTM_OK);
  assert_true(ttm_bank_take(&bank, 2, true, &at) && at == 4 * HOLES - 4);
  assert_true(ttm_bank_take(&bank, 2, true, &at) && at == 4 * HOLES - 8);
  ttm_bank_free(&bank);
  assert_true(ttm_bank_take(&copy, 2, true, &at) && at == 4 * HOLES - 4); /* as before */
  ttm_bank_free(&copy);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_steps), cmocka_unit_test(edges),
                                     cmocka_unit_test(many_holes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
