/* SPDX-License-Identifier: Apache-2.0 */
#include "report/graph/capture_report.h"

#include "analyze/say.h"
#include "analyze/words.h"
#include "base/checked.h"
#include "l1/core_views.h"
#include "report/run/statements.h"

int ttm_capture_case_make(ttm_capture_case *out, const ttm_profile *profile, ttm_error *err) {
  *out = (ttm_capture_case){.profile = profile};
  ttm_extract(profile, &out->extracts);
  int status = ttm_findings_make(&out->findings, profile, 0, err);
  if (!status) out->pitfalls = ttm_pitfalls_find(profile, &out->extracts, &out->findings->core_use);
  return status;
}

void ttm_capture_case_free(ttm_capture_case *c) { ttm_findings_free(c->findings); }

static bool has(const ttm_capture_case *c, ttm_pitfall pitfall) { return c->pitfalls >> pitfall & 1; }

/* ---- What it is ---------------------------------------------------------------------------------------------------- */

static void put_header(ttm_doc *doc, const ttm_capture_case *c) {
  const ttm_profile *p = c->profile;
  const ttm_capture *cap = &p->capture;
  ttm_str version = ttm_profile_string(p, cap->version);
  ttm_buf words = {0};
  ttm_say(&words, NULL, "{}: graph capture{}{}, run mode {}, {}, {}, {}{}.", TTM_TEXT(ttm_words_source(p)),
          TTM_WORDS(version.n ? " of ttnn " : ""), TTM_TEXT(version), TTM_WORDS(cap->normal ? "NORMAL" : "NO_DISPATCH"),
          TTM_PLURAL(cap->nodes, "node"), TTM_PLURAL(p->seen.op_lines, "operation"),
          TTM_PLURAL(cap->programs, "program"), TTM_WORDS(cap->world > 1 ? ", one rank of several" : ""));
  if (cap->board.arch < TTM_ARCHES)
    ttm_say(&words, NULL, " {}, {}, {} of L1 per core for programs and tensors{}.",
            TTM_WORDS(ttm_arches[cap->board.arch].name), TTM_PLURAL(cap->board.l1_banks, "core"),
            TTM_BYTES(c->findings->core_use.limit), TTM_WORDS(cap->board.estimated ? " (assumed)" : ""));
  ttm_doc_line(doc, "%.*s", TTM_ARGS(ttm_buf_str(&words)));
  doc->out->failed |= words.failed;
  ttm_buf_free(&words);
}

/* ---- Side by side -------------------------------------------------------------------------------------------------- */

/* `least`: the corrected number is a lower bound. */
static void put_pair(ttm_doc *doc, const char *name, uint64_t theirs, bool refused, bool least, uint64_t corrected,
                     const char *what) {
  ttm_doc_cell(doc, "%s", name);
  if (refused)
    ttm_doc_cell(doc, "throws");
  else
    ttm_doc_cell_count(doc, theirs);
  if (least)
    ttm_doc_cell(doc, "≥ %s", TTM_COUNT_TEXT(corrected));
  else
    ttm_doc_cell_count(doc, corrected);
  ttm_doc_cell(doc, "%s", what);
}

static void put_numbers(ttm_doc *doc, const ttm_capture_case *c) {
  static const char *const heads[] = {"tt-metal's extractor", ">tt-metal", ">Corrected", "Bytes of"};
  const ttm_resource_usage *r = &c->extracts.per_core;
  const ttm_core_use *u = &c->findings->core_use;
  bool no = r->refused != NULL, least = ttm_pitfalls_incomplete(c->pitfalls);
  bool silent =
      ttm_pitfalls_incomplete(c->pitfalls & ~(UINT32_C(1) << TTM_PITFALL_WINDOW)); /* a program is inside it */
  uint64_t banks = c->profile->capture.board.dram_banks;
  ttm_doc_heading(doc, "Corrected numbers");
  ttm_doc_table(doc, heads, 4);
  put_pair(doc, "circular_buffers_peak_size_per_core", r->peak_cb, no, silent, u->peak_program[0], "fullest core");
  put_pair(doc, "  dataflow buffers", r->peak_dataflow_buffer, no, silent, u->peak_program[1], "fullest core");
  put_pair(doc, "  scratchpads", r->peak_scratchpad, no, silent, u->peak_program[2], "fullest core");
  put_pair(doc, "l1_buffer_allocation_peak_size_per_core", r->peak_l1, no, least, u->peak_l1, "every core");
  put_pair(doc, "peak_memory_usage", r->peak_total, no, least, u->fullest.total, "fullest core");
  put_pair(doc, "peak_L1_memory_usage", c->extracts.peak_l1_memory_usage, false, least, u->fullest.total,
           "fullest core");
  put_pair(doc, "dram_usage: peak", (uint64_t)c->extracts.dram.peak, false, least, ttm_mul_sat(u->peak_dram, banks),
           "all banks");
  put_pair(doc, "  total_allocations", c->extracts.dram.total_allocations, false, false,
           ttm_mul_sat(u->dram_allocated, banks), "all banks");
  put_pair(doc, "  total_deallocations", c->extracts.dram.total_deallocations, false, false,
           ttm_mul_sat(u->dram_freed, banks), "all banks");
  ttm_doc_table_end(doc);
  if (least)
    ttm_doc_line(doc, "The corrected peaks are a lower bound: the capture does not hold everything (see below).");
}

static void put_pitfalls(ttm_doc *doc, const ttm_capture_case *c) {
  ttm_buf text = {0};
  if (!c->pitfalls) return;
  ttm_doc_heading(doc, "Why they differ, and what is not in this capture");
  for (int i = 0; i < TTM_PITFALLS; i++) {
    if (!has(c, (ttm_pitfall)i)) continue;
    ttm_buf_clear(&text);
    ttm_pitfall_write(&text, (ttm_pitfall)i, c->profile, &c->extracts, &c->findings->core_use);
    ttm_doc_point(doc, "%s: %.*s", ttm_pitfall_name((ttm_pitfall)i), (int)text.n, text.at ? text.at : "");
  }
  doc->out->failed |= text.failed;
  ttm_buf_free(&text);
}

/* ---- The fullest core ---------------------------------------------------------------------------------------------- */

/* The program whose buffers come nearest to a tensor: one core, then all of them. */
static void put_narrowest(ttm_doc *doc, const ttm_capture_case *c) {
  const ttm_core_use *use = &c->findings->core_use;
  ttm_core_views views;
  ttm_core_grid grid;
  ttm_doc_picture(doc, &use->map);
  doc->out->failed |= ttm_core_views_make(&views, c->profile) != TTM_OK;
  if (!doc->out->failed) {
    ttm_core_view_grid(&views, ttm_core_views_behind(&views, use->gap_event), &grid);
    ttm_doc_cores(doc, &grid);
  }
  ttm_core_views_free(&views);
}

static void put_fullest(ttm_doc *doc, const ttm_capture_case *c) {
  const ttm_statement *s = ttm_statements_first(&c->findings->statements, TTM_TOPIC_L1_CORE);
  if (!s) return;
  ttm_doc_heading(doc, ttm_topic_title(s->topic));
  ttm_doc_statement(doc, &c->findings->statements, s, 0);
  if (c->findings->core_use.gap_event != TTM_NONE) put_narrowest(doc, c);
}

static void put_time(ttm_doc *doc, const ttm_capture_case *c) {
  ttm_buf chart = {0};
  bool terminal = doc->form == TTM_DOC_TERMINAL;
  if (!c->findings->core_use.steps.n) return;
  ttm_doc_heading(doc, "L1 of the fullest core over time");
  ttm_capture_chart(&chart, &c->findings->core_use, terminal ? doc->columns : 100, !terminal || doc->utf8);
  ttm_doc_block(doc, ttm_buf_str(&chart));
  doc->out->failed |= chart.failed;
  ttm_buf_free(&chart);
}

static void cell_share(ttm_doc *doc, uint64_t bytes, uint64_t limit) {
  if (bytes > limit)
    ttm_doc_cell(doc, "does not fit");
  else
    ttm_doc_cell(doc, "%.1f %%", ttm_percent((double)bytes, (double)limit));
}

static void put_tightest(ttm_doc *doc, const ttm_capture_case *c) {
  static const char *const heads[] = {"Operation", "Function", ">Node", ">Program", ">Tensors", ">Total", ">Of L1"};
  const ttm_core_use *u = &c->findings->core_use;
  const ttm_profile *p = c->profile;
  if (!u->tightest.n) return;
  ttm_doc_heading(doc, "Operations by L1 per core");
  ttm_doc_table(doc, heads, 7);
  for (size_t i = 0; i < u->tightest.n; i++) {
    const ttm_core_step *s = &u->steps.at[u->tightest.at[i]];
    const ttm_buffer_event *e = &p->capture.events.at[s->event];
    uint64_t total = ttm_add_sat(s->program, s->tensors);
    ttm_doc_cell_text(doc, ttm_words_name(p, s->op));
    ttm_doc_cell_text(doc, ttm_profile_string(p, e->function));
    ttm_doc_cell(doc, "%u", e->node);
    ttm_doc_cell_bytes(doc, s->program);
    ttm_doc_cell_bytes(doc, s->tensors);
    ttm_doc_cell_bytes(doc, total);
    cell_share(doc, total, u->limit);
  }
  ttm_doc_table_end(doc);
}

/* A clash that the capture shows. */
static void put_failure(ttm_doc *doc, const ttm_capture_case *c) {
  const ttm_statement *s = ttm_statements_find(&c->findings->statements, "l1.over*", 0);
  if (!s) return;
  ttm_doc_heading(doc, ttm_topic_title(s->topic));
  ttm_doc_statement(doc, &c->findings->statements, s, 0);
  ttm_doc_fixes(doc, &c->findings->statements);
}

void ttm_capture_write(ttm_doc *doc, const ttm_capture_case *c) {
  put_header(doc, c);
  put_failure(doc, c);
  put_numbers(doc, c);
  put_pitfalls(doc, c);
  put_fullest(doc, c);
  put_time(doc, c);
  put_tightest(doc, c);
}

void ttm_captures_write(ttm_doc *doc, const ttm_capture_case *const *cases, size_t n) {
  static const char *const heads[] = {"Capture", ">Rank", ">L1 per core", ">Of L1", ">DRAM per bank", ">Notes"};
  ttm_doc_heading(doc, "All captures");
  ttm_doc_table(doc, heads, 6);
  for (size_t i = 0; i < n; i++) {
    const ttm_capture_case *c = cases[i];
    ttm_str source = ttm_words_source(c->profile);
    size_t slash = source.n;
    while (slash && source.p[slash - 1] != '/') slash--;
    ttm_doc_cell_text(doc, ttm_str_from(source, slash));
    ttm_doc_cell(doc, "%u", c->profile->ranks.n ? c->profile->ranks.at[0] : 0);
    const ttm_core_use *use = &c->findings->core_use;
    const char *least = ttm_pitfalls_incomplete(c->pitfalls) ? "≥ " : "";
    ttm_doc_cell(doc, "%s%s", least, TTM_BYTES_TEXT(use->fullest.total));
    cell_share(doc, use->fullest.total, use->limit);
    ttm_doc_cell(doc, "%s%s", least, TTM_BYTES_TEXT(use->peak_dram));
    ttm_doc_cell(doc, "%d", __builtin_popcount(c->pitfalls));
  }
  ttm_doc_table_end(doc);
}
