/* SPDX-License-Identifier: Apache-2.0 */
/* What the compiler planned against what the runtime held. */
#include "analyze/decisions.h"
#include "analyze/tell.h"

enum { SHOWN_ROWS = 8 };

/* "L1 height_sharded 8x4". */
void ttm_say_layout(ttm_buf *out, const ttm_plan_layout *layout) {
  static const char *const buffers[] = {"no layout", "DRAM", "L1", "L1_SMALL", "TRACE", "host memory"};
  static const char *const placements[] = {
      "", " interleaved", " height_sharded", " width_sharded", " block_sharded", " nd_sharded"};
  char grid[64];
  ttm_buf_puts(out, buffers[layout->buffer]);
  ttm_buf_puts(out, placements[layout->placement]);
  if (layout->placement <= TTM_PLACE_INTERLEAVED || !layout->grid.rank) return;
  ttm_dims_print(&layout->grid, grid, sizeof grid);
  ttm_buf_printf(out, " %s", grid);
}

static ttm_str function_of(const ttm_decisions *d) {
  return d->trace->function.n ? d->trace->function : TTM_LIT("a function without a name");
}

static void tell_join(ttm_teller *t, const ttm_decisions *d) {
  uint32_t found = d->by_location + d->by_order, all = (uint32_t)d->trace->ops.n;
  ttm_tell(t, found ? "compiler.join" : "compiler.unmatched", TTM_TOPIC_COMPILER,
           found ? TTM_SEVERITY_NOTE : TTM_SEVERITY_UNKNOWN, TTM_MEASURED);
  if (!found) {
    ttm_headline(t, "The plan of {} cannot be compared: no operation of it is in this input", TTM_TEXT(function_of(d)));
    return;
  }
  ttm_say(&t->text, t->f, "Compiler plan of {}: {} of {} are in this input, {} found by location, {} by order",
          TTM_TEXT(function_of(d)), TTM_COUNT(found), TTM_PLURAL(all, "operation"), TTM_COUNT(d->by_location),
          TTM_COUNT(d->by_order));
  if (d->trace->budget)
    ttm_say(&t->text, t->f, "; L1 budget {} per core, {}", TTM_MB_OF(d->trace->budget),
            TTM_PLURAL(d->trace->spills, "spill"));
  ttm_tell_headline(t);
  const ttm_call *call = &t->p->calls.at[d->call];
  if (ttm_words_has_runs(t->p)) ttm_detail(t, "It is compared with run {}.", TTM_COUNT(call->run));
  if (!d->trace->budget) ttm_detail(t, "The trace has no spill pass, so the L1 it planned is unknown.");
  if (d->trace->version != 3)
    ttm_detail(t, "The trace has version {}; version 3 is known.", TTM_COUNT(d->trace->version));
  ttm_tell_line(t, call->first_line);
  ttm_tell_quantity(t, "by_location", "", d->by_location);
  ttm_tell_quantity(t, "by_order", "", d->by_order);
  ttm_tell_quantity(t, "not_in_input", "", d->missing);
  ttm_tell_quantity(t, "budget_per_core", "B", (double)d->trace->budget);
}

/* ---- L1 -------------------------------------------------------------------------------------------------------------- */

static bool differs(const ttm_decision_row *row) {
  if (row->planned_l1 == TTM_UNKNOWN || row->held_l1 == TTM_UNKNOWN) return false;
  return row->held_l1 > row->planned_l1 + TTM_DECISION_SLACK || row->planned_l1 > row->held_l1 + TTM_DECISION_SLACK;
}

static uint64_t gap(const ttm_decision_row *row) {
  return row->held_l1 > row->planned_l1 ? row->held_l1 - row->planned_l1 : row->planned_l1 - row->held_l1;
}

/* The row of L1 that differs most; NULL. Rows are sorted by another figure where a result moved. */
static const ttm_decision_row *worst_l1(const ttm_decisions *d, uint32_t *n) {
  const ttm_decision_row *worst = NULL;
  *n = 0;
  for (size_t i = 0; i < d->rows.n; i++) {
    const ttm_decision_row *row = &d->rows.at[i];
    if (!differs(row)) continue;
    ++*n;
    if (!worst || gap(row) > gap(worst)) worst = row;
  }
  return worst;
}

static void tell_l1(ttm_teller *t, const ttm_decisions *d) {
  uint32_t n, shown = 0;
  const ttm_decision_row *worst = worst_l1(d, &n);
  if (!d->compared) return;
  bool over = d->trace->budget && d->held_peak > d->trace->budget + TTM_DECISION_SLACK;
  ttm_tell(t, n ? "compiler.l1" : "compiler.l1-as-planned", TTM_TOPIC_COMPILER,
           d->above || over ? TTM_SEVERITY_WARNING
           : n              ? TTM_SEVERITY_NOTE
                            : TTM_SEVERITY_OK,
           TTM_DERIVED);
  if (!n) {
    ttm_headline(t, "L1 is held as planned behind all {}, {} per core at most", TTM_PLURAL(d->compared, "operation"),
                 TTM_MB_OF(d->held_peak));
  } else {
    bool more = worst->held_l1 > worst->planned_l1;
    ttm_headline(t, "L1 holds up to {} per core {} than planned: behind {} {} instead of {}", TTM_MB_OF(gap(worst)),
                 TTM_WORDS(more ? "more" : "less"), TTM_OP(worst->op), TTM_NUMBER(worst->held_l1),
                 TTM_MB_OF(worst->planned_l1));
    ttm_detail(t, "{} of {} differ by more than a state's rounding, {} of them hold more.", TTM_COUNT(n),
               TTM_PLURAL(d->compared, "operation"), TTM_COUNT(d->above));
    ttm_tell_op(t, worst->op);
  }
  ttm_detail(t, "Highest: {} held, {} planned{}.", TTM_MB_OF(d->held_peak), TTM_MB_OF(d->planned_peak),
             TTM_WORDS(over ? ", above the budget" : ""));
  ttm_tell_quantity(t, "held_peak_per_core", "B", (double)d->held_peak);
  ttm_tell_quantity(t, "planned_peak_per_core", "B", (double)d->planned_peak);
  for (size_t i = 0; i < d->rows.n && shown < SHOWN_ROWS; i++) {
    const ttm_decision_row *row = &d->rows.at[i];
    if (!differs(row)) continue;
    ttm_point_at(t, ttm_mib(gap(row)), row->op, "{}: {} held, {} planned", TTM_OP(row->op), TTM_MB_OF(row->held_l1),
                 TTM_MB_OF(row->planned_l1));
    shown++;
  }
  if (n > shown) ttm_point_at(t, TTM_NO_FIGURE, TTM_NONE, "and {} more", TTM_COUNT(n - shown));
}

/* ---- Layouts --------------------------------------------------------------------------------------------------------- */

static void say_moved(ttm_teller *t, const ttm_decisions *d, const ttm_decision_row *row) {
  ttm_say(&t->text, t->f, "{}: ", TTM_OP(row->op));
  ttm_say_layout(&t->text, &row->is);
  ttm_buf_puts(&t->text, ", planned ");
  ttm_say_layout(&t->text, &d->trace->ops.at[row->planned].layout);
  if (row->demoted) ttm_buf_puts(&t->text, ", put to DRAM by the spill pass");
}

static void tell_layouts(ttm_teller *t, const ttm_decisions *d) {
  uint32_t shown = 0, unexplained = d->moved - d->demoted;
  if (!d->layouts) return;
  ttm_tell(t, d->moved ? "compiler.layout" : "compiler.layout-as-planned", TTM_TOPIC_COMPILER,
           unexplained ? TTM_SEVERITY_WARNING
           : d->moved  ? TTM_SEVERITY_NOTE
                       : TTM_SEVERITY_OK,
           TTM_MEASURED);
  if (!d->moved) {
    ttm_headline(t, "All {} lie where the layout pass chose", TTM_PLURAL(d->layouts, "result"));
    return;
  }
  ttm_say(&t->text, t->f, "{} of {} lie elsewhere than the layout pass chose", TTM_COUNT(d->moved),
          TTM_PLURAL(d->layouts, "result"));
  if (d->demoted) ttm_say(&t->text, t->f, ", {} of them put to DRAM by the spill pass", TTM_COUNT(d->demoted));
  ttm_tell_headline(t);
  ttm_tell_quantity(t, "results", "", d->layouts);
  ttm_tell_quantity(t, "elsewhere", "", d->moved);
  for (size_t i = 0; i < d->rows.n && shown < SHOWN_ROWS; i++) {
    const ttm_decision_row *row = &d->rows.at[i];
    if (!row->moved) continue;
    if (!shown++) ttm_tell_op(t, row->op);
    say_moved(t, d, row);
    ttm_tell_point(t, TTM_NO_FIGURE, row->op);
  }
  if (d->moved > shown) ttm_point_at(t, TTM_NO_FIGURE, TTM_NONE, "and {} more", TTM_COUNT(d->moved - shown));
}

static void tell_evictions(ttm_teller *t, const ttm_decisions *d) {
  uint32_t shown = 0;
  if (!d->evictions) return;
  ttm_tell(t, "compiler.evictions", TTM_TOPIC_COMPILER, TTM_SEVERITY_NOTE, TTM_MEASURED);
  ttm_headline(t, "The compiler evicted {} from L1 to stay within {} per core", TTM_PLURAL(d->evictions, "result"),
               TTM_MB_OF(d->trace->budget));
  ttm_tell_quantity(t, "evictions", "", d->evictions);
  for (size_t i = 0; i < d->rows.n && shown < SHOWN_ROWS; i++) {
    const ttm_decision_row *row = &d->rows.at[i];
    if (!row->evicted) continue;
    if (!shown++) ttm_tell_op(t, row->op);
    ttm_point_at(t, TTM_NO_FIGURE, row->op, "the result of {}", TTM_OP(row->op));
  }
}

void ttm_tell_compiler(ttm_teller *t) {
  for (size_t i = 0; i < t->f->decisions.n; i++) {
    const ttm_decisions *d = &t->f->decisions.at[i];
    tell_join(t, d);
    if (!(d->by_location + d->by_order)) continue;
    tell_l1(t, d);
    tell_layouts(t, d);
    tell_evictions(t, d);
  }
}
