/* SPDX-License-Identifier: Apache-2.0 */
/* What a pipeline asks: questions (--check, --budget, --baseline, the boards of fit), each with its answer and the statement that says why. */
#ifndef TTM_ANALYZE_CHECK_H
#define TTM_ANALYZE_CHECK_H

#include "analyze/diff.h"
#include "analyze/fit_case.h"

typedef enum ttm_check_outcome {
  TTM_PASSED,
  TTM_FAILED,
  TTM_SKIPPED,  /* nothing tells, and nothing is wrong with that */
  TTM_UNJUDGED, /* nothing tells, and that is a failure of the question */
} ttm_check_outcome;

typedef struct ttm_check {
  ttm_str name; /* the same in every run: "budget dram:90%" */
  ttm_check_outcome outcome;
  uint32_t statement; /* in `said` */
  ttm_str file;       /* where to look: a source of the program, else the input; empty when there is none */
  uint32_t line;      /* in it, 0 */
} ttm_check;

/* Zero is the empty list. Statements may borrow from the findings, the diff and the cases that were judged. Freed with ttm_checks_free. */
typedef struct ttm_checks {
  TTM_VEC(ttm_check) at;
  ttm_statements said;
} ttm_checks;

void ttm_checks_free(ttm_checks *all);
/* How many have this outcome. */
size_t ttm_checks_count(const ttm_checks *all, ttm_check_outcome outcome);

/* What a peak may not exceed. */
typedef struct ttm_budget {
  const char *text;  /* "dram:90%" */
  ttm_memory memory; /* TTM_MEMORIES: DRAM and L1 */
  double limit;
  bool percent; /* of a bank, or MB of it */
} ttm_budget;

/* Each appends its questions. 0 or TTM_ENOMEM. */
int ttm_check_findings(ttm_checks *all, const ttm_findings *f); /* no failure, no leak */
int ttm_check_budget(ttm_checks *all, const ttm_findings *f, const ttm_budget *budget);
int ttm_check_diff(ttm_checks *all, const ttm_diff *diff); /* AFTER is not worse */
int ttm_check_fit(ttm_checks *all, const ttm_fit_cases *cases);
int ttm_check_fit_budget(ttm_checks *all, const ttm_fit_cases *cases, const ttm_budget *budget);

/* The question of all: is the input whole? `why` says that it is not; `allowed` when it is judged all the same. */
int ttm_check_partial(ttm_checks *all, ttm_str why, bool allowed);

/* For who asks other questions: appends the one that the last statement of `t` answers; `op` is where to look, or TTM_NONE. */
struct ttm_teller;
void ttm_check_add(ttm_checks *all, struct ttm_teller *t, ttm_check_outcome outcome, uint32_t op, const char *name, ...)
    __attribute__((format(printf, 5, 6)));

#endif
