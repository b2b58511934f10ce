/* SPDX-License-Identifier: Apache-2.0 */
#include "report/write/svg.h"

#include "base/format.h"

void ttm_xml_text(ttm_buf *out, ttm_str text, size_t columns) {
  ttm_buf safe = {0};
  ttm_put_text(&safe, text, columns, TTM_FORM_UTF8);
  for (size_t i = 0; i < safe.n; i++) {
    switch (safe.at[i]) {
      case '&':
        ttm_buf_puts(out, "&amp;");
        break;
      case '<':
        ttm_buf_puts(out, "&lt;");
        break;
      case '>':
        ttm_buf_puts(out, "&gt;");
        break;
      case '"':
        ttm_buf_puts(out, "&quot;");
        break;
      case '\'':
        ttm_buf_puts(out, "&#39;");
        break;
      default:
        ttm_buf_char(out, safe.at[i]);
    }
  }
  if (safe.failed) out->failed = true;
  ttm_buf_free(&safe);
}

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
  static const char *const anchors[] = {"start", "middle", "end"};
  ttm_buf_printf(out, "<text x=\"%g\" y=\"%g\" text-anchor=\"%s\" fill=\"%s\"%s>", x, y, anchors[anchor], paint,
                 bold ? " font-weight=\"bold\"" : "");
  ttm_xml_text(out, text, 80);
  ttm_buf_puts(out, "</text>\n");
}
