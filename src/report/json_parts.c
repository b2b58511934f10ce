/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json_parts.h"

void ttm_json_id(ttm_buf *buf, const ttm_profile *p, uint32_t id) {
  if (id)
    ttm_json_string(buf, ttm_profile_string(p, id));
  else
    ttm_json_null(buf);
}

void ttm_json_memory_key(ttm_buf *buf, ttm_memory memory) {
  static const ttm_view keys[TTM_MEMORIES] = {
      [TTM_DRAM] = {"\"DRAM\":", 7},
      [TTM_L1] = {"\"L1\":", 5},
      [TTM_L1_SMALL] = {"\"L1_SMALL\":", 11},
      [TTM_TRACE] = {"\"TRACE\":", 8},
  };
  ttm_buf_put(buf, keys[memory]);
}

uint32_t ttm_const_eval_name(const ttm_profile *p, uint32_t frame) {
  while (frame != TTM_NONE && !p->frames.at[frame].const_eval) frame = p->frames.at[frame].parent;
  return frame == TTM_NONE ? 0 : p->frames.at[frame].name;
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
  const ttm_text *text = ttm_op_text_of(p, op);
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
