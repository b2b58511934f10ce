/* SPDX-License-Identifier: Apache-2.0 */
/* The training report as JSON. Sizes printed in the log are MB, as there; sizes ttmem works out are bytes. */
#include "parse/log_line.h"
#include "report/train/train_report.h"
#include "report/write/json_fields.h"

enum { SCHEMA = 1 };

static void put_mb(ttm_buf *out, ttm_json_comma *comma, const char *name, bool known, int64_t hundredths) {
  ttm_field(out, comma, name);
  if (known)
    ttm_json_milli(out, hundredths * 10);
  else
    ttm_json_null(out);
}

static void put_bytes(ttm_buf *out, ttm_json_comma *comma, const char *name, bool known, int64_t bytes) {
  ttm_field(out, comma, name);
  if (known)
    ttm_json_i64(out, bytes);
  else
    ttm_json_null(out);
}

static void put_phase(const ttm_training *t, const ttm_train_phase *p, ttm_buf *out) {
  ttm_json_comma c = {0};
  ttm_json_raw(out, "{");
  ttm_field(out, &c, "name");
  ttm_json_string(out, ttm_intern_get(&t->log->names, p->name));
  ttm_field_u64(out, &c, "line", p->line);
  put_mb(out, &c, "segment_peak_mb", p->has_segment, p->segment_peak);
  put_mb(out, &c, "allocations_mb", p->has_segment, p->allocations);
  put_mb(out, &c, "deallocations_mb", p->has_segment, p->deallocations);
  put_mb(out, &c, "segment_change_mb", p->has_segment, p->change);
  put_mb(out, &c, "cumulative_peak_mb", p->has_cumulative, p->cumulative_peak);
  put_mb(out, &c, "cumulative_current_mb", p->has_cumulative, p->cumulative_current);
  put_mb(out, &c, "l1_peak_cb_mb", p->has_l1, p->peak_cb);
  put_mb(out, &c, "l1_peak_buffer_mb", p->has_l1, p->peak_buffer);
  put_mb(out, &c, "l1_peak_total_mb", p->has_l1, p->peak_total);
  ttm_json_raw(out, "}");
}

static void put_compare(ttm_buf *out, ttm_json_comma *comma, const char *name, const ttm_train_compare *compare) {
  ttm_json_comma c = {0};
  bool expected = compare->expected_from != TTM_FROM_NOWHERE;
  ttm_field(out, comma, name);
  ttm_json_raw(out, "{");
  put_bytes(out, &c, "actual_bytes", compare->has_actual, compare->actual);
  put_bytes(out, &c, "expected_bytes", expected, compare->expected);
  ttm_field_text(out, &c, "expected_from", ttm_str_of(ttm_train_origin_name(compare->expected_from)));
  ttm_field(out, &c, "difference_pct");
  if (expected && compare->has_actual)
    ttm_json_double(out, ttm_train_difference(compare));
  else
    ttm_json_null(out);
  ttm_json_raw(out, "}");
}

static void put_breakdown(const ttm_train_result *r, ttm_buf *out, ttm_json_comma *comma) {
  ttm_field(out, comma, "breakdown_bytes");
  if (!r->has_peak) return ttm_json_null(out);
  ttm_json_comma c = {0};
  ttm_json_raw(out, "{");
  for (int i = 0; i < TTM_PARTS; i++) put_bytes(out, &c, ttm_train_part_looks[i].key, true, r->part[i]);
  ttm_json_raw(out, "}");
  ttm_field_text(out, comma, "model_part_from", ttm_str_of(ttm_train_origin_name(r->model_part_from)));
  ttm_field_text(out, comma, "optimizer_part_from", ttm_str_of(ttm_train_origin_name(r->optimizer_part_from)));
  put_bytes(out, comma, "surplus_bytes", true, r->surplus);
}

static void put_notes(const ttm_training *t, size_t i, ttm_buf *out, ttm_json_comma *comma) {
  ttm_json_comma c = {0};
  ttm_field(out, comma, "notes");
  ttm_json_raw(out, "[");
  for (size_t n = 0;; n++) {
    ttm_buf note = {0};
    bool any = ttm_train_note(&note, t, i, n);
    if (any) ttm_json_next(out, &c, TTM_LIT(", ")), ttm_json_string(out, ttm_buf_str(&note));
    ttm_buf_free(&note);
    if (!any) break;
  }
  ttm_json_raw(out, "]");
}

static void put_result(const ttm_training *t, size_t i, ttm_buf *out) {
  const ttm_train_result *r = &t->results.at[i];
  const ttm_train_summary *s = r->summary;
  ttm_json_comma c = {0}, phases = {0};
  ttm_buf name = {0};
  ttm_train_put_name(&name, t, i);
  ttm_json_raw(out, "{");
  ttm_field(out, &c, "name");
  ttm_json_string(out, ttm_buf_str(&name));
  ttm_buf_free(&name);
  put_bytes(out, &c, "rank", s->rank != TTM_NO_RANK, s->rank);
  ttm_field_u64(out, &c, "line", s->line);
  ttm_field_u64(out, &c, "last_line", s->last_line);
  put_bytes(out, &c, "parameters", s->parameters.line != 0, (int64_t)s->parameters.value);
  put_compare(out, &c, "model", &r->model);
  put_compare(out, &c, "optimizer", &r->optimizer);
  put_compare(out, &c, "gradients", &r->gradients);
  put_bytes(out, &c, "activations_bytes", r->has_activations, r->activations);
  put_bytes(out, &c, "peak_bytes", r->has_peak, r->peak);
  ttm_field(out, &c, "peak_derived");
  ttm_json_bool(out, r->peak_derived);
  put_bytes(out, &c, "device_memory_bytes", true, r->device_memory);
  ttm_field_text(out, &c, "device_memory_from", ttm_str_of(ttm_train_origin_name(r->device_memory_from)));
  ttm_field(out, &c, "fits");
  if (r->has_peak)
    ttm_json_bool(out, r->fits);
  else
    ttm_json_null(out);
  put_breakdown(r, out, &c);
  put_notes(t, i, out, &c);
  ttm_field(out, &c, "phases");
  ttm_json_raw(out, "[");
  for (size_t p = 0; p < s->phases.n; p++) {
    ttm_json_next(out, &phases, TTM_LIT(","));
    ttm_json_raw(out, "\n    ");
    put_phase(t, &s->phases.at[p], out);
  }
  ttm_json_raw(out, "]}");
}

static void put_footprint(const ttm_train_footprint *f, ttm_buf *out) {
  const int64_t none = TTM_TRAIN_UNKNOWN;
  ttm_json_comma c = {0};
  ttm_json_raw(out, "{");
  put_bytes(out, &c, "rank", f->rank != TTM_NO_RANK, f->rank);
  ttm_field_u64(out, &c, "line", f->line);
  put_mb(out, &c, "peak_mb", f->peak != none, f->peak);
  put_mb(out, &c, "arena_mb", f->arena != none, f->arena);
  put_mb(out, &c, "reserved_mb", f->reserved != none, f->reserved);
  put_mb(out, &c, "largest_block_mb", f->largest_block != none, f->largest_block);
  ttm_json_raw(out, "}");
}

int ttm_train_json_write(const ttm_training *t, ttm_buf *out) {
  ttm_json_comma c = {0};
  ttm_buf_printf(out, "{\"schema_version\": %d, \"summaries\": [", SCHEMA);
  for (size_t i = 0; i < t->results.n; i++) {
    ttm_json_next(out, &c, TTM_LIT(","));
    ttm_json_raw(out, "\n  ");
    put_result(t, i, out);
  }
  ttm_json_raw(out, "],\n \"footprints\": [");
  c = (ttm_json_comma){0};
  for (size_t i = 0; i < t->log->footprints.n; i++) {
    ttm_json_next(out, &c, TTM_LIT(","));
    ttm_json_raw(out, "\n  ");
    put_footprint(&t->log->footprints.at[i], out);
  }
  ttm_json_raw(out, "],\n \"fits\": ");
  ttm_json_bool(out, ttm_training_fits(t));
  ttm_json_raw(out, ", \"lines_not_read\": ");
  ttm_buf_u64(out, t->log->torn);
  ttm_json_raw(out, "}\n");
  return out->failed ? TTM_ENOMEM : TTM_OK;
}
