/* SPDX-License-Identifier: Apache-2.0 */
/* Steps and trends in a row of numbers, told from noise by a stated test (docs/history.md).
 *
 * A step is where two neighbouring stretches have means that differ by more than the tolerance, in a two-sample t-test at ALPHA divided by the
 * number of places tried (Bonferroni), and where no straight line fits as well. With normal noise fewer than ALPHA of all flat rows show a step;
 * a row without noise shows every change from a level that was seen twice. A single number between two equal stretches is no step; nor is anything
 * where a quarter of all numbers would be steps: numbers that come and go are noise. */
#ifndef TTM_HISTORY_STEPS_H
#define TTM_HISTORY_STEPS_H

#include <stdbool.h>

#include "base/vec.h"

#define TTM_STEP_ALPHA 0.001
enum { TTM_STEP_ROW = 2000 }; /* so many numbers are looked at, the last ones */

typedef struct ttm_step {
  size_t at;                      /* the first number behind it */
  double before, after;           /* means of the stretches around it ... */
  size_t runs_before, runs_after; /* ... and their lengths */
} ttm_step;

typedef TTM_VEC(ttm_step) ttm_steps;

/* `tolerance` is in percent. The numbers are from 0 to 2^40. 0 or TTM_ENOMEM; freed with ttm_vec_free in any case. */
int ttm_steps_find(ttm_steps *out, const int64_t *x, size_t n, double tolerance);

/* A straight line through numbers 1, 2, 3, ... by least squares. */
typedef struct ttm_trend {
  size_t n;
  bool rises;       /* the slope is above 0 at 1 % (two-sided t-test), of TTM_TREND_LEAST numbers or more */
  double slope;     /* per number */
  double low, high; /* 95 % of its confidence */
  double last;      /* the line at the last number */
} ttm_trend;
enum { TTM_TREND_LEAST = 5 };
ttm_trend ttm_trend_of(const int64_t *x, size_t n);

/* The chance of a t-distributed number with `freedom` degrees to be further from 0 than t. */
double ttm_student_tail(double t, size_t freedom);

#endif
