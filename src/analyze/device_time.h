/* SPDX-License-Identifier: Apache-2.0 */
/* Memory over device time: the operations CSV of tt-metal's profiler joined to a run. What is held, how long, by which tensors and layers; which
 * operations are slow while the memory is full; what bounds them. */
#ifndef TTM_ANALYZE_DEVICE_TIME_H
#define TTM_ANALYZE_DEVICE_TIME_H

#include "analyze/alive_set.h"
#include "analyze/perf_join.h"

struct ttm_findings;

/* What a row of the CSV says about the limit of an operation. */
typedef enum ttm_bound {
  TTM_BOUND_UNKNOWN, /* the CSV has no such numbers */
  TTM_BOUND_DRAM,    /* at least TTM_BOUND_PCT of what DRAM's bandwidth allows */
  TTM_BOUND_COMPUTE, /* the same of what the cores can compute */
  TTM_BOUND_BOTH,
  TTM_BOUND_SLOW, /* neither */
  TTM_BOUNDS
} ttm_bound;
enum { TTM_BOUND_PCT = 65 }; /* as tt-perf-report has it */

/* "DRAM", "compute", "both", "slow"; NULL for unknown. */
const char *ttm_bound_name(ttm_bound bound);

/* An operation with rows in the CSV. */
typedef struct ttm_timed_op {
  uint32_t op, row;
  uint64_t begin;                   /* ns since the first row; TTM_UNKNOWN */
  uint64_t ns;                      /* of all its rows */
  uint64_t held[TTM_HELD_MEMORIES]; /* bytes per bank while it ran, its result included; TTM_UNKNOWN */
  ttm_bound bound;
  double ideal_pct; /* ideal time of the performance model in its own; below 0: unknown */
} ttm_timed_op;

/* What is held, how long: tensors alike, or a layer. */
typedef struct ttm_held_time {
  ttm_str name;          /* folded */
  ttm_alive_class class; /* of tensors */
  uint32_t tensors;
  double byte_ns; /* bytes per bank, times nanoseconds */
} ttm_held_time;

typedef TTM_VEC(ttm_held_time) ttm_held_times;

/* The same operation of every layer and run, slow where the memory is full. */
typedef struct ttm_slow_op {
  ttm_str name;
  uint32_t op, row; /* the slowest of them */
  uint32_t times;
  uint64_t ns;   /* of all of them */
  uint64_t held; /* most, bytes per bank */
  ttm_bound bound;
  double ideal_pct;
} ttm_slow_op;

typedef TTM_VEC(ttm_slow_op) ttm_slow_ops;

enum { TTM_SLOW_PCT = 1, TTM_FULL_PCT = 90, TTM_TIME_ROWS = 10 };

typedef struct ttm_time_memory {
  bool known;
  uint64_t peak;          /* while a timed operation ran, bytes per bank */
  double byte_ns;         /* held over the timed operations; the average is this by `ns` */
  uint64_t ns, full_ns;   /* of timed operations with a state; with at least TTM_FULL_PCT of the peak held */
  ttm_held_times tensors; /* most first, at most TTM_TIME_ROWS; empty when the lives of tensors are not known */
  ttm_held_times layers;  /* the same by layer, where names tell them */
  double tensors_byte_ns; /* of all of them */
} ttm_time_memory;

typedef struct ttm_device_time {
  bool given; /* a CSV is beside the input */
  ttm_perf_join join;
  uint64_t ns; /* of the timed operations */
  TTM_VEC(ttm_timed_op) ops;
  ttm_time_memory memories[TTM_HELD_MEMORIES];
  ttm_memory full;               /* the memory that `slow` speaks of */
  ttm_slow_ops slow;             /* slow and with most of the memory held: longest first, at most TTM_TIME_ROWS */
  uint64_t slow_ns;              /* of all such */
  uint64_t bound_ns[TTM_BOUNDS]; /* of timed operations */
  ttm_slow_ops waste;            /* bound by nothing: most time above the model's ideal first */
  ttm_arena names;
} ttm_device_time;

/* False when so little fits that the CSV is rather of another run. */
static inline bool ttm_device_time_is_sure(const ttm_device_time *t) {
  const ttm_perf_join *j = &t->join;
  return j->matched && (j->by_call || j->matched >= j->ops - j->matched || t->ns >= j->ns - t->ns);
}

/* An operation with its times; NULL when it has none. */
const ttm_timed_op *ttm_device_time_of(const ttm_device_time *time, uint32_t op);

/* 0 or TTM_ENOMEM; freed in any case. */
int ttm_device_time_find(ttm_device_time *out, const struct ttm_findings *f);
void ttm_device_time_free(ttm_device_time *time);

#endif
