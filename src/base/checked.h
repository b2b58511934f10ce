/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic on numbers that came from outside: saturates at UINT64_MAX instead of wrapping. */
#ifndef TTM_BASE_CHECKED_H
#define TTM_BASE_CHECKED_H

#include <stdint.h>

static inline uint64_t ttm_add_sat(uint64_t a, uint64_t b) {
  uint64_t r;
  return __builtin_add_overflow(a, b, &r) ? UINT64_MAX : r;
}

/* 0 instead of a number below it. */
static inline uint64_t ttm_sub_sat(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

static inline uint64_t ttm_apart(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

static inline uint64_t ttm_mul_sat(uint64_t a, uint64_t b) {
  uint64_t r;
  return __builtin_mul_overflow(a, b, &r) ? UINT64_MAX : r;
}

/* Number of pieces of size `b` that cover `a`; 0 when b is 0. */
static inline uint64_t ttm_div_up(uint64_t a, uint64_t b) { return b ? a / b + (a % b != 0) : 0; }

/* `a` rounded up to a multiple of `b`; `a` itself when b is 0. */
static inline uint64_t ttm_round_up(uint64_t a, uint64_t b) { return b ? ttm_mul_sat(ttm_div_up(a, b), b) : a; }

#endif
