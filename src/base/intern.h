/* SPDX-License-Identifier: Apache-2.0 */
/* Strings stored once and named by small integers. Id 0 is always the empty string. */
#ifndef TTM_BASE_INTERN_H
#define TTM_BASE_INTERN_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"

typedef struct ttm_intern {
  ttm_arena arena;
  TTM_VEC(const char *) strings; /* by id: bytes of the length (7 bits each, the last below 128), then the text */
  ttm_map ids;                   /* hash of the text -> id */
  uint64_t seed;
} ttm_intern;

/* Id of the string, added when new. 0 or TTM_ENOMEM. */
int ttm_intern_add(ttm_intern *pool, ttm_str string, uint32_t *out);

/* The string of an id; empty for an id never given out. Valid until ttm_intern_free. */
ttm_str ttm_intern_get(const ttm_intern *pool, uint32_t id);

/* Id of a string already there, or 0. */
uint32_t ttm_intern_find(const ttm_intern *pool, ttm_str string);
void ttm_intern_free(ttm_intern *pool);

#endif
