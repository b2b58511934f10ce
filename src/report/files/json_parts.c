/* SPDX-License-Identifier: Apache-2.0 */
#include "report/files/json_parts.h"

#include "analyze/words.h"

uint32_t ttm_const_eval_name(const ttm_profile *p, uint32_t call) {
  while (call != TTM_NONE && !p->calls.at[call].const_eval) call = p->calls.at[call].parent;
  return call == TTM_NONE ? 0 : p->calls.at[call].name;
}

uint32_t ttm_rank_number(const ttm_profile *p, uint32_t rank) { return rank < p->ranks.n ? p->ranks.at[rank] : 0; }

void ttm_json_put_shape(ttm_json *j, const char *key, const ttm_dims *dims) {
  if (!dims->rank) return ttm_json_put_null(j, key);
  ttm_buf *out = ttm_json_at(j, key);
  for (uint32_t i = 0; i < dims->rank; i++) {
    ttm_buf_char(out, i ? 'x' : '"');
    ttm_buf_u64(out, dims->at[i]);
  }
  ttm_buf_char(out, '"');
}

static void put_dims(ttm_json *j, const char *key, const ttm_dims *dims) {
  ttm_json_put_array(j, key);
  for (uint32_t i = 0; i < dims->rank; i++) ttm_json_put_u64(j, NULL, dims->at[i]);
  ttm_json_end(j);
}

void ttm_json_put_tensor_type(ttm_json *j, const ttm_tensor_type *type) {
  ttm_json_put_shape(j, "shape", type ? &type->shape : &(ttm_dims){0});
  type ? ttm_json_put_str(j, "dtype", type->element) : ttm_json_put_null(j, "dtype");
}

void ttm_json_put_type(ttm_json *j, const ttm_profile *p, uint32_t type) {
  bool tensor = type < p->types.n && p->types.at[type].is_tensor;
  ttm_json_put_tensor_type(j, tensor ? &p->types.at[type].tensor : NULL);
}

void ttm_json_put_op_members(ttm_json *j, const ttm_findings *f, uint32_t op) {
  static const ttm_op_text nothing = {0};
  const ttm_profile *p = f->profile;
  bool any = op < p->ops.n;
  const ttm_op_text *text = any ? ttm_op_text_of(p, op) : &nothing;
  ttm_json_put_index(j, "index", any ? ttm_findings_index(f, op) : TTM_NONE);
  any ? ttm_json_put_str(j, "mlir_op", ttm_profile_string(p, text->name)) : ttm_json_put_null(j, "mlir_op");
  ttm_json_put_id(j, "loc", p, text->location);
  ttm_json_put_index(j, "line", any ? p->ops.at[op].line : TTM_NONE);
  uint32_t weight = any ? ttm_words_weight(p, op) : 0;
  if (weight) ttm_json_put_id(j, "weight", p, weight);
}

void ttm_json_put_op(ttm_json *j, const char *key, const ttm_findings *f, uint32_t op) {
  if (op >= f->profile->ops.n) return ttm_json_put_null(j, key);
  ttm_json_put_object(j, key);
  ttm_json_put_op_members(j, f, op);
  ttm_json_end(j);
}

ttm_json_sizes ttm_json_sizes_of(const ttm_profile *p, uint32_t op) {
  ttm_json_sizes sizes = {.align = ttm_op_alignment(p, op)};
  for (ttm_memory m = 0; m < TTM_MEMORIES; m++) {
    ttm_level level;
    if (op == TTM_NONE && ttm_profile_banks_vary(p, m)) continue;
    if (ttm_op_config(p, op, m, &level)) sizes.banks[m] = level.banks;
  }
  return sizes;
}

/* By buffer kind. */
static const struct {
  const char *name;
  ttm_memory memory; /* TTM_MEMORIES: not on the device */
} buffers[] = {
    [TTM_BUFFER_NONE] = {NULL, TTM_MEMORIES},  [TTM_BUFFER_DRAM] = {"dram", TTM_DRAM},
    [TTM_BUFFER_L1] = {"l1", TTM_L1},          [TTM_BUFFER_L1_SMALL] = {"l1_small", TTM_L1_SMALL},
    [TTM_BUFFER_TRACE] = {"trace", TTM_TRACE}, [TTM_BUFFER_SYSTEM] = {"system_memory", TTM_MEMORIES},
};

static void put_tiles(ttm_json *j, const ttm_tensor_type *type) {
  bool tiled = type->has_layout && type->tiled;
  ttm_json_put_bool(j, "is_tiled", tiled);
  if (tiled) {
    put_dims(j, "memref_shape", &type->shard);
    put_dims(j, "tile_size", &(ttm_dims){.rank = 2, .at = {type->tile_h, type->tile_w}});
  } else {
    ttm_json_put_null(j, "memref_shape");
    ttm_json_put_null(j, "tile_size");
  }
}

void ttm_json_put_layout(ttm_json *j, const char *key, const ttm_type *of, const ttm_json_sizes *sizes) {
  if (!of->is_tensor) return ttm_json_put_null(j, key);
  const ttm_tensor_type *type = &of->tensor;
  uint64_t logical = ttm_tensor_logical_bytes(type), stored = ttm_tensor_stored_bytes(type, sizes->align);
  ttm_dims padded = ttm_tensor_stored_shape(type);
  ttm_buffer_kind buffer = type->has_layout ? type->buffer : TTM_BUFFER_NONE;
  uint32_t banks = buffers[buffer].memory < TTM_MEMORIES ? sizes->banks[buffers[buffer].memory] : 0;
  ttm_json_put_object(j, key);
  put_dims(j, "logical_shape", &type->shape);
  ttm_json_put_str(j, "dtype", type->element);
  put_tiles(j, type);
  put_dims(j, "padded_shape", &padded);
  ttm_json_put_name(j, "buffer_type", buffers[buffer].name);
  ttm_json_put_u64(j, "unpadded_bytes", logical);
  ttm_json_put_u64(j, "padded_bytes", stored);
  ttm_json_put_percent(j, "overhead_pct", stored, logical, stored ? logical : 0);
  ttm_json_put_known(j, "bytes_per_bank", banks ? ttm_tensor_bank_bytes(type, banks, sizes->align) : UINT64_MAX);
  ttm_json_end(j);
}
