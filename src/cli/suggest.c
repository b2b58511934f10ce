/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/suggest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { LONGEST = 40 }; /* words beyond this are no typing mistakes */

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

static bool same(char a, char b) { return tolower((unsigned char)a) == tolower((unsigned char)b); }

size_t ttm_edit_distance(const char *a, size_t a_length, const char *b, size_t b_length) {
  size_t rows[3][LONGEST + 1];
  if (a_length > LONGEST || b_length > LONGEST) return SIZE_MAX;
  for (size_t j = 0; j <= b_length; j++) rows[0][j] = j;
  for (size_t i = 1; i <= a_length; i++) {
    size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *before_that = rows[(i + 1) % 3];
    row[0] = i;
    for (size_t j = 1; j <= b_length; j++) {
      size_t change = above[j - 1] + !same(a[i - 1], b[j - 1]);
      row[j] = smaller(change, smaller(above[j], row[j - 1]) + 1);
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
        row[j] = smaller(row[j], before_that[j - 2] + 1);
    }
  }
  return rows[a_length % 3][b_length];
}

ttm_suggestion ttm_suggest_start(const char *typed, size_t length) {
  return (ttm_suggestion){.typed = typed, .length = length, .distance = SIZE_MAX};
}

void ttm_suggest_try(ttm_suggestion *best, const char *candidate) {
  size_t length = strlen(candidate);
  size_t distance = ttm_edit_distance(best->typed, best->length, candidate, length);
  /* A cut-off word ("--out") is as good as one wrong letter. */
  if (best->length >= 3 && best->length < length && !memcmp(best->typed, candidate, best->length)) distance = 1;
  size_t allowed = length <= 3 ? 1 : length <= 5 ? 2 : 3;
  if (distance > allowed || distance >= best->distance) return;
  best->word = candidate;
  best->distance = distance;
}
