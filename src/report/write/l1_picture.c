/* SPDX-License-Identifier: Apache-2.0 */
#include "report/write/l1_picture.h"

#include "base/format.h"

enum { ADDRESS = 12, LANE = 13, LEAST_COLUMNS = 72 };

typedef struct pen {
  const ttm_l1_map *map;
  const ttm_picture_style *style;
  ttm_buf *out;
  size_t columns;
} pen;

static void color(pen *p, const char *code) {
  if (p->style->color) ttm_buf_printf(p->out, "\x1b[%sm", code);
}

static void repeat(pen *p, const char *utf8, const char *ascii, size_t n) {
  for (size_t i = 0; i < n; i++) ttm_buf_puts(p->out, p->style->utf8 ? utf8 : ascii);
}

static void put_one(pen *p, const char *utf8, const char *ascii) { repeat(p, utf8, ascii, 1); }

/* The number in the margin; blanks when `show` is false. */
static void put_address(pen *p, uint64_t address, bool show) {
  char room[TTM_COUNT_ROOM];
  ttm_buf_printf(p->out, "%*.*s ", ADDRESS, ADDRESS, show ? ttm_count_text(room, address) : "");
}

/* A line of the box with what stands beside it. */
static void put_rule(pen *p, uint64_t address, const char *utf8[3], const char *words) {
  put_address(p, address, true);
  put_one(p, utf8[0], "+");
  repeat(p, "─", "-", LANE);
  put_one(p, utf8[1], "+");
  repeat(p, "─", "-", LANE);
  put_one(p, utf8[2], "+");
  if (*words) ttm_buf_printf(p->out, " %s", words);
  ttm_buf_char(p->out, '\n');
}

/* Neighbours differ, so that each can be told from the next. */
static void put_lane(pen *p, const ttm_slice *s, bool buffers) {
  size_t which = buffers ? s->buffer : s->tensor;
  bool odd = which != TTM_NO_REGION && which % 2;
  bool clash = s->kind == TTM_SLICE_BOTH || (s->kind == TTM_SLICE_BEYOND && buffers);
  bool full = buffers ? s->kind == TTM_SLICE_BUFFER : s->kind == TTM_SLICE_TENSOR || s->kind == TTM_SLICE_SMALL;
  if (!clash && !full) {
    repeat(p, " ", " ", LANE);
    return;
  }
  color(p, clash ? "31" : buffers ? "36" : "33");
  if (clash)
    repeat(p, "╳", "X", LANE);
  else if (buffers)
    repeat(p, odd ? "▓" : "█", odd ? "%" : "#", LANE);
  else
    repeat(p, odd ? "░" : "▒", odd ? ":" : "=", LANE);
  color(p, "0");
}

static void put_reserved(pen *p) {
  color(p, "2");
  repeat(p, "·", ".", 2 * LANE + 1);
  color(p, "0");
}

static void put_slice(pen *p, const ttm_slice *s) {
  ttm_buf label = {0};
  ttm_slice_label(p->map, s, &label);
  for (unsigned line = 0; line < s->lines; line++) {
    put_address(p, s->at, line + 1 == s->lines && s->at != p->map->base && s->at != 0 && s->at != p->map->size);
    put_one(p, "│", "|");
    if (s->kind == TTM_SLICE_RESERVED) {
      put_reserved(p);
    } else {
      put_lane(p, s, true);
      put_one(p, "│", "|");
      put_lane(p, s, false);
    }
    put_one(p, "│", "|");
    if (line == s->lines / 2) {
      bool alarm = s->kind == TTM_SLICE_BOTH || s->kind == TTM_SLICE_BEYOND;
      ttm_buf_char(p->out, ' ');
      if (alarm) color(p, "1;31");
      ttm_put_text(p->out, ttm_buf_str(&label), p->columns - ADDRESS - 2 * LANE - 6,
                   p->style->utf8 ? TTM_FORM_UTF8 : TTM_FORM_ASCII);
      if (alarm) color(p, "0");
    }
    ttm_buf_char(p->out, '\n');
  }
  if (label.failed) p->out->failed = true;
  ttm_buf_free(&label);
}

static const char *lane_heads(const pen *p) {
  if (p->style->utf8) return p->map->dataflow ? "  DFBs ↑        tensors ↓" : "  CBs ↑         tensors ↓";
  return p->map->dataflow ? "  DFBs ^        tensors v" : "  CBs ^         tensors v";
}

int ttm_l1_picture_text(const ttm_l1_map *map, const ttm_picture_style *style, ttm_buf *out) {
  static const char *const top[] = {"┌", "┬", "┐"}, *const middle[] = {"├", "┼", "┤"}, *const base[] = {"├", "┴", "┤"},
                           *const bottom[] = {"└", "─", "┘"};
  pen p = {map, style, out, style->columns < LEAST_COLUMNS ? LEAST_COLUMNS : style->columns};
  ttm_slices slices;
  int status = ttm_slices_make(map, &slices);
  repeat(&p, " ", " ", ADDRESS + 1);
  ttm_buf_printf(out, "%s\n", lane_heads(&p));
  for (size_t i = 0; !status && i < slices.n; i++) {
    const ttm_slice *s = &slices.at[i];
    if (!i) put_rule(&p, s->end, (const char **)top, s->end == map->size ? "end of L1" : "end of the buffers");
    if (i && s->end == map->size) put_rule(&p, s->end, (const char **)middle, "end of L1");
    if (i && s->end == map->base && map->base != map->size)
      put_rule(&p, s->end, (const char **)base, map->base_basis == TTM_ESTIMATED ? "base (assumed)" : "base");
    put_slice(&p, s);
  }
  if (!status) put_rule(&p, 0, (const char **)bottom, "");
  ttm_vec_free(&slices);
  return status || out->failed ? TTM_ENOMEM : TTM_OK;
}
