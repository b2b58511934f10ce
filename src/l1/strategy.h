/* SPDX-License-Identifier: Apache-2.0 */
/* A strategy says how many tiles each circular buffer of a program gets for a given amount of work. It is a small text (docs/l1.md):
 *
 *   # lines that start with '#' are comments
 *   strategy adaptive
 *   let large = tiles_per_shard > 16 || r_tiles > 16
 *   cb0 = large ? 2 : min(6u, tiles_per_shard + 2)   streams tiles_per_shard
 *   cb1 = large ? 2 : min(r_tiles, 6u)               needs r_tiles  dtype bfloat16  cores 0-0:7-7
 *
 * `needs N`: N tiles are used again and again, and those that do not fit must be read anew. `streams N`: each of N tiles is used once, so
 * two at a time are enough. `borrowed`: the buffer lies in a tensor's memory. */
#ifndef TTM_L1_STRATEGY_H
#define TTM_L1_STRATEGY_H

#include "base/error.h"
#include "l1/core_range.h"
#include "l1/expression.h"

/* One buffer of a strategy at a given workload. */
typedef struct ttm_cb_plan {
  ttm_str name;
  uint64_t tiles;   /* held */
  uint64_t needed;  /* wanted at a time; 0 when the strategy does not say */
  uint64_t passing; /* tiles that go through it in all; 0 when the strategy does not say */
  bool streams;
  bool borrowed;
  uint64_t tile_bytes; /* of its own dtype; 0: the default */
  ttm_core_set cores;  /* empty: the default */
} ttm_cb_plan;

/* The buffers of one strategy. Names point into the strategy's text. Zero is empty; freed with ttm_cb_plans_free. */
typedef struct ttm_cb_plans {
  ttm_str strategy; /* its name */
  TTM_VEC(ttm_cb_plan) all;
} ttm_cb_plans;

typedef struct ttm_cb_workload {
  uint64_t r_tiles;         /* tiles of the operand that is used again and again */
  uint64_t tiles_per_shard; /* tiles of the operand that streams by */
} ttm_cb_workload;

enum { TTM_STRATEGY_BYTES = 64 * 1024, TTM_MAX_PLANS = 256 };

/* What was in use before and after, from the guide of the distributed element-wise add: four tiles each whatever the work, and sizes that
 * follow the work. Its excerpt gives cb0 and cb1 of the second; cb2 and cb16 follow the same condition. */
extern const char *const ttm_strategy_fixed;
extern const char *const ttm_strategy_adaptive;

/* Reads a strategy for a workload. 0, TTM_EFORMAT ("line 3: unknown name at 'tilez'") or TTM_ENOMEM. *out is freed in any case. */
int ttm_strategy_plan(ttm_cb_plans *out, ttm_str text, const ttm_cb_workload *workload, ttm_error *err);
void ttm_cb_plans_free(ttm_cb_plans *plans);

/* One buffer as typed on a command line: "cb1=8", "cb1=8/16" (holds 8 of 16 needed), "in0=8:bfloat8_b", "cb0=4096B", "cb0=4@0-0:7-7";
 * cores in brackets, as tt-metal prints them, are taken as they stand, others are merged. 0, TTM_EUSAGE or TTM_ENOMEM. Appends. */
int ttm_cb_plan_parse(ttm_cb_plans *out, ttm_str text, ttm_error *err);

#endif
