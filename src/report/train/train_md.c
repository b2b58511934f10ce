/* SPDX-License-Identifier: Apache-2.0 */
/* The training report in markdown. */
#include "base/format.h"
#include "parse/log_line.h"
#include "report/train/train_report.h"

static double mb(int64_t bytes) { return (double)bytes / TTM_MB; }
static double hundredths(int64_t h) { return (double)h / 100.0; }

static void put_phases(const ttm_training *t, const ttm_train_summary *s, ttm_buf *out) {
  ttm_buf_puts(out,
               "| phase | segment peak | allocations | deallocations | change | cumulative peak | cumulative current | "
               "L1 CB | L1 buffer | L1 total | line |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (size_t i = 0; i < s->phases.n; i++) {
    const ttm_train_phase *p = &s->phases.at[i];
    ttm_buf_puts(out, "| ");
    ttm_put_text(out, ttm_intern_get(&t->log->names, p->name), 80, TTM_FORM_MARKDOWN);
    if (p->has_segment) {
      ttm_buf_printf(out, " | %.2f | %.2f | %.2f | %+.2f", hundredths(p->segment_peak), hundredths(p->allocations),
                     hundredths(p->deallocations), hundredths(p->change));
    } else {
      ttm_buf_puts(out, " | - | - | - | -");
    }
    if (p->has_cumulative)
      ttm_buf_printf(out, " | %.2f | %.2f", hundredths(p->cumulative_peak), hundredths(p->cumulative_current));
    else
      ttm_buf_puts(out, " | - | -");
    if (p->has_l1) {
      ttm_buf_printf(out, " | %.2f | %.2f | %.2f", hundredths(p->peak_cb), hundredths(p->peak_buffer),
                     hundredths(p->peak_total));
    } else {
      ttm_buf_puts(out, " | - | - | -");
    }
    ttm_buf_printf(out, " | %llu |\n", (unsigned long long)p->line);
  }
  ttm_buf_char(out, '\n');
}

static void put_compare(ttm_buf *out, const char *name, const ttm_train_compare *c) {
  if (!c->has_actual) return;
  ttm_buf_printf(out, "| %s | %.2f | ", name, mb(c->actual));
  if (c->expected_from == TTM_FROM_NOWHERE)
    ttm_buf_puts(out, "not known | |\n");
  else
    ttm_buf_printf(out, "%.2f (%s) | %+.2f%% |\n", mb(c->expected), ttm_train_origin_name(c->expected_from),
                   ttm_train_difference(c));
}

static void put_peak(const ttm_train_result *r, ttm_buf *out) {
  ttm_buf_printf(out, "**Peak DRAM %.2f MB of %.2f MB (%s), %.2f%%: %s.**\n\n", mb(r->peak), mb(r->device_memory),
                 ttm_train_origin_name(r->device_memory_from), ttm_percent(mb(r->peak), mb(r->device_memory)),
                 r->fits ? "fits" : "does not fit");
  ttm_buf_puts(out, "| part of the peak, top to bottom | MB | of the peak |\n|---|---|---|\n");
  for (int part = TTM_PARTS - 1; part >= 0; part--) {
    ttm_buf_printf(out, "| %s | %.2f | %.2f%% |\n", ttm_train_part_looks[part].name, mb(r->part[part]),
                   ttm_percent(mb(r->part[part]), mb(r->peak)));
  }
  ttm_buf_char(out, '\n');
}

static void put_notes(const ttm_training *t, size_t i, ttm_buf *out) {
  size_t n = 0;
  for (;; n++) {
    ttm_buf note = {0};
    bool any = ttm_train_note(&note, t, i, n);
    if (any) {
      ttm_buf_puts(out, "- ");
      ttm_put_text(out, ttm_buf_str(&note), SIZE_MAX, TTM_FORM_MARKDOWN);
      ttm_buf_char(out, '\n');
    }
    ttm_buf_free(&note);
    if (!any) break;
  }
  if (n) ttm_buf_char(out, '\n');
}

static void put_result(const ttm_training *t, size_t i, ttm_buf *out) {
  const ttm_train_result *r = &t->results.at[i];
  ttm_buf name = {0};
  ttm_train_put_name(&name, t, i);
  ttm_buf_puts(out, "## ");
  ttm_put_text(out, ttm_buf_str(&name), 120, TTM_FORM_MARKDOWN);
  ttm_buf_free(&name);
  if (r->summary->rank != TTM_NO_RANK) ttm_buf_printf(out, ", rank %u", r->summary->rank);
  ttm_buf_printf(out, "\n\nLog lines %llu to %llu; MB are 1024 * 1024 bytes.", (unsigned long long)r->summary->line,
                 (unsigned long long)r->summary->last_line);
  if (r->summary->parameters.line) {
    ttm_buf_puts(out, " Parameters: ");
    ttm_put_count(out, r->summary->parameters.value);
    ttm_buf_printf(out, " (line %llu).", (unsigned long long)r->summary->parameters.line);
  }
  ttm_buf_puts(out, "\n\n");
  put_phases(t, r->summary, out);
  ttm_buf_puts(out, "| | actual MB | expected MB | difference |\n|---|---|---|---|\n");
  put_compare(out, "Model size", &r->model);
  put_compare(out, "Optimizer state", &r->optimizer);
  put_compare(out, "Gradients", &r->gradients);
  if (r->has_activations) ttm_buf_printf(out, "| Activations | %.2f | | |\n", mb(r->activations));
  ttm_buf_char(out, '\n');
  if (r->has_peak) put_peak(r, out);
  put_notes(t, i, out);
}

static void put_cell(ttm_buf *out, int64_t value) {
  if (value == TTM_TRAIN_UNKNOWN)
    ttm_buf_puts(out, " - |");
  else
    ttm_buf_printf(out, " %.0f |", hundredths(value));
}

static void put_footprints(const ttm_training *t, ttm_buf *out) {
  if (!t->log->footprints.n) return;
  ttm_buf_puts(
      out,
      "## DRAM footprint, from the allocator\n\n| line | peak MB/device | arena MB | reserved MB | largest free "
      "block at the tightest point MB |\n|---|---|---|---|---|\n");
  for (size_t i = 0; i < t->log->footprints.n; i++) {
    const ttm_train_footprint *f = &t->log->footprints.at[i];
    ttm_buf_printf(out, "| %llu |", (unsigned long long)f->line);
    put_cell(out, f->peak);
    put_cell(out, f->arena);
    put_cell(out, f->reserved);
    put_cell(out, f->largest_block);
    ttm_buf_char(out, '\n');
  }
  ttm_buf_char(out, '\n');
}

int ttm_train_md_write(const ttm_training *t, ttm_buf *out) {
  ttm_buf_puts(out, "# Training memory\n\n");
  for (size_t i = 0; i < t->results.n; i++) put_result(t, i, out);
  put_footprints(t, out);
  if (t->log->torn) {
    ttm_put_counted(out, t->log->torn, "line");
    ttm_buf_printf(out, " inside summaries could not be read; the first one is line %llu.\n",
                   (unsigned long long)t->log->first_torn_line);
  }
  return out->failed ? TTM_ENOMEM : TTM_OK;
}
