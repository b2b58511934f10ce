/* SPDX-License-Identifier: Apache-2.0 */
#include "base/checked.h"
#include "report/capture_report.h"
#include "report/json_writer.h"
#include "report/words.h"

static void put_u64(ttm_buf *out, const char *key, uint64_t value) {
  ttm_buf_puts(out, key);
  ttm_buf_u64(out, value);
}

static void put_string(ttm_buf *out, const char *key, ttm_view value) {
  ttm_buf_puts(out, key);
  ttm_json_string(out, value);
}

/* "node":..,"operation":..,"function":.. of an event; nulls for none. */
static void put_event(ttm_buf *out, const ttm_profile *p, uint32_t event) {
  if (event == TTM_NONE) {
    ttm_buf_puts(out, "\"node\": null, \"operation\": null, \"function\": null");
    return;
  }
  const ttm_buffer_event *e = &p->capture.events.at[event];
  put_u64(out, "\"node\": ", e->node);
  ttm_buf_puts(out, ", \"operation\": ");
  if (e->op < p->ops.n)
    ttm_json_string(out, ttm_words_name(p, e->op));
  else
    ttm_json_null(out);
  put_string(out, ", \"function\": ", ttm_profile_string(p, e->function));
}

static void put_extracts(ttm_buf *out, const ttm_extracts *x) {
  const ttm_resource_usage *r = &x->per_core;
  ttm_buf_puts(out, " \"tt_metal\": {\"resource_usage_per_core\": {");
  put_u64(out, "\"peak_cb\": ", r->peak_cb);
  put_u64(out, ", \"peak_l1\": ", r->peak_l1);
  put_u64(out, ", \"peak_dataflow_buffer\": ", r->peak_dataflow_buffer);
  put_u64(out, ", \"peak_scratchpad\": ", r->peak_scratchpad);
  put_u64(out, ", \"peak_total\": ", r->peak_total);
  ttm_buf_puts(out, ", \"throws\": ");
  if (r->refused)
    ttm_json_string(out, ttm_view_of(r->refused));
  else
    ttm_json_null(out);
  put_u64(out, "},\n  \"circular_buffers_peak_size_per_core\": ", (uint32_t)r->peak_cb);
  put_u64(out, ", \"l1_buffer_allocation_peak_size_per_core\": ", (uint32_t)r->peak_l1);
  put_u64(out, ", \"peak_memory_usage\": ", (uint32_t)r->peak_total);
  put_u64(out, ",\n  \"peak_L1_memory_usage\": ", x->peak_l1_memory_usage);
  ttm_buf_puts(out, ", \"dram_usage\": {\"peak\": ");
  ttm_json_i64(out, x->dram.peak);
  put_u64(out, ", \"total_allocations\": ", x->dram.total_allocations);
  put_u64(out, ", \"total_deallocations\": ", x->dram.total_deallocations);
  ttm_buf_puts(out, "}},\n");
}

static void put_use(ttm_buf *out, const ttm_profile *p, const ttm_core_use *u, bool incomplete) {
  const ttm_core_moment *m = &u->fullest;
  uint64_t banks = p->capture.board.dram_banks;
  put_u64(out, " \"true\": {\"fullest_core\": {\"total\": ", m->total);
  put_u64(out, ", \"circular_buffers\": ", m->program[0]);
  put_u64(out, ", \"dataflow_buffers\": ", m->program[1]);
  put_u64(out, ", \"scratchpads\": ", m->program[2]);
  put_u64(out, ", \"tensors\": ", m->tensors);
  put_u64(out, ", \"l1_small\": ", m->small);
  ttm_buf_printf(out, ", \"x\": %u, \"y\": %u, ", m->x, m->y);
  put_event(out, p, m->event);
  put_u64(out, "},\n  \"peak_circular_buffers\": ", u->peak_program[0]);
  put_u64(out, ", \"peak_dataflow_buffers\": ", u->peak_program[1]);
  put_u64(out, ", \"peak_scratchpads\": ", u->peak_program[2]);
  put_u64(out, ", \"peak_program\": ", u->peak_program_all);
  put_u64(out, ",\n  \"peak_tensors\": ", u->peak_tensors);
  put_u64(out, ", \"peak_l1_small\": ", u->peak_small);
  put_u64(out, ", \"limit\": ", u->limit);
  put_u64(out, ",\n  \"peak_dram_per_bank\": ", u->peak_dram);
  put_u64(out, ", \"peak_dram_all_banks\": ", ttm_mul_sat(u->peak_dram, banks));
  put_u64(out, ", \"peak_trace_per_bank\": ", u->peak_trace);
  put_u64(out, ", \"peak_kernels_per_bank\": ", u->peak_kernels);
  put_u64(out, ",\n  \"before_capture\": {\"buffers\": ", u->before_buffers);
  put_u64(out, ", \"l1_per_core\": ", u->before_l1);
  put_u64(out, ", \"dram_per_bank\": ", u->before_dram);
  ttm_buf_puts(out, "},\n  \"nearest_to_clash\": ");
  if (u->gap_event == TTM_NONE) {
    ttm_json_null(out);
  } else {
    ttm_buf_puts(out, "{\"gap\": ");
    ttm_json_i64(out, u->gap);
    put_u64(out, ", \"highest_region_end\": ", u->region_end);
    ttm_buf_puts(out, ", ");
    put_event(out, p, u->gap_event);
    ttm_buf_char(out, '}');
  }
  ttm_buf_puts(out, ",\n  \"lower_bound\": ");
  ttm_json_bool(out, incomplete);
  ttm_buf_puts(out, "},\n");
}

static void put_pitfalls(ttm_buf *out, const ttm_capture_case *c) {
  ttm_buf text = {0};
  ttm_json_comma comma = {0};
  ttm_buf_puts(out, " \"pitfalls\": [");
  for (int i = 0; i < TTM_PITFALLS; i++) {
    if (!(c->pitfalls >> i & 1)) continue;
    ttm_json_next(out, &comma, TTM_LIT(",\n  "));
    ttm_buf_clear(&text);
    ttm_pitfall_write(&text, (ttm_pitfall)i, c->profile, &c->extracts, &c->use);
    put_string(out, "{\"name\": ", ttm_view_of(ttm_pitfall_name((ttm_pitfall)i)));
    put_string(out, ", \"text\": ", ttm_buf_view(&text));
    ttm_buf_char(out, '}');
  }
  out->failed |= text.failed;
  ttm_buf_free(&text);
  ttm_buf_puts(out, "],\n");
}

static void put_steps(ttm_buf *out, const ttm_capture_case *c) {
  ttm_json_comma comma = {0};
  ttm_buf_puts(out, " \"l1_over_time\": [");
  for (size_t i = 0; i < c->use.steps.n; i++) {
    const ttm_core_step *s = &c->use.steps.at[i];
    ttm_json_next(out, &comma, TTM_LIT(",\n  "));
    ttm_buf_char(out, '{');
    put_event(out, c->profile, s->event);
    put_u64(out, ", \"program\": ", s->program);
    put_u64(out, ", \"tensors\": ", s->tensors);
    ttm_buf_char(out, '}');
  }
  ttm_buf_puts(out, "]}");
}

void ttm_capture_json(ttm_buf *out, const ttm_capture_case *c) {
  const ttm_profile *p = c->profile;
  const ttm_capture *cap = &p->capture;
  put_string(out, "{\"file\": ", ttm_words_source(p));
  put_string(out, ", \"ttnn\": ", ttm_profile_string(p, cap->version));
  put_string(out, ", \"run_mode\": ", ttm_view_of(cap->normal ? "NORMAL" : "NO_DISPATCH"));
  put_u64(out, ",\n \"rank\": ", p->ranks.n ? p->ranks.at[0] : 0);
  put_u64(out, ", \"nodes\": ", cap->nodes);
  put_u64(out, ", \"operations\": ", p->seen.op_lines);
  put_u64(out, ", \"programs\": ", cap->programs);
  put_u64(out, ", \"program_cache_hits\": ", cap->cache_hits);
  ttm_buf_puts(out, ",\n \"board\": {\"arch\": ");
  if (cap->board.arch < TTM_ARCHES)
    ttm_json_string(out, ttm_view_of(ttm_arches[cap->board.arch].name));
  else
    ttm_json_null(out);
  put_u64(out, ", \"l1_banks\": ", cap->board.l1_banks);
  put_u64(out, ", \"dram_banks\": ", cap->board.dram_banks);
  put_u64(out, ", \"l1_base\": ", cap->board.l1_base);
  put_u64(out, ", \"l1_bytes\": ", cap->board.l1_bytes);
  ttm_buf_puts(out, ", \"assumed\": ");
  ttm_json_bool(out, cap->board.estimated);
  ttm_buf_puts(out, "},\n");
  put_extracts(out, &c->extracts);
  put_use(out, p, &c->use, ttm_pitfalls_incomplete(c->pitfalls));
  put_pitfalls(out, c);
  put_steps(out, c);
}
