/* SPDX-License-Identifier: Apache-2.0 */
/* Times of the operations that have a row in the profiler's CSV; the others lie between. */
#include <string.h>

#include "analyze/perf_join.h"
#include "base/error.h"
#include "report/export/times.h"

static void set_times(ttm_times *t, const ttm_perf_join *j, size_t ops) {
  uint64_t after = 0;
  uint32_t next = 0;
  for (uint32_t op = 0; op < ops; op++) {
    if (j->row_of[op] == TTM_NONE) continue;
    uint64_t from = ttm_perf_join_begin(j, j->row_of[op]), lasts = j->ns_of[op];
    if (from == TTM_PERF_UNKNOWN || lasts > UINT64_MAX / 4) continue;
    ttm_times_spread(t, next, op, after, from);
    ttm_times_spread(t, op, op + 1, from, from);
    for (; next < op; next++) t->end.at[next] = t->begin.at[next + 1];
    t->end.at[op] = after = t->begin.at[op] + lasts;
    next = op + 1;
    t->timed++;
  }
  for (; next < t->begin.n; next++) {
    t->begin.at[next] = after;
    if (next < t->end.n) t->end.at[next] = after += 1000;
  }
}

/* An operation ends before the next one begins: slices of a track hold each other or do not touch. */
static void cut_ends(ttm_times *t) {
  for (size_t i = 1; i < t->begin.n; i++) {
    if (t->begin.at[i] < t->begin.at[i - 1]) t->begin.at[i] = t->begin.at[i - 1];
    if (i <= t->end.n && t->end.at[i - 1] > t->begin.at[i]) t->end.at[i - 1] = t->begin.at[i];
  }
}

int ttm_times_of_csv(ttm_times *t, const ttm_profile *p, ttm_error *err) {
  ttm_perf_join join;
  int status =
      ttm_perf_join_make(&join, p, &p->perf) || ttm_vec_reserve(&t->end, p->ops.n) ? ttm_error_nomem(err) : TTM_OK;
  if (!status) {
    memset(t->end.at, 0, p->ops.n * sizeof *t->end.at);
    t->end.n = p->ops.n;
    set_times(t, &join, p->ops.n);
    cut_ends(t);
    if (!t->timed)
      status = ttm_error_set(err, TTM_ENODATA, "no operation of the input is in %.*s: they are of different runs",
                             TTM_ARGS(ttm_profile_string(p, p->perf_path)));
    t->source = TTM_TIMES_CSV;
  }
  ttm_perf_join_free(&join);
  return status;
}
