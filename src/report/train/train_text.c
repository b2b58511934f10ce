/* SPDX-License-Identifier: Apache-2.0 */
/* The training report on a terminal: the phases, expected against actual, and the peak as a stacked bar. */
#include <stdio.h>

#include "base/format.h"
#include "parse/log_line.h"
#include "report/train/train_report.h"

enum { LABEL = 20, NARROWEST = 72, WIDEST_BAR = 100, NAME = 30 };

typedef struct screen {
  const ttm_training *t;
  const ttm_summary_style *style;
  ttm_buf *out;
  size_t columns;
  ttm_text_form form;
} screen;

static double mb(int64_t bytes) { return (double)bytes / TTM_MB; }
static double hundredths(int64_t h) { return (double)h / 100.0; }

static void color(screen *s, const char *code) {
  if (s->style->color) ttm_buf_printf(s->out, "\x1b[%sm", code);
}

static void label(screen *s, const char *words) { ttm_buf_printf(s->out, "  %-*s", LABEL, words); }

/* ---- Phases -------------------------------------------------------------------------------------------------------- */

static void put_phases(screen *s, const ttm_train_summary *summary) {
  size_t name = NAME;
  if (!summary->phases.n) return;
  color(s, "90");
  ttm_buf_printf(s->out, "  %-*s %9s %9s %9s %10s\n", (int)name, "Phase, DRAM in MB", "Seg.Peak", "Change", "Cum.Peak",
                 "Current");
  color(s, "0");
  for (size_t i = 0; i < summary->phases.n; i++) {
    const ttm_train_phase *p = &summary->phases.at[i];
    size_t start = s->out->n;
    ttm_buf_puts(s->out, "  ");
    ttm_put_text(s->out, ttm_intern_get(&s->t->log->names, p->name), name, s->form);
    ttm_pad_to(s->out, start, 2 + name);
    if (p->has_segment)
      ttm_buf_printf(s->out, " %9.2f %+9.2f", hundredths(p->segment_peak), hundredths(p->change));
    else
      ttm_buf_printf(s->out, " %9s %9s", "-", "-");
    if (p->has_cumulative)
      ttm_buf_printf(s->out, " %9.2f %10.2f", hundredths(p->cumulative_peak), hundredths(p->cumulative_current));
    ttm_buf_char(s->out, '\n');
  }
  ttm_buf_char(s->out, '\n');
}

/* ---- Sizes --------------------------------------------------------------------------------------------------------- */

static void put_compare(screen *s, const char *name, const ttm_train_compare *c) {
  if (!c->has_actual) return;
  label(s, name);
  ttm_buf_printf(s->out, "%10.2f MB", mb(c->actual));
  if (c->expected_from != TTM_FROM_NOWHERE) {
    ttm_buf_printf(s->out, "   expected %10.2f MB (%s)   %+.2f%%", mb(c->expected),
                   ttm_train_origin_name(c->expected_from), ttm_train_difference(c));
  }
  ttm_buf_char(s->out, '\n');
}

static void put_peak(screen *s, const ttm_train_result *r) {
  if (!r->has_peak) return;
  label(s, "Peak DRAM");
  ttm_buf_printf(s->out, "%10.2f MB   of %.2f MB (%s)   %.2f%%   ", mb(r->peak), mb(r->device_memory),
                 ttm_train_origin_name(r->device_memory_from), ttm_percent(mb(r->peak), mb(r->device_memory)));
  color(s, r->fits ? "32" : "31");
  ttm_buf_puts(s->out, r->fits ? "fits" : "does not fit");
  color(s, "0");
  ttm_buf_char(s->out, '\n');
}

static void put_l1(screen *s, const ttm_train_summary *summary) {
  int64_t cb = 0, buffer = 0, total = 0;
  for (size_t i = 0; i < summary->phases.n; i++) {
    const ttm_train_phase *p = &summary->phases.at[i];
    if (!p->has_l1) continue;
    if (p->peak_cb > cb) cb = p->peak_cb;
    if (p->peak_buffer > buffer) buffer = p->peak_buffer;
    if (p->peak_total > total) total = p->peak_total;
  }
  if (!total) return;
  label(s, "L1 peak per core");
  ttm_buf_printf(s->out, "%10.2f MB   circular buffers %.2f, tensors %.2f\n", hundredths(total), hundredths(cb),
                 hundredths(buffer));
}

/* ---- The bar ------------------------------------------------------------------------------------------------------- */

static const char part_letters[TTM_PARTS] = {'o', 'M', 'g', 'S', 'a'};

static void part_color(screen *s, uint32_t rgb) {
  if (s->style->color)
    ttm_buf_printf(s->out, "\x1b[38;2;%u;%u;%um", (unsigned)(rgb >> 16 & 255), (unsigned)(rgb >> 8 & 255),
                   (unsigned)(rgb & 255));
}

/* One cell of a part: a block in its colour, or its letter where there is none. */
static void cell(screen *s, int part) {
  bool block = s->style->color && s->style->utf8;
  ttm_buf_put(s->out, block ? TTM_LIT("\xE2\x96\x88") : (ttm_str){&part_letters[part], 1});
}

static void put_bar(screen *s, const ttm_train_result *r, double scale, size_t columns) {
  double sum = 0;
  size_t at = 0, limit = (size_t)((double)r->device_memory / scale * (double)columns);
  if (limit >= columns) limit = columns - 1;
  ttm_buf_puts(s->out, "  ");
  for (int part = 0; part <= TTM_PARTS; part++) {
    if (part < TTM_PARTS) sum += r->part[part] > 0 ? (double)r->part[part] : 0;
    size_t end = part < TTM_PARTS ? (size_t)(sum / scale * (double)columns + 0.5) : columns;
    if (part < TTM_PARTS && at < end) part_color(s, ttm_train_part_looks[part].rgb);
    for (; at < end && at < columns; at++) {
      if (at == limit) {
        color(s, "1;31");
        ttm_buf_puts(s->out, s->style->utf8 ? "\xE2\x94\x86" : "|");
        color(s, "0");
        if (part < TTM_PARTS) part_color(s, ttm_train_part_looks[part].rgb);
      } else if (part < TTM_PARTS) {
        cell(s, part);
      } else {
        ttm_buf_char(s->out, ' ');
      }
    }
    color(s, "0");
  }
  while (s->out->n && s->out->at[s->out->n - 1] == ' ') s->out->n--;
  ttm_buf_char(s->out, '\n');
}

static void put_parts(screen *s, const ttm_train_result *r) {
  for (int part = TTM_PARTS - 1; part >= 0; part--) { /* as the picture shows them, top to bottom */
    ttm_buf_puts(s->out, "  ");
    part_color(s, ttm_train_part_looks[part].rgb);
    cell(s, part);
    color(s, "0");
    ttm_train_origin from = part == TTM_PART_MODEL       ? r->model_part_from
                            : part == TTM_PART_OPTIMIZER ? r->optimizer_part_from
                                                         : TTM_FROM_NOWHERE;
    ttm_buf_printf(s->out, " %-*s%10.2f MB %6.2f%%", LABEL - 2, ttm_train_part_looks[part].name, mb(r->part[part]),
                   ttm_percent(mb(r->part[part]), mb(r->peak)));
    if (from != TTM_FROM_NOWHERE) ttm_buf_printf(s->out, "  %s", from == TTM_FROM_PHASE ? "measured" : "expected");
    ttm_buf_char(s->out, '\n');
  }
}

static double scale_of(const ttm_training *t) {
  double most = 1;
  for (size_t i = 0; i < t->results.n; i++) {
    const ttm_train_result *r = &t->results.at[i];
    double sum = 0;
    for (int part = 0; part < TTM_PARTS; part++) sum += r->part[part] > 0 ? (double)r->part[part] : 0;
    if (r->has_peak && sum > most) most = sum;
    if (r->has_peak && (double)r->device_memory > most) most = (double)r->device_memory;
  }
  return most * 1.02;
}

/* ---- Sections ------------------------------------------------------------------------------------------------------ */

static void put_notes(screen *s, size_t result) {
  for (size_t n = 0;; n++) {
    ttm_buf note = {0};
    bool any = ttm_train_note(&note, s->t, result, n);
    if (any) {
      ttm_buf_puts(s->out, "  ! ");
      ttm_put_paragraph(s->out, ttm_buf_str(&note), 4, 4, s->columns, s->form);
      ttm_buf_char(s->out, '\n');
    }
    s->out->failed |= note.failed;
    ttm_buf_free(&note);
    if (!any) return;
  }
}

static void put_result(screen *s, size_t i, double scale) {
  const ttm_train_result *r = &s->t->results.at[i];
  ttm_buf name = {0};
  char where[64];
  ttm_train_put_name(&name, s->t, i);
  int length = snprintf(where, sizeof where, "  log lines %llu-%llu", (unsigned long long)r->summary->line,
                        (unsigned long long)r->summary->last_line);
  color(s, "1");
  ttm_put_text(s->out, ttm_buf_str(&name), s->columns - (size_t)length - 10, s->form);
  color(s, "0");
  if (r->summary->rank != TTM_NO_RANK) ttm_buf_printf(s->out, " rank %u", r->summary->rank);
  color(s, "90");
  ttm_buf_puts(s->out, where);
  color(s, "0");
  ttm_buf_char(s->out, '\n');
  ttm_buf_free(&name);
  put_phases(s, r->summary);
  if (r->summary->parameters.line) {
    label(s, "Parameters");
    ttm_put_count(s->out, r->summary->parameters.value);
    ttm_buf_char(s->out, '\n');
  }
  put_compare(s, "Model size", &r->model);
  put_compare(s, "Optimizer state", &r->optimizer);
  put_compare(s, "Gradients", &r->gradients);
  if (r->has_activations) label(s, "Activations"), ttm_buf_printf(s->out, "%10.2f MB\n", mb(r->activations));
  put_l1(s, r->summary);
  put_peak(s, r);
  ttm_buf_char(s->out, '\n');
  if (r->has_peak) {
    size_t columns = s->columns - 4 > WIDEST_BAR ? WIDEST_BAR : s->columns - 4;
    put_bar(s, r, scale, columns);
    put_parts(s, r);
  }
  put_notes(s, i);
  ttm_buf_char(s->out, '\n');
}

static void put_footprint(screen *s, const ttm_train_footprint *f) {
  const int64_t none = TTM_TRAIN_UNKNOWN;
  color(s, "1");
  ttm_buf_puts(s->out, "DRAM footprint, from the allocator");
  color(s, "0");
  if (f->rank != TTM_NO_RANK) ttm_buf_printf(s->out, " rank %u", f->rank);
  color(s, "90");
  ttm_buf_printf(s->out, "  log line %llu\n", (unsigned long long)f->line);
  color(s, "0");
  if (f->peak != none) {
    label(s, "Peak per device");
    ttm_buf_printf(s->out, "%10.0f MB", hundredths(f->peak));
    if (f->arena > 0) {
      ttm_buf_printf(s->out, "   of %.0f MB arena   %.1f%%", hundredths(f->arena),
                     ttm_percent(hundredths(f->peak), hundredths(f->arena)));
    }
    ttm_buf_char(s->out, '\n');
  }
  if (f->largest_block != none) {
    label(s, "Largest free block");
    ttm_buf_printf(s->out, "%10.0f MB   at the tightest point\n", hundredths(f->largest_block));
  }
  if (f->reserved != none)
    label(s, "Reserved"), ttm_buf_printf(s->out, "%10.0f MB   outside the arena\n", hundredths(f->reserved));
  ttm_buf_char(s->out, '\n');
}

int ttm_train_text_write(const ttm_training *t, const ttm_summary_style *style, ttm_buf *out) {
  screen s = {t, style, out, style->columns < NARROWEST ? NARROWEST : style->columns,
              style->utf8 ? TTM_FORM_UTF8 : TTM_FORM_ASCII};
  double scale = scale_of(t);
  for (size_t i = 0; i < t->results.n; i++) put_result(&s, i, scale);
  for (size_t i = 0; i < t->log->footprints.n; i++) put_footprint(&s, &t->log->footprints.at[i]);
  if (t->log->torn) {
    ttm_put_counted(out, t->log->torn, "line");
    ttm_buf_printf(out, " inside summaries could not be read, the first one is line %llu\n",
                   (unsigned long long)t->log->first_torn_line);
  }
  return out->failed ? TTM_ENOMEM : TTM_OK;
}
