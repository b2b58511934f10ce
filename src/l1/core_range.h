/* SPDX-License-Identifier: Apache-2.0 */
/* Rectangles of cores and sets of them, as TT-Metal prints and merges them. */
#ifndef TTM_L1_CORE_RANGE_H
#define TTM_L1_CORE_RANGE_H

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "ttmem/profile.h"

enum { TTM_CORE_LIMIT = 64 }; /* coordinates stay below it; the largest grid known is 17 x 12 */

typedef struct ttm_core_range {
  uint8_t x0, y0, x1, y1; /* both corners belong to it */
} ttm_core_range;

/* Zero is the empty set; the owner frees `at` with ttm_vec_free. */
typedef TTM_VEC(ttm_core_range) ttm_core_set;

/* Reads "[0-0 - 7-7]", "[(x=0,y=0) - (x=7,y=7)]", sets of them "{[..], [..]}", and what is easier to type: "0-0:7-7" or one core
 * "3-4", several joined by '+'. Appends to *out. TTM_EFORMAT (and *out as it was) for any other text or a corner out of order or
 * range; TTM_ENOMEM. */
int ttm_core_set_parse(ttm_str text, ttm_core_set *out);

/* What `merge_ranges` of tt-metal makes of the set (core_coord.cpp): runs of each row, joined with the rectangle above of the same
 * width. 0 or TTM_ENOMEM. */
int ttm_core_set_merge(ttm_core_set *set);

/* Cores in the set, each counted once. */
uint64_t ttm_core_set_count(const ttm_core_set *set);

/* Raises columns and rows until the set is inside. */
void ttm_core_set_widen(const ttm_core_set *set, unsigned *columns, unsigned *rows);

/* Sets as texts name them: each text is read once. Zero is empty. */
typedef struct ttm_core_sets {
  ttm_map set_of_text;
  TTM_VEC(ttm_core_set) sets;
} ttm_core_sets;

/* The set of a text (`id` names it); an empty one when it cannot be read. 0 or TTM_ENOMEM. */
int ttm_core_sets_find(ttm_core_sets *sets, uint64_t id, ttm_str text, uint32_t *out);
void ttm_core_sets_free(ttm_core_sets *sets);

/* Every core with what it holds, to be drawn. */
typedef struct ttm_core_grid {
  unsigned columns, rows;
  uint64_t limit;                                /* what a core has for buffers and tensors; 0 when not known */
  uint64_t used[TTM_CORE_LIMIT][TTM_CORE_LIMIT]; /* by row and column; TTM_UNKNOWN: not told */
  bool clashes[TTM_CORE_LIMIT][TTM_CORE_LIMIT];  /* its buffers reach into a tensor or beyond L1 */
  bool any_clash;
} ttm_core_grid;

/* The fullest core of the grid, the first of several; one that clashes before any that does not. */
void ttm_core_grid_fullest(const ttm_core_grid *grid, unsigned *x, unsigned *y);

static inline bool ttm_core_range_eq(ttm_core_range a, ttm_core_range b) {
  return a.x0 == b.x0 && a.y0 == b.y0 && a.x1 == b.x1 && a.y1 == b.y1;
}
static inline bool ttm_core_set_has(const ttm_core_set *set, unsigned x, unsigned y) {
  for (size_t i = 0; i < set->n; i++) {
    ttm_core_range r = set->at[i];
    if (x >= r.x0 && x <= r.x1 && y >= r.y0 && y <= r.y1) return true;
  }
  return false;
}
static inline bool ttm_core_range_intersects(ttm_core_range a, ttm_core_range b) {
  return a.x0 <= b.x1 && b.x0 <= a.x1 && a.y0 <= b.y1 && b.y0 <= a.y1;
}

#endif
