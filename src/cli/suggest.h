/* SPDX-License-Identifier: Apache-2.0 */
/* "Did you mean ...?": the known word nearest to a mistyped one. */
#ifndef TTM_CLI_SUGGEST_H
#define TTM_CLI_SUGGEST_H

#include <stddef.h>

typedef struct ttm_suggestion {
  const char *typed;
  size_t length;
  const char *word; /* nearest so far, NULL when none is near enough */
  size_t distance;
} ttm_suggestion;

ttm_suggestion ttm_suggest_start(const char *typed, size_t length);

/* Offers a candidate; the first of equally near ones stays. */
void ttm_suggest_try(ttm_suggestion *best, const char *candidate);

/* Letters, of either case, to insert, delete, replace or swap with a neighbour to turn one text into the other. */
size_t ttm_edit_distance(const char *a, size_t a_length, const char *b, size_t b_length);

#endif
