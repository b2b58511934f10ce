/* SPDX-License-Identifier: Apache-2.0 */
/* The repeating block of a program: one layer, how often, and the layers that differ. */
#ifndef TTM_ANALYZE_LAYERS_H
#define TTM_ANALYZE_LAYERS_H

#include "profile/profile.h"

enum { TTM_ODD_LAYERS = 8 };

typedef struct ttm_odd_layer {
  uint32_t layer;    /* counted from 0 in the order of execution */
  uint32_t first_op; /* its first operation */
  uint32_t ops;      /* operations it has */
  uint32_t differs;  /* the first operation that the common layer does not have there */
  int64_t growth;    /* as below, of this layer; 0 when no state tells */
  uint32_t peak;
} ttm_odd_layer;

typedef struct ttm_layers {
  uint32_t call;     /* the program run that was looked at: the one with most operations */
  uint32_t period;   /* operations of the common layer, deallocations not counted; 0 when nothing repeats */
  uint32_t count;    /* layers alike */
  uint32_t first_op; /* first operation of the first layer, and ... */
  uint32_t last_op;  /* ... the last of the last */
  int64_t growth;    /* DRAM, 0.001 MB per bank, from the start of a layer to the start of the next: the usual one */
  uint32_t peak;     /* highest DRAM state inside a layer above the layer's start, the usual one; 0.001 MB per bank */
  ttm_odd_layer odd[TTM_ODD_LAYERS];
  uint32_t odd_count;
} ttm_layers;

struct ttm_findings;

/* 0 or TTM_ENOMEM. Linear in the operations of one run. Needs the peaks. */
int ttm_layers_make(ttm_layers *out, const struct ttm_findings *f);

#endif
