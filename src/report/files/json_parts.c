/* SPDX-License-Identifier: Apache-2.0 */
#include "report/files/json_parts.h"

void ttm_json_id(ttm_buf *buf, const ttm_profile *p, uint32_t id) {
  if (id)
    ttm_json_string(buf, ttm_profile_string(p, id));
  else
    ttm_json_null(buf);
}

void ttm_json_memory_key(ttm_buf *buf, ttm_memory memory) {
  static const ttm_str keys[TTM_MEMORIES] = {
      [TTM_DRAM] = {"\"DRAM\":", 7},
      [TTM_L1] = {"\"L1\":", 5},
      [TTM_L1_SMALL] = {"\"L1_SMALL\":", 11},
      [TTM_TRACE] = {"\"TRACE\":", 8},
  };
  ttm_buf_put(buf, keys[memory]);
}

uint32_t ttm_const_eval_name(const ttm_profile *p, uint32_t call) {
  while (call != TTM_NONE && !p->calls.at[call].const_eval) call = p->calls.at[call].parent;
  return call == TTM_NONE ? 0 : p->calls.at[call].name;
}

uint32_t ttm_rank_number(const ttm_profile *p, uint32_t rank) { return rank < p->ranks.n ? p->ranks.at[rank] : 0; }

void ttm_json_shape(ttm_buf *buf, const ttm_dims *dims) {
  for (uint32_t i = 0; i < dims->rank; i++) {
    ttm_buf_char(buf, i ? 'x' : '"');
    ttm_buf_u64(buf, dims->at[i]);
  }
  ttm_buf_put(buf, dims->rank ? TTM_LIT("\"") : TTM_LIT("null"));
}

void ttm_json_dims(ttm_buf *buf, const ttm_dims *dims) {
  ttm_buf_char(buf, '[');
  for (uint32_t i = 0; i < dims->rank; i++) {
    if (i) ttm_buf_char(buf, ',');
    ttm_buf_u64(buf, dims->at[i]);
  }
  ttm_buf_char(buf, ']');
}

void ttm_json_type_members(ttm_buf *buf, const ttm_profile *p, uint32_t type) {
  if (type >= p->types.n || !p->types.at[type].is_tensor) {
    ttm_json_raw(buf, ",\"shape\":null,\"dtype\":null");
    return;
  }
  ttm_json_raw(buf, ",\"shape\":");
  ttm_json_shape(buf, &p->types.at[type].tensor.shape);
  ttm_json_raw(buf, ",\"dtype\":");
  ttm_json_string(buf, p->types.at[type].tensor.element);
}

void ttm_json_op_members(ttm_buf *buf, const ttm_findings *f, uint32_t op) {
  const ttm_profile *p = f->profile;
  const ttm_op_text *text = ttm_op_text_of(p, op);
  uint32_t index = ttm_findings_index(f, op);
  ttm_json_raw(buf, "\"index\":");
  ttm_json_known(buf, index == TTM_NONE ? UINT64_MAX : index);
  ttm_json_raw(buf, ",\"mlir_op\":");
  ttm_json_string(buf, ttm_profile_string(p, text->name));
  ttm_json_raw(buf, ",\"loc\":");
  ttm_json_id(buf, p, text->location);
  ttm_json_raw(buf, ",\"line\":");
  ttm_buf_u64(buf, p->ops.at[op].line);
}

void ttm_json_key_op(ttm_buf *buf, const ttm_findings *f, const char *key, uint32_t op) {
  ttm_buf_puts(buf, key);
  if (op >= f->profile->ops.n) return ttm_json_null(buf);
  ttm_buf_char(buf, '{');
  ttm_json_op_members(buf, f, op);
  ttm_buf_char(buf, '}');
}

void ttm_json_key_milli(ttm_buf *buf, const char *key, uint32_t value) {
  ttm_buf_puts(buf, key);
  if (value == TTM_NONE)
    ttm_json_null(buf);
  else
    ttm_json_milli(buf, value);
}

ttm_json_sizes ttm_json_sizes_of(const ttm_profile *p) {
  ttm_json_sizes sizes = {.align = ttm_profile_alignment(p)};
  for (ttm_memory m = 0; m < TTM_MEMORIES; m++) {
    ttm_level level;
    if (ttm_profile_config(p, m, &level)) sizes.banks[m] = level.banks;
  }
  return sizes;
}

static const char *buffer_name(ttm_buffer_kind kind) {
  switch (kind) {
    case TTM_BUFFER_DRAM:
      return "\"dram\"";
    case TTM_BUFFER_L1:
      return "\"l1\"";
    case TTM_BUFFER_L1_SMALL:
      return "\"l1_small\"";
    case TTM_BUFFER_TRACE:
      return "\"trace\"";
    case TTM_BUFFER_SYSTEM:
      return "\"system_memory\"";
    case TTM_BUFFER_NONE:
      break;
  }
  return "null";
}

static void put_bank_bytes(ttm_buf *buf, const ttm_tensor_type *type, const ttm_json_sizes *sizes) {
  static const uint8_t memory_of[] = {[TTM_BUFFER_DRAM] = TTM_DRAM,
                                      [TTM_BUFFER_L1] = TTM_L1,
                                      [TTM_BUFFER_L1_SMALL] = TTM_L1_SMALL,
                                      [TTM_BUFFER_TRACE] = TTM_TRACE};
  bool on_device = type->has_layout && type->buffer != TTM_BUFFER_NONE && type->buffer != TTM_BUFFER_SYSTEM;
  uint32_t banks = on_device ? sizes->banks[memory_of[type->buffer]] : 0;
  ttm_json_raw(buf, ",\"bytes_per_bank\":");
  if (banks)
    ttm_buf_u64(buf, ttm_tensor_bank_bytes(type, banks, sizes->align));
  else
    ttm_json_null(buf);
}

static void put_tiles(ttm_buf *buf, const ttm_tensor_type *type) {
  if (!type->has_layout || !type->tiled) {
    ttm_json_raw(buf, ",\"is_tiled\":false,\"memref_shape\":null,\"tile_size\":null");
    return;
  }
  ttm_json_raw(buf, ",\"is_tiled\":true,\"memref_shape\":");
  ttm_json_dims(buf, &type->shard);
  ttm_json_raw(buf, ",\"tile_size\":[");
  ttm_buf_u64(buf, type->tile_h);
  ttm_buf_char(buf, ',');
  ttm_buf_u64(buf, type->tile_w);
  ttm_buf_char(buf, ']');
}

void ttm_json_layout(ttm_buf *buf, const ttm_tensor_type *type, const ttm_json_sizes *sizes) {
  uint64_t logical = ttm_tensor_logical_bytes(type), stored = ttm_tensor_stored_bytes(type, sizes->align);
  ttm_dims padded = ttm_tensor_stored_shape(type);
  ttm_json_raw(buf, "{\"logical_shape\":");
  ttm_json_dims(buf, &type->shape);
  ttm_json_raw(buf, ",\"dtype\":");
  ttm_json_string(buf, type->element);
  put_tiles(buf, type);
  ttm_json_raw(buf, ",\"padded_shape\":");
  ttm_json_dims(buf, &padded);
  ttm_json_raw(buf, ",\"buffer_type\":");
  ttm_buf_puts(buf, buffer_name(type->has_layout ? type->buffer : TTM_BUFFER_NONE));
  ttm_json_raw(buf, ",\"unpadded_bytes\":");
  ttm_buf_u64(buf, logical);
  ttm_json_raw(buf, ",\"padded_bytes\":");
  ttm_buf_u64(buf, stored);
  ttm_json_raw(buf, ",\"overhead_pct\":");
  ttm_json_percent(buf, stored, logical, stored ? logical : 0);
  put_bank_bytes(buf, type, sizes);
  ttm_buf_char(buf, '}');
}
