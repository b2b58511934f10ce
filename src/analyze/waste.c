/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/waste.h"

#include "analyze/parts.h"
#include "base/checked.h"

enum { LEAST_SHARE = 500 }; /* of the peak: less is not worth a line */

const char *ttm_waste_name(ttm_waste_kind kind) {
  static const char *const names[] = {"f32_copy", "weight_twice", "tile_padding", "narrow_rows"};
  return names[kind];
}

static const ttm_tensor_type *type_of(const ttm_profile *p, uint32_t type) {
  return type < p->types.n && p->types.at[type].is_tensor ? &p->types.at[type].tensor : NULL;
}

/* Half of an f32 weight whose argument is bf16. */
static uint64_t upcast_of(const ttm_profile *p, const ttm_alive_row *row) {
  const ttm_tensor_type *type = type_of(p, row->type), *source = type_of(p, row->source);
  if (row->class != TTM_ALIVE_WEIGHT || row->tensors != 1 || !type || !source) return 0;
  bool is = ttm_str_eq(type->storage, TTM_LIT("f32")) && ttm_str_eq(source->element, TTM_LIT("bf16"));
  return is ? row->bank_bytes / 2 : 0;
}

/* All forms of a weight but the smallest are one too many, at the very least. */
static uint64_t twice_of(const ttm_alive_row *row) {
  if (row->class != TTM_ALIVE_WEIGHT || row->tensors < 2 || !row->name || !row->forms_differ) return 0;
  return ttm_mul_sat(row->smallest_bytes, row->tensors - 1);
}

/* Tile padding, or with `tiled` false that of row-major rows. */
static uint64_t padding_of(const ttm_profile *p, const ttm_alive_row *row, bool tiled) {
  const ttm_tensor_type *type = type_of(p, row->type);
  if (!type || type->tiled != tiled || row->stored_bytes <= row->logical_bytes) return 0;
  double share = (double)(row->stored_bytes - row->logical_bytes) / (double)row->stored_bytes;
  return (uint64_t)(share * (double)row->bank_bytes);
}

uint64_t ttm_waste_of(const ttm_profile *p, const ttm_alive_row *row, ttm_waste_kind kind) {
  switch (kind) {
    case TTM_WASTE_UPCAST:
      return upcast_of(p, row);
    case TTM_WASTE_TWICE:
      return twice_of(row);
    case TTM_WASTE_PADDING:
      return padding_of(p, row, true);
    case TTM_WASTE_NARROW:
      return padding_of(p, row, false);
    case TTM_WASTE_KINDS:
      break;
  }
  return 0;
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

/* Bytes per bank that the tensor would take less with its rows as they are, each padded to the alignment only. Block formats need tiles. */
static uint64_t row_major_of(const ttm_profile *p, const ttm_alive_row *row) {
  const ttm_tensor_type *type = type_of(p, row->type);
  uint64_t rows = 1, element = type ? ttm_scalar_bytes(type->storage) : 0;
  if (!element || !type->shape.rank) return 0;
  for (uint32_t i = 0; i + 1 < type->shape.rank; i++) rows = ttm_mul_sat(rows, type->shape.at[i]);
  uint64_t line =
      ttm_round_up(ttm_mul_sat(type->shape.at[type->shape.rank - 1], element), ttm_profile_alignment(p).dram);
  uint64_t stored = ttm_mul_sat(ttm_mul_sat(rows, line), row->tensors);
  if (row->forms_differ || stored >= row->stored_bytes) return 0;
  return (uint64_t)((1.0 - (double)stored / (double)row->stored_bytes) * (double)row->bank_bytes);
}

/* Largest first. */
static void keep(ttm_wastes *out, ttm_waste waste) {
  out->bank_bytes[waste.kind] += waste.bank_bytes;
  out->count[waste.kind] += waste.rows;
  if (out->n == TTM_WASTES && waste.bank_bytes <= out->at[out->n - 1].bank_bytes) return;
  size_t at = out->n < TTM_WASTES ? out->n++ : out->n - 1;
  for (; at && out->at[at - 1].bank_bytes < waste.bank_bytes; at--) out->at[at] = out->at[at - 1];
  out->at[at] = waste;
}

bool ttm_waste_has(const ttm_findings *f, const ttm_waste *waste, uint32_t row) {
  const ttm_alive_row *rows = f->alive_set[TTM_DRAM].rows.at;
  if (row == waste->row) return true;
  return rows[row].group != TTM_NONE && rows[row].group == rows[waste->row].group &&
         ttm_waste_of(f->profile, &rows[row], waste->kind);
}

/* What the row wastes together with the rows like it; 0 when it is not the first of them. */
static ttm_waste gather(const ttm_findings *f, uint32_t row, ttm_waste_kind kind) {
  const ttm_alive_set *set = &f->alive_set[TTM_DRAM];
  ttm_waste waste = {.kind = kind, .row = row};
  if (!ttm_waste_of(f->profile, &set->rows.at[row], kind)) return waste;
  for (uint32_t i = 0; i < set->rows.n; i++) {
    if (!ttm_waste_has(f, &waste, i)) continue;
    if (i < row) return (ttm_waste){.kind = kind};
    waste.rows++;
    waste.bank_bytes = ttm_add_sat(waste.bank_bytes, ttm_waste_of(f->profile, &set->rows.at[i], kind));
    if (kind == TTM_WASTE_PADDING) waste.row_major += row_major_of(f->profile, &set->rows.at[i]);
  }
  if (kind == TTM_WASTE_PADDING) waste.better = better_shape(type_of(f->profile, set->rows.at[row].type));
  return waste;
}

void ttm_wastes_make(ttm_wastes *out, const ttm_findings *f) {
  const ttm_alive_set *set = &f->alive_set[TTM_DRAM];
  *out = (ttm_wastes){.known = set->known};
  for (uint32_t i = 0; set->known && i < set->rows.n; i++) {
    for (int kind = 0; kind < TTM_WASTE_KINDS; kind++) {
      ttm_waste waste = gather(f, i, (ttm_waste_kind)kind);
      if (waste.bank_bytes && waste.bank_bytes >= set->measured_bytes / LEAST_SHARE) keep(out, waste);
    }
  }
}
