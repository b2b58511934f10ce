/* SPDX-License-Identifier: Apache-2.0 */
/* What the compiler planned against what the runtime held, operation by operation: a decision trace of tt-mlir beside a run of its program. */
#ifndef TTM_ANALYZE_DECISIONS_H
#define TTM_ANALYZE_DECISIONS_H

#include "parse/decision_trace.h"
#include "profile/profile.h"

struct ttm_findings;

/* An operation of the run that the plan speaks of. */
typedef struct ttm_decision_row {
  uint32_t op;
  uint32_t planned;    /* operation of the trace, TTM_NONE: only the spill pass names it */
  bool by_order;       /* matched by name in order: the location did not tell */
  bool moved;          /* its result does not lie where the layout pass chose ... */
  bool demoted;        /* ... as the spill pass had it put to DRAM */
  bool evicted;        /* the spill pass had its result copied to DRAM */
  uint64_t planned_l1; /* bytes of L1 on each core right behind it; TTM_UNKNOWN where the spill pass does not tell */
  uint64_t held_l1;    /* the same of the run; TTM_UNKNOWN when no state tells */
  ttm_plan_layout is;  /* where its result lies */
  uint64_t apart;      /* bytes per core or bank that the two differ by: rows begin with the most */
} ttm_decision_row;

typedef struct ttm_decisions {
  const ttm_decision_trace *trace;
  uint32_t call; /* the run it is compared with; TTM_NONE: no operation of the plan is in it */
  uint32_t by_location, by_order, missing;
  uint32_t layouts, moved,
      demoted;       /* results with a planned layout, those elsewhere, those of them that the spill pass moved */
  uint32_t compared; /* rows with both figures of L1 */
  uint32_t above;    /* of them those where the run holds more */
  uint64_t planned_peak, held_peak; /* of these rows; TTM_UNKNOWN without any */
  uint32_t evictions;
  TTM_VEC(ttm_decision_row) rows;
} ttm_decisions;

typedef TTM_VEC(ttm_decisions) ttm_decision_list;

/* One for each trace of the profile. 0 or TTM_ENOMEM; freed in any case. */
int ttm_decisions_find(ttm_decision_list *out, const struct ttm_findings *f);
void ttm_decisions_free(ttm_decision_list *list);

/* A state's rounding on both sides: what is less apart is the same. */
enum { TTM_DECISION_SLACK = 1049 };

#endif
