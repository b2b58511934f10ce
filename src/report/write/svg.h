/* SPDX-License-Identifier: Apache-2.0 */
/* Small pieces of SVG. Whatever the texts hold, the output is well-formed XML and draws nothing but text. */
#ifndef TTM_REPORT_SVG_H
#define TTM_REPORT_SVG_H

#include "base/buf.h"

/* Text for an element's content or an attribute, in XML and HTML alike: & < > " ' escaped, control characters '?', broken UTF-8
 * U+FFFD. A text longer than `columns` loses its middle. */
void ttm_xml_text(ttm_buf *out, ttm_str text, size_t columns);

void ttm_svg_begin(ttm_buf *out, unsigned width, unsigned height, ttm_str title);
void ttm_svg_end(ttm_buf *out);

/* `paint` is a colour or "url(#id)"; it must be ours. */
void ttm_svg_rect(ttm_buf *out, double x, double y, double w, double h, const char *paint);
void ttm_svg_line(ttm_buf *out, double x1, double y1, double x2, double y2, const char *paint);

/* The paint "url(#id)" of what is claimed twice. */
void ttm_svg_hatch(ttm_buf *out, const char *id);

typedef enum ttm_svg_anchor { TTM_SVG_START, TTM_SVG_MIDDLE, TTM_SVG_END } ttm_svg_anchor;
void ttm_svg_text(ttm_buf *out, double x, double y, ttm_svg_anchor anchor, const char *paint, bool bold, ttm_str text);

#endif
