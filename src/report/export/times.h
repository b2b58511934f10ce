/* SPDX-License-Identifier: Apache-2.0 */
/* When operations began and ended: as the time stamps of a log, the samples of `ttmem live` or the operations CSV of tt-metal's profiler have it. Without
 * any of them an operation lasts one microsecond, so that time counts operations. */
#ifndef TTM_REPORT_EXPORT_TIMES_H
#define TTM_REPORT_EXPORT_TIMES_H

#include "profile/profile.h"

typedef enum ttm_times_source { TTM_TIMES_NONE, TTM_TIMES_LOG, TTM_TIMES_SAMPLES, TTM_TIMES_CSV } ttm_times_source;

/* Zero is none. */
typedef struct ttm_times {
  ttm_times_source source;
  uint64_t start;          /* nanoseconds since 1970 of what counts as 0; 0 when only differences are known */
  uint32_t timed;          /* operations whose time is known: stamped, between two stamps, or a row of the CSV */
  TTM_VEC(uint64_t) begin; /* nanoseconds by moment: of each operation, then of what follows the last. They rise */
  TTM_VEC(uint64_t) end;   /* by operation, of the CSV only; else the next begins then */
} ttm_times;

/* `path` is the input. The operations CSV counts where the profile has one. Freed with ttm_times_free in any case. */
int ttm_times_read(ttm_times *out, const ttm_profile *p, const char *path, ttm_error *err);
void ttm_times_free(ttm_times *times);

uint64_t ttm_times_begin(const ttm_times *times, uint64_t moment);
uint64_t ttm_times_end(const ttm_times *times, uint32_t op);

/* What time means, for a narrow place: "1 us = 1 operation", "time of the log". */
const char *ttm_times_name(const ttm_times *times);
/* "Times: 69 of 84 operations between time stamps of the log (from 2026-01-12 10:24:06.290), spread evenly". */
void ttm_times_say(ttm_buf *out, const ttm_times *times, const ttm_profile *p);

/* The part of the CSV. */
int ttm_times_of_csv(ttm_times *times, const ttm_profile *p, ttm_error *err);
/* Spreads the begins of operations `from` to before `to` evenly between two times, the first at least a nanosecond behind `after`. */
void ttm_times_spread(ttm_times *times, uint32_t from, uint32_t to, uint64_t after, uint64_t until);

#endif
