/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/chart.h"

#include <math.h>

#include "base/format.h"

enum { DOTS = 250 };

typedef struct chart {
  const ttm_past *past;
  const ttm_series *s;
  int memory;
  double low, high; /* bytes */
} chart;

static const ttm_past_peak *peak_at(const chart *c, size_t i) {
  return &ttm_series_run(c->past, c->s, i)->peak[c->memory];
}

static double x_of(const chart *c, size_t i) {
  return c->s->runs < 2 ? 500 : (double)i * 1000 / (double)(c->s->runs - 1);
}

static double y_of(const chart *c, double bytes) { return 100 - (bytes - c->low) * 100 / (c->high - c->low); }

/* The range of the peaks, at least 2 % of them, so that noise looks like noise; with the capacity where that is near. False without any peak. */
static bool set_range(chart *c) {
  double low = INFINITY, high = 0, capacity = 0;
  for (size_t i = 0; i < c->s->runs; i++) {
    const ttm_past_peak *peak = peak_at(c, i);
    if (!peak->known) continue;
    low = fmin(low, (double)peak->bytes), high = fmax(high, (double)peak->bytes), capacity = (double)peak->capacity;
  }
  if (!isfinite(low)) return false;
  double room = fmax((high - low) / 10, fmax(high / 100, 1));
  if (capacity > high && capacity < high + 5 * room) high = capacity;
  c->low = fmax(low - room, 0), c->high = high + room;
  return true;
}

static void put_line(ttm_buf *out, const chart *c) {
  bool drawn = false;
  ttm_buf_puts(out, "<path d=\"");
  for (size_t i = 0; i < c->s->runs; i++) {
    if (!peak_at(c, i)->known) continue;
    ttm_buf_printf(out, "%s%.1f %.1f", drawn ? "L" : "M", x_of(c, i), y_of(c, (double)peak_at(c, i)->bytes));
    drawn = true;
  }
  ttm_buf_puts(out, "\"/>");
}

/* A dot is a line of no length with round ends: it stays round however wide the picture is. Those of failed runs show in any case. */
static void put_dots(ttm_buf *out, const chart *c) {
  for (size_t i = 0; i < c->s->runs; i++) {
    const ttm_past_run *run = ttm_series_run(c->past, c->s, i);
    if (!peak_at(c, i)->known || (!run->failures && c->s->runs > DOTS)) continue;
    ttm_buf_printf(out, "<path class=\"dot%s\" d=\"M%.1f %.1fh0\"><title>%s, ", run->failures ? " failed" : "",
                   x_of(c, i), y_of(c, (double)peak_at(c, i)->bytes), TTM_DAY(run->time_us));
    ttm_put_mb(out, ttm_mib((uint64_t)peak_at(c, i)->bytes));
    ttm_buf_puts(out, " MB</title></path>");
  }
}

static void put_marks(ttm_buf *out, const chart *c) {
  const ttm_steps *steps = &c->s->steps[c->memory];
  double capacity = (double)peak_at(c, c->s->runs - 1)->capacity;
  for (size_t i = 0; i < steps->n; i++) {
    if (!steps->at[i].at) continue;
    double x = (x_of(c, steps->at[i].at) + x_of(c, steps->at[i].at - 1)) / 2;
    ttm_buf_printf(out, "<path class=\"step\" d=\"M%.1f 0V100\"><title>step</title></path>", x);
  }
  if (capacity > c->low && capacity < c->high)
    ttm_buf_printf(out, "<path class=\"full\" d=\"M0 %.1fH1000\"><title>capacity</title></path>", y_of(c, capacity));
}

static void put_picture(ttm_buf *out, const chart *c, bool small) {
  ttm_buf_printf(
      out,
      "<svg viewBox=\"0 0 1000 100\" preserveAspectRatio=\"none\" role=\"img\"%s aria-label=\"%s peaks of the last ",
      small ? " class=\"spark\"" : "", ttm_past_memory(c->memory));
  ttm_put_counted(out, c->s->runs, "run");
  ttm_buf_puts(out, "\">");
  put_line(out, c);
  if (!small) put_dots(out, c), put_marks(out, c);
  ttm_buf_puts(out, "</svg>\n");
}

void ttm_put_chart(ttm_buf *out, const ttm_past *past, const ttm_series *s, int memory) {
  chart c = {.past = past, .s = s, .memory = memory};
  if (!set_range(&c)) return;
  const ttm_past_peak *last = peak_at(&c, s->runs - 1);
  ttm_buf_printf(out, "<figure><figcaption>%s peak, MB%s", ttm_past_memory(memory), ttm_series_per(s));
  if (last->capacity) ttm_buf_puts(out, "; capacity "), ttm_put_mb(out, ttm_mib((uint64_t)last->capacity));
  ttm_buf_puts(out, "</figcaption><div class=\"plot\"><div><span>");
  ttm_put_mb(out, c.high / TTM_MB);
  ttm_buf_puts(out, "</span><span>");
  ttm_put_mb(out, c.low / TTM_MB);
  ttm_buf_puts(out, "</span></div>");
  put_picture(out, &c, false);
  ttm_buf_printf(out, "</div><div class=\"ends\"><span>%s</span>", TTM_DAY(ttm_series_run(past, s, 0)->time_us));
  ttm_buf_printf(out, "<span>%s</span></div></figure>\n", TTM_DAY(ttm_series_run(past, s, s->runs - 1)->time_us));
}

void ttm_put_spark(ttm_buf *out, const ttm_past *past, const ttm_series *s) {
  chart c = {.past = past, .s = s};
  if (set_range(&c)) put_picture(out, &c, true);
}
