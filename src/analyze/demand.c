/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/parts.h"

static const ttm_tensor_type *type_of(const ttm_profile *p, uint32_t type) {
  return type < p->types.n && p->types.at[type].is_tensor ? &p->types.at[type].tensor : NULL;
}

/* How much larger weights are on the device than as the model gives them: dtype, tiles. False when none was seen there. */
static bool find_ratio(const ttm_findings *f, double *ratio) {
  const ttm_alive_set *set = &f->alive_set[TTM_DRAM];
  double stored = 0, given = 0;
  for (size_t i = 0; i < set->rows.n; i++) {
    const ttm_alive_row *row = &set->rows.at[i];
    const ttm_tensor_type *source = type_of(f->profile, row->source);
    if (row->class != TTM_ALIVE_WEIGHT || row->tensors != 1 || !source) continue;
    stored += (double)row->stored_bytes;
    given += (double)ttm_tensor_logical_bytes(source);
  }
  *ratio = given > 0 ? stored / given : 0;
  return given > 0;
}

static bool is_bf16_matrix(const ttm_tensor_type *type) {
  return type && ttm_str_eq(type->element, TTM_LIT("bf16")) && type->shape.rank >= 2 &&
         type->shape.at[type->shape.rank - 2] >= 32;
}

void ttm_find_demand(ttm_findings *f) {
  const ttm_profile *p = f->profile;
  ttm_weight_demand *out = &f->weight_demand;
  ttm_level dram = f->peak[TTM_DRAM].level;
  double ratio;
  uint64_t largest = 0, matrices = 0;
  if (!f->registry.weight_bytes || !f->peak[TTM_DRAM].known || !find_ratio(f, &ratio)) return;
  for (size_t e = 0; e < f->registry.entries.n; e++) {
    const ttm_registry_entry *entry = &f->registry.entries.at[e];
    const ttm_graph_arg *arg = &p->graphs.at[entry->graph].args.at[entry->arg];
    if (!entry->weight || entry->repeated || !is_bf16_matrix(type_of(p, arg->local_type))) continue;
    matrices += entry->bytes;
    out->matrices++;
    if (entry->bytes > largest) largest = entry->bytes, out->largest = arg->name;
  }
  out->capacity = ttm_level_bytes(dram.total) * dram.banks;
  out->bytes = (uint64_t)(ratio * (double)f->registry.weight_bytes);
  uint64_t packed = ttm_bfp8_bytes(matrices) + f->registry.weight_bytes - matrices;
  out->as_bfp8 = packed < out->bytes ? packed : out->bytes;
}
