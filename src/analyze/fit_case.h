/* SPDX-License-Identifier: Apache-2.0 */
/* Does it fit a board? One answer, however it was found: the program ran there on a mock board, or what a log recorded was replayed with the
 * board's banks. An answer is a statement (fit.fits, fit.survived, fit.short, fit.unknown) and the figures behind it. */
#ifndef TTM_ANALYZE_FIT_CASE_H
#define TTM_ANALYZE_FIT_CASE_H

#include "analyze/fit.h"
#include "analyze/statement.h"
#include "parse/last_words.h"

typedef enum ttm_fits {
  TTM_FITS_UNKNOWN, /* the program failed for another reason than memory, went on after a failure and ended badly, or opened no device */
  TTM_FITS_NOT,
  TTM_FITS,
} ttm_fits;

/* Texts are of the arena of the statements. */
typedef struct ttm_fit_case {
  ttm_str board;
  ttm_fits fits;
  ttm_str why;     /* the answer is unknown: a part of a sentence */
  int exit_status; /* of the program; -1: it did not run */
  bool measured;   /* the figures below are there */
  uint64_t operations;
  uint64_t dram_banks;
  uint64_t dram_bank, dram_peak; /* per bank: capacity for tensors, peak */
  uint64_t l1_core, l1_peak;     /* per core, likewise: everything that counts */
  uint64_t l1_tensors;           /* peak of tensors alone */
  uint64_t l1_programs;          /* peak of circular and dataflow buffers alone */
  uint64_t clashes;              /* buffers of a program that met an L1 tensor, or the end of L1 */
  uint64_t silent;               /* programs whose buffers the recording does not show */
  bool dram_least, l1_least;     /* the peak is a lower bound: not everything was recorded */
  uint64_t traces;               /* that a mock board could not capture: TRACE is not counted */
  uint64_t chips;                /* that the program opened; 0 when not known */
  uint64_t processes;            /* that used a device; 0 when not known */
  bool one_chip;  /* the program used the first chip and did not ask for others: the same on every board with it */
  ttm_str run_on; /* board on which it ran, another one with the same chip; empty: this one */
  uint64_t largest_batch; /* of a replay, as ttm_fit_board has it; TTM_UNKNOWN */
  bool refused;           /* the members below are there ... */
  bool survived;          /* ... and the program went on all the same */
  ttm_incident_text what; /* of a replay: without the message */
  ttm_verdict verdict;
  uint64_t shortfall;
  ttm_str operation; /* "ttnn.add"; empty when unknown */
  ttm_str at;        /* "model.py:17", or the log's own location; empty likewise */
  ttm_str way;       /* of a clash: the tensors in the way, a sentence; empty likewise */
  ttm_str growth;    /* of a run: what its loop keeps, a part of a sentence; empty when it does not grow */
} ttm_fit_case;

/* A test of the program, on the board of case number `of`. */
typedef struct ttm_fit_test {
  size_t of;
  ttm_str name, outcome, verdict; /* "passed"; "does not fit: out of memory in DRAM ..." */
  ttm_fits fits;
  uint64_t dram_peak, l1_peak; /* per bank, of tensors */
  uint64_t operations;
} ttm_fit_test;

/* Zero is the empty list. `said` has a statement per case, then "fit.confidence". Freed with ttm_fit_cases_free. */
typedef struct ttm_fit_cases {
  TTM_VEC(ttm_fit_case) at;
  TTM_VEC(ttm_fit_test) tests; /* by case */
  ttm_statements said;
  bool replayed; /* not run: L1 then is tensors only, without the buffers of kernels */
} ttm_fit_cases;

void ttm_fit_cases_free(ttm_fit_cases *all);

/* Adds the answer of a run that ended with `exit_status`. `f` is of its recording; NULL when the program opened no device. What it said
 * last tells why it ended, and of a refusal that the recording does not show. 0 or TTM_ENOMEM. */
int ttm_fit_cases_add_run(ttm_fit_cases *all, const char *board, const ttm_findings *f, int exit_status,
                          const ttm_last_words *last);
/* Adds a board with the chip of another one, on which a program of one chip ran: case number `like`. 0 or TTM_ENOMEM. */
int ttm_fit_cases_add_same(ttm_fit_cases *all, const char *board, size_t like);
/* Adds a board on which the program was not run, since it would end as on `like`. 0 or TTM_ENOMEM. */
int ttm_fit_cases_add_left_out(ttm_fit_cases *all, const char *board, const char *like);
/* Adds a copy of an answer that was kept from an earlier run. 0 or TTM_ENOMEM. */
int ttm_fit_cases_add_kept(ttm_fit_cases *all, const ttm_fit_case *kept);
/* Ends a list of runs: says what the answers are worth. 0 or TTM_ENOMEM. */
int ttm_fit_cases_end(ttm_fit_cases *all);

/* "out of memory in DRAM: insufficient memory, short by 1.13 MB per bank, in ttnn.add at model.py:17" of one that is refused. */
void ttm_fit_say_failure(ttm_buf *out, const ttm_fit_case *c);

/* The answers of a replay, of the boards in `boards` (bit per ttm_boards), ended. 0 or TTM_ENOMEM. */
int ttm_fit_cases_of_replay(ttm_fit_cases *all, const ttm_fit *fit, const ttm_fit_options *options,
                            const ttm_findings *f, unsigned boards);

/* The answers of a prediction, likewise. */
int ttm_fit_cases_of_prediction(ttm_fit_cases *all, const ttm_program_need *program, unsigned boards);

#endif
