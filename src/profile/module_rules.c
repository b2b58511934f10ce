/* SPDX-License-Identifier: Apache-2.0 */
/* What ttnn's operations do beyond their printed types, as real ttnn was seen to do it. */
#include "profile/module_run.h"

static const ttm_tensor_type *type_of(const ttm_module *m, uint32_t value) {
  const ttm_module_type *type = value == TTM_NO_ROW ? NULL : &m->types.at[m->value_types.at[value]];
  return type && type->is_tensor ? &type->tensor : NULL;
}

static uint64_t dim_from_end(const ttm_dims *shape, uint32_t k) {
  return k < shape->rank ? shape->at[shape->rank - 1 - k] : 1;
}

static bool is_sharded(const ttm_tensor_type *type) { return type->placement > TTM_PLACE_INTERLEAVED; }

static bool same_dims(const ttm_dims *a, const ttm_dims *b) {
  return a->rank == b->rank && !memcmp(a->at, b->at, a->rank * sizeof *a->at);
}

/* The same bytes in the same place. */
static bool same_storage(const ttm_tensor_type *a, const ttm_tensor_type *b) {
  return a->buffer == b->buffer && a->placement == b->placement && a->tiled == b->tiled &&
         ttm_str_eq(a->storage, b->storage) && same_dims(&a->grid, &b->grid) && same_dims(&a->shard, &b->shard);
}

/* ttnn's own rule: rows stay rows, and tiles stay tiles. */
static bool reshape_is_view(const ttm_tensor_type *in, const ttm_tensor_type *out) {
  uint64_t rows_in = dim_from_end(&in->shape, 1), rows_out = dim_from_end(&out->shape, 1);
  if (in->buffer != out->buffer || is_sharded(in) != is_sharded(out) || in->tiled != out->tiled) return false;
  if (dim_from_end(&in->shape, 0) != dim_from_end(&out->shape, 0)) return false;
  return !in->tiled || rows_in == rows_out || (rows_in % in->tile_h == 0 && rows_out % out->tile_h == 0);
}

static bool is_one_of(ttm_str name, const char *const *names, size_t n) {
  return ttm_str_take(&name, TTM_LIT("ttnn.")) && ttm_str_index(name, names, n) < n;
}

#define IS_ONE_OF(name, names) is_one_of(name, names, sizeof(names) / sizeof *(names))

static bool is_view(const ttm_module_op *op, const ttm_tensor_type *in, const ttm_tensor_type *out) {
  static const char *const conversions[] = {"to_layout", "to_memory_config", "to_device", "typecast", "to_dtype"};
  if (ttm_str_eq(op->name, TTM_LIT("ttnn.reshape"))) return reshape_is_view(in, out);
  return IS_ONE_OF(op->name, conversions) && same_storage(in, out);
}

void ttm_op_rule_find(const ttm_module *m, const ttm_module_op *op, ttm_op_rule *out) {
  static const char *const in_place[] = {"update_cache", "fill_cache", "paged_update_cache", "paged_fill_cache"};
  *out = (ttm_op_rule){.view = TTM_NO_ROW};
  const ttm_tensor_type *in = op->operand_count ? type_of(m, m->operands.at[op->operands]) : NULL;
  const ttm_tensor_type *result = op->result_count ? type_of(m, op->results) : NULL;
  if (!in || !result || !in->has_layout || !result->has_layout) return;
  if (IS_ONE_OF(op->name, in_place) || is_view(op, in, result)) out->view = 0;
}
