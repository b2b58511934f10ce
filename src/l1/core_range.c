/* SPDX-License-Identifier: Apache-2.0 */
#include "l1/core_range.h"

#include <stdlib.h>

/* ---- Reading ---------------------------------------------------------------------------------------------------------- */

static void skip_blanks(ttm_str *v) {
  while (v->n && (v->p[0] == ' ' || v->p[0] == '\t')) *v = ttm_str_from(*v, 1);
}

/* "3-4" or "(x=3,y=4)". */
static bool take_core(ttm_str *v, uint8_t *x, uint8_t *y) {
  uint64_t a, b;
  bool named = ttm_str_take(v, TTM_LIT("(x="));
  if (!ttm_str_take_u64(v, &a) || !ttm_str_take(v, named ? TTM_LIT(",y=") : TTM_LIT("-"))) return false;
  if (!ttm_str_take_u64(v, &b) || a >= TTM_CORE_LIMIT || b >= TTM_CORE_LIMIT) return false;
  *x = (uint8_t)a, *y = (uint8_t)b;
  return !named || ttm_str_take(v, TTM_LIT(")"));
}

/* "[CORE - CORE]", "CORE:CORE" or one core. */
static bool take_range(ttm_str *v, ttm_core_range *out) {
  bool bracket = ttm_str_take(v, TTM_LIT("["));
  if (!take_core(v, &out->x0, &out->y0)) return false;
  out->x1 = out->x0, out->y1 = out->y0;
  if (ttm_str_take(v, bracket ? TTM_LIT(" - ") : TTM_LIT(":")) && !take_core(v, &out->x1, &out->y1)) return false;
  if (bracket && !ttm_str_take(v, TTM_LIT("]"))) return false;
  return out->x1 >= out->x0 && out->y1 >= out->y0;
}

int ttm_core_set_parse(ttm_str text, ttm_core_set *out) {
  size_t before = out->n;
  ttm_core_range range;
  skip_blanks(&text);
  bool braces = ttm_str_take(&text, TTM_LIT("{"));
  do {
    skip_blanks(&text);
    if (!take_range(&text, &range)) return out->n = before, TTM_EFORMAT;
    if (ttm_vec_push(out, range)) return out->n = before, TTM_ENOMEM;
    skip_blanks(&text);
  } while (ttm_str_take(&text, TTM_LIT(",")) || ttm_str_take(&text, TTM_LIT("+")));
  if (braces && !ttm_str_take(&text, TTM_LIT("}"))) return out->n = before, TTM_EFORMAT;
  skip_blanks(&text);
  return text.n ? (out->n = before, TTM_EFORMAT) : TTM_OK;
}

int ttm_core_sets_find(ttm_core_sets *sets, uint64_t id, ttm_str text, uint32_t *out) {
  enum { NONE = UINT32_MAX };
  *out = ttm_map_get(&sets->set_of_text, id, NONE);
  if (*out != NONE) return TTM_OK;
  ttm_core_set set = {0};
  if (ttm_core_set_parse(text, &set) == TTM_ENOMEM || ttm_vec_push(&sets->sets, set)) {
    ttm_vec_free(&set);
    return TTM_ENOMEM;
  }
  *out = (uint32_t)(sets->sets.n - 1);
  return ttm_map_set(&sets->set_of_text, id, *out);
}

void ttm_core_sets_free(ttm_core_sets *sets) {
  for (size_t i = 0; i < sets->sets.n; i++) ttm_vec_free(&sets->sets.at[i]);
  ttm_vec_free(&sets->sets);
  ttm_map_free(&sets->set_of_text);
}

/* ---- Merging ---------------------------------------------------------------------------------------------------------- */

/* tt-metal keeps them in a std::set, which puts the row before the column. */
static int by_corner(const void *left, const void *right) {
  const ttm_core_range *a = left, *b = right;
  if (a->y0 != b->y0) return a->y0 < b->y0 ? -1 : 1;
  return a->x0 < b->x0 ? -1 : a->x0 > b->x0; /* no two start on one core */
}

static void fill_grid(const ttm_core_set *set, bool grid[TTM_CORE_LIMIT][TTM_CORE_LIMIT + 1]) {
  for (size_t i = 0; i < set->n; i++) {
    for (unsigned y = set->at[i].y0; y <= set->at[i].y1; y++) {
      for (unsigned x = set->at[i].x0; x <= set->at[i].x1; x++) grid[y][x] = true;
    }
  }
}

/* Joins a run of row y with the rectangle that ends on the row above and is exactly as wide, or adds it. */
static int add_run(ttm_core_set *set, unsigned x0, unsigned x1, unsigned y) {
  for (size_t i = 0; i < set->n; i++) {
    ttm_core_range *r = &set->at[i];
    if (r->x0 == x0 && r->x1 == x1 && r->y1 + 1u == y) return r->y1 = (uint8_t)y, TTM_OK;
  }
  return ttm_vec_push(set, (ttm_core_range){(uint8_t)x0, (uint8_t)y, (uint8_t)x1, (uint8_t)y});
}

int ttm_core_set_merge(ttm_core_set *set) {
  bool grid[TTM_CORE_LIMIT][TTM_CORE_LIMIT + 1] = {{false}}; /* the column behind the last ends every run */
  fill_grid(set, grid);
  set->n = 0;
  for (unsigned y = 0; y < TTM_CORE_LIMIT; y++) {
    for (unsigned x = 0; x < TTM_CORE_LIMIT; x++) {
      if (!grid[y][x]) continue;
      unsigned start = x;
      while (grid[y][x]) x++;
      if (add_run(set, start, x - 1, y)) return TTM_ENOMEM;
    }
  }
  if (set->n) qsort(set->at, set->n, sizeof *set->at, by_corner);
  return TTM_OK;
}

uint64_t ttm_core_set_count(const ttm_core_set *set) {
  bool grid[TTM_CORE_LIMIT][TTM_CORE_LIMIT + 1] = {{false}};
  uint64_t n = 0;
  fill_grid(set, grid);
  for (unsigned y = 0; y < TTM_CORE_LIMIT; y++) {
    for (unsigned x = 0; x < TTM_CORE_LIMIT; x++) n += grid[y][x];
  }
  return n;
}

void ttm_core_set_widen(const ttm_core_set *set, unsigned *columns, unsigned *rows) {
  for (size_t i = 0; i < set->n; i++) {
    if (set->at[i].x1 >= *columns) *columns = set->at[i].x1 + 1u;
    if (set->at[i].y1 >= *rows) *rows = set->at[i].y1 + 1u;
  }
}

/* ---- Grids ------------------------------------------------------------------------------------------------------------- */

void ttm_core_grid_fullest(const ttm_core_grid *grid, unsigned *out_x, unsigned *out_y) {
  *out_x = *out_y = 0;
  for (unsigned y = 0; y < grid->rows; y++) {
    for (unsigned x = 0; x < grid->columns; x++) {
      bool more = grid->used[y][x] > grid->used[*out_y][*out_x],
           better = grid->clashes[y][x] && !grid->clashes[*out_y][*out_x];
      if (grid->used[y][x] == TTM_UNKNOWN) continue;
      if (better || (more && grid->clashes[y][x] == grid->clashes[*out_y][*out_x])) *out_x = x, *out_y = y;
    }
  }
}
