/* SPDX-License-Identifier: Apache-2.0 */
/* The members of findings.json that rest on files beside the input. */
#include "analyze/say.h"
#include "report/files/findings_parts.h"

enum { MOST_ROWS = 1 << 16 }; /* of operations */

/* ---- What the compiler planned --------------------------------------------------------------------------------------- */

static void put_layout(ttm_json *j, const char *key, const ttm_plan_layout *layout) {
  ttm_buf words = {0};
  if (layout->buffer == TTM_BUFFER_NONE) return ttm_json_put_null(j, key);
  ttm_say_layout(&words, layout);
  ttm_json_put_str(j, key, ttm_buf_str(&words));
  j->out->failed |= words.failed;
  ttm_buf_free(&words);
}

static void put_decision(ttm_json *j, const ttm_findings *f, const ttm_decisions *d, const ttm_decision_row *row) {
  static const ttm_plan_layout none = {0};
  const ttm_plan_op *planned = row->planned == TTM_NONE ? NULL : &d->trace->ops.at[row->planned];
  ttm_json_put_object(j, NULL);
  ttm_json_put_op_members(j, f, row->op);
  ttm_json_put_name(j, "matched_by", !planned || row->by_order ? "order" : "location");
  put_layout(j, "planned_layout", planned ? &planned->layout : &none);
  put_layout(j, "layout", &row->is);
  ttm_json_put_bool(j, "elsewhere", row->moved);
  ttm_json_put_bool(j, "demoted", row->demoted);
  ttm_json_put_bool(j, "evicted", row->evicted);
  ttm_json_put_known(j, "planned_L1_per_core_B", row->planned_l1);
  ttm_json_put_known(j, "held_L1_per_core_B", row->held_l1);
  ttm_json_put_u64(j, "apart_B", row->apart);
  ttm_json_end(j);
}

void ttm_json_put_compiler(ttm_json *j, const ttm_findings *f) {
  if (!f->decisions.n) return;
  ttm_json_put_rows(j, "compiler");
  for (size_t i = 0; i < f->decisions.n; i++) {
    const ttm_decisions *d = &f->decisions.at[i];
    ttm_json_put_object(j, NULL);
    ttm_json_put_str(j, "function", d->trace->function);
    ttm_json_put_u64(j, "trace_version", d->trace->version);
    ttm_json_put_u64(j, "L1_budget_per_core_B", d->trace->budget);
    ttm_json_put_u64(j, "spills", d->trace->spills);
    ttm_json_put_u64(j, "matched_by_location", d->by_location);
    ttm_json_put_u64(j, "matched_by_order", d->by_order);
    ttm_json_put_u64(j, "not_in_input", d->missing);
    ttm_json_put_rows(j, "operations");
    for (size_t k = 0; k < d->rows.n && k < MOST_ROWS; k++) put_decision(j, f, d, &d->rows.at[k]);
    ttm_json_end(j);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

/* ---- Device time ----------------------------------------------------------------------------------------------------- */

static void put_pct(ttm_json *j, const char *key, double pct) {
  pct < 0 ? ttm_json_put_null(j, key) : ttm_json_put_fixed(j, key, pct, 3);
}

static void put_bound(ttm_json *j, ttm_bound bound, double ideal_pct) {
  const char *name = ttm_bound_name(bound);
  name ? ttm_json_put_name(j, "bound", name) : ttm_json_put_null(j, "bound");
  put_pct(j, "ideal_pct", ideal_pct);
}

static void put_mb(ttm_json *j, const char *key, uint64_t bytes) {
  bytes == TTM_UNKNOWN ? ttm_json_put_null(j, key) : ttm_json_put_mib(j, key, bytes);
}

static void put_held(ttm_json *j, const ttm_findings *f, const char *key, const ttm_held_times *rows, bool tensors) {
  ttm_json_put_rows(j, key);
  for (size_t i = 0; i < rows->n; i++) {
    ttm_json_put_object(j, NULL);
    ttm_json_put_str(j, "name", rows->at[i].name);
    if (tensors) ttm_json_put_name(j, "class", ttm_alive_class_name(f->profile, rows->at[i].class));
    ttm_json_put_u64(j, "tensors", rows->at[i].tensors);
    ttm_json_put_fixed(j, "per_bank_MB_ms", rows->at[i].byte_ns / TTM_MB / 1e6, 3);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

static void put_memory(ttm_json *j, const ttm_findings *f, int which) {
  const ttm_time_memory *m = &f->time.memories[which];
  ttm_json_put_object(j, ttm_memory_name((ttm_memory)which));
  ttm_json_put_mib(j, "peak_per_bank_MB", m->peak);
  ttm_json_put_mib(j, "average_per_bank_MB", m->ns ? (uint64_t)(m->byte_ns / (double)m->ns) : 0);
  ttm_json_put_fixed(j, "per_bank_MB_ms", m->byte_ns / TTM_MB / 1e6, 3);
  ttm_json_put_u64(j, "ns", m->ns);
  ttm_json_put_u64(j, "full_ns", m->full_ns);
  put_held(j, f, "tensors", &m->tensors, true);
  put_held(j, f, "layers", &m->layers, false);
  ttm_json_end(j);
}

static void put_slow(ttm_json *j, const ttm_findings *f, const char *key, const ttm_slow_ops *rows) {
  ttm_json_put_rows(j, key);
  for (size_t i = 0; i < rows->n; i++) {
    ttm_json_put_object(j, NULL);
    ttm_json_put_op_members(j, f, rows->at[i].op);
    ttm_json_put_str(j, "name", rows->at[i].name);
    ttm_json_put_u64(j, "times", rows->at[i].times);
    ttm_json_put_u64(j, "ns", rows->at[i].ns);
    ttm_json_put_mib(j, "held_per_bank_MB", rows->at[i].held);
    put_bound(j, rows->at[i].bound, rows->at[i].ideal_pct);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

static void put_timed(ttm_json *j, const ttm_findings *f, const ttm_timed_op *op) {
  const ttm_perf_row *row = &f->profile->perf.rows.at[op->row];
  ttm_json_put_object(j, NULL);
  ttm_json_put_op_members(j, f, op->op);
  ttm_json_put_str(j, "op_code", ttm_intern_get(&f->profile->perf.strings, row->code));
  ttm_json_put_u64(j, "csv_line", row->line);
  ttm_json_put_known(j, "begin_ns", op->begin);
  ttm_json_put_u64(j, "ns", op->ns);
  ttm_json_put_known(j, "cores", row->cores);
  put_mb(j, "held_DRAM_per_bank_MB", op->held[TTM_DRAM]);
  put_mb(j, "held_L1_per_bank_MB", op->held[TTM_L1]);
  put_bound(j, op->bound, op->ideal_pct);
  put_pct(j, "fpu_pct", row->fpu_pct);
  put_pct(j, "dram_bw_pct", row->dram_pct);
  ttm_json_end(j);
}

void ttm_json_put_device_time(ttm_json *j, const ttm_findings *f) {
  const ttm_device_time *t = &f->time;
  if (!t->given) return;
  ttm_json_put_object(j, "device_time");
  ttm_json_put_str(j, "csv", ttm_profile_string(f->profile, f->profile->perf_path));
  ttm_json_put_name(j, "matched_by", t->join.by_call ? "global_call_count" : "order");
  ttm_json_put_u64(j, "device", t->join.device);
  ttm_json_put_u64(j, "devices", t->join.devices);
  ttm_json_put_u64(j, "rows", t->join.rows);
  ttm_json_put_u64(j, "replayed_rows", t->join.replays);
  ttm_json_put_u64(j, "matched_operations", t->join.matched);
  ttm_json_put_u64(j, "ns", t->join.ns);
  ttm_json_put_u64(j, "matched_ns", t->ns);
  for (int m = 0; m < TTM_HELD_MEMORIES; m++) put_memory(j, f, m);
  put_slow(j, f, "slow_at_peak", &t->slow);
  put_slow(j, f, "above_ideal", &t->waste);
  ttm_json_put_rows(j, "operations");
  for (size_t i = 0; i < t->ops.n && i < MOST_ROWS; i++) put_timed(j, f, &t->ops.at[i]);
  ttm_json_end(j);
  ttm_json_end(j);
}
