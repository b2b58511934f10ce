/* SPDX-License-Identifier: Apache-2.0 */
/* Ways out of an incident: the smallest changes with which it would not have happened. Only changes that would have been enough are
 * listed, cheapest first; none rather than a doubtful one. */
#ifndef TTM_ANALYZE_WAYS_H
#define TTM_ANALYZE_WAYS_H

#include "analyze/findings.h"

typedef enum ttm_way_kind {
  TTM_WAY_FREE,       /* `bytes` per bank less in use before it */
  TTM_WAY_JOIN,       /* `bytes` per bank freed right beside the largest free block */
  TTM_WAY_DTYPE,      /* the tensor stored as `dtype`: needs `bytes` per bank then */
  TTM_WAY_DIVIDE,     /* one `count`-th of it at a time, or on `count` chips: `bytes` per bank then */
  TTM_WAY_DRAM,       /* the tensor in DRAM instead of L1 */
  TTM_WAY_BOARD,      /* the board `board`: `bytes` per bank would be in use there */
  TTM_WAY_L1_SMALL,   /* device opened with l1_small_size of at least `bytes` */
  TTM_WAY_TRACE,      /* device opened with trace_region_size of at least `bytes` */
  TTM_WAY_BUFFERS,    /* static buffers smaller by `bytes` on each core: `count` bf16 tiles */
  TTM_WAY_BLOCKS,     /* work cut into blocks of one `count`-th: the static buffers then fit */
  TTM_WAY_L1_TENSORS, /* `bytes` of L1 tensors per core freed, or in DRAM instead */
  TTM_WAY_LESS_SMALL, /* l1_small_size smaller by `bytes`: every L1 tensor moves up by as much */
  TTM_WAY_KERNEL,     /* kernels and their arguments smaller by `bytes` */
  TTM_WAY_KEPT,       /* `count` results of earlier runs, `subject` the largest, released before: `bytes` per bank */
  TTM_WAY_WEIGHTS,    /* `count` weights, `subject` the largest, stored as `dtype`: saves `bytes` per bank */
  TTM_WAY_EARLIER,    /* `count` tensors past their last use, `subject` the largest, freed there: `bytes` per bank */
  TTM_WAY_CHIPS,      /* the weights, which are more than DRAM holds, spread over `count` chips: `bytes` on each */
  TTM_WAY_PIN,        /* `subject` elsewhere: one free block of `bytes` per bank then */
} ttm_way_kind;

typedef struct ttm_way {
  ttm_way_kind kind;
  ttm_basis basis;
  uint64_t bytes, count;
  const char *dtype; /* TTM_WAY_DTYPE */
  const char *board; /* TTM_WAY_BOARD */
  ttm_str subject;   /* a weight's name or a location; points into the profile */
  uint32_t line;     /* log line of the subject, 0 */
} ttm_way;

enum { TTM_WAYS = 8 };

typedef struct ttm_ways {
  ttm_way at[TTM_WAYS];
  size_t n;
} ttm_ways;

/* The ways out of f->incidents.at[i]. */
void ttm_ways_find(ttm_ways *out, const ttm_findings *f, size_t i);

/* Adds those out of a clash of static buffers with tensors, or with the end of L1, to *out. `unused_small` is what L1_SMALL could spare,
 * TTM_UNKNOWN when nothing tells. */
void ttm_ways_find_buffers(ttm_ways *out, const ttm_incident_text *what, ttm_arch_id arch, uint64_t unused_small);

/* "free", "dtype", ...: the kind's name in findings.json. */
const char *ttm_way_name(ttm_way_kind kind);

/* The chip an L1 message speaks of: by its L1 size, the board of the log, or the cores it names. TTM_ARCHES when nothing tells. */
ttm_arch_id ttm_incident_arch(const ttm_profile *p, const ttm_incident *incident);

#endif
