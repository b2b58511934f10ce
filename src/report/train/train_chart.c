/* SPDX-License-Identifier: Apache-2.0 */
/* The histogram of peak memory. Order, names and colours of the parts are those of tt-train's analyze_memory.py. */
#include <math.h>
#include <stdio.h>

#include "base/format.h"
#include "base/utf8.h"
#include "report/train/train_report.h"

enum {
  LEFT = 92,
  RIGHT = 40,
  BOTTOM = 86,
  PLOT = 520,
  TITLE = 44,
  LEGEND_ROW = 24,
  LEGEND_COLUMNS = 3,
  LEGEND_WIDTH = 200,
  WIDE_SLOT = 260,
  NARROW_SLOT = 150,
  BARS_AT_FULL_WIDTH = 5,
  MOST_BARS = 100, /* a picture of more is none */
  NAME_LINES = 3,
  SMALLEST_INSIDE = 18, /* a lower part has its label beside the bar */
};

#define INK 0x222222u
#define PALE 0xdddddd
#define GREY 0x666666u
#define LIMIT 0xff0000u

typedef struct plot {
  ttm_canvas *c;
  const ttm_training *t;
  double top, slot, highest; /* highest is bytes at the upper edge */
} plot;

static size_t bars_of(const ttm_training *t) {
  size_t n = 0;
  for (size_t i = 0; i < t->results.n; i++) n += t->results.at[i].has_peak;
  return n < MOST_BARS ? n : MOST_BARS;
}

static double slot_of(size_t bars) { return bars <= BARS_AT_FULL_WIDTH ? WIDE_SLOT : NARROW_SLOT; }

static double top_of(const ttm_train_chart *chart) { return (chart->title ? TITLE : 16) + 3 * LEGEND_ROW + 12; }

static double positive(int64_t bytes) { return bytes > 0 ? (double)bytes : 0.0; }

static double height_of(const ttm_train_result *r) {
  double sum = 0;
  for (int i = 0; i < TTM_PARTS; i++) sum += positive(r->part[i]);
  return fmax(sum, fmax(positive(r->peak), positive(r->device_memory)));
}

static double y_of(const plot *p, double bytes) { return p->top + PLOT - bytes / p->highest * PLOT; }

static void put(plot *p, double x, double y, ttm_text_look look, const char *words) {
  p->c->text(p->c, x, y, look, ttm_str_of(words));
}

/* "12,288 MB" */
static void format_mb(char *out, size_t size, double bytes) {
  char room[TTM_COUNT_ROOM];
  snprintf(out, size, "%s MB", ttm_count_text(room, (uint64_t)llround(bytes / TTM_MB)));
}

/* ---- Frame --------------------------------------------------------------------------------------------------------- */

/* 1, 2, 2.5 or 5 times a power of ten, so that there are about six. */
static double step_of(double highest_mb) {
  static const double nice[] = {1, 2, 2.5, 5, 10};
  double power = pow(10, floor(log10(highest_mb / 6)));
  for (size_t i = 0; i < sizeof nice / sizeof *nice; i++) {
    if (nice[i] * power * 6 >= highest_mb) return nice[i] * power;
  }
  return 10 * power;
}

static void draw_axis(plot *p, double width) {
  double highest = p->highest / TTM_MB, step = step_of(highest);
  for (int i = 0; i * step <= highest; i++) {
    double mb = i * step, y = y_of(p, mb * TTM_MB);
    ttm_buf label = {0};
    if (step >= 1)
      ttm_put_count(&label, (uint64_t)llround(mb));
    else
      ttm_buf_printf(&label, "%g", mb);
    p->c->line(p->c, LEFT, y, width - RIGHT, y, (ttm_line_look){1, false, mb > 0 ? PALE : GREY});
    p->c->text(p->c, LEFT - 8, y + 4, (ttm_text_look){12, false, TTM_ANCHOR_END, GREY}, ttm_buf_str(&label));
    ttm_buf_free(&label);
  }
  put(p, 12, p->top - 14, (ttm_text_look){12, true, TTM_ANCHOR_START, INK}, "Memory (MB)");
}

/* In the order of the stack, and the line last. */
static void draw_legend(plot *p, double width, double top) {
  double left = (width - LEGEND_COLUMNS * LEGEND_WIDTH) / 2;
  if (left < 16) left = 16;
  for (int i = 0; i <= TTM_PARTS; i++) {
    int row = i / LEGEND_COLUMNS;
    double x = left + i % LEGEND_COLUMNS * LEGEND_WIDTH, y = top + row * LEGEND_ROW;
    if (i < TTM_PARTS)
      p->c->rect(p->c, x, y, 22, 13, ttm_train_part_looks[i].rgb);
    else
      p->c->line(p->c, x, y + 6.5, x + 22, y + 6.5, (ttm_line_look){2, true, LIMIT});
    put(p, x + 30, y + 11, (ttm_text_look){13, false, TTM_ANCHOR_START, INK},
        i < TTM_PARTS ? ttm_train_part_looks[i].name : "Device Memory Limit");
  }
}

/* ---- Bars ---------------------------------------------------------------------------------------------------------- */

static void draw_stack(plot *p, const ttm_train_result *r, double middle, double bar) {
  double bottom = 0, free_below = y_of(p, 0) - 4;
  for (int i = 0; i < TTM_PARTS; i++) {
    double size = positive(r->part[i]);
    if (size <= 0) continue;
    double y = y_of(p, bottom + size), h = y_of(p, bottom) - y;
    char label[48];
    p->c->rect(p->c, middle - bar / 2, y, bar, h > 1.5 ? h - 1 : h, ttm_train_part_looks[i].rgb);
    format_mb(label, sizeof label, size);
    if (h >= SMALLEST_INSIDE) {
      put(p, middle, y + h / 2 + 4, (ttm_text_look){12, true, TTM_ANCHOR_MIDDLE, INK}, label);
    } else { /* beside the bar, and never two of them on each other */
      double at = fmin(y + h / 2 + 4, free_below);
      put(p, middle + bar / 2 + 5, at, (ttm_text_look){11, false, TTM_ANCHOR_START, INK}, label);
      free_below = at - 13;
    }
    bottom += size;
  }
}

static void draw_total(plot *p, const ttm_train_result *r, double middle) {
  double sum = 0;
  char label[64], size[48];
  for (int i = 0; i < TTM_PARTS; i++) sum += positive(r->part[i]);
  double y = y_of(p, fmax(sum, positive(r->peak)));
  format_mb(size, sizeof size, positive(r->peak));
  snprintf(label, sizeof label, "Total: %s", size);
  put(p, middle, y - 22, (ttm_text_look){13, true, TTM_ANCHOR_MIDDLE, INK}, label);
  if (r->fits) {
    snprintf(label, sizeof label, "fits, %.1f %%", ttm_percent(positive(r->peak), positive(r->device_memory)));
  } else {
    format_mb(size, sizeof size, positive(r->peak) - positive(r->device_memory));
    snprintf(label, sizeof label, "short by %s", size);
  }
  put(p, middle, y - 7, (ttm_text_look){11, !r->fits, TTM_ANCHOR_MIDDLE, r->fits ? GREY : 0xc00000u}, label);
}

/* One line through all bars as long as the limit is the same; it is labelled where it begins. */
static void draw_limit(plot *p, const ttm_train_result *r, double left, bool goes_on) {
  double y = y_of(p, positive(r->device_memory));
  char label[48];
  p->c->line(p->c, left, y, left + p->slot, y, (ttm_line_look){2, true, LIMIT});
  if (goes_on) return;
  format_mb(label, sizeof label, positive(r->device_memory));
  put(p, left + 2, y - 5, (ttm_text_look){11, false, TTM_ANCHOR_START, 0xc00000u}, label);
}

/* Broken at blanks where they are, into at most three lines; the rest is left out with dots. */
static void draw_name(plot *p, size_t result, double middle) {
  size_t columns = (size_t)(p->slot / 7.5);
  ttm_buf name = {0}, line = {0};
  ttm_train_put_name(&name, p->t, result);
  ttm_str rest = ttm_buf_str(&name);
  for (int i = 0; i < NAME_LINES && rest.n; i++) {
    size_t n = rest.n;
    if (ttm_text_columns(rest) > columns && i + 1 < NAME_LINES) {
      n = ttm_utf8_head(rest, columns).n;
      for (size_t blank = n; blank > columns / 2; blank--) {
        if (rest.p[blank - 1] != ' ') continue;
        n = blank;
        break;
      }
    }
    ttm_buf_clear(&line);
    ttm_put_text(&line, ttm_str_trim(ttm_str_first(rest, n)), columns, TTM_FORM_UTF8);
    p->c->text(p->c, middle, p->top + PLOT + 24 + i * 17, (ttm_text_look){12, true, TTM_ANCHOR_MIDDLE, INK},
               ttm_buf_str(&line));
    rest = ttm_str_from(rest, n);
  }
  p->c->failed |= name.failed || line.failed;
  ttm_buf_free(&line);
  ttm_buf_free(&name);
}

/* ---- Picture ------------------------------------------------------------------------------------------------------- */

static double width_of(const ttm_train_chart *chart) {
  size_t bars = bars_of(chart->training);
  double width = LEFT + RIGHT + slot_of(bars) * (double)bars;
  double legend = LEGEND_COLUMNS * LEGEND_WIDTH + 32;
  return width > legend ? width : legend;
}

static void draw(ttm_canvas *canvas, const void *subject) {
  const ttm_train_chart *chart = subject;
  const ttm_training *t = chart->training;
  double width = width_of(chart), highest = 1;
  size_t bars = bars_of(t);
  for (size_t i = 0; i < t->results.n; i++) {
    if (t->results.at[i].has_peak) highest = fmax(highest, height_of(&t->results.at[i]));
  }
  plot p = {canvas, t, top_of(chart), slot_of(bars), highest * 1.1};
  canvas->rect(canvas, 0, 0, width, p.top + PLOT + BOTTOM, 0xffffff);
  if (chart->title) put(&p, width / 2, 30, (ttm_text_look){18, true, TTM_ANCHOR_MIDDLE, INK}, chart->title);
  draw_legend(&p, width, chart->title ? TITLE : 16);
  draw_axis(&p, width);
  double left = LEFT + (width - LEFT - RIGHT - p.slot * (double)bars) / 2;
  int64_t limit = 0;
  for (size_t i = 0, bar = 0; i < t->results.n && bar < bars; i++) {
    const ttm_train_result *r = &t->results.at[i];
    if (!r->has_peak) continue;
    double middle = left + p.slot / 2;
    draw_stack(&p, r, middle, p.slot * 0.5);
    draw_limit(&p, r, left, r->device_memory == limit);
    limit = r->device_memory;
    draw_total(&p, r, middle);
    draw_name(&p, i, middle);
    left += p.slot;
    bar++;
  }
}

ttm_picture ttm_train_picture(const ttm_train_chart *chart) {
  ttm_str title = chart->title ? ttm_str_of(chart->title) : TTM_LIT("Peak memory of a training run");
  return (ttm_picture){width_of(chart), top_of(chart) + PLOT + BOTTOM, title, draw, chart};
}
