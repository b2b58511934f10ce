/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/words.h"
#include "base/checked.h"
#include "report/graph/capture_report.h"

/* Members that say where in the capture an event is; nulls for none. */
static void put_event(ttm_json *j, const ttm_profile *p, uint32_t event) {
  const ttm_buffer_event *e = event == TTM_NONE ? NULL : &p->capture.events.at[event];
  ttm_json_put_known(j, "node", e ? e->node : UINT64_MAX);
  if (e && e->op < p->ops.n)
    ttm_json_put_str(j, "operation", ttm_words_name(p, e->op));
  else
    ttm_json_put_null(j, "operation");
  e ? ttm_json_put_str(j, "function", ttm_profile_string(p, e->function)) : ttm_json_put_null(j, "function");
}

static void put_extracts(ttm_json *j, const ttm_extracts *x) {
  const ttm_resource_usage *r = &x->per_core;
  ttm_json_put_sections(j, "tt_metal");
  ttm_json_put_object(j, "resource_usage_per_core");
  ttm_json_put_known(j, "peak_cb", r->peak_cb);
  ttm_json_put_known(j, "peak_l1", r->peak_l1);
  ttm_json_put_known(j, "peak_dataflow_buffer", r->peak_dataflow_buffer);
  ttm_json_put_known(j, "peak_scratchpad", r->peak_scratchpad);
  ttm_json_put_known(j, "peak_total", r->peak_total);
  ttm_json_put_name(j, "throws", r->refused);
  ttm_json_end(j);
  ttm_json_put_u64(j, "circular_buffers_peak_size_per_core", (uint32_t)r->peak_cb); /* as tt-metal cuts it */
  ttm_json_put_u64(j, "l1_buffer_allocation_peak_size_per_core", (uint32_t)r->peak_l1);
  ttm_json_put_u64(j, "peak_memory_usage", (uint32_t)r->peak_total);
  ttm_json_put_known(j, "peak_L1_memory_usage", x->peak_l1_memory_usage);
  ttm_json_put_object(j, "dram_usage");
  ttm_json_put_i64(j, "peak", x->dram.peak);
  ttm_json_put_known(j, "total_allocations", x->dram.total_allocations);
  ttm_json_put_known(j, "total_deallocations", x->dram.total_deallocations);
  ttm_json_end(j);
  ttm_json_end(j);
}

static void put_fullest(ttm_json *j, const ttm_capture_case *c) {
  const ttm_core_moment *m = &c->findings->core_use.fullest;
  const ttm_statement *s = ttm_statements_first(&c->findings->statements, TTM_TOPIC_L1_CORE);
  ttm_json_put_object(j, "fullest_core");
  ttm_json_put_known(j, "total", m->total);
  ttm_json_put_known(j, "circular_buffers", m->program[0]);
  ttm_json_put_known(j, "dataflow_buffers", m->program[1]);
  ttm_json_put_known(j, "scratchpads", m->program[2]);
  ttm_json_put_known(j, "tensors", m->tensors);
  ttm_json_put_known(j, "l1_small", m->small);
  ttm_json_put_u64(j, "x", m->x);
  ttm_json_put_u64(j, "y", m->y);
  put_event(j, c->profile, m->event);
  ttm_json_put_known_str(j, "headline", s ? s->headline : (ttm_str){"", 0});
  ttm_json_put_known_str(j, "detail", s ? s->detail : (ttm_str){"", 0});
  ttm_json_end(j);
}

static void put_gap(ttm_json *j, const ttm_findings *f) {
  const ttm_core_use *u = &f->core_use;
  if (u->gap_event == TTM_NONE || ttm_findings_has_clashed(f)) return ttm_json_put_null(j, "nearest_to_clash");
  ttm_json_put_object(j, "nearest_to_clash");
  ttm_json_put_i64(j, "gap", u->gap);
  ttm_json_put_known(j, "highest_region_end", u->region_end);
  put_event(j, f->profile, u->gap_event);
  ttm_json_end(j);
}

static void put_use(ttm_json *j, const ttm_capture_case *c) {
  const ttm_profile *p = c->profile;
  const ttm_core_use *u = &c->findings->core_use;
  ttm_json_put_sections(j, "true");
  put_fullest(j, c);
  ttm_json_put_known(j, "peak_circular_buffers", u->peak_program[0]);
  ttm_json_put_known(j, "peak_dataflow_buffers", u->peak_program[1]);
  ttm_json_put_known(j, "peak_scratchpads", u->peak_program[2]);
  ttm_json_put_known(j, "peak_program", u->peak_program_all);
  ttm_json_put_known(j, "peak_tensors", u->peak_tensors);
  ttm_json_put_known(j, "peak_l1_small", u->peak_small);
  ttm_json_put_known(j, "limit", u->limit);
  ttm_json_put_known(j, "peak_dram_per_bank", u->peak_dram);
  ttm_json_put_known(j, "peak_dram_all_banks", ttm_mul_sat(u->peak_dram, p->capture.board.dram_banks));
  ttm_json_put_known(j, "peak_trace_per_bank", u->peak_trace);
  ttm_json_put_known(j, "peak_kernels_per_bank", u->peak_kernels);
  ttm_json_put_object(j, "before_capture");
  ttm_json_put_known(j, "buffers", u->before_buffers);
  ttm_json_put_known(j, "l1_per_core", u->before_l1);
  ttm_json_put_known(j, "dram_per_bank", u->before_dram);
  ttm_json_end(j);
  put_gap(j, c->findings);
  ttm_json_put_bool(j, "lower_bound", ttm_pitfalls_incomplete(c->pitfalls));
  ttm_json_end(j);
}

static void put_pitfalls(ttm_json *j, const ttm_capture_case *c) {
  ttm_json_put_rows(j, "pitfalls");
  for (int i = 0; i < TTM_PITFALLS; i++) {
    ttm_buf text = {0};
    if (!(c->pitfalls >> i & 1)) continue;
    ttm_pitfall_write(&text, (ttm_pitfall)i, c->profile, &c->extracts, &c->findings->core_use);
    ttm_json_put_object(j, NULL);
    ttm_json_put_name(j, "name", ttm_pitfall_name((ttm_pitfall)i));
    ttm_json_put_words(j, "text", &text);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

static void put_steps(ttm_json *j, const ttm_capture_case *c) {
  ttm_json_put_rows(j, "l1_over_time");
  for (size_t i = 0; i < c->findings->core_use.steps.n; i++) {
    ttm_json_put_object(j, NULL);
    put_event(j, c->profile, c->findings->core_use.steps.at[i].event);
    ttm_json_put_known(j, "program", c->findings->core_use.steps.at[i].program);
    ttm_json_put_known(j, "tensors", c->findings->core_use.steps.at[i].tensors);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

static void put_board(ttm_json *j, const ttm_capture_board *board) {
  ttm_json_put_object(j, "board");
  ttm_json_put_name(j, "arch", board->arch < TTM_ARCHES ? ttm_arches[board->arch].name : NULL);
  ttm_json_put_known(j, "l1_banks", board->l1_banks);
  ttm_json_put_known(j, "dram_banks", board->dram_banks);
  ttm_json_put_known(j, "l1_base", board->l1_base);
  ttm_json_put_known(j, "l1_bytes", board->l1_bytes);
  ttm_json_put_bool(j, "assumed", board->estimated);
  ttm_json_end(j);
}

void ttm_capture_json(ttm_json *j, const ttm_capture_case *c) {
  const ttm_profile *p = c->profile;
  const ttm_capture *cap = &p->capture;
  ttm_json_put_sections(j, NULL);
  ttm_json_put_str(j, "file", ttm_words_source(p));
  ttm_json_put_str(j, "ttnn", ttm_profile_string(p, cap->version));
  ttm_json_put_name(j, "run_mode", cap->normal ? "NORMAL" : "NO_DISPATCH");
  ttm_json_put_u64(j, "rank", p->ranks.n ? p->ranks.at[0] : 0);
  ttm_json_put_known(j, "nodes", cap->nodes);
  ttm_json_put_known(j, "operations", p->seen.op_lines);
  ttm_json_put_known(j, "programs", cap->programs);
  ttm_json_put_known(j, "program_cache_hits", cap->cache_hits);
  put_board(j, &cap->board);
  put_extracts(j, &c->extracts);
  put_use(j, c);
  put_pitfalls(j, c);
  put_steps(j, c);
  ttm_json_end(j);
}
