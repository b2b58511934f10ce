/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes at the DRAM peak that hold no information: padding, upcast weights, weights there twice, narrow rows. */
#ifndef TTM_ANALYZE_WASTE_H
#define TTM_ANALYZE_WASTE_H

#include "profile/profile.h"

typedef enum ttm_waste_kind {
  TTM_WASTE_UPCAST,  /* a bf16 weight stored as f32 */
  TTM_WASTE_TWICE,   /* several forms of one weight alive together */
  TTM_WASTE_PADDING, /* tiles that are mostly padding */
  TTM_WASTE_NARROW,  /* row-major rows far shorter than the alignment */
  TTM_WASTE_KINDS
} ttm_waste_kind;

/* "f32_copy", "weight_twice", "tile_padding", "narrow_rows". */
const char *ttm_waste_name(ttm_waste_kind kind);

typedef struct ttm_waste {
  ttm_waste_kind kind;
  uint32_t row;        /* in the live set of DRAM: the largest of those that are alike */
  uint32_t rows;       /* the same tensor of every layer: of its group */
  uint64_t bank_bytes; /* per bank at the peak that they would not need */
  ttm_dims
      better; /* TTM_WASTE_PADDING, TTM_WASTE_NARROW: in which they take that much less; rank 0 when no reshape helps */
  uint64_t row_major; /* TTM_WASTE_PADDING: per bank, what they take less in ROW_MAJOR layout; 0 when that is no less */
} ttm_waste;

enum { TTM_WASTES = 16 };

typedef struct ttm_wastes {
  bool known;               /* as the live set is */
  ttm_waste at[TTM_WASTES]; /* largest first */
  size_t n;
  uint64_t bank_bytes[TTM_WASTE_KINDS]; /* of each kind, also of those that are not in the list */
  uint32_t count[TTM_WASTE_KINDS];
} ttm_wastes;

struct ttm_findings;

struct ttm_alive_row;

/* Bytes per bank of a row that a change of this kind would not need; 0 when it is not of the kind. */
uint64_t ttm_waste_of(const struct ttm_findings *f, const struct ttm_alive_row *row, ttm_waste_kind kind);
/* Bytes per bank of the row in ROW_MAJOR layout: its rows as they are, each padded to the alignment. What it takes now where it cannot be. */
uint64_t ttm_row_major_bytes(const struct ttm_findings *f, const struct ttm_alive_row *row);
/* The row is one of those a waste stands for. */
bool ttm_waste_has(const struct ttm_findings *f, const ttm_waste *waste, uint32_t row);

/* Needs the live set. */
void ttm_wastes_make(ttm_wastes *out, const struct ttm_findings *f);

#endif
