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

/* What a bank gives up for one tensor of the row, if it were of this type. */
static uint64_t bank_bytes_as(const ttm_findings *f, const ttm_tensor_type *type) {
  return ttm_tensor_bank_bytes(type, f->alive_set[TTM_DRAM].banks, ttm_profile_alignment(f->profile));
}

/* Bytes per bank that the row takes more than its tensors would as this type. */
static uint64_t more_than(const ttm_findings *f, const ttm_alive_row *row, const ttm_tensor_type *type) {
  uint64_t bytes = ttm_mul_sat(bank_bytes_as(f, type), row->tensors);
  return bytes && !row->forms_differ && bytes < row->bank_bytes ? row->bank_bytes - bytes : 0;
}

/* An f32 weight whose argument is bf16; in a capture a cast from bf16. */
static uint64_t upcast_of(const ttm_findings *f, const ttm_alive_row *row) {
  const ttm_tensor_type *type = type_of(f->profile, row->type), *source = type_of(f->profile, row->source);
  bool captured = f->profile->kind == TTM_LOG_CAPTURE;
  if (!type || !source || (!captured && (row->class != TTM_ALIVE_WEIGHT || row->tensors != 1))) return 0;
  if (!ttm_str_eq(type->storage, TTM_LIT("f32")) || !ttm_str_eq(source->element, TTM_LIT("bf16"))) return 0;
  ttm_tensor_type kept = *type;
  kept.storage = TTM_LIT("bf16");
  return more_than(f, row, &kept);
}

/* All forms of a weight but the smallest are one too many, at the very least. */
static uint64_t twice_of(const ttm_alive_row *row) {
  if (row->class != TTM_ALIVE_WEIGHT || row->tensors < 2 || !row->name || !row->forms_differ) return 0;
  return ttm_mul_sat(row->smallest_bytes, row->tensors - 1);
}

/* ---- Shapes ------------------------------------------------------------------------------------------------------------ */

static uint64_t product_of(const ttm_dims *dims, uint32_t n) {
  uint64_t all = 1;
  for (uint32_t i = 0; i < n; i++) all = ttm_mul_sat(all, dims->at[i]);
  return all;
}

/* The interleaved tensor in another shape or layout. */
static ttm_tensor_type type_as(const ttm_tensor_type *type, const ttm_dims *shape, bool tiled) {
  ttm_tensor_type as = *type;
  uint32_t rank = shape->rank;
  uint64_t columns = shape->at[rank - 1], rows = rank > 1 ? shape->at[rank - 2] : 1;
  if (tiled) columns = ttm_div_up(columns, type->tile_w), rows = ttm_div_up(rows, type->tile_h);
  if (rank > 2) rows = ttm_mul_sat(rows, product_of(shape, rank - 2));
  as.shape = *shape;
  as.tiled = tiled;
  as.grid = (ttm_dims){2, {1, 1}};
  as.shard = (ttm_dims){2, {rows, columns}};
  return as;
}

/* The shape, if the tensor takes less of a bank in it than *least. */
static void try_shape(const ttm_findings *f, const ttm_tensor_type *type, ttm_dims shape, ttm_dims *best,
                      uint64_t *least) {
  ttm_tensor_type as = type_as(type, &shape, type->tiled);
  uint64_t bytes = bank_bytes_as(f, &as);
  if (bytes < *least) *least = bytes, *best = shape;
}

/* The same values in fewer tiles: trailing ones folded away, or leading dims folded into the rows. Row-major rows as long as they have to be, for
 * a row is a page, and a bank holds whole pages. Rank 0 when none is better. */
static ttm_dims better_shape(const ttm_findings *f, const ttm_tensor_type *type) {
  const ttm_dims *shape = &type->shape;
  ttm_dims best = {0}, fold = *shape;
  uint32_t rank = shape->rank;
  if (!rank || type->placement != TTM_PLACE_INTERLEAVED) return best;
  uint64_t least = bank_bytes_as(f, type), values = product_of(shape, rank);
  if (type->tiled) {
    while (fold.rank > 2 && fold.at[fold.rank - 1] == 1) fold.rank--;
    if (rank > 2) try_shape(f, type, fold, &best, &least);
    if (rank > 2) try_shape(f, type, (ttm_dims){2, {product_of(shape, rank - 1), shape->at[rank - 1]}}, &best, &least);
    return best;
  }
  uint64_t element = ttm_scalar_bytes(type->storage), align = ttm_profile_alignment(f->profile).dram;
  for (uint64_t columns = 1024; columns * element >= align; columns /= 2) { /* of equal ones the longest */
    if (values % columns == 0) try_shape(f, type, (ttm_dims){2, {values / columns, columns}}, &best, &least);
  }
  return best;
}

uint64_t ttm_row_major_bytes(const ttm_findings *f, const ttm_alive_row *row) {
  const ttm_tensor_type *type = type_of(f->profile, row->type);
  if (!type || !type->shape.rank || row->forms_differ || type->placement != TTM_PLACE_INTERLEAVED)
    return row->bank_bytes;
  if (!ttm_scalar_bytes(type->storage)) return row->bank_bytes;
  ttm_tensor_type as = type_as(type, &type->shape, false);
  return ttm_mul_sat(bank_bytes_as(f, &as), row->tensors);
}

/* Tile padding, or with `tiled` false that of row-major rows: what a better shape saves, else what is padding. */
static uint64_t padding_of(const ttm_findings *f, const ttm_alive_row *row, bool tiled) {
  const ttm_tensor_type *type = type_of(f->profile, row->type);
  if (!type || type->tiled != tiled || row->stored_bytes <= row->logical_bytes) return 0;
  ttm_dims better = better_shape(f, type);
  if (better.rank) {
    ttm_tensor_type as = type_as(type, &better, tiled);
    return more_than(f, row, &as);
  }
  double share = (double)(row->stored_bytes - row->logical_bytes) / (double)row->stored_bytes;
  return (uint64_t)(share * (double)row->bank_bytes);
}

uint64_t ttm_waste_of(const ttm_findings *f, const ttm_alive_row *row, ttm_waste_kind kind) {
  switch (kind) {
    case TTM_WASTE_UPCAST:
      return upcast_of(f, row);
    case TTM_WASTE_TWICE:
      return twice_of(row);
    case TTM_WASTE_PADDING:
      return padding_of(f, row, true);
    case TTM_WASTE_NARROW:
      return padding_of(f, row, false);
    case TTM_WASTE_KINDS:
      break;
  }
  return 0;
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
         ttm_waste_of(f, &rows[row], waste->kind);
}

/* What the row wastes together with the rows like it; 0 when it is not the first of them. */
static ttm_waste gather(const ttm_findings *f, uint32_t row, ttm_waste_kind kind) {
  const ttm_alive_set *set = &f->alive_set[TTM_DRAM];
  ttm_waste waste = {.kind = kind, .row = row};
  if (!ttm_waste_of(f, &set->rows.at[row], kind)) return waste;
  for (uint32_t i = 0; i < set->rows.n; i++) {
    if (!ttm_waste_has(f, &waste, i)) continue;
    if (i < row) return (ttm_waste){.kind = kind};
    waste.rows++;
    waste.bank_bytes = ttm_add_sat(waste.bank_bytes, ttm_waste_of(f, &set->rows.at[i], kind));
    if (kind == TTM_WASTE_PADDING)
      waste.row_major += ttm_sub_sat(set->rows.at[i].bank_bytes, ttm_row_major_bytes(f, &set->rows.at[i]));
  }
  const ttm_tensor_type *type = type_of(f->profile, set->rows.at[row].type);
  if (type && kind >= TTM_WASTE_PADDING) waste.better = better_shape(f, type);
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
