/* SPDX-License-Identifier: Apache-2.0 */
/* Between the two pictures of L1: the map cut where anything starts or ends, top first, with heights in lines. */
#ifndef TTM_REPORT_L1_PARTS_H
#define TTM_REPORT_L1_PARTS_H

#include "base/buf.h"
#include "l1/map.h"

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

typedef struct ttm_slices {
  TTM_VEC(ttm_slice) all;
  bool more; /* neighbouring small regions share a slice: the map has too many to show each */
} ttm_slices;

/* 0 or TTM_ENOMEM; freed with ttm_vec_free(&out->all) in any case. */
int ttm_slices_make(const ttm_l1_map *map, ttm_slices *out);

/* What a slice holds, in words: "cb0  16,384 B". Plain text, foreign names not made harmless yet. */
void ttm_slice_label(const ttm_l1_map *map, const ttm_slice *slice, ttm_buf *out);

/* "Wormhole", or "L1" when the chip is not known. */
const char *ttm_l1_chip(const ttm_l1_map *map);

#endif
