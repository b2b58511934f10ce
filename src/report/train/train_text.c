/* SPDX-License-Identifier: Apache-2.0 */
/* The training report for people: does each summary fit, its phases, expected against actual sizes, and the peak as a stacked bar. */
#include <math.h>

#include "analyze/say.h"
#include "parse/log_line.h"
#include "report/train/train_report.h"

enum { SCREEN = 80, WIDE = 120, WIDEST_BAR = 104 }; /* columns */

typedef struct page {
  ttm_doc *d;
  const ttm_training *t;
  double scale; /* bytes of the longest bar */
} page;

static double mb(int64_t bytes) { return (double)bytes / TTM_MB; }

static void cell_hundredths(page *p, bool known, int64_t hundredths) {
  ttm_doc_cell_mb(p->d, known ? mb(ttm_train_bytes(hundredths)) : NAN); /* rounded as the sums are */
}

/* ---- Tables -------------------------------------------------------------------------------------------------------- */

static void put_phases(page *p, const ttm_train_summary *s) {
  static const char *const heads[] = {"Phase, MB",   ">Peak",      ">Change",  ">Cumulative peak",
                                      ">Current",    ">Allocated", ">Freed",   ">L1 buffers",
                                      ">L1 tensors", ">L1 peak",   ">Log line"};
  bool wide = p->d->form != TTM_DOC_TERMINAL || p->d->columns >= WIDE;
  if (!s->phases.n) return;
  ttm_doc_heading(p->d, "Phases");
  ttm_doc_table(p->d, heads, wide ? 11 : 5);
  for (size_t i = 0; i < s->phases.n; i++) {
    const ttm_train_phase *phase = &s->phases.at[i];
    ttm_doc_cell_text(p->d, ttm_intern_get(&p->t->log->names, phase->name));
    cell_hundredths(p, phase->has_segment, phase->segment_peak);
    cell_hundredths(p, phase->has_segment, phase->change);
    cell_hundredths(p, phase->has_cumulative, phase->cumulative_peak);
    cell_hundredths(p, phase->has_cumulative, phase->cumulative_current);
    if (!wide) continue;
    cell_hundredths(p, phase->has_segment, phase->allocations);
    cell_hundredths(p, phase->has_segment, phase->deallocations);
    cell_hundredths(p, phase->has_l1, phase->peak_cb);
    cell_hundredths(p, phase->has_l1, phase->peak_buffer);
    cell_hundredths(p, phase->has_l1, phase->peak_total);
    ttm_doc_cell(p->d, "%llu", (unsigned long long)phase->line);
  }
  ttm_doc_table_end(p->d);
}

static void put_compare(page *p, const char *name, const ttm_train_compare *c) {
  bool expected = c->expected_from != TTM_FROM_NOWHERE;
  if (!c->has_actual) return;
  ttm_doc_cell(p->d, "%s", name);
  ttm_doc_cell_mb(p->d, mb(c->actual));
  ttm_doc_cell_mb(p->d, expected ? mb(c->expected) : NAN);
  ttm_doc_cell(p->d, expected ? "%+.2f %%" : "-", ttm_train_difference(c));
  ttm_doc_cell(p->d, "%s", expected ? ttm_train_origin_name(c->expected_from) : "-");
}

static void put_sizes(page *p, const ttm_train_result *r) {
  static const char *const heads[] = {"Size, MB", ">Actual", ">Expected", ">Difference", "Expected from"};
  ttm_train_compare activations = {.has_actual = r->has_activations, .actual = r->activations};
  if (!r->model.has_actual && !r->optimizer.has_actual && !r->gradients.has_actual && !r->has_activations) return;
  ttm_doc_heading(p->d, "Sizes");
  ttm_doc_table(p->d, heads, 5);
  put_compare(p, "Model", &r->model);
  put_compare(p, "Optimizer state", &r->optimizer);
  put_compare(p, "Gradients", &r->gradients);
  put_compare(p, "Activations", &activations);
  ttm_doc_table_end(p->d);
}

/* ---- The peak ------------------------------------------------------------------------------------------------------ */

static const char part_letters[TTM_PARTS] = {'o', 'M', 'g', 'S', 'a'};

static double positive(int64_t bytes) { return bytes > 0 ? (double)bytes : 0; }

static double height_of(const ttm_train_result *r) {
  double sum = 0;
  for (int part = 0; part < TTM_PARTS; part++) sum += positive(r->part[part]);
  return fmax(sum, positive(r->device_memory));
}

/* Letters of the parts in their colours, and the capacity as a line across them. */
static void put_bar(page *p, const ttm_train_result *r) {
  bool terminal = p->d->form == TTM_DOC_TERMINAL, wide = terminal && p->d->columns > SCREEN;
  size_t columns = wide ? (p->d->columns < WIDEST_BAR ? p->d->columns : WIDEST_BAR) - 4 : SCREEN - 4;
  size_t at = 0, limit = (size_t)(positive(r->device_memory) / p->scale * (double)columns);
  bool color = terminal && p->d->color;
  double sum = 0;
  uint32_t last = 0;
  ttm_buf bar = {0};
  if (limit >= columns) limit = columns - 1;
  for (int part = 0; part <= TTM_PARTS; part++) {
    if (part < TTM_PARTS) sum += positive(r->part[part]);
    size_t end = part < TTM_PARTS ? (size_t)(sum / p->scale * (double)columns + 0.5) : limit + 1;
    for (; at < end && at < columns; at++) {
      uint32_t rgb = at == limit ? 0xff0000 : part < TTM_PARTS ? ttm_train_part_looks[part].rgb : 0;
      if (color && rgb != last)
        ttm_buf_printf(&bar, "\x1b[38;2;%u;%u;%um", rgb >> 16 & 255u, rgb >> 8 & 255u, rgb & 255u);
      last = rgb;
      if (at == limit)
        ttm_buf_puts(&bar, p->d->utf8 ? "┆" : "|");
      else
        ttm_buf_char(&bar, part < TTM_PARTS ? part_letters[part] : ' ');
    }
  }
  ttm_buf_puts(&bar, color ? "\x1b[0m\n" : "\n");
  ttm_doc_block(p->d, ttm_buf_str(&bar));
  p->d->out->failed |= bar.failed;
  ttm_buf_free(&bar);
}

static const char *basis_of(ttm_train_origin from) { return from == TTM_FROM_PHASE ? "measured" : "expected"; }

static void put_peak(page *p, const ttm_train_result *r) {
  static const char *const heads[] = {"\tLetter", "Part", ">MB", ">Share", "Basis"};
  ttm_doc_heading(p->d, "Peak");
  put_bar(p, r);
  ttm_doc_table(p->d, heads, 5);
  for (int part = TTM_PARTS - 1; part >= 0; part--) { /* as the picture shows them, top to bottom */
    const char *basis = part == TTM_PART_MODEL       ? basis_of(r->model_part_from)
                        : part == TTM_PART_OPTIMIZER ? basis_of(r->optimizer_part_from)
                        : part == TTM_PART_OTHER     ? "derived"
                                                     : "measured";
    ttm_doc_cell(p->d, "%c", part_letters[part]);
    ttm_doc_cell(p->d, "%s", ttm_train_part_looks[part].name);
    ttm_doc_cell_mb(p->d, mb(r->part[part]));
    ttm_doc_cell(p->d, "%.1f %%", ttm_percent(mb(r->part[part]), mb(r->peak)));
    ttm_doc_cell(p->d, "%s", basis);
  }
  ttm_doc_table_end(p->d);
}

/* ---- Sections ------------------------------------------------------------------------------------------------------ */

static ttm_word number(int64_t hundredths) { return TTM_NUMBER((uint64_t)ttm_train_bytes(hundredths)); }

/* "Log lines 5 to 25. 969,369,600 parameters. L1 peak 1.29 MB per core: circular buffers 1.29 MB, tensors 0 MB." */
static void say_summary(ttm_buf *out, const ttm_train_summary *s) {
  int64_t cb = 0, tensors = 0, total = 0;
  ttm_say(out, NULL, "Log lines {} to {}.", TTM_LINE(s->line), TTM_LINE(s->last_line));
  if (s->parameters.line) ttm_say(out, NULL, " {} parameters.", TTM_COUNT(s->parameters.value));
  for (size_t i = 0; i < s->phases.n; i++) {
    const ttm_train_phase *phase = &s->phases.at[i];
    if (!phase->has_l1) continue;
    if (phase->peak_cb > cb) cb = phase->peak_cb;
    if (phase->peak_buffer > tensors) tensors = phase->peak_buffer;
    if (phase->peak_total > total) total = phase->peak_total;
  }
  if (!total) return;
  ttm_say(out, NULL, " L1 peak {} MB per core: circular buffers {} MB, tensors {} MB.", number(total), number(cb),
          number(tensors));
}

static void put_head(page *p, size_t i) {
  const ttm_train_result *r = &p->t->results.at[i];
  ttm_buf words = {0};
  ttm_train_put_name(&words, p->t, i);
  if (r->summary->rank != TTM_NO_RANK) ttm_buf_printf(&words, ", rank %u", r->summary->rank);
  ttm_buf_char(&words, '\0');
  if (!words.failed) ttm_doc_heading(p->d, words.at);
  ttm_buf_clear(&words);
  if (r->has_peak) {
    ttm_train_put_verdict(&words, r);
    ttm_buf_char(&words, '.');
    ttm_doc_text(p->d, r->fits ? TTM_DOC_PLAIN : TTM_DOC_BAD, ttm_buf_str(&words));
  }
  ttm_buf_clear(&words);
  say_summary(&words, r->summary);
  ttm_doc_text(p->d, TTM_DOC_PLAIN, ttm_buf_str(&words));
  ttm_buf_clear(&words);
  ttm_train_put_notes(&words, p->t, i);
  for (ttm_str rest = ttm_buf_str(&words); rest.n;) ttm_doc_text(p->d, TTM_DOC_WARN, ttm_str_take_to(&rest, '\n'));
  p->d->out->failed |= words.failed;
  ttm_buf_free(&words);
}

static void put_footprints(page *p) {
  static const char *const heads[] = {"MB per device", ">Peak", ">Arena", ">Reserved", ">Least largest free block"};
  if (!p->t->log->footprints.n) return;
  ttm_doc_heading(p->d, "DRAM footprint, from the allocator");
  ttm_doc_table(p->d, heads, 5);
  for (size_t i = 0; i < p->t->log->footprints.n; i++) {
    const ttm_train_footprint *f = &p->t->log->footprints.at[i];
    if (f->rank == TTM_NO_RANK)
      ttm_doc_cell(p->d, "log line %llu", (unsigned long long)f->line);
    else
      ttm_doc_cell(p->d, "log line %llu, rank %u", (unsigned long long)f->line, f->rank);
    cell_hundredths(p, f->peak != TTM_TRAIN_UNKNOWN, f->peak);
    cell_hundredths(p, f->arena != TTM_TRAIN_UNKNOWN, f->arena);
    cell_hundredths(p, f->reserved != TTM_TRAIN_UNKNOWN, f->reserved);
    cell_hundredths(p, f->largest_block != TTM_TRAIN_UNKNOWN, f->largest_block);
  }
  ttm_doc_table_end(p->d);
}

int ttm_train_write(const ttm_training *t, ttm_doc *doc) {
  page p = {doc, t, 1};
  if (doc->form != TTM_DOC_TERMINAL) ttm_doc_begin(doc, "Training memory");
  for (size_t i = 0; i < t->results.n; i++)
    if (t->results.at[i].has_peak) p.scale = fmax(p.scale, height_of(&t->results.at[i]) * 1.02);
  for (size_t i = 0; i < t->results.n; i++) {
    put_head(&p, i);
    put_phases(&p, t->results.at[i].summary);
    put_sizes(&p, &t->results.at[i]);
    if (t->results.at[i].has_peak) put_peak(&p, &t->results.at[i]);
  }
  put_footprints(&p);
  if (t->log->torn)
    ttm_doc_line(doc, "Lines inside summaries that could not be read: %llu, the first is line %llu.",
                 (unsigned long long)t->log->torn, (unsigned long long)t->log->first_torn_line);
  return ttm_doc_end(doc);
}
