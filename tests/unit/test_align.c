/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences side by side. */
#include "analyze/align.h"

#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"
#include "unit.h"

enum { KEYS = 70000 };

/* Aligns and checks that matches are of equal keys and rise; gives their number. */
static uint32_t align(const uint32_t *a, uint32_t n, const uint32_t *b, uint32_t m, uint32_t *match) {
  uint32_t found = 0, last = 0;
  assert_int_equal(ttm_align((ttm_sequence){a, n}, (ttm_sequence){b, m}, KEYS, match), TTM_OK);
  for (uint32_t i = 0; i < n; i++) {
    if (match[i] == TTM_NONE) continue;
    assert_true(match[i] < m && a[i] == b[match[i]] && (!found || match[i] > last));
    last = match[i];
    found++;
  }
  return found;
}

static uint32_t align_texts(const char *a, const char *b) {
  uint32_t x[64], y[64], match[64];
  for (size_t i = 0; a[i]; i++) x[i] = (unsigned char)a[i];
  for (size_t i = 0; b[i]; i++) y[i] = (unsigned char)b[i];
  return align(x, (uint32_t)strlen(a), y, (uint32_t)strlen(b), match);
}

static void small_ones(void **state) {
  (void)state;
  assert_int_equal(align_texts("", ""), 0);
  assert_int_equal(align_texts("abc", ""), 0);
  assert_int_equal(align_texts("", "abc"), 0);
  assert_int_equal(align_texts("abc", "abc"), 3);
  assert_int_equal(align_texts("abc", "xyz"), 0);
  assert_int_equal(align_texts("abcabba", "cbabac"), 4);
  assert_int_equal(align_texts("aaaa", "aaaaaaa"), 4);
  assert_int_equal(align_texts("abababab", "ababXabab"), 8);
  assert_int_equal(align_texts("a", "bab"), 1);
  assert_int_equal(align_texts("bab", "a"), 1);
}

static uint32_t lcs(const uint32_t *a, uint32_t n, const uint32_t *b, uint32_t m) {
  uint32_t best[64][64] = {{0}};
  for (uint32_t i = 1; i <= n; i++)
    for (uint32_t j = 1; j <= m; j++) {
      uint32_t left = best[i][j - 1], up = best[i - 1][j];
      best[i][j] = a[i - 1] == b[j - 1] ? best[i - 1][j - 1] + 1 : left > up ? left : up;
    }
  return best[n][m];
}

static void as_many_as_there_are(void **state) {
  (void)state;
  srand(7);
  for (int round = 0; round < 3000; round++) {
    uint32_t a[60], b[60], match[60], n = (uint32_t)rand() % 60, m = (uint32_t)rand() % 60;
    uint32_t keys = 1 + (uint32_t)rand() % 8;
    for (uint32_t i = 0; i < n; i++) a[i] = (uint32_t)rand() % keys;
    for (uint32_t i = 0; i < m; i++) b[i] = (uint32_t)rand() % keys;
    assert_int_equal(align(a, n, b, m, match), lcs(a, n, b, m));
  }
}

/* Half of the keys are new: more differences than are searched, and unique keys divide it. */
static void many_differences(void **state) {
  (void)state;
  enum { N = 40000 };
  uint32_t *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b), *match = malloc(N * sizeof *match);
  for (uint32_t i = 0; i < N; i++) a[i] = i, b[i] = i % 2 ? i : N + i / 2;
  assert_int_equal(align(a, N, b, N, match), N / 2);
  for (uint32_t i = 0; i < N; i++) a[i] = i % 7, b[i] = i % 5; /* no key is unique */
  assert_true(align(a, N, b, N, match) > N / 4);
  free(a);
  free(b);
  free(match);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_ones),
      cmocka_unit_test(as_many_as_there_are),
      cmocka_unit_test(many_differences),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
