/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/waste.h"

#include "analyze/parts.h"
#include "base/checked.h"

enum { LEAST_SHARE = 500 }; /* of the peak: less is not worth a line */

const char *ttm_waste_name(ttm_waste_kind kind) {
  static const char *const names[] = {"f32_copy", "weight_twice", "tile_padding", "narrow_rows"};
  return names[kind];
}

typedef struct search {
  const ttm_profile *p;
  const ttm_live_set *set;
  ttm_wastes *out;
} search;

static void keep(search *s, ttm_waste waste) {
  ttm_wastes *out = s->out;
  if (waste.bank_bytes < s->set->measured_bytes / LEAST_SHARE || !waste.bank_bytes) return;
  out->bank_bytes[waste.kind] += waste.bank_bytes;
  out->count[waste.kind]++;
  if (out->n == TTM_WASTES && waste.bank_bytes <= out->at[out->n - 1].bank_bytes) return;
  size_t at = out->n < TTM_WASTES ? out->n++ : out->n - 1;
  for (; at && out->at[at - 1].bank_bytes < waste.bank_bytes; at--) out->at[at] = out->at[at - 1];
  out->at[at] = waste;
}

static const ttm_tensor_type *type_of(const search *s, uint32_t type) {
  return type < s->p->types.n && s->p->types.at[type].is_tensor ? &s->p->types.at[type].tensor : NULL;
}

/* Half of an f32 weight whose argument is bf16. */
static void find_upcast(search *s, uint32_t i) {
  const ttm_live_row *row = &s->set->rows.at[i];
  const ttm_tensor_type *type = type_of(s, row->type), *source = type_of(s, row->source);
  if (row->class != TTM_LIVE_WEIGHT || row->tensors != 1 || !type || !source) return;
  if (!ttm_view_eq(type->storage, TTM_LIT("f32")) || !ttm_view_eq(source->element, TTM_LIT("bf16"))) return;
  keep(s, (ttm_waste){.kind = TTM_WASTE_UPCAST, .row = i, .bank_bytes = row->bank_bytes / 2});
}

/* All forms of a weight but the smallest are one too many, at the very least. */
static void find_twice(search *s, uint32_t i) {
  const ttm_live_row *row = &s->set->rows.at[i];
  if (row->class != TTM_LIVE_WEIGHT || row->tensors < 2 || !row->name || !row->forms_differ) return;
  uint64_t extra = ttm_mul_sat(row->smallest_bytes, row->tensors - 1);
  keep(s, (ttm_waste){.kind = TTM_WASTE_TWICE, .row = i, .bank_bytes = extra});
}

static uint64_t tiles_of(const ttm_dims *dims, uint32_t h, uint32_t w) {
  uint64_t n = 1;
  for (uint32_t i = 0; i < dims->rank; i++) {
    uint32_t unit = i + 1 == dims->rank ? w : i + 2 == dims->rank ? h : 1;
    n = ttm_mul_sat(n, ttm_div_up(dims->at[i], unit));
  }
  return n;
}

/* The same values with fewer tiles: trailing ones folded away, or leading dims folded into the rows. */
static ttm_dims better_shape(const ttm_tensor_type *type) {
  ttm_dims best = {0}, fold = type->shape;
  uint64_t least = tiles_of(&type->shape, type->tile_h, type->tile_w);
  while (fold.rank > 2 && fold.at[fold.rank - 1] == 1) fold.rank--;
  if (fold.rank >= 2 && tiles_of(&fold, type->tile_h, type->tile_w) < least) {
    least = tiles_of(&fold, type->tile_h, type->tile_w);
    best = fold;
  }
  uint64_t rows = 1;
  for (uint32_t i = 0; i + 1 < type->shape.rank; i++) rows = ttm_mul_sat(rows, type->shape.at[i]);
  ttm_dims flat = {2, {rows, type->shape.rank ? type->shape.at[type->shape.rank - 1] : 1}};
  if (type->shape.rank > 2 && tiles_of(&flat, type->tile_h, type->tile_w) < least) best = flat;
  return best;
}

static void find_padding(search *s, uint32_t i) {
  const ttm_live_row *row = &s->set->rows.at[i];
  const ttm_tensor_type *type = type_of(s, row->type);
  if (!type || row->stored_bytes <= row->logical_bytes || !row->stored_bytes) return;
  double share = (double)(row->stored_bytes - row->logical_bytes) / (double)row->stored_bytes;
  ttm_waste waste = {.kind = TTM_WASTE_PADDING, .row = i, .bank_bytes = (uint64_t)(share * (double)row->bank_bytes)};
  if (type->tiled)
    waste.better = better_shape(type);
  else
    waste.kind = TTM_WASTE_NARROW;
  keep(s, waste);
}

void ttm_wastes_make(ttm_wastes *out, const ttm_findings *f) {
  search s = {f->profile, &f->live_set[TTM_DRAM], out};
  *out = (ttm_wastes){.n = 0};
  if (!s.set->known) return;
  for (uint32_t i = 0; i < s.set->rows.n; i++) {
    find_upcast(&s, i);
    find_twice(&s, i);
    find_padding(&s, i);
  }
}
