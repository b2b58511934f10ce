/* SPDX-License-Identifier: Apache-2.0 */
#include "report/files/findings_parts.h"

static void put_row(ttm_buf *buf, const ttm_findings *f, const ttm_alive_row *row) {
  const ttm_profile *p = f->profile;
  ttm_buf_printf(buf, "{\"class\":\"%s\",\"name\":", ttm_alive_class_name(row->class));
  ttm_json_id(buf, p, row->name);
  ttm_buf_printf(buf, ",\"basis\":\"%s\"", ttm_basis_name(row->guess ? TTM_ESTIMATED : TTM_DERIVED));
  if (row->arg != TTM_NONE) ttm_buf_printf(buf, ",\"argument\":%u", row->arg);
  ttm_json_key_mib(buf, ",\"per_bank_MB\":", row->bank_bytes);
  ttm_buf_printf(buf, ",\"tensors\":%u", row->tensors);
  ttm_json_type_members(buf, p, row->type);
  if (row->type != TTM_NONE) {
    ttm_json_key_mib(buf, ",\"unpadded_MB\":", row->logical_bytes);
    ttm_json_key_mib(buf, ",\"padded_MB\":", row->stored_bytes);
  }
  if (row->op != TTM_NONE) {
    ttm_buf_char(buf, ',');
    ttm_json_op_members(buf, f, row->op);
  }
  ttm_buf_char(buf, '}');
}

static void put_classes(ttm_buf *buf, const ttm_alive_set *set) {
  ttm_json_raw(buf, ",\"classes\":{");
  for (int c = 0; c < TTM_ALIVE_CLASSES; c++) {
    ttm_buf_printf(buf, "%s\"%s_MB\":", c ? "," : "", ttm_alive_class_name((ttm_alive_class)c));
    ttm_json_mib(buf, set->by_class[c]);
  }
  ttm_buf_char(buf, '}');
}

static void put_set(ttm_buf *buf, const ttm_findings *f, const ttm_alive_set *set) {
  ttm_json_raw(buf, "{\"basis\":\"derived\"");
  ttm_buf_printf(buf, ",\"line\":%u", f->profile->states.at[set->state].line);
  ttm_json_key_mib(buf, ",\"allocated_per_bank_MB\":", set->measured_bytes);
  ttm_json_key_mib(buf, ",\"explained_per_bank_MB\":", ttm_alive_set_explained(set));
  ttm_buf_printf(buf, ",\"explained_pct\":%.3f", ttm_alive_set_quality(set));
  ttm_json_key_mib(buf, ",\"counted_twice_MB\":", set->over_bytes);
  ttm_buf_printf(buf, ",\"tensors\":%u", set->tensors);
  ttm_json_key_mib(buf, ",\"padding_total_MB\":", set->padding_bytes);
  ttm_json_key_mib(buf, ",\"rounding_total_MB\":", set->rounding_bytes);
  put_classes(buf, set);
  ttm_json_key_mib(buf, ",\"kv_cache_by_name_MB\":", set->guessed_bytes);
  ttm_json_raw(buf, ",\"rows\":[");
  for (size_t i = 0; i < set->rows.n; i++) {
    ttm_buf_puts(buf, i ? ",\n" : "\n");
    put_row(buf, f, &set->rows.at[i]);
  }
  ttm_buf_printf(buf, "],\"other_rows\":%llu", (unsigned long long)set->other_rows);
  ttm_json_key_mib(buf, ",\"other_rows_per_bank_MB\":", set->other_bytes);
  ttm_json_raw(buf, ",\"modules\":[");
  for (size_t i = 0; i < set->modules.n; i++) {
    const ttm_alive_module *module = &set->modules.at[i];
    ttm_buf_puts(buf, i ? ",{\"path\":" : "{\"path\":");
    ttm_json_string(buf, module->path);
    ttm_json_key_mib(buf, ",\"per_bank_MB\":", module->bank_bytes);
    ttm_buf_printf(buf, ",\"tensors\":%u}", module->tensors);
  }
  ttm_json_raw(buf, "]}");
}

void ttm_json_live_sets(ttm_buf *buf, const ttm_findings *f) {
  bool any = false;
  ttm_json_raw(buf, ",\n\"live_at_peak\":{");
  for (int m = TTM_DRAM; m <= TTM_L1; m++) {
    if (!f->alive_set[m].known) continue;
    if (any) ttm_json_raw(buf, ",\n");
    any = true;
    ttm_json_memory_key(buf, (ttm_memory)m);
    put_set(buf, f, &f->alive_set[m]);
  }
  ttm_buf_char(buf, '}');
}
