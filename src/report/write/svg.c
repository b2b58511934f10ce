/* SPDX-License-Identifier: Apache-2.0 */
#include "report/write/svg.h"

#include <stdio.h>

#include "base/format.h"
#include "report/write/canvas.h"

static const char *escape(char c) {
  return c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : c == '\'' ? "&#39;" : NULL;
}

void ttm_xml_text(ttm_buf *out, ttm_str text, size_t columns) {
  ttm_buf safe = {0};
  ttm_put_text(&safe, text, columns, TTM_FORM_UTF8);
  for (size_t i = 0; i < safe.n; i++) {
    const char *escaped = escape(safe.at[i]);
    escaped ? ttm_buf_puts(out, escaped) : ttm_buf_char(out, safe.at[i]);
  }
  out->failed |= safe.failed;
  ttm_buf_free(&safe);
}

static const char *const anchors[] = {"start", "middle", "end"};

void ttm_svg_begin(ttm_buf *out, unsigned width, unsigned height, ttm_str title) {
  ttm_buf_printf(
      out,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %u %u\" width=\"%u\" height=\"%u\" role=\"img\" "
      "font-family=\"system-ui, sans-serif\" font-size=\"13\">\n<title>",
      width, height, width, height);
  ttm_xml_text(out, title, 200);
  ttm_buf_puts(out, "</title>\n");
}

void ttm_svg_end(ttm_buf *out) { ttm_buf_puts(out, "</svg>\n"); }

void ttm_svg_rect(ttm_buf *out, double x, double y, double w, double h, const char *paint) {
  ttm_buf_printf(out, "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" fill=\"%s\"/>\n", x, y, w, h, paint);
}

void ttm_svg_line(ttm_buf *out, double x1, double y1, double x2, double y2, const char *paint) {
  ttm_buf_printf(out, "<path d=\"M%g %gL%g %g\" stroke=\"%s\"/>\n", x1, y1, x2, y2, paint);
}

void ttm_svg_text(ttm_buf *out, double x, double y, ttm_svg_anchor anchor, const char *paint, bool bold, ttm_str text) {
  ttm_buf_printf(out, "<text x=\"%g\" y=\"%g\" text-anchor=\"%s\" fill=\"%s\"%s>", x, y, anchors[anchor], paint,
                 bold ? " font-weight=\"bold\"" : "");
  ttm_xml_text(out, text, 80);
  ttm_buf_puts(out, "</text>\n");
}

void ttm_svg_hatch(ttm_buf *out, const char *id) {
  ttm_buf_printf(out,
                 "<defs><pattern id=\"%s\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\" "
                 "patternTransform=\"rotate(45)\"><rect width=\"8\" height=\"8\" fill=\"#ffd9c2\"/><rect width=\"4\" "
                 "height=\"8\" fill=\"#d55e00\"/></pattern></defs>\n",
                 id);
}

/* ---- As a canvas ------------------------------------------------------------------------------------------------------- */

typedef struct svg {
  ttm_canvas canvas;
  ttm_buf *out;
} svg;

static ttm_buf *out_of(ttm_canvas *c) { return ((svg *)c)->out; }

static void rect(ttm_canvas *c, double x, double y, double w, double h, uint32_t rgb) {
  char paint[16];
  snprintf(paint, sizeof paint, "#%06x", (unsigned)(rgb & 0xffffff));
  ttm_svg_rect(out_of(c), x, y, w, h, paint);
}

static void line(ttm_canvas *c, double x1, double y1, double x2, double y2, ttm_line_look look) {
  ttm_buf_printf(out_of(c), "<path d=\"M%g %gL%g %g\" stroke=\"#%06x\" stroke-width=\"%g\"%s/>\n", x1, y1, x2, y2,
                 (unsigned)look.rgb, look.width, look.dashed ? " stroke-dasharray=\"8 5\"" : "");
}

static void text(ttm_canvas *c, double x, double y, ttm_text_look look, ttm_str words) {
  ttm_buf *out = out_of(c);
  ttm_buf_printf(out, "<text x=\"%g\" y=\"%g\" font-size=\"%g\" text-anchor=\"%s\" fill=\"#%06x\"%s>", x, y, look.size,
                 anchors[look.anchor], (unsigned)look.rgb, look.bold ? " font-weight=\"bold\"" : "");
  ttm_xml_text(out, words, SIZE_MAX);
  ttm_buf_puts(out, "</text>\n");
}

int ttm_picture_svg(const ttm_picture *picture, ttm_buf *out) {
  svg s = {{rect, line, text, false}, out};
  ttm_svg_begin(out, (unsigned)picture->width, (unsigned)picture->height, picture->title);
  picture->draw(&s.canvas, picture->subject);
  ttm_svg_end(out);
  return s.canvas.failed || out->failed ? TTM_ENOMEM : TTM_OK;
}
