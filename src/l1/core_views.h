/* SPDX-License-Identifier: Apache-2.0 */
/* L1 core by core over a whole graph capture or recording: a view for every program that ran, and for every L1 tensor that was allocated while
 * none did. The same program run again is stored once; tensors are stored with the views they are in. Made by the walk of ttm_core_use_make, so
 * that both say the same. */
#ifndef TTM_L1_CORE_VIEWS_H
#define TTM_L1_CORE_VIEWS_H

#include "base/map.h"
#include "l1/core_range.h"
#include "l1/map.h"
#include "l1/placement.h"
#include "profile/profile.h"

/* A buffer of a program: the same address on all its cores. */
typedef struct ttm_core_buffer {
  uint64_t at;    /* TTM_UNKNOWN: in a tensor whose address is not told */
  uint64_t bytes; /* per core */
  uint32_t cores; /* set; an empty one: they cannot be read, it counts on every core */
  uint8_t kind;   /* 0 circular, 1 dataflow, 2 scratchpad: TTM_EVENT_CIRCULAR and the two behind it */
  bool borrowed;  /* lies in a tensor's memory and takes nothing */
  bool refused;   /* all buffers of a program that was refused, gaps included, as the message tells */
} ttm_core_buffer;

typedef struct ttm_core_program {
  uint32_t first, n; /* buffers */
  bool derived;      /* the input has no addresses: they follow from tt-metal's rule */
} ttm_core_program;

/* The cores at one moment. */
typedef struct ttm_core_view {
  uint32_t op;
  uint32_t before;  /* event: everything before it has happened */
  uint32_t program; /* TTM_NONE: none runs */
  uint32_t rank;    /* recordings: whose tensors are beside it; else 0 */
} ttm_core_view;

/* A tensor in L1 or L1_SMALL. */
typedef struct ttm_core_life {
  uint32_t buffer;
  uint32_t from, to; /* in views `from` to the one before `to` (of its own rank) */
  uint32_t cores;    /* set that holds its data; TTM_NONE: interleaved, or the input does not tell */
  uint64_t at;       /* address, TTM_UNKNOWN */
  bool own;          /* it takes nothing of other cores; a tensor with several addresses has a row for each */
} ttm_core_life;

typedef struct ttm_core_views {
  const ttm_profile *p;
  unsigned columns, rows; /* of the grid */
  uint64_t size, base;    /* of a core's L1 */
  uint64_t top;           /* tensors are allocated top-down from here; L1_SMALL is above */
  ttm_core_sets sets;
  TTM_VEC(ttm_core_buffer) buffers;
  TTM_VEC(ttm_core_program) programs;
  TTM_VEC(ttm_core_view) views;
  TTM_VEC(ttm_core_life) lives; /* by `from` */
  ttm_intern ranges;            /* of refused programs, as their messages have them */
  ttm_map program_of_hash, life_of_buffer;
} ttm_core_views;

/* 0 or TTM_ENOMEM; freed in any case with ttm_core_views_free. No views for anything but captures and recordings. */
int ttm_core_views_make(ttm_core_views *out, const ttm_profile *p);
void ttm_core_views_free(ttm_core_views *views);

/* The first view of an operation, or of the next that has one; the last view when none has. TTM_NONE without views. */
uint32_t ttm_core_views_find(const ttm_core_views *views, uint32_t op);

/* The first view that has seen an event; the last when none has. TTM_NONE without views. */
uint32_t ttm_core_views_behind(const ttm_core_views *views, uint32_t event);

/* What every core of a view holds. */
void ttm_core_view_grid(const ttm_core_views *views, uint32_t view, ttm_core_grid *out);

/* One core of a view, to be drawn; freed with ttm_l1_map_free in any case. 0 or TTM_ENOMEM. */
int ttm_core_view_map(const ttm_core_views *views, uint32_t view, unsigned x, unsigned y, ttm_l1_map *out);

/* ---- For the walk of core_use.c ---------------------------------------------------------------------------------------- */

/* A tensor in L1 or L1_SMALL (others are ignored) came with event `event`, or went. Early ones come with event 0. */
int ttm_core_views_tensor(ttm_core_views *views, uint32_t buffer, uint32_t event, bool came);
/* An operation allocated a tensor with event `event`: a view without a program. */
int ttm_core_views_allocation(ttm_core_views *views, uint32_t event);
/* A program is whole: its placed buffers and their events. Everything before event `before` had happened while it ran. */
int ttm_core_views_program(ttm_core_views *views, const ttm_l1_buffer *buffers, const uint32_t *events, size_t n,
                           bool derived, uint32_t before);
/* All events were seen. */
int ttm_core_views_end(ttm_core_views *views);

/* How many events had happened when the operation failed. What it had allocated by then it frees on its way out. */
size_t ttm_core_events_before(const ttm_capture *capture, uint32_t op);

#endif
