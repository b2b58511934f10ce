/* SPDX-License-Identifier: Apache-2.0 */
/* Two logs side by side: what the later build, model or setting costs, and which operations it is. The operations of both are aligned as
 * sequences, by name, location and types of their results, so that one more in the middle does not make the rest strangers, whatever they
 * are called. */
#ifndef TTM_ANALYZE_DIFF_H
#define TTM_ANALYZE_DIFF_H

#include "analyze/findings.h"
#include "base/buf.h"
#include "base/intern.h"

#define TTM_DIFF_UNKNOWN INT64_MIN

typedef enum ttm_diff_kind {
  TTM_DIFF_SAME,
  TTM_DIFF_CHANGED,  /* other shape, dtype, layout or memory of its results */
  TTM_DIFF_MOVED,    /* the same one elsewhere in the order */
  TTM_DIFF_REMOVED,  /* only before */
  TTM_DIFF_INSERTED, /* only after */
  TTM_DIFF_KINDS
} ttm_diff_kind;
/* "same", "changed", "moved", "removed", "inserted". */
const char *ttm_diff_kind_name(ttm_diff_kind kind);

/* The same operation in both logs. Of several runs that are alike the largest effect counts. */
typedef struct ttm_diff_row {
  uint32_t op[2];    /* before, after; TTM_NONE where it is not */
  int64_t effect[2]; /* on DRAM, 0.001 MB per bank; 0 where it is not, TTM_DIFF_UNKNOWN where the log does not tell */
  ttm_diff_kind kind;
  uint32_t group; /* in `groups`, TTM_NONE */
} ttm_diff_row;

/* A DRAM tensor that is freed at another place than before. */
typedef struct ttm_diff_freed {
  uint32_t row;        /* of the operation that makes it */
  uint64_t bank_bytes; /* after */
  int64_t later;       /* operations; below 0: earlier; INT64_MAX: not in its run any more, INT64_MIN: now in its run */
  bool at_peak;        /* after, results of this operation are alive at the DRAM peak */
} ttm_diff_freed;

/* The same operation of every layer: rows that changed and whose places fold. */
typedef struct ttm_diff_group {
  ttm_str name;      /* "layers.*.mlp|dot.2" */
  uint32_t row;      /* the one that changed most */
  uint32_t rows;     /* so many are they */
  int64_t effect[2]; /* of all of them, before and after */
} ttm_diff_group;

/* Live tensors at a peak, of one class and folded name, that take other bytes than before. */
typedef struct ttm_diff_alive {
  ttm_alive_class class;
  ttm_str name;   /* empty for memory that nothing in the log names */
  uint32_t op[2]; /* that made the first of them, TTM_NONE */
  uint32_t tensors[2];
  uint64_t bytes[2]; /* per bank */
} ttm_diff_alive;

/* Operations of one name that only one of the logs has. */
typedef struct ttm_diff_name {
  uint32_t id; /* in `names` */
  uint64_t only[2];
} ttm_diff_name;

enum { TTM_DIFF_TOP = 10 };
/* A state is rounded to 0.001 MB, so a difference of two of them may be off by that much. */
enum { TTM_DIFF_NOISE = 2, TTM_DIFF_NOISE_BYTES = 2 * 1049 };
enum { TTM_DIFF_TOLERANCE = 1 }; /* percent */

typedef struct ttm_diff {
  const ttm_findings *f[2];
  TTM_VEC(ttm_diff_row) rows; /* every operation, in the order they were met */
  uint32_t *row_of
      [2]; /* by operation of the profile, each execution: its row; TTM_NONE for those of const-eval programs and frees */
  uint64_t both, only[2];
  uint64_t kinds[TTM_DIFF_KINDS];
  TTM_VEC(ttm_diff_freed) frees;    /* largest first */
  TTM_VEC(ttm_diff_group) groups;   /* whose effect on DRAM changed, most first */
  TTM_VEC(ttm_diff_name) counts;    /* by name */
  TTM_VEC(ttm_diff_alive) alive[2]; /* at the peaks of DRAM and L1, most first; empty where one log does not tell */
  ttm_intern names;
  double tolerance; /* percent that a peak may grow by before it is worse */
  ttm_arena arena;  /* of the groups' names */
  ttm_statements statements;
} ttm_diff;

/* 0 or TTM_ENOMEM; freed with ttm_diff_free in any case. The findings must outlive it. */
int ttm_diff_make(ttm_diff *out, const ttm_findings *before, const ttm_findings *after, double tolerance);
void ttm_diff_free(ttm_diff *diff);
/* A part of it: fills `rows`, `kinds` and `frees`. 0 or TTM_ENOMEM. */
int ttm_diff_match(ttm_diff *diff);
/* Another: fills `alive`. */
int ttm_diff_alive_sets(ttm_diff *diff);

/* The peak in 0.001 MB per bank of the log before (0) or after (1), what a failing operation held included; below 0 when the log does
 * not tell. */
int64_t ttm_diff_peak(const ttm_diff *diff, int side, ttm_memory memory);

/* A peak grew by more than the tolerance, more failed in one of the ways it can than before, or more leaks. */
bool ttm_diff_is_worse(const ttm_diff *diff);

#endif
