/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700 /* M_PI */
#include "history/steps.h"

#include <math.h>
#include <string.h>

/* ---- Student's t -------------------------------------------------------------------------------------------------- */

/* The finite series of Abramowitz and Stegun 26.7.3 and 26.7.4. */
double ttm_student_tail(double t, size_t freedom) {
  double angle = atan(fabs(t) / sqrt((double)freedom)), c2 = cos(angle) * cos(angle), sum = 0, term = 1;
  bool odd = freedom % 2;
  if (odd) term = cos(angle);
  for (size_t i = odd ? 3 : 2; i <= freedom; i += 2) {
    sum += term;
    term *= c2 * (double)(i - 1) / (double)i;
  }
  double inside = odd ? 2 / M_PI * (angle + sin(angle) * sum) : sin(angle) * sum;
  return inside < 1 ? 1 - inside : 0;
}

/* The t beyond which 5 % lie. */
static double student_95(size_t freedom) {
  double low = 0, high = 16;
  for (int i = 0; i < 60; i++) {
    double middle = (low + high) / 2;
    *(ttm_student_tail(middle, freedom) > 0.05 ? &low : &high) = middle;
  }
  return high;
}

/* ---- Sums --------------------------------------------------------------------------------------------------------- */

/* Sums of the first i numbers, exact. */
typedef struct sums {
  __int128 *x, *xx, *ix;
} sums;

static double mean(const sums *s, size_t from, size_t to) {
  return (double)(s->x[to] - s->x[from]) / (double)(to - from);
}

/* Squared distances from their mean. */
static double spread(const sums *s, size_t from, size_t to) {
  __int128 n = (__int128)(to - from), x = s->x[to] - s->x[from];
  return (double)(n * (s->xx[to] - s->xx[from]) - x * x) / (double)n;
}

/* Squared distances from the best straight line. */
static double line_spread(const sums *s, size_t from, size_t to) {
  __int128 n = (__int128)(to - from), x = s->x[to] - s->x[from], ix = s->ix[to] - s->ix[from] - (__int128)from * x;
  __int128 i = n * (n - 1) / 2;
  double slope = (double)(n * ix - i * x), spread_i = (double)n * (double)n * ((double)n * (double)n - 1) / 12;
  return spread(s, from, to) - slope * slope / spread_i / (double)n;
}

static bool sums_make(sums *s, const int64_t *x, size_t n) {
  s->x = ttm_alloc_array(3 * (n + 1), sizeof *s->x);
  if (!s->x) return false;
  s->xx = s->x + n + 1;
  s->ix = s->xx + n + 1;
  s->x[0] = s->xx[0] = s->ix[0] = 0;
  for (size_t i = 0; i < n; i++) {
    s->x[i + 1] = s->x[i] + x[i];
    s->xx[i + 1] = s->xx[i] + (__int128)x[i] * x[i];
    s->ix[i + 1] = s->ix[i] + (__int128)i * x[i];
  }
  return true;
}

/* ---- Steps -------------------------------------------------------------------------------------------------------- */

typedef struct search {
  sums s;
  size_t n;
  double tolerance, level; /* percent; chance that counts as none */
  TTM_VEC(size_t) at;
} search;

static bool is_apart(const search *w, double before, double after) {
  return fabs(after - before) * 100 > w->tolerance * before;
}

/* The place that divides the stretch best. */
static size_t best_split(const search *w, size_t from, size_t to, double *left_over) {
  size_t best = from + 1;
  *left_over = INFINITY;
  for (size_t k = from + 1; k < to; k++) {
    double rest = spread(&w->s, from, k) + spread(&w->s, k, to);
    if (rest < *left_over) *left_over = rest, best = k;
  }
  return best;
}

/* The chance that two stretches without a step between them differ so much. */
static double chance(const search *w, size_t from, size_t k, size_t to) {
  size_t freedom = to - from - 2;
  double off = mean(&w->s, k, to) - mean(&w->s, from, k);
  double rest = (spread(&w->s, from, k) + spread(&w->s, k, to)) / (double)freedom;
  double scale = sqrt(rest * (1.0 / (double)(k - from) + 1.0 / (double)(to - k)));
  return scale > 0 ? ttm_student_tail(off / scale, freedom) : 0;
}

/* The step of a stretch of three or more; 0 when it has none. */
static size_t split(const search *w, size_t from, size_t to) {
  double left_over;
  size_t k = best_split(w, from, to, &left_over);
  bool apart = k > from + 1 && is_apart(w, mean(&w->s, from, k), mean(&w->s, k, to));
  return apart && line_spread(&w->s, from, to) > left_over && chance(w, from, k, to) < w->level ? k : 0;
}

/* Number after number, as the runs came: a step is seen as soon as it can be. */
static int walk(search *w) {
  size_t from = 0;
  for (size_t to = 3; to <= w->n; to++) {
    size_t k = to - from >= 3 ? split(w, from, to) : 0;
    if (k && ttm_vec_push(&w->at, k)) return TTM_ENOMEM;
    if (k) from = k;
  }
  return TTM_OK;
}

static size_t place(const search *w, size_t i) { return i < w->at.n ? w->at.at[i] : w->n; }

static size_t start(const search *w, size_t i) { return i ? w->at.at[i - 1] : 0; }

static void drop(search *w, size_t i, size_t n) {
  w->at.n -= n;
  memmove(&w->at.at[i], &w->at.at[i + n], (w->at.n - i) * sizeof *w->at.at);
}

/* The mean of a stretch without the number that is furthest from `other`. */
static double mean_without(const search *w, size_t from, size_t to, double other) {
  double furthest = mean(&w->s, from, to);
  if (to - from < 2) return furthest;
  for (size_t i = from; i < to; i++) {
    double x = mean(&w->s, i, i + 1);
    if (fabs(x - other) > fabs(furthest - other)) furthest = x;
  }
  return (mean(&w->s, from, to) * (double)(to - from) - furthest) / (double)(to - from - 1);
}

/* A single number makes no step, unless nothing has followed it yet. */
static double doubt(const search *w, size_t from, size_t k, size_t to) {
  double before = mean_without(w, from, k, mean(&w->s, k, to)), after = mean_without(w, k, to, mean(&w->s, from, k));
  return is_apart(w, before, after) ? chance(w, from, k, to) : 1;
}

/* What followed may speak against a step: the least likely one goes, until all are far from chance. */
static void drop_doubtful(search *w) {
  for (;;) {
    size_t worst = 0;
    double most = 0;
    for (size_t i = 0; i < w->at.n; i++) {
      double p = doubt(w, start(w, i), w->at.at[i], place(w, i + 1));
      if (p > most) most = p, worst = i;
    }
    if (most < w->level) return;
    drop(w, worst, 1);
  }
}

/* A single number between equal stretches is none. */
static void drop_single(search *w) {
  for (size_t i = 0; i + 1 < w->at.n;) {
    size_t out = w->at.at[i], back = w->at.at[i + 1];
    bool single = back == out + 1 && !is_apart(w, mean(&w->s, start(w, i), out), mean(&w->s, back, place(w, i + 2)));
    if (single) drop(w, i, 2);
    i = single ? (i ? i - 1 : 0) : i + 1;
  }
}

/* Numbers that come and go: only what divides whole stretches counts. */
static int divide(search *w, size_t from, size_t to) {
  size_t k = to - from >= 3 ? split(w, from, to) : 0;
  if (!k) return TTM_OK;
  int status = divide(w, from, k);
  if (!status && ttm_vec_push(&w->at, k)) status = TTM_ENOMEM;
  return status ? status : divide(w, k, to);
}

/* Each step where it divides the stretch between its neighbours best. */
static void refine(search *w) {
  double ignored;
  for (size_t i = 0; i < w->at.n; i++) w->at.at[i] = best_split(w, start(w, i), place(w, i + 1), &ignored);
}

static int tell_steps(ttm_steps *out, const search *w, size_t skipped) {
  for (size_t i = 0; i < w->at.n; i++) {
    size_t first = start(w, i), at = w->at.at[i], end = place(w, i + 1);
    ttm_step step = {at + skipped, mean(&w->s, first, at), mean(&w->s, at, end), at - first, end - at};
    if (is_apart(w, step.before, step.after) && ttm_vec_push(out, step)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

int ttm_steps_find(ttm_steps *out, const int64_t *x, size_t n, double tolerance) {
  size_t skipped = n > TTM_STEP_ROW ? n - TTM_STEP_ROW : 0;
  search w = {.n = n - skipped, .tolerance = tolerance};
  int status = sums_make(&w.s, x + skipped, w.n) ? TTM_OK : TTM_ENOMEM;
  w.level = TTM_STEP_ALPHA / ((double)w.n * (double)w.n / 2);
  if (!status) status = walk(&w);
  drop_single(&w);
  drop_doubtful(&w);
  if (!status && w.at.n > w.n / 4 && w.at.n > 1) {
    w.at.n = 0;
    status = divide(&w, 0, w.n);
  }
  if (!status) refine(&w);
  if (!status) status = tell_steps(out, &w, skipped);
  ttm_free(w.s.x);
  ttm_vec_free(&w.at);
  return status;
}

/* ---- Trends ------------------------------------------------------------------------------------------------------- */

ttm_trend ttm_trend_of(const int64_t *x, size_t n) {
  ttm_trend t = {.n = n};
  double mean_x = 0, middle = ((double)n - 1) / 2, ii = 0, ix = 0, rest = 0;
  if (n < TTM_TREND_LEAST) return t;
  for (size_t i = 0; i < n; i++) mean_x += (double)x[i] / (double)n;
  for (size_t i = 0; i < n; i++) {
    ii += ((double)i - middle) * ((double)i - middle);
    ix += ((double)i - middle) * ((double)x[i] - mean_x);
  }
  t.slope = ix / ii;
  t.last = mean_x + t.slope * middle;
  for (size_t i = 0; i < n; i++) {
    double off = (double)x[i] - mean_x - t.slope * ((double)i - middle);
    rest += off * off;
  }
  double error = sqrt(rest / (double)(n - 2) / ii), reach = student_95(n - 2) * error;
  t.low = t.slope - reach;
  t.high = t.slope + reach;
  t.rises = t.slope > 0 && (error <= 0 || ttm_student_tail(t.slope / error, n - 2) < 0.01);
  return t;
}
