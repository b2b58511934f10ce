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

/* ---- Parts: the map cut where anything starts or ends, top first, with heights in lines ------------------------------- */

#define TTM_NO_REGION SIZE_MAX

typedef enum ttm_slice_kind {
  TTM_SLICE_FREE,
  TTM_SLICE_BUFFER,
  TTM_SLICE_TENSOR,
  TTM_SLICE_BOTH,   /* claimed twice */
  TTM_SLICE_BEYOND, /* a buffer where there is no L1 any more */
  TTM_SLICE_SMALL,
  TTM_SLICE_RESERVED,
} ttm_slice_kind;

typedef struct ttm_slice {
  ttm_slice_kind kind;
  uint64_t at, end;
  size_t buffer, tensor; /* index in the map, or TTM_NO_REGION */
  unsigned lines;
} ttm_slice;

typedef TTM_VEC(ttm_slice) ttm_slices;

/* 0 or TTM_ENOMEM; freed with ttm_vec_free in any case. */
int ttm_slices_make(const ttm_l1_map *map, ttm_slices *out);

/* What a slice holds, in words: "cb0  16,384 B". Plain text, foreign names not made harmless yet. */
void ttm_slice_label(const ttm_l1_map *map, const ttm_slice *slice, ttm_buf *out);

/* "Wormhole", or "L1" when the chip is not known. */
const char *ttm_l1_chip(const ttm_l1_map *map);

#endif
