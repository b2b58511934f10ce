/* SPDX-License-Identifier: Apache-2.0 */
#include "base/format.h"
#include "report/write/l1_picture.h"
#include "report/write/svg.h"

enum {
  WIDTH = 680,
  LEFT = 104, /* of the lanes; addresses stand before it */
  LANE = 140,
  LABEL = LEFT + 2 * LANE + 14,
  TOP = 52,
  LINE = 22, /* height of a line of the picture */
};

/* Told apart also by colour-blind eyes (Okabe and Ito) and on paper: an overlap is hatched. */
#define INK "#1a1a1a"
#define FAINT "#6b6b6b"
#define ALARM "#b34400"

static const char *paint_of(const ttm_slice *s, bool buffers) {
  size_t which = buffers ? s->buffer : s->tensor;
  bool odd = which != TTM_NO_REGION && which % 2;
  if (s->kind == TTM_SLICE_BOTH || (s->kind == TTM_SLICE_BEYOND && buffers)) return "url(#both)";
  if (buffers) return s->kind == TTM_SLICE_BUFFER ? (odd ? "#56b4e9" : "#0072b2") : NULL;
  if (s->kind == TTM_SLICE_SMALL) return "#cc79a7";
  return s->kind == TTM_SLICE_TENSOR ? (odd ? "#f3cf7a" : "#e69f00") : NULL;
}

static void put_address(ttm_buf *out, double y, uint64_t address) {
  char room[TTM_COUNT_ROOM];
  ttm_svg_text(out, LEFT - 8, y + 4, TTM_SVG_END, FAINT, false, ttm_str_of(ttm_count_text(room, address)));
  ttm_svg_line(out, LEFT - 5, y, LEFT, y, FAINT);
}

static void put_slice(ttm_buf *out, const ttm_l1_map *map, const ttm_slice *s, double y) {
  ttm_buf label = {0};
  double height = (double)s->lines * LINE;
  bool alarm = s->kind == TTM_SLICE_BOTH || s->kind == TTM_SLICE_BEYOND;
  if (s->kind == TTM_SLICE_RESERVED) {
    ttm_svg_rect(out, LEFT, y, 2 * LANE, height, "#bdbdbd");
  } else {
    for (int lane = 0; lane < 2; lane++) {
      const char *paint = paint_of(s, lane == 0);
      if (paint) ttm_svg_rect(out, LEFT + lane * LANE + 1, y + 0.5, LANE - 2, height - 1, paint);
    }
  }
  ttm_slice_label(map, s, &label);
  ttm_svg_text(out, LABEL, y + height / 2 + 4, TTM_SVG_START, alarm ? ALARM : INK, alarm, ttm_buf_str(&label));
  put_address(out, y + height, s->at);
  if (label.failed) out->failed = true;
  ttm_buf_free(&label);
}

static void put_heads(ttm_buf *out, const ttm_l1_map *map, ttm_str title) {
  ttm_svg_hatch(out, "both");
  ttm_svg_rect(out, 0, 0, WIDTH, 4096, "#ffffff");
  ttm_svg_text(out, LEFT, 20, TTM_SVG_START, INK, true, title);
  ttm_svg_text(out, LEFT + LANE / 2.0, TOP - 10, TTM_SVG_MIDDLE, INK, false,
               map->dataflow ? TTM_LIT("dataflow buffers ↑") : TTM_LIT("circular buffers ↑"));
  ttm_svg_text(out, LEFT + LANE + LANE / 2.0, TOP - 10, TTM_SVG_MIDDLE, INK, false, TTM_LIT("L1 tensors ↓"));
}

static void put_marks(ttm_buf *out, const ttm_l1_map *map, const ttm_slice *s, double y) {
  if (s->end != map->size && s->end != map->base) return;
  ttm_svg_line(out, LEFT, y, LEFT + 2 * LANE, y, INK);
}

int ttm_l1_picture_svg(const ttm_l1_map *map, ttm_buf *out) {
  ttm_slices slices;
  ttm_buf title = {0};
  unsigned lines = 0;
  double y = TOP, base_y = TOP;
  int status = ttm_slices_make(map, &slices);
  for (size_t i = 0; i < slices.n; i++) lines += slices.at[i].lines;
  ttm_buf_printf(&title, "L1 of one core, %s", ttm_l1_chip(map));
  ttm_svg_begin(out, WIDTH, TOP + lines * LINE + 16, ttm_buf_str(&title));
  put_heads(out, map, ttm_buf_str(&title));
  if (slices.n) put_address(out, y, slices.at[0].end);
  for (size_t i = 0; i < slices.n; i++) {
    put_slice(out, map, &slices.at[i], y);
    put_marks(out, map, &slices.at[i], y);
    y += (double)slices.at[i].lines * LINE;
    if (slices.at[i].kind != TTM_SLICE_RESERVED) base_y = y;
  }
  for (int x = 0; x < 3; x += 2) ttm_svg_line(out, LEFT + x * LANE, TOP, LEFT + x * LANE, y, INK);
  ttm_svg_line(out, LEFT + LANE, TOP, LEFT + LANE, base_y, INK);
  ttm_svg_line(out, LEFT, TOP, LEFT + 2 * LANE, TOP, INK);
  ttm_svg_line(out, LEFT, y, LEFT + 2 * LANE, y, INK);
  ttm_svg_end(out);
  if (title.failed) out->failed = true;
  ttm_buf_free(&title);
  ttm_vec_free(&slices);
  return status || out->failed ? TTM_ENOMEM : TTM_OK;
}
