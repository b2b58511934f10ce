/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "report/write/canvas.h"
#include "report/write/svg.h"

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
  static const char *const anchors[] = {"start", "middle", "end"};
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
