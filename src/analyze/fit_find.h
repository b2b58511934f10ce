/* SPDX-License-Identifier: Apache-2.0 */
/* How far can an argument of the program go? The answers of `ttmem fit --find`: what was run, the largest value that fits, what refuses the next
 * one, and what a step costs. A row per board and combination of the other variables, each with its statement. */
#ifndef TTM_ANALYZE_FIT_FIND_H
#define TTM_ANALYZE_FIT_FIND_H

#include "analyze/fit_case.h"
#include "analyze/search.h"

enum { TTM_FIND_VARIABLES = 4, TTM_FIND_ROWS = 1024 };

typedef struct ttm_find_row {
  const char *board;
  uint32_t combination; /* of the other variables: the second turns slowest */
  ttm_search search;
  TTM_VEC(uint32_t) cases; /* of each try: number in `cases` */
} ttm_find_row;

/* What a step costs, from two values that fit. */
typedef struct ttm_find_step {
  uint64_t from, to; /* values; `known` else */
  double dram, l1;   /* bytes per bank and per core, for 1 more */
  bool known;
} ttm_find_step;

/* Zero is the empty one; freed with ttm_find_free. */
typedef struct ttm_find {
  ttm_variable variables[TTM_FIND_VARIABLES]; /* the first is searched for, in every combination of the others */
  size_t variable_count;
  TTM_VEC(ttm_find_row) rows;
  ttm_fit_cases cases; /* of all runs */
  uint64_t kept;       /* answers of earlier runs among them */
  ttm_statements said; /* a statement per row, then "find.confidence" */
} ttm_find;

void ttm_find_free(ttm_find *find);

/* Adds a variable: 0, TTM_EUSAGE or TTM_ENOMEM. `text` outlives it. */
int ttm_find_add_variable(ttm_find *find, const char *text, ttm_error *err);
/* How many combinations of the other variables there are. */
uint64_t ttm_find_combinations(const ttm_find *find);
/* The number of the value of variable `v` in a combination. */
uint64_t ttm_find_index(const ttm_find *find, uint32_t combination, size_t v);
/* "SEQ=1024, LAYERS=2, "; "" without other variables. */
void ttm_find_put_combination(const ttm_find *find, uint32_t combination, ttm_buf *out);

/* The cases at the largest value that fits and at the one that is refused above it; NULL. */
const ttm_fit_case *ttm_find_largest(const ttm_find *find, const ttm_find_row *row);
const ttm_fit_case *ttm_find_refused(const ttm_find *find, const ttm_find_row *row);
ttm_find_step ttm_find_step_of(const ttm_find *find, const ttm_find_row *row);

/* Words all rows. 0 or TTM_ENOMEM. */
int ttm_find_tell(ttm_find *find);

#endif
