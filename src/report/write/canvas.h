/* SPDX-License-Identifier: Apache-2.0 */
/* What a picture is drawn with: rectangles, lines and texts, on SVG or on PNG. Coordinates in pixels from the upper left. */
#ifndef TTM_REPORT_CANVAS_H
#define TTM_REPORT_CANVAS_H

#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

typedef enum ttm_anchor { TTM_ANCHOR_START, TTM_ANCHOR_MIDDLE, TTM_ANCHOR_END } ttm_anchor;

typedef struct ttm_text_look {
  double size; /* height of the letters' box */
  bool bold;
  ttm_anchor anchor; /* where (x, y) is on the base line */
  uint32_t rgb;
} ttm_text_look;

typedef struct ttm_line_look {
  double width;
  bool dashed;
  uint32_t rgb;
} ttm_line_look;

typedef struct ttm_canvas ttm_canvas;
struct ttm_canvas {
  void (*rect)(ttm_canvas *c, double x, double y, double w, double h, uint32_t rgb);
  void (*line)(ttm_canvas *c, double x1, double y1, double x2, double y2, ttm_line_look look);
  /* The text may hold anything; what cannot be shown is replaced. */
  void (*text)(ttm_canvas *c, double x, double y, ttm_text_look look, ttm_str text);
  bool failed; /* there was no memory for something of the picture: set by who draws, and by the canvas */
};

/* A picture is drawn twice or more: once per form. Must not depend on the canvas. */
typedef void ttm_draw(ttm_canvas *canvas, const void *subject);
typedef struct ttm_picture {
  double width, height;
  ttm_str title; /* what it is called when it cannot be seen */
  ttm_draw *draw;
  const void *subject;
} ttm_picture;

/* A whole SVG document; needs nothing from outside. 0 or TTM_ENOMEM. */
int ttm_picture_svg(const ttm_picture *picture, ttm_buf *out);

/* A PNG file, appended to `out`. Needs libcairo.so.2 when it runs (found by name, so that no other command needs it): TTM_EIO
 * with what to install when it is missing. Twice the pixels of the picture's size. */
int ttm_picture_png(const ttm_picture *picture, ttm_buf *out, ttm_error *err);

#endif
