/* SPDX-License-Identifier: Apache-2.0 */
#include "report/cb/cb_report.h"

static void put_row(ttm_json *j, const ttm_cb_row *row) {
  ttm_json_put_object(j, NULL);
  ttm_json_put_str(j, "name", row->name);
  ttm_json_put_known(j, "tiles", row->tiles);
  ttm_json_put_known(j, "tile_bytes", row->tile_bytes);
  ttm_json_put_known(j, "bytes", row->bytes);
  ttm_json_put_known(j, "needed_tiles", row->needed);
  ttm_json_put_known(j, "passing_tiles", row->passing);
  ttm_json_put_bool(j, "streams", row->streams);
  ttm_json_put_bool(j, "borrowed", row->borrowed);
  row->borrowed ? ttm_json_put_null(j, "address") : ttm_json_put_u64(j, "address", row->address);
  ttm_json_put_fixed(j, "miss_rate_pct", row->miss_pct, 1);
  ttm_json_put_bool(j, "single_buffered", row->single_buffered);
  ttm_json_end(j);
}

static void put_result(ttm_json *j, const ttm_cb_result *r) {
  static const char *const fits[] = {"fits", "clash", "beyond_l1"};
  ttm_json_put_object(j, NULL);
  ttm_json_put_str(j, "strategy", r->plans.strategy);
  ttm_json_put_fixed(j, "miss_rate_pct", r->miss_pct, 1);
  if (r->worst == SIZE_MAX)
    ttm_json_put_null(j, "worst_buffer");
  else
    ttm_json_put_str(j, "worst_buffer", r->rows.at[r->worst].name);
  ttm_json_put_fixed(j, "pressure_score", r->pressure, 1);
  ttm_json_put_fixed(j, "miss_score", r->miss_score, 1);
  ttm_json_put_fixed(j, "space_score", r->space_score, 1);
  ttm_json_put_name(j, "pressure", ttm_pressure_level_name(r->level));
  ttm_json_put_name(j, "thrashing_risk", ttm_pressure_level_name(r->thrashing));
  ttm_json_put_fixed(j, "utilization_pct", r->utilization_pct, 1);
  ttm_json_put_fixed(j, "efficiency_pct", r->efficiency_pct, 1);
  ttm_json_put_known(j, "buffer_bytes", r->buffer_bytes);
  ttm_json_put_known(j, "hole_bytes", r->hole_bytes);
  ttm_json_put_known(j, "buffers_end", r->buffers_end);
  ttm_json_put_known(j, "tensor_bytes", r->tensor_bytes);
  ttm_json_put_known(j, "l1_used_bytes", r->used);
  ttm_json_put_fixed(j, "l1_used_pct", r->used_pct, 1);
  ttm_json_put_known(j, "l1_free_bytes", r->free_bytes);
  ttm_json_put_known(j, "missing_bytes", r->more_bytes);
  ttm_json_put_known(j, "spare_bytes", r->spare_bytes);
  ttm_json_put_name(j, "fit", r->tensors_fit ? fits[r->fit] : "tensors_too_large");
  ttm_json_put_array(j, "buffers");
  for (size_t i = 0; i < r->rows.n; i++) put_row(j, &r->rows.at[i]);
  ttm_json_end(j);
  ttm_json_end(j);
}

static void put_machine(ttm_json *j, const ttm_cb_machine *m) {
  ttm_json_put_object(j, "machine");
  ttm_json_put_name(j, "arch", ttm_arches[m->arch].name);
  ttm_json_put_known(j, "l1_bytes", m->l1_bytes);
  ttm_json_put_known(j, "base", m->base);
  ttm_json_put_name(j, "base_basis", ttm_basis_name(m->base_basis));
  ttm_json_put_known(j, "l1_small_bytes", m->small);
  ttm_json_put_known(j, "tile_bytes", m->tile_bytes);
  ttm_json_put_known(j, "circular_buffers", ttm_arches[m->arch].circular_buffers);
  ttm_json_put_known(j, "kernel_bytes", m->kernel_bytes);
  ttm_json_put_name(j, "kernel_basis", ttm_basis_name(m->kernel_basis));
  ttm_json_put_known(j, "kernel_ring_bytes", ttm_arches[m->arch].kernel_config);
  ttm_json_end(j);
}

static void put_case(ttm_json *j, const ttm_cb_case *one) {
  ttm_json_put_object(j, NULL);
  ttm_json_put_known(j, "r_tiles", one->workload.r_tiles);
  ttm_json_put_known(j, "tiles_per_shard", one->workload.tiles_per_shard);
  ttm_json_put_name(j, "class", ttm_workload_class_name(ttm_workload_class_of(&one->workload)));
  ttm_json_put_rows(j, "strategies");
  for (size_t i = 0; i < one->results.n; i++) put_result(j, &one->results.at[i]);
  ttm_json_end(j);
  ttm_json_end(j);
}

static void put_finding(ttm_json *j, const ttm_cb_simulation *s, const ttm_cb_finding *f) {
  const ttm_cb_workload *w = f->workload == SIZE_MAX ? NULL : &s->cases.at[f->workload].workload;
  ttm_json_put_object(j, NULL);
  ttm_json_put_name(j, "level", ttm_cb_level_name(f->level));
  ttm_json_put_name(j, "rule", f->rule);
  ttm_json_put_known(j, "r_tiles", w ? w->r_tiles : UINT64_MAX);
  ttm_json_put_known(j, "tiles_per_shard", w ? w->tiles_per_shard : UINT64_MAX);
  ttm_json_put_str(j, "strategy", f->strategy);
  ttm_json_put_str(j, "text", f->text);
  ttm_json_end(j);
}

void ttm_cb_simulation_json(ttm_json *j, const char *key, const ttm_cb_simulation *s) {
  ttm_json_put_sections(j, key);
  put_machine(j, &s->machine);
  ttm_json_put_rows(j, "workloads");
  for (size_t c = 0; c < s->cases.n; c++) put_case(j, &s->cases.at[c]);
  ttm_json_end(j);
  ttm_json_put_rows(j, "findings");
  for (size_t i = 0; i < s->findings.n; i++) put_finding(j, s, &s->findings.at[i]);
  ttm_json_end(j);
  ttm_json_end(j);
}
