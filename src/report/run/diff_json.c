/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/words.h"
#include "report/files/json_parts.h"
#include "report/files/statements_json.h"
#include "report/run/diff.h"

static const char *const SIDES[] = {"before", "after"};

static void put_side(ttm_json *j, const char *key, const ttm_findings *f) {
  ttm_json_put_object(j, key);
  ttm_json_put_str(j, "path", ttm_words_source(f->profile));
  ttm_json_put_u64(j, "operations", f->elements);
  ttm_json_put_mib(j, "weight_MB", f->registry.weight_bytes);
  ttm_json_put_u64(j, "incidents", f->incidents.n);
  ttm_json_put_u64(j, "leaks", f->leaks.n);
  ttm_json_end(j);
}

static void put_known_milli(ttm_json *j, const char *key, bool known, int64_t thousandths) {
  known ? ttm_json_put_milli(j, key, thousandths) : ttm_json_put_null(j, key);
}

static void put_peaks(ttm_json *j, const ttm_diff *d) {
  ttm_json_put_sections(j, "peak");
  for (ttm_memory m = 0; m < TTM_MEMORIES; m++) {
    int64_t was = ttm_diff_peak(d, 0, m), is = ttm_diff_peak(d, 1, m);
    ttm_json_put_object(j, ttm_memory_name(m));
    put_known_milli(j, "before_per_bank_MB", was >= 0, was);
    put_known_milli(j, "after_per_bank_MB", is >= 0, is);
    put_known_milli(j, "change_MB", was >= 0 && is >= 0, is - was);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

static void put_group(ttm_json *j, const ttm_diff *d, const ttm_diff_group *group) {
  const ttm_diff_row *row = &d->rows.at[group->row];
  ttm_json_put_object(j, NULL);
  ttm_json_put_milli(j, "change_MB", row->effect[1] - row->effect[0]);
  ttm_json_put_name(j, "kind", ttm_diff_kind_name(row->kind));
  ttm_json_put_str(j, "name", group->name);
  ttm_json_put_u64(j, "places", group->rows);
  ttm_json_put_milli(j, "total_change_MB", group->effect[1] - group->effect[0]);
  for (int s = 0; s < 2; s++) {
    if (row->op[s] == TTM_NONE) {
      ttm_json_put_null(j, SIDES[s]);
      continue;
    }
    ttm_json_put_object(j, SIDES[s]);
    ttm_json_put_op_members(j, d->f[s], row->op[s]);
    ttm_json_put_str(j, "at", ttm_words_location(d->f[s]->profile, row->op[s]));
    ttm_json_put_milli(j, "effect_MB", row->effect[s]);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

static void put_names(ttm_json *j, const ttm_diff *d) {
  ttm_json_put_rows(j, "only_in_one");
  for (size_t i = 0; i < d->counts.n; i++) {
    ttm_json_put_object(j, NULL);
    ttm_json_put_str(j, "mlir_op", ttm_intern_get(&d->names, d->counts.at[i].id));
    for (int s = 0; s < 2; s++) ttm_json_put_u64(j, SIDES[s], d->counts.at[i].only[s]);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

static void put_alive_row(ttm_json *j, const ttm_diff *d, const ttm_diff_alive *row) {
  ttm_json_put_object(j, NULL);
  ttm_json_put_name(j, "class", ttm_alive_class_name(d->f[1]->profile, row->class));
  row->name.n ? ttm_json_put_str(j, "name", row->name) : ttm_json_put_null(j, "name");
  ttm_json_put_mib_diff(j, "change_MB", row->bytes[1], row->bytes[0]);
  for (int s = 0; s < 2; s++) {
    ttm_json_put_object(j, SIDES[s]);
    ttm_json_put_mib(j, "per_bank_MB", row->bytes[s]);
    ttm_json_put_u64(j, "tensors", row->tensors[s]);
    ttm_json_put_op(j, "made_by", d->f[s], row->op[s]);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

static void put_alive(ttm_json *j, const ttm_diff *d, size_t most) {
  ttm_json_put_sections(j, "live_at_peak");
  for (ttm_memory m = TTM_DRAM; m <= TTM_L1; m++) {
    ttm_json_put_rows(j, ttm_memory_name(m));
    for (size_t i = 0; i < d->alive[m].n && i < most; i++) put_alive_row(j, d, &d->alive[m].at[i]);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

static void put_frees(ttm_json *j, const ttm_diff *d, size_t most) {
  ttm_json_put_rows(j, "freed_elsewhere");
  for (size_t i = 0; i < d->frees.n && i < most; i++) {
    const ttm_diff_freed *moved = &d->frees.at[i];
    bool counted = moved->later != INT64_MAX && moved->later != INT64_MIN;
    ttm_json_put_object(j, NULL);
    ttm_json_put_op_members(j, d->f[1], d->rows.at[moved->row].op[1]);
    ttm_json_put_mib(j, "per_bank_MB", moved->bank_bytes);
    ttm_json_put_bool(j, "later", moved->later > 0);
    counted ? ttm_json_put_i64(j, "operations_later", moved->later) : ttm_json_put_null(j, "operations_later");
    ttm_json_put_bool(j, "alive_at_peak", moved->at_peak);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

int ttm_diff_json(ttm_buf *out, const ttm_diff *d, size_t most) {
  ttm_json json = {.out = out}, *j = &json;
  ttm_json_put_sections(j, NULL);
  ttm_json_put_u64(j, "schema_version", 1);
  for (int s = 0; s < 2; s++) put_side(j, SIDES[s], d->f[s]);
  ttm_json_put_bool(j, "worse", ttm_diff_is_worse(d));
  ttm_json_put_double(j, "tolerance_pct", d->tolerance);
  put_peaks(j, d);
  ttm_json_put_object(j, "operations");
  ttm_json_put_u64(j, "in_both", d->both);
  ttm_json_put_u64(j, "only_before", d->only[0]);
  ttm_json_put_u64(j, "only_after", d->only[1]);
  ttm_json_put_u64(j, "changed", d->kinds[TTM_DIFF_CHANGED]);
  ttm_json_put_u64(j, "moved", d->kinds[TTM_DIFF_MOVED]);
  ttm_json_end(j);
  ttm_json_put_rows(j, "changed");
  for (size_t i = 0; i < d->groups.n && i < most; i++) put_group(j, d, &d->groups.at[i]);
  ttm_json_end(j);
  put_names(j, d);
  put_frees(j, d, most);
  put_alive(j, d, most);
  ttm_json_put_statements(j, &d->statements);
  ttm_json_end(j);
  return ttm_json_finish(j);
}
