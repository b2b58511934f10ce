/* SPDX-License-Identifier: Apache-2.0 */
/* What a model needed when it was last accepted, to be compared with what it needs now. A baseline is a file of such entries, one per model
 * (report/files/baseline_json.h reads and writes it). */
#ifndef TTM_ANALYZE_BASELINE_H
#define TTM_ANALYZE_BASELINE_H

#include "analyze/check.h"

enum { TTM_BASELINE_ROWS = 20 };

/* What may be added to a figure before it is worse: the larger of both counts. */
typedef struct ttm_tolerance {
  bool given;
  double percent, mb;
} ttm_tolerance;

/* Live tensors of one class and folded name, or operations of one name and place. Lines of a program move with every edit: what is
 * called by one is called by its operation and file. */
typedef struct ttm_baseline_row {
  ttm_str kind, name; /* "weights", "layers.*.mlp.weight"; "ttnn.matmul", "layers.*|dot.2"; "ttnn.add", "model.py" */
  uint32_t count;
  uint32_t op;    /* of the largest; TTM_NONE in a file */
  uint32_t milli; /* 0.001 MB per bank, all of them */
} ttm_baseline_row;

typedef struct ttm_baseline_peak {
  bool known, at_least;
  uint32_t banks; /* 0 when not told */
  uint32_t milli; /* 0.001 MB per bank */
  ttm_str op, at; /* that raised it; may be empty */
  ttm_str basis;  /* "measured", "derived", "predicted"; may be empty */
} ttm_baseline_peak;

typedef struct ttm_baseline_board {
  ttm_str board;
  bool fits, at_least;
  uint32_t milli[2]; /* peaks of DRAM per bank and of L1 per core, 0.001 MB */
} ttm_baseline_board;

typedef TTM_VEC(ttm_baseline_row) ttm_baseline_rows;

/* Texts are borrowed from the file or the findings. Freed with ttm_baseline_entry_free. */
typedef struct ttm_baseline_entry {
  ttm_str name;
  ttm_tolerance tolerance[TTM_MEMORIES];
  ttm_baseline_peak peak[TTM_MEMORIES]; /* one that is not known is not judged */
  uint32_t failures;
  uint32_t growth; /* 0.001 MB per bank and run */
  ttm_baseline_rows operations, alive[2];
  TTM_VEC(ttm_baseline_board) boards;
} ttm_baseline_entry;

/* Takes down what the findings and the boards of `cases` say; either may be NULL. 0 or TTM_ENOMEM. */
int ttm_baseline_take(ttm_baseline_entry *out, const ttm_findings *f, const ttm_fit_cases *cases);
void ttm_baseline_entry_free(ttm_baseline_entry *entry);

/* Questions: is it worse than the entry? 0 or TTM_ENOMEM. */
int ttm_check_baseline(ttm_checks *all, const ttm_findings *f, const ttm_baseline_entry *entry);
int ttm_check_fit_baseline(ttm_checks *all, const ttm_fit_cases *cases, const ttm_baseline_entry *entry);

#endif
