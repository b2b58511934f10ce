/* SPDX-License-Identifier: Apache-2.0 */
/* Does it fit a board? One answer, however it was found: the program ran there on a mock board, or what a log recorded was replayed
 * with the board's banks. A table and JSON of such answers. */
#ifndef TTM_REPORT_FIT_CASE_H
#define TTM_REPORT_FIT_CASE_H

#include "analyze/fit.h"
#include "parse/last_words.h"
#include "report/run/text.h"

typedef enum ttm_fits {
  TTM_FITS_UNKNOWN, /* the program ended badly for another reason than memory, or memory was never asked for */
  TTM_FITS_NOT,
  TTM_FITS,
} ttm_fits;

/* Where memory was refused. Numbers are bytes per bank, TTM_UNKNOWN where nothing tells. */
typedef struct ttm_fit_stop {
  ttm_incident_kind kind;
  ttm_verdict verdict;
  bool dataflow; /* clash and overflow: of dataflow buffers */
  uint64_t needed, free, largest;
  uint64_t shortfall; /* that were missing; clash and overflow: bytes of a core */
  ttm_buf memory;     /* "DRAM" */
  ttm_buf operation;  /* "ttnn.add"; empty when nothing tells */
  ttm_buf at;         /* "model.py:17", or the log's own location; empty likewise */
  ttm_buf message;    /* as ttnn said it; empty in a replay */
} ttm_fit_stop;

typedef struct ttm_fit_case {
  ttm_buf board;
  ttm_fits fits;
  ttm_buf why;     /* one sentence, when the answer is not known */
  int exit_status; /* of the program; -1: it did not run */
  bool replayed;   /* not run: L1 then is tensors only, without the buffers of kernels */
  bool measured;   /* the figures below are there */
  uint64_t operations;
  uint32_t dram_banks;
  uint64_t dram_bank, dram_peak; /* of a bank: for tensors in all, and the most that was taken */
  uint64_t l1_core, l1_peak;     /* of a core, likewise: everything that counts */
  uint64_t l1_tensors;           /* most of tensors alone */
  uint64_t l1_programs;          /* most of circular and dataflow buffers alone */
  uint64_t clashes;              /* buffers of a program that met an L1 tensor, or the end of L1 */
  uint64_t silent;               /* programs whose buffers the recording does not show: the L1 peak may be higher */
  bool refused;                  /* `stop` is there; with TTM_FITS the program went on all the same */
  ttm_fit_stop stop;
} ttm_fit_case;

void ttm_fit_case_free(ttm_fit_case *one);

/* The answer of a run that ended with `exit_status`. `f` is of its recording; NULL when the program opened no device. What it said
 * last tells why it ended, and of a refusal that the recording does not show. 0 or TTM_ENOMEM. */
int ttm_fit_case_of_run(ttm_fit_case *out, const char *board, const ttm_findings *f, int exit_status,
                        const ttm_last_words *last);

/* The answer of a replay. 0 or TTM_ENOMEM. */
int ttm_fit_case_of_replay(ttm_fit_case *out, const ttm_fit_board *row, const ttm_findings *f);

/* The table of answers that are all of runs. 0 or TTM_ENOMEM. */
int ttm_fit_cases_write(const ttm_fit_case *cases, size_t n, const ttm_summary_style *style, ttm_buf *out);

/* {"boards": [...]}; 0 or TTM_ENOMEM. */
int ttm_fit_cases_json(const ttm_fit_case *cases, size_t n, ttm_buf *out);

#endif
