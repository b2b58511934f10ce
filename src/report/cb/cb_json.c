/* SPDX-License-Identifier: Apache-2.0 */
#include "report/cb/cb_report.h"
#include "report/write/json_fields.h"

static void put_row(ttm_buf *out, const ttm_cb_row *row) {
  ttm_json_comma comma = {0};
  ttm_json_raw(out, "{");
  ttm_field_text(out, &comma, "name", row->name);
  ttm_field_u64(out, &comma, "tiles", row->tiles);
  ttm_field_u64(out, &comma, "tile_bytes", row->tile_bytes);
  ttm_field_u64(out, &comma, "bytes", row->bytes);
  ttm_field_u64(out, &comma, "needed_tiles", row->needed);
  ttm_field_u64(out, &comma, "passing_tiles", row->passing);
  ttm_field_bool(out, &comma, "streams", row->streams);
  ttm_field_bool(out, &comma, "borrowed", row->borrowed);
  ttm_field(out, &comma, "address");
  row->borrowed ? ttm_json_null(out) : ttm_buf_u64(out, row->address);
  ttm_field_real(out, &comma, "miss_rate_pct", row->miss_pct);
  ttm_field_bool(out, &comma, "single_buffered", row->single_buffered);
  ttm_json_raw(out, "}");
}

static void put_result(ttm_buf *out, const ttm_cb_result *r) {
  static const char *const fits[] = {"fits", "clash", "beyond_l1"};
  ttm_json_comma comma = {0}, between = {0};
  ttm_json_raw(out, "{");
  ttm_field_text(out, &comma, "strategy", r->plans.strategy);
  ttm_field_real(out, &comma, "miss_rate_pct", r->miss_pct);
  ttm_field(out, &comma, "worst_buffer");
  r->worst == SIZE_MAX ? ttm_json_null(out) : ttm_json_string(out, r->rows.at[r->worst].name);
  ttm_field_real(out, &comma, "pressure_score", r->pressure);
  ttm_field_real(out, &comma, "miss_score", r->miss_score);
  ttm_field_real(out, &comma, "space_score", r->space_score);
  ttm_field_text(out, &comma, "pressure", ttm_str_of(ttm_pressure_level_name(r->level)));
  ttm_field_text(out, &comma, "thrashing_risk", ttm_str_of(ttm_pressure_level_name(r->thrashing)));
  ttm_field_real(out, &comma, "utilization_pct", r->utilization_pct);
  ttm_field_real(out, &comma, "efficiency_pct", r->efficiency_pct);
  ttm_field_u64(out, &comma, "buffer_bytes", r->buffer_bytes);
  ttm_field_u64(out, &comma, "hole_bytes", r->hole_bytes);
  ttm_field_u64(out, &comma, "buffers_end", r->buffers_end);
  ttm_field_u64(out, &comma, "tensor_bytes", r->tensor_bytes);
  ttm_field_u64(out, &comma, "l1_used_bytes", r->used);
  ttm_field_real(out, &comma, "l1_used_pct", r->used_pct);
  ttm_field_u64(out, &comma, "l1_free_bytes", r->free_bytes);
  ttm_field_u64(out, &comma, "missing_bytes", r->more_bytes);
  ttm_field_u64(out, &comma, "spare_bytes", r->spare_bytes);
  ttm_field_text(out, &comma, "fit", ttm_str_of(r->tensors_fit ? fits[r->fit] : "tensors_too_large"));
  ttm_field(out, &comma, "buffers");
  ttm_json_raw(out, "[");
  for (size_t i = 0; i < r->rows.n; i++) ttm_json_next(out, &between, TTM_LIT(", ")), put_row(out, &r->rows.at[i]);
  ttm_json_raw(out, "]}");
}

static void put_machine(ttm_buf *out, const ttm_cb_machine *m) {
  ttm_json_comma comma = {0};
  ttm_json_raw(out, "{");
  ttm_field_text(out, &comma, "arch", ttm_str_of(ttm_arches[m->arch].name));
  ttm_field_u64(out, &comma, "l1_bytes", m->l1_bytes);
  ttm_field_u64(out, &comma, "base", m->base);
  ttm_field_text(out, &comma, "base_basis", ttm_str_of(ttm_basis_name(m->base_basis)));
  ttm_field_u64(out, &comma, "l1_small_bytes", m->small);
  ttm_field_u64(out, &comma, "tile_bytes", m->tile_bytes);
  ttm_field_u64(out, &comma, "circular_buffers", ttm_arches[m->arch].circular_buffers);
  ttm_field_u64(out, &comma, "kernel_bytes", m->kernel_bytes);
  ttm_field_text(out, &comma, "kernel_basis", ttm_str_of(ttm_basis_name(m->kernel_basis)));
  ttm_field_u64(out, &comma, "kernel_ring_bytes", ttm_arches[m->arch].kernel_config);
  ttm_json_raw(out, "}");
}

static void put_finding(ttm_buf *out, const ttm_cb_simulation *s, const ttm_cb_finding *f) {
  ttm_json_comma comma = {0};
  const ttm_cb_workload *w = f->workload == SIZE_MAX ? NULL : &s->cases.at[f->workload].workload;
  ttm_json_raw(out, "{");
  ttm_field_text(out, &comma, "level", ttm_str_of(ttm_cb_level_name(f->level)));
  ttm_field_text(out, &comma, "rule", ttm_str_of(f->rule));
  ttm_field_u64(out, &comma, "r_tiles", w ? w->r_tiles : UINT64_MAX);
  ttm_field_u64(out, &comma, "tiles_per_shard", w ? w->tiles_per_shard : UINT64_MAX);
  ttm_field_text(out, &comma, "strategy", f->strategy);
  ttm_field_text(out, &comma, "text", f->text);
  ttm_json_raw(out, "}");
}

void ttm_cb_simulation_json(ttm_buf *out, const ttm_cb_simulation *s) {
  ttm_json_comma between = {0};
  ttm_json_raw(out, "{\"machine\": ");
  put_machine(out, &s->machine);
  ttm_json_raw(out, ",\n \"workloads\": [");
  for (size_t c = 0; c < s->cases.n; c++) {
    const ttm_cb_case *one = &s->cases.at[c];
    ttm_json_comma comma = {0}, results = {0};
    ttm_json_next(out, &between, TTM_LIT(",\n  "));
    ttm_json_raw(out, "{");
    ttm_field_u64(out, &comma, "r_tiles", one->workload.r_tiles);
    ttm_field_u64(out, &comma, "tiles_per_shard", one->workload.tiles_per_shard);
    ttm_field_text(out, &comma, "class", ttm_str_of(ttm_workload_class_name(ttm_workload_class_of(&one->workload))));
    ttm_field(out, &comma, "strategies");
    ttm_json_raw(out, "[");
    for (size_t i = 0; i < one->results.n; i++) {
      ttm_json_next(out, &results, TTM_LIT(",\n   "));
      put_result(out, &one->results.at[i]);
    }
    ttm_json_raw(out, "]}");
  }
  ttm_json_raw(out, "],\n \"findings\": [");
  between = (ttm_json_comma){0};
  for (size_t i = 0; i < s->findings.n; i++) {
    ttm_json_next(out, &between, TTM_LIT(",\n  "));
    put_finding(out, s, &s->findings.at[i]);
  }
  ttm_json_raw(out, "]}");
}
