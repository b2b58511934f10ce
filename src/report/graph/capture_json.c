/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/words.h"
#include "base/checked.h"
#include "report/graph/capture_report.h"
#include "report/write/json_fields.h"

/* The next member starts a line, `indent` blanks in. */
static void break_line(ttm_buf *out, ttm_json_comma *comma, int indent) {
  ttm_buf_printf(out, "%s\n%*s", comma->later ? "," : "", indent, "");
  comma->later = false;
}

/* "node":..,"operation":..,"function":.. of an event; nulls for none. */
static void put_event(ttm_buf *out, ttm_json_comma *comma, const ttm_profile *p, uint32_t event) {
  const ttm_buffer_event *e = event == TTM_NONE ? NULL : &p->capture.events.at[event];
  ttm_field_u64(out, comma, "node", e ? e->node : UINT64_MAX);
  ttm_field(out, comma, "operation");
  if (e && e->op < p->ops.n)
    ttm_json_string(out, ttm_words_name(p, e->op));
  else
    ttm_json_null(out);
  ttm_field(out, comma, "function");
  if (e)
    ttm_json_string(out, ttm_profile_string(p, e->function));
  else
    ttm_json_null(out);
}

static void put_extracts(ttm_buf *out, const ttm_extracts *x) {
  const ttm_resource_usage *r = &x->per_core;
  ttm_json_comma all = {0}, usage = {0}, dram = {0};
  ttm_buf_puts(out, " \"tt_metal\": {");
  ttm_field(out, &all, "resource_usage_per_core");
  ttm_buf_char(out, '{');
  ttm_field_u64(out, &usage, "peak_cb", r->peak_cb);
  ttm_field_u64(out, &usage, "peak_l1", r->peak_l1);
  ttm_field_u64(out, &usage, "peak_dataflow_buffer", r->peak_dataflow_buffer);
  ttm_field_u64(out, &usage, "peak_scratchpad", r->peak_scratchpad);
  ttm_field_u64(out, &usage, "peak_total", r->peak_total);
  ttm_field(out, &usage, "throws");
  if (r->refused)
    ttm_json_string(out, ttm_str_of(r->refused));
  else
    ttm_json_null(out);
  ttm_buf_char(out, '}');
  break_line(out, &all, 2);
  ttm_field_u64(out, &all, "circular_buffers_peak_size_per_core", (uint32_t)r->peak_cb); /* as tt-metal cuts it */
  ttm_field_u64(out, &all, "l1_buffer_allocation_peak_size_per_core", (uint32_t)r->peak_l1);
  ttm_field_u64(out, &all, "peak_memory_usage", (uint32_t)r->peak_total);
  break_line(out, &all, 2);
  ttm_field_u64(out, &all, "peak_L1_memory_usage", x->peak_l1_memory_usage);
  ttm_field(out, &all, "dram_usage");
  ttm_buf_char(out, '{');
  ttm_field(out, &dram, "peak");
  ttm_json_i64(out, x->dram.peak);
  ttm_field_u64(out, &dram, "total_allocations", x->dram.total_allocations);
  ttm_field_u64(out, &dram, "total_deallocations", x->dram.total_deallocations);
  ttm_buf_puts(out, "}},\n");
}

static void put_fullest(ttm_buf *out, const ttm_profile *p, const ttm_core_moment *m) {
  ttm_json_comma comma = {0};
  ttm_buf_char(out, '{');
  ttm_field_u64(out, &comma, "total", m->total);
  ttm_field_u64(out, &comma, "circular_buffers", m->program[0]);
  ttm_field_u64(out, &comma, "dataflow_buffers", m->program[1]);
  ttm_field_u64(out, &comma, "scratchpads", m->program[2]);
  ttm_field_u64(out, &comma, "tensors", m->tensors);
  ttm_field_u64(out, &comma, "l1_small", m->small);
  ttm_field_u64(out, &comma, "x", m->x);
  ttm_field_u64(out, &comma, "y", m->y);
  put_event(out, &comma, p, m->event);
  ttm_buf_char(out, '}');
}

static void put_gap(ttm_buf *out, const ttm_profile *p, const ttm_core_use *u) {
  ttm_json_comma comma = {0};
  if (u->gap_event == TTM_NONE) return ttm_json_null(out);
  ttm_buf_char(out, '{');
  ttm_field(out, &comma, "gap");
  ttm_json_i64(out, u->gap);
  ttm_field_u64(out, &comma, "highest_region_end", u->region_end);
  put_event(out, &comma, p, u->gap_event);
  ttm_buf_char(out, '}');
}

static void put_use(ttm_buf *out, const ttm_profile *p, const ttm_core_use *u, bool incomplete) {
  uint64_t banks = p->capture.board.dram_banks;
  ttm_json_comma all = {0}, before = {0};
  ttm_buf_puts(out, " \"true\": {");
  ttm_field(out, &all, "fullest_core");
  put_fullest(out, p, &u->fullest);
  break_line(out, &all, 2);
  ttm_field_u64(out, &all, "peak_circular_buffers", u->peak_program[0]);
  ttm_field_u64(out, &all, "peak_dataflow_buffers", u->peak_program[1]);
  ttm_field_u64(out, &all, "peak_scratchpads", u->peak_program[2]);
  ttm_field_u64(out, &all, "peak_program", u->peak_program_all);
  break_line(out, &all, 2);
  ttm_field_u64(out, &all, "peak_tensors", u->peak_tensors);
  ttm_field_u64(out, &all, "peak_l1_small", u->peak_small);
  ttm_field_u64(out, &all, "limit", u->limit);
  break_line(out, &all, 2);
  ttm_field_u64(out, &all, "peak_dram_per_bank", u->peak_dram);
  ttm_field_u64(out, &all, "peak_dram_all_banks", ttm_mul_sat(u->peak_dram, banks));
  ttm_field_u64(out, &all, "peak_trace_per_bank", u->peak_trace);
  ttm_field_u64(out, &all, "peak_kernels_per_bank", u->peak_kernels);
  break_line(out, &all, 2);
  ttm_field(out, &all, "before_capture");
  ttm_buf_char(out, '{');
  ttm_field_u64(out, &before, "buffers", u->before_buffers);
  ttm_field_u64(out, &before, "l1_per_core", u->before_l1);
  ttm_field_u64(out, &before, "dram_per_bank", u->before_dram);
  ttm_buf_char(out, '}');
  break_line(out, &all, 2);
  ttm_field(out, &all, "nearest_to_clash");
  put_gap(out, p, u);
  break_line(out, &all, 2);
  ttm_field_bool(out, &all, "lower_bound", incomplete);
  ttm_buf_puts(out, "},\n");
}

static void put_pitfalls(ttm_buf *out, const ttm_capture_case *c) {
  ttm_buf text = {0};
  ttm_json_comma between = {0};
  ttm_buf_puts(out, " \"pitfalls\": [");
  for (int i = 0; i < TTM_PITFALLS; i++) {
    ttm_json_comma comma = {0};
    if (!(c->pitfalls >> i & 1)) continue;
    ttm_json_next(out, &between, TTM_LIT(",\n  "));
    ttm_buf_clear(&text);
    ttm_pitfall_write(&text, (ttm_pitfall)i, c->profile, &c->extracts, &c->use);
    ttm_buf_char(out, '{');
    ttm_field_text(out, &comma, "name", ttm_str_of(ttm_pitfall_name((ttm_pitfall)i)));
    ttm_field_text(out, &comma, "text", ttm_buf_str(&text));
    ttm_buf_char(out, '}');
  }
  out->failed |= text.failed;
  ttm_buf_free(&text);
  ttm_buf_puts(out, "],\n");
}

static void put_steps(ttm_buf *out, const ttm_capture_case *c) {
  ttm_json_comma between = {0};
  ttm_buf_puts(out, " \"l1_over_time\": [");
  for (size_t i = 0; i < c->use.steps.n; i++) {
    const ttm_core_step *s = &c->use.steps.at[i];
    ttm_json_comma comma = {0};
    ttm_json_next(out, &between, TTM_LIT(",\n  "));
    ttm_buf_char(out, '{');
    put_event(out, &comma, c->profile, s->event);
    ttm_field_u64(out, &comma, "program", s->program);
    ttm_field_u64(out, &comma, "tensors", s->tensors);
    ttm_buf_char(out, '}');
  }
  ttm_buf_puts(out, "]}");
}

static void put_board(ttm_buf *out, const ttm_capture_board *board) {
  ttm_json_comma comma = {0};
  ttm_buf_char(out, '{');
  ttm_field(out, &comma, "arch");
  if (board->arch < TTM_ARCHES)
    ttm_json_string(out, ttm_str_of(ttm_arches[board->arch].name));
  else
    ttm_json_null(out);
  ttm_field_u64(out, &comma, "l1_banks", board->l1_banks);
  ttm_field_u64(out, &comma, "dram_banks", board->dram_banks);
  ttm_field_u64(out, &comma, "l1_base", board->l1_base);
  ttm_field_u64(out, &comma, "l1_bytes", board->l1_bytes);
  ttm_field_bool(out, &comma, "assumed", board->estimated);
  ttm_buf_char(out, '}');
}

void ttm_capture_json(ttm_buf *out, const ttm_capture_case *c) {
  const ttm_profile *p = c->profile;
  const ttm_capture *cap = &p->capture;
  ttm_json_comma all = {0};
  ttm_buf_char(out, '{');
  ttm_field_text(out, &all, "file", ttm_words_source(p));
  ttm_field_text(out, &all, "ttnn", ttm_profile_string(p, cap->version));
  ttm_field_text(out, &all, "run_mode", ttm_str_of(cap->normal ? "NORMAL" : "NO_DISPATCH"));
  break_line(out, &all, 1);
  ttm_field_u64(out, &all, "rank", p->ranks.n ? p->ranks.at[0] : 0);
  ttm_field_u64(out, &all, "nodes", cap->nodes);
  ttm_field_u64(out, &all, "operations", p->seen.op_lines);
  ttm_field_u64(out, &all, "programs", cap->programs);
  ttm_field_u64(out, &all, "program_cache_hits", cap->cache_hits);
  break_line(out, &all, 1);
  ttm_field(out, &all, "board");
  put_board(out, &cap->board);
  ttm_buf_puts(out, ",\n");
  put_extracts(out, &c->extracts);
  put_use(out, p, &c->use, ttm_pitfalls_incomplete(c->pitfalls));
  put_pitfalls(out, c);
  put_steps(out, c);
}
