/* SPDX-License-Identifier: Apache-2.0 */
/* The training report as JSON. Sizes printed in the log are MB, as there; sizes ttmem works out are bytes. */
#include "parse/log_line.h"
#include "report/train/train_report.h"
#include "report/write/json.h"

enum { SCHEMA = 1 };

static void put_mb(ttm_json *j, const char *key, bool known, int64_t hundredths) {
  known ? ttm_json_put_milli(j, key, hundredths * 10) : ttm_json_put_null(j, key);
}

static void put_bytes(ttm_json *j, const char *key, bool known, int64_t bytes) {
  known ? ttm_json_put_i64(j, key, bytes) : ttm_json_put_null(j, key);
}

static void put_origin(ttm_json *j, const char *key, ttm_train_origin origin) {
  ttm_json_put_name(j, key, ttm_train_origin_name(origin));
}

static void put_phase(ttm_json *j, const ttm_training *t, const ttm_train_phase *p) {
  ttm_json_put_object(j, NULL);
  ttm_json_put_str(j, "name", ttm_intern_get(&t->log->names, p->name));
  ttm_json_put_known(j, "line", p->line);
  put_mb(j, "segment_peak_mb", p->has_segment, p->segment_peak);
  put_mb(j, "allocations_mb", p->has_segment, p->allocations);
  put_mb(j, "deallocations_mb", p->has_segment, p->deallocations);
  put_mb(j, "segment_change_mb", p->has_segment, p->change);
  put_mb(j, "cumulative_peak_mb", p->has_cumulative, p->cumulative_peak);
  put_mb(j, "cumulative_current_mb", p->has_cumulative, p->cumulative_current);
  put_mb(j, "l1_peak_cb_mb", p->has_l1, p->peak_cb);
  put_mb(j, "l1_peak_buffer_mb", p->has_l1, p->peak_buffer);
  put_mb(j, "l1_peak_total_mb", p->has_l1, p->peak_total);
  ttm_json_end(j);
}

static void put_compare(ttm_json *j, const char *key, const ttm_train_compare *compare) {
  bool expected = compare->expected_from != TTM_FROM_NOWHERE;
  ttm_json_put_object(j, key);
  put_bytes(j, "actual_bytes", compare->has_actual, compare->actual);
  put_bytes(j, "expected_bytes", expected, compare->expected);
  put_origin(j, "expected_from", compare->expected_from);
  if (expected && compare->has_actual)
    ttm_json_put_double(j, "difference_pct", ttm_train_difference(compare));
  else
    ttm_json_put_null(j, "difference_pct");
  ttm_json_end(j);
}

static void put_breakdown(ttm_json *j, const ttm_train_result *r) {
  if (!r->has_peak) return ttm_json_put_null(j, "breakdown_bytes");
  ttm_json_put_object(j, "breakdown_bytes");
  for (int i = 0; i < TTM_PARTS; i++) ttm_json_put_i64(j, ttm_train_part_looks[i].key, r->part[i]);
  ttm_json_end(j);
  put_origin(j, "model_part_from", r->model_part_from);
  put_origin(j, "optimizer_part_from", r->optimizer_part_from);
  ttm_json_put_i64(j, "surplus_bytes", r->surplus);
}

static void put_words(ttm_json *j, const ttm_training *t, size_t i) {
  ttm_buf words = {0};
  if (t->results.at[i].has_peak) ttm_train_put_verdict(&words, &t->results.at[i]);
  ttm_json_put_known_str(j, "headline", ttm_buf_str(&words));
  ttm_json_put_array(j, "notes");
  ttm_buf_clear(&words);
  ttm_train_put_notes(&words, t, i);
  for (ttm_str rest = ttm_buf_str(&words); rest.n;) ttm_json_put_str(j, NULL, ttm_str_take_to(&rest, '\n'));
  ttm_json_end(j);
  j->out->failed |= words.failed;
  ttm_buf_free(&words);
}

static void put_result(ttm_json *j, const ttm_training *t, size_t i) {
  const ttm_train_result *r = &t->results.at[i];
  const ttm_train_summary *s = r->summary;
  ttm_buf name = {0};
  ttm_train_put_name(&name, t, i);
  ttm_json_put_object(j, NULL);
  ttm_json_put_words(j, "name", &name);
  put_bytes(j, "rank", s->rank != TTM_NO_RANK, s->rank);
  ttm_json_put_known(j, "line", s->line);
  ttm_json_put_known(j, "last_line", s->last_line);
  put_bytes(j, "parameters", s->parameters.line != 0, (int64_t)s->parameters.value);
  put_compare(j, "model", &r->model);
  put_compare(j, "optimizer", &r->optimizer);
  put_compare(j, "gradients", &r->gradients);
  put_bytes(j, "activations_bytes", r->has_activations, r->activations);
  put_bytes(j, "peak_bytes", r->has_peak, r->peak);
  ttm_json_put_bool(j, "peak_derived", r->peak_derived);
  ttm_json_put_i64(j, "device_memory_bytes", r->device_memory);
  put_origin(j, "device_memory_from", r->device_memory_from);
  r->has_peak ? ttm_json_put_bool(j, "fits", r->fits) : ttm_json_put_null(j, "fits");
  put_breakdown(j, r);
  put_words(j, t, i);
  ttm_json_put_rows(j, "phases");
  for (size_t p = 0; p < s->phases.n; p++) put_phase(j, t, &s->phases.at[p]);
  ttm_json_end(j);
  ttm_json_end(j);
}

static void put_footprint(ttm_json *j, const ttm_train_footprint *f) {
  const int64_t none = TTM_TRAIN_UNKNOWN;
  ttm_json_put_object(j, NULL);
  put_bytes(j, "rank", f->rank != TTM_NO_RANK, f->rank);
  ttm_json_put_known(j, "line", f->line);
  put_mb(j, "peak_mb", f->peak != none, f->peak);
  put_mb(j, "arena_mb", f->arena != none, f->arena);
  put_mb(j, "reserved_mb", f->reserved != none, f->reserved);
  put_mb(j, "largest_block_mb", f->largest_block != none, f->largest_block);
  ttm_json_end(j);
}

int ttm_train_json_write(const ttm_training *t, ttm_buf *out) {
  ttm_json j = {.out = out, .spaced = true};
  ttm_json_put_sections(&j, NULL);
  ttm_json_put_u64(&j, "schema_version", SCHEMA);
  ttm_json_put_rows(&j, "summaries");
  for (size_t i = 0; i < t->results.n; i++) put_result(&j, t, i);
  ttm_json_end(&j);
  ttm_json_put_rows(&j, "footprints");
  for (size_t i = 0; i < t->log->footprints.n; i++) put_footprint(&j, &t->log->footprints.at[i]);
  ttm_json_end(&j);
  ttm_json_put_bool(&j, "fits", ttm_training_fits(t));
  ttm_json_put_u64(&j, "lines_not_read", t->log->torn);
  ttm_json_end(&j);
  return ttm_json_finish(&j);
}
