/* SPDX-License-Identifier: Apache-2.0 */
/* Would it fit on another board? The recorded allocations, replayed with the bank counts, bank sizes and rounding of every board. */
#ifndef TTM_ANALYZE_FIT_H
#define TTM_ANALYZE_FIT_H

#include "analyze/findings.h"

typedef struct ttm_fit_options {
  uint32_t batch;            /* activations and inputs that many times as large; 0 and 1 are as recorded */
  const char *weights_dtype; /* to store matrix weights in: "bf16", "bfp8", "bfp4"; NULL as recorded */
  bool partial;              /* what is there is all that counts: gaps of the input make no answer unknown */
} ttm_fit_options;

typedef struct ttm_fit_board {
  const ttm_board *board;
  bool fits;
  uint64_t bank_bytes;       /* DRAM for tensors, per bank */
  uint64_t peak_bytes;       /* highest DRAM level reached, per bank; up to the refusal when there is one */
  uint64_t l1_bytes;         /* L1 for tensors, per core */
  uint64_t l1_peak;          /* highest level of L1 tensors, per core; buffers of kernels are not among them */
  ttm_incident_text refusal; /* as ttnn would word it, without the sentence; unless it fits */
  uint32_t
      refused_op; /* operation whose result found no place; TTM_NONE also where no operation of the log explains the memory */
  uint32_t missing_op;    /* operation of the module of `rest` that found no place; TTM_NO_ROW */
  uint32_t largest_batch; /* multiple of the recorded batch that still fits; 0 when not even the recorded one does */
} ttm_fit_board;

enum { TTM_FIT_MOST_BATCH = 1024 };

/* Why a log does not show all that its programs take: what fits of it is no more than a beginning. */
typedef enum ttm_gap_kind {
  TTM_GAP_NONE,
  TTM_GAP_FAILURE, /* a run ended in a failure, log line `number` */
  TTM_GAP_RUN,     /* a run has no end; it began in log line `number` */
  TTM_GAP_CUT,     /* the log ends inside a line or a block */
  TTM_GAP_LINES,   /* `number` lines could not be read */
  TTM_GAP_STATES,  /* `number` operations have no memory state: what they hold beyond their results is unknown */
} ttm_gap_kind;

typedef struct ttm_gap {
  ttm_gap_kind kind;
  uint64_t number;
  uint32_t call; /* FAILURE, RUN: the run */
} ttm_gap;

typedef struct ttm_fit {
  ttm_fit_board boards[TTM_BOARDS];
  uint64_t states, agree; /* states of the log, and those whose largest free block the replay reproduced */
  uint64_t unaccounted;   /* bytes per bank as recorded that no tensor explains: spread over the new banks */
  ttm_gap gap;
  const ttm_program_need *rest; /* the program whose module tells what the log does not: the peaks are then predicted */
  bool weights_from_host;       /* weights were there before the log: --weights-dtype does not reach them */
  uint64_t converted_weights;   /* tensors that --weights-dtype changed */
} ttm_fit;

/* 0, TTM_ENODATA when the log has no operation lines, or TTM_ENOMEM. */
int ttm_fit_make(ttm_fit *out, const ttm_findings *f, const ttm_fit_options *options, ttm_error *err);

#endif
