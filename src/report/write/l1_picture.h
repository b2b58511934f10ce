/* SPDX-License-Identifier: Apache-2.0 */
/* One core's L1 drawn: for a terminal and as SVG. The high addresses are on top, so that tensors hang down from there and buffers stand
 * on the base, each in its own lane: where both lanes are full, both claim the memory. Heights follow the sizes, but nothing is lower
 * than a line. */
#ifndef TTM_REPORT_L1_PICTURE_H
#define TTM_REPORT_L1_PICTURE_H

#include "base/buf.h"
#include "l1/map.h"

typedef struct ttm_picture_style {
  unsigned columns; /* less than 72 counts as 72 */
  bool color;
  bool utf8;
} ttm_picture_style;

/* Appends lines for a terminal. 0 or TTM_ENOMEM. */
int ttm_l1_picture_text(const ttm_l1_map *map, const ttm_picture_style *style, ttm_buf *out);

/* Appends one <svg> element that stands by itself: a file, or a part of a page. 0 or TTM_ENOMEM. */
int ttm_l1_picture_svg(const ttm_l1_map *map, ttm_buf *out);

#endif
