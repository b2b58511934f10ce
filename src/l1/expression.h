/* SPDX-License-Identifier: Apache-2.0 */
/* Whole-number expressions as kernel authors write them in C++: + - * / %, comparisons, && || !, ?:, min() and max(), numbers with or
 * without a "u", names. Never negative: a difference below zero is 0; too large is UINT64_MAX. Any text gives a number or an error. */
#ifndef TTM_L1_EXPRESSION_H
#define TTM_L1_EXPRESSION_H

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

typedef struct ttm_name_value {
  ttm_str name;
  uint64_t value;
} ttm_name_value;

typedef TTM_VEC(ttm_name_value) ttm_name_values;

/* 0, or TTM_EFORMAT with a message that says what was not understood. */
int ttm_expression_value(ttm_str text, const ttm_name_values *names, uint64_t *out, ttm_error *err);

#endif
