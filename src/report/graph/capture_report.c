/* SPDX-License-Identifier: Apache-2.0 */
#include "report/graph/capture_report.h"

#include "analyze/words.h"
#include "base/checked.h"
#include "base/format.h"

typedef unsigned long long ull;

int ttm_capture_case_make(ttm_capture_case *out, const ttm_profile *profile) {
  *out = (ttm_capture_case){.profile = profile};
  ttm_extract(profile, &out->extracts);
  int rc = ttm_core_use_make(&out->use, profile);
  if (!rc) out->pitfalls = ttm_pitfalls_find(profile, &out->extracts, &out->use);
  return rc;
}

void ttm_capture_case_free(ttm_capture_case *c) { ttm_core_use_free(&c->use); }

static bool has(const ttm_capture_case *c, ttm_pitfall pitfall) { return c->pitfalls >> pitfall & 1; }

/* ---- What it is ---------------------------------------------------------------------------------------------------- */

static void put_header(ttm_doc *doc, const ttm_capture_case *c) {
  const ttm_profile *p = c->profile;
  const ttm_capture *cap = &p->capture;
  ttm_str source = ttm_words_source(p), version = ttm_profile_string(p, cap->version);
  ttm_doc_line(doc, "%.*s", (int)source.n, source.p);
  ttm_doc_line(doc, "Graph capture%s%.*s, run mode %s, %llu nodes, %llu operation%s, %llu program%s%s.",
               version.n ? " of ttnn " : "", (int)version.n, version.p, cap->normal ? "NORMAL" : "NO_DISPATCH",
               (ull)cap->nodes, (ull)p->seen.op_lines, p->seen.op_lines == 1 ? "" : "s", (ull)cap->programs,
               cap->programs == 1 ? "" : "s", cap->world > 1 ? ", one rank of several" : "");
  if (cap->board.arch < TTM_ARCHES)
    ttm_doc_line(doc,
                 "%s, %llu cores with L1 banks; a core has %llu B for programs and tensors (from %llu up to %llu)%s.",
                 ttm_arches[cap->board.arch].name, (ull)cap->board.l1_banks, (ull)c->use.limit, (ull)cap->board.l1_base,
                 (ull)cap->board.l1_bytes, cap->board.estimated ? ", assumed" : "");
}

/* ---- Side by side -------------------------------------------------------------------------------------------------- */

static void put_pair(ttm_doc *doc, const char *name, uint64_t theirs, bool refused, uint64_t truth, const char *what) {
  ttm_doc_cell(doc, "%s", name);
  if (refused)
    ttm_doc_cell(doc, "throws");
  else
    ttm_doc_cell_count(doc, theirs);
  ttm_doc_cell_count(doc, truth);
  ttm_doc_cell(doc, "%s", what);
}

static void put_numbers(ttm_doc *doc, const ttm_capture_case *c) {
  static const char *const heads[] = {"tt-metal's extractor", ">tt-metal", ">true", "true: bytes of"};
  const ttm_resource_usage *r = &c->extracts.per_core;
  const ttm_core_use *u = &c->use;
  bool no = r->refused != NULL;
  uint64_t banks = c->profile->capture.board.dram_banks;
  ttm_doc_heading(doc, "The numbers");
  ttm_doc_table(doc, heads, 4);
  put_pair(doc, "circular_buffers_peak_size_per_core", r->peak_cb, no, u->peak_program[0], "the fullest core");
  put_pair(doc, "  dataflow buffers", r->peak_dataflow_buffer, no, u->peak_program[1], "the fullest core");
  put_pair(doc, "  scratchpads", r->peak_scratchpad, no, u->peak_program[2], "the fullest core");
  put_pair(doc, "l1_buffer_allocation_peak_size_per_core", r->peak_l1, no, u->peak_l1, "every core, tensors");
  put_pair(doc, "peak_memory_usage", r->peak_total, no, u->fullest.total, "the fullest core");
  put_pair(doc, "peak_L1_memory_usage", c->extracts.peak_l1_memory_usage, false, u->fullest.total, "the fullest core");
  put_pair(doc, "dram_usage: peak", (uint64_t)c->extracts.dram.peak, false, ttm_mul_sat(u->peak_dram, banks),
           "all banks, padded");
  put_pair(doc, "  total_allocations", c->extracts.dram.total_allocations, false, ttm_mul_sat(u->dram_allocated, banks),
           "all banks");
  put_pair(doc, "  total_deallocations", c->extracts.dram.total_deallocations, false, ttm_mul_sat(u->dram_freed, banks),
           "all banks");
  ttm_doc_table_end(doc);
  if (ttm_pitfalls_incomplete(c->pitfalls))
    ttm_doc_line(doc, "The true figures are a lower bound: the capture does not hold everything (see below).");
}

static void put_pitfalls(ttm_doc *doc, const ttm_capture_case *c) {
  ttm_buf text = {0};
  if (!c->pitfalls) return;
  ttm_doc_heading(doc, "Why they differ, and what this capture cannot tell");
  for (int i = 0; i < TTM_PITFALLS; i++) {
    if (!has(c, (ttm_pitfall)i)) continue;
    ttm_buf_clear(&text);
    ttm_pitfall_write(&text, (ttm_pitfall)i, c->profile, &c->extracts, &c->use);
    ttm_doc_point(doc, "%s: %.*s", ttm_pitfall_name((ttm_pitfall)i), (int)text.n, text.at ? text.at : "");
  }
  doc->out->failed |= text.failed;
  ttm_buf_free(&text);
}

/* ---- The fullest core ---------------------------------------------------------------------------------------------- */

static void put_fullest(ttm_doc *doc, const ttm_capture_case *c) {
  const ttm_core_moment *m = &c->use.fullest;
  const ttm_profile *p = c->profile;
  if (m->event == TTM_NONE) return;
  const ttm_buffer_event *e = &p->capture.events.at[m->event];
  ttm_str function = ttm_profile_string(p, e->function),
          op = e->op < p->ops.n ? ttm_words_name(p, e->op) : (ttm_str){"", 0};
  uint64_t program = ttm_add_sat(ttm_add_sat(m->program[0], m->program[1]), m->program[2]);
  ttm_doc_heading(doc, "The fullest core");
  if (program)
    ttm_doc_line(doc, "Core %u-%u in %.*s of %.*s (node %u): %llu B, %.1f%% of what it has.", m->x, m->y,
                 (int)function.n, function.p, (int)op.n, op.p, e->node, (ull)m->total,
                 ttm_percent((double)m->total, (double)c->use.limit));
  else
    ttm_doc_line(doc, "Every core, in %.*s (node %u): %llu B of tensors, %.1f%% of what a core has.", (int)op.n, op.p,
                 e->node, (ull)m->total, ttm_percent((double)m->total, (double)c->use.limit));
  ttm_doc_point(doc, "circular buffers %llu B, dataflow buffers %llu B, scratchpads %llu B", (ull)m->program[0],
                (ull)m->program[1], (ull)m->program[2]);
  ttm_doc_point(doc, "L1 tensors %llu B, L1_SMALL %llu B", (ull)m->tensors, (ull)m->small);
}

static void put_gap(ttm_doc *doc, const ttm_capture_case *c) {
  const ttm_core_use *u = &c->use;
  const ttm_profile *p = c->profile;
  if (u->gap_event == TTM_NONE) return;
  const ttm_buffer_event *e = &p->capture.events.at[u->gap_event];
  ttm_str function = ttm_profile_string(p, e->function);
  if (u->gap < 0)
    ttm_doc_line(doc, "Nearest to a clash: %.*s (node %u) overlaps the lowest tensor by %llu B: it cannot run.",
                 (int)function.n, function.p, e->node, (ull)-u->gap);
  else
    ttm_doc_line(doc, "Nearest to a clash: %.*s (node %u), %llu B between its buffers and the lowest tensor:",
                 (int)function.n, function.p, e->node, (ull)u->gap);
  ttm_doc_picture(doc, &u->map);
}

static void put_time(ttm_doc *doc, const ttm_capture_case *c) {
  ttm_buf chart = {0};
  bool terminal = doc->form == TTM_DOC_TERMINAL;
  if (!c->use.steps.n) return;
  ttm_doc_heading(doc, "L1 of the fullest core over time");
  ttm_capture_chart(&chart, &c->use, terminal ? doc->columns : 100, !terminal || doc->utf8);
  ttm_doc_block(doc, ttm_buf_str(&chart));
  doc->out->failed |= chart.failed;
  ttm_buf_free(&chart);
}

static void put_tightest(ttm_doc *doc, const ttm_capture_case *c) {
  static const char *const heads[] = {"Operation", "Function", ">Node", ">Program", ">Tensors", ">Together", ">of L1"};
  const ttm_core_use *u = &c->use;
  const ttm_profile *p = c->profile;
  if (!u->tightest.n) return;
  ttm_doc_heading(doc, "Operations that need most L1");
  ttm_doc_table(doc, heads, 7);
  for (size_t i = 0; i < u->tightest.n; i++) {
    const ttm_core_step *s = &u->steps.at[u->tightest.at[i]];
    const ttm_buffer_event *e = &p->capture.events.at[s->event];
    uint64_t total = ttm_add_sat(s->program, s->tensors);
    ttm_doc_cell_text(doc, ttm_words_name(p, s->op));
    ttm_doc_cell_text(doc, ttm_profile_string(p, e->function));
    ttm_doc_cell(doc, "%u", e->node);
    ttm_doc_cell_count(doc, s->program);
    ttm_doc_cell_count(doc, s->tensors);
    ttm_doc_cell_count(doc, total);
    ttm_doc_cell(doc, "%.1f%%", ttm_percent((double)total, (double)u->limit));
  }
  ttm_doc_table_end(doc);
}

void ttm_capture_write(ttm_doc *doc, const ttm_capture_case *c) {
  put_header(doc, c);
  put_numbers(doc, c);
  put_pitfalls(doc, c);
  put_fullest(doc, c);
  put_gap(doc, c);
  put_time(doc, c);
  put_tightest(doc, c);
}

void ttm_captures_write(ttm_doc *doc, const ttm_capture_case *const *cases, size_t n) {
  static const char *const heads[] = {"Capture", ">Rank", ">L1 per core", ">of L1", ">DRAM per bank", ">Pitfalls"};
  ttm_doc_heading(doc, "All captures");
  ttm_doc_table(doc, heads, 6);
  for (size_t i = 0; i < n; i++) {
    const ttm_capture_case *c = cases[i];
    ttm_str source = ttm_words_source(c->profile);
    size_t slash = source.n;
    while (slash && source.p[slash - 1] != '/') slash--;
    ttm_doc_cell_text(doc, ttm_str_from(source, slash));
    ttm_doc_cell(doc, "%u", c->profile->ranks.n ? c->profile->ranks.at[0] : 0);
    ttm_doc_cell_count(doc, c->use.fullest.total);
    ttm_doc_cell(doc, "%.1f%%", ttm_percent((double)c->use.fullest.total, (double)c->use.limit));
    ttm_doc_cell_count(doc, c->use.peak_dram);
    ttm_doc_cell(doc, "%d", __builtin_popcount(c->pitfalls));
  }
  ttm_doc_table_end(doc);
}
