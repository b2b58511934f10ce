/* SPDX-License-Identifier: Apache-2.0 */
/* What is in the way of a program's buffers: the L1 tensors below the end that a clash's message names. A recording has their addresses; of a
 * log the allocations are replayed, and believed only when the lowest tensor lands on the message's own address. */
#ifndef TTM_ANALYZE_OBSTACLES_H
#define TTM_ANALYZE_OBSTACLES_H

#include "base/basis.h"
#include "profile/profile.h"

typedef struct ttm_obstacle {
  uint32_t op;        /* that made it; TTM_NONE: it was there before the input begins */
  uint32_t type;      /* TTM_NONE when unknown */
  uint64_t at, bytes; /* L1 address; bytes per core */
  bool needed;        /* by the failing operation or a later one: it cannot be freed before */
} ttm_obstacle;

enum { TTM_OBSTACLES = 4 };

typedef struct ttm_obstacles {
  size_t n;       /* of all; 0: unknown */
  uint64_t bytes; /* of all, per core */
  bool needed;    /* any of them is */
  ttm_basis basis;
  ttm_obstacle at[TTM_OBSTACLES]; /* the lowest, lowest first */
} ttm_obstacles;

struct ttm_findings;

/* Of an incident of kind TTM_INCIDENT_L1_CLASH; empty for any other. 0 or TTM_ENOMEM. */
int ttm_obstacles_find(ttm_obstacles *out, const ttm_profile *p, const ttm_incident *incident);

/* The clash that a graph capture shows although no message tells it: its operations could not run. `incident` has no text. */
typedef struct ttm_shown_clash {
  bool is;
  ttm_incident incident;
  ttm_obstacles obstacles;
} ttm_shown_clash;

/* Needs the core use. */
void ttm_shown_clash_find(ttm_shown_clash *out, const struct ttm_findings *f);

/* A program's buffers met a tensor or the end of L1, by a message or in what a capture shows: nothing "came near" then. */
bool ttm_findings_has_clashed(const struct ttm_findings *f);

/* The i-th memory to speak of: DRAM comes first, unless it is L1 that failed. */
ttm_memory ttm_findings_memory(const struct ttm_findings *f, int i);

#endif
