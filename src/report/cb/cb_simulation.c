/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/format.h"
#include "report/cb/cb_report.h"

static void put_machine(ttm_doc *d, const ttm_cb_machine *m) {
  static const char *const bases[] = {"given", "by version", "newest version assumed"};
  uint64_t top = m->l1_bytes - m->small;
  ttm_doc_line(d,
               "%s: %s of L1 per core, capacity %s for buffers and tensors. Buffers are allocated bottom-up from %s "
               "(%s), tensors top-down from %s.",
               ttm_arches[m->arch].name, TTM_BYTES_TEXT(m->l1_bytes), TTM_BYTES_TEXT(top - m->base),
               TTM_COUNT_TEXT(m->base), bases[m->base_basis], TTM_COUNT_TEXT(top));
}

static const char *fit_word(const ttm_cb_result *r) {
  static const char *const words[] = {"yes", "NO: clash", "NO: exceeds L1"};
  return r->tensors_fit ? words[r->fit] : "NO: tensors";
}

/* Those of the machine and of all workloads together, and with a single workload its own; errors first. */
static void put_findings(ttm_doc *d, const ttm_cb_simulation *s) {
  ttm_doc_heading(d, "Findings");
  for (size_t i = 0; i < TTM_CB_LEVELS * s->findings.n; i++) {
    const ttm_cb_finding *f = &s->findings.at[i % s->findings.n];
    if (f->level != i / s->findings.n || (f->workload != SIZE_MAX && s->cases.n > 1)) continue;
    ttm_doc_point(d, "%s %s: %.*s%s%.*s.", ttm_cb_level_name(f->level), f->rule, TTM_ARGS(f->strategy),
                  f->strategy.n ? ": " : "", TTM_ARGS(f->text));
  }
}

/* ---- One workload ----------------------------------------------------------------------------------------------------- */

static const char *const metrics[] = {"Miss rate",         "Pressure score", "Thrashing risk", "CB utilization",
                                      "Memory efficiency", "Buffers",        "Gaps between",   "L1 tensors",
                                      "Reserved",          "L1 in use",      "Headroom",       "Would run"};

static void put_metric(ttm_doc *d, size_t metric, const ttm_cb_machine *m, const ttm_cb_result *r) {
  switch (metric) {
    case 0:
      if (r->worst == SIZE_MAX) return ttm_doc_cell(d, "0.0 %%");
      return ttm_doc_cell(d, "%.*s %.1f %%", TTM_ARGS(r->rows.at[r->worst].name), r->miss_pct);
    case 1:
      return ttm_doc_cell(d, "%.1f %s", r->pressure, ttm_pressure_level_name(r->level));
    case 2:
      return ttm_doc_cell(d, "%s", ttm_pressure_level_name(r->thrashing));
    case 3:
      return ttm_doc_cell(d, "%.1f %%", r->utilization_pct);
    case 4:
      return ttm_doc_cell(d, "%.1f %%", r->efficiency_pct);
    case 5:
      return ttm_doc_cell_bytes(d, r->buffer_bytes);
    case 6:
      return ttm_doc_cell_bytes(d, r->hole_bytes);
    case 7:
      return ttm_doc_cell_bytes(d, r->tensor_bytes);
    case 8:
      return ttm_doc_cell_bytes(d, m->base + m->small);
    case 9:
      if (r->used > m->l1_bytes) return ttm_doc_cell(d, "over capacity");
      return ttm_doc_cell(d, "%s, %.1f %%", TTM_BYTES_TEXT(r->used), r->used_pct);
    case 10:
      if (r->used > m->l1_bytes) return ttm_doc_cell(d, "short by %s", TTM_BYTES_TEXT(r->used - m->l1_bytes));
      return ttm_doc_cell_bytes(d, r->free_bytes);
    default:
      ttm_doc_cell(d, "%s", fit_word(r));
  }
}

static void put_comparison(ttm_doc *d, const ttm_cb_machine *m, const ttm_cb_case *c) {
  enum { MOST = TTM_DOC_COLUMNS - 1 };
  char names[MOST][44];
  const char *heads[TTM_DOC_COLUMNS] = {"Strategy"};
  size_t n = c->results.n < MOST ? c->results.n : MOST;
  for (size_t i = 0; i < n; i++) {
    ttm_str name = ttm_str_first(c->results.at[i].plans.strategy, 40);
    snprintf(names[i], sizeof names[i], ">%.*s", TTM_ARGS(name));
    heads[i + 1] = names[i];
  }
  ttm_doc_heading(d, "Strategies");
  ttm_doc_table(d, heads, n + 1);
  for (size_t k = 0; k < sizeof metrics / sizeof *metrics; k++) {
    ttm_doc_cell(d, "%s", metrics[k]);
    for (size_t i = 0; i < n; i++) put_metric(d, k, m, &c->results.at[i]);
  }
  ttm_doc_table_end(d);
}

static void put_row(ttm_doc *d, ttm_str strategy, const ttm_cb_row *row) {
  ttm_doc_cell_text(d, strategy);
  ttm_doc_cell_text(d, row->name);
  row->tile_bytes == 1 ? ttm_doc_cell(d, "-") : ttm_doc_cell_count(d, row->tiles);
  row->needed ? ttm_doc_cell(d, "%s%s", TTM_COUNT_TEXT(row->needed), row->streams ? " at a time" : "")
              : ttm_doc_cell(d, "-");
  ttm_doc_cell_bytes(d, row->bytes);
  row->borrowed ? ttm_doc_cell(d, "in a tensor") : ttm_doc_cell_count(d, row->address);
  row->needed && !row->streams ? ttm_doc_cell(d, "%.1f %%", row->miss_pct) : ttm_doc_cell(d, "-");
}

static void put_rows(ttm_doc *d, const ttm_cb_case *c) {
  static const char *const heads[] = {"Strategy", "Buffer", ">Tiles", ">Needed", ">Size", ">Address", ">Miss"};
  ttm_doc_heading(d, "Buffers");
  ttm_doc_table(d, heads, sizeof heads / sizeof *heads);
  for (size_t i = 0; i < c->results.n; i++) {
    const ttm_cb_result *r = &c->results.at[i];
    for (size_t k = 0; k < r->rows.n; k++) put_row(d, r->plans.strategy, &r->rows.at[k]);
  }
  ttm_doc_table_end(d);
}

static void put_pictures(ttm_doc *d, const ttm_cb_case *c) {
  size_t chosen = ttm_cb_case_choice(c);
  for (size_t i = 0; i < c->results.n; i++) {
    char title[80];
    if (d->form == TTM_DOC_TERMINAL && i != chosen) continue; /* one picture is enough for a screen */
    snprintf(title, sizeof title, "L1 of one core, %.*s", TTM_ARGS(c->results.at[i].plans.strategy));
    ttm_doc_heading(d, title);
    ttm_doc_picture(d, &c->results.at[i].map);
  }
}

static void put_case(ttm_doc *d, const ttm_cb_simulation *s) {
  const ttm_cb_case *c = &s->cases.at[0];
  ttm_workload_class class_ = ttm_workload_class_of(&c->workload);
  ttm_doc_line(d, "Workload: %s reused tiles (r_tiles), %s streamed tiles per shard: %s, %s.",
               TTM_COUNT_TEXT(c->workload.r_tiles), TTM_COUNT_TEXT(c->workload.tiles_per_shard),
               ttm_workload_class_name(class_), ttm_workload_class_strategy(class_));
  put_machine(d, &s->machine);
  put_findings(d, s);
  put_comparison(d, &s->machine, c);
  put_rows(d, c);
  put_pictures(d, c);
}

/* ---- Over workloads --------------------------------------------------------------------------------------------------- */

static void put_scaling_row(ttm_doc *d, const ttm_cb_case *c, const ttm_cb_result *r) {
  ttm_doc_cell(d, "%s %s", TTM_COUNT_TEXT(c->workload.r_tiles), TTM_COUNT_TEXT(c->workload.tiles_per_shard));
  ttm_doc_cell(d, "%s", ttm_workload_class_name(ttm_workload_class_of(&c->workload)));
  ttm_doc_cell_text(d, r->plans.strategy);
  ttm_doc_cell(d, "%.1f %%", r->miss_pct);
  ttm_doc_cell(d, "%.1f", r->pressure);
  ttm_doc_cell(d, "%s", ttm_pressure_level_name(r->thrashing));
  ttm_doc_cell_bytes(d, r->buffer_bytes);
  ttm_doc_cell(d, "%s", fit_word(r));
}

static void put_scaling(ttm_doc *d, const ttm_cb_simulation *s) {
  static const char *const heads[] = {">R T", "Class", "Strategy", ">Miss", ">Score", "Risk", ">Buffers", "Would run"};
  put_machine(d, &s->machine);
  put_findings(d, s);
  ttm_doc_heading(d, "Workloads");
  ttm_doc_table(d, heads, sizeof heads / sizeof *heads);
  for (size_t c = 0; c < s->cases.n; c++) {
    for (size_t i = 0; i < s->cases.at[c].results.n; i++)
      put_scaling_row(d, &s->cases.at[c], &s->cases.at[c].results.at[i]);
  }
  ttm_doc_table_end(d);
}

void ttm_cb_simulation_write(ttm_doc *d, const ttm_cb_simulation *s) {
  s->cases.n == 1 ? put_case(d, s) : put_scaling(d, s);
}
