/* SPDX-License-Identifier: Apache-2.0 */
/* Which values of a program's argument are tried, and in which order, to find the largest that fits.
 *
 *   BATCH=1..256         every number
 *   BATCH=32..256+32     steps of 32
 *   SEQ=1024..131072*2   powers
 *   LAYERS=1,2,16        these; other texts than numbers too, where nothing is searched for
 *
 * The ends are tried first, then twice the first value; two values that fit tell what a step costs, and so where the memory ends. What remains is
 * halved. Values below one that ended for another reason than memory come before those above it, and multiples of what the values that fit have in
 * common before others. Only values that were tried count: the answer is exact whatever the program does. */
#ifndef TTM_ANALYZE_SEARCH_H
#define TTM_ANALYZE_SEARCH_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/vec.h"

/* `values` are views into the text it was parsed from. */
typedef struct ttm_variable {
  ttm_str name;
  uint64_t first, step; /* unless there is a list; `powers`: each is `step` times the one before */
  bool powers;
  TTM_VEC(ttm_str) values; /* a list */
  bool numbers;            /* that rise: the largest of them can be searched for */
  uint64_t n;              /* how many values */
} ttm_variable;

/* 0, TTM_EUSAGE with the reason, or TTM_ENOMEM. `text` outlives it. Freed with ttm_variable_free in any case. */
int ttm_variable_parse(ttm_variable *out, const char *text, ttm_error *err);
void ttm_variable_free(ttm_variable *v);
/* Value number i as text; as a number, 0 for what is none. */
void ttm_variable_put(const ttm_variable *v, uint64_t i, ttm_buf *out);
uint64_t ttm_variable_number(const ttm_variable *v, uint64_t i);

typedef enum ttm_outcome {
  TTM_OUTCOME_UNKNOWN, /* it ended for another reason than memory */
  TTM_OUTCOME_REFUSED,
  TTM_OUTCOME_FITS,
} ttm_outcome;

enum { TTM_SEARCH_MEMORIES = 2 }; /* any of which may end */

typedef struct ttm_search_try {
  uint64_t index; /* of the value */
  ttm_outcome outcome;
  uint64_t peak[TTM_SEARCH_MEMORIES], capacity[TTM_SEARCH_MEMORIES]; /* 0: not known */
} ttm_search_try;

/* Zero but for `of`. Freed with ttm_search_free. */
typedef struct ttm_search {
  const ttm_variable *of;
  TTM_VEC(ttm_search_try) tries; /* in their order */
  uint32_t guesses;
} ttm_search;

enum { TTM_SEARCH_GUESSES = 3, TTM_SEARCH_UNKNOWN = 8 };

/* The number of the value to try next; TTM_UNKNOWN: it is over. */
uint64_t ttm_search_next(ttm_search *s);
/* 0 or TTM_ENOMEM. */
int ttm_search_add(ttm_search *s, ttm_search_try tried);
void ttm_search_free(ttm_search *s);

/* The largest value that fits, and the smallest above it that is refused; TTM_UNKNOWN. */
uint64_t ttm_search_largest(const ttm_search *s);
uint64_t ttm_search_refused(const ttm_search *s);
/* The try of a value; NULL. */
const ttm_search_try *ttm_search_tried(const ttm_search *s, uint64_t index);
/* How many more there can be, at most. */
uint64_t ttm_search_most(const ttm_search *s);

#endif
