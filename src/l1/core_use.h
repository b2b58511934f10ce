/* SPDX-License-Identifier: Apache-2.0 */
/* What a graph capture really took: L1 per core, DRAM per bank. Where tt-metal's extractors add up whatever comes along, here
 *   - a program's buffers count on the cores they are on, once per device, and only while their program runs;
 *   - buffers in a tensor's memory (globally allocated, borrowed) count once, as the tensor;
 *   - a tensor costs every bank what the allocator reserves: pages aligned, blocks rounded, the same on every core (lock step);
 *   - buffers that were there before the capture began count from the start, as far as the capture shows them.
 * A pure function over a profile of kind TTM_LOG_CAPTURE. */
#ifndef TTM_L1_CORE_USE_H
#define TTM_L1_CORE_USE_H

#include "l1/core_range.h"
#include "l1/map.h"
#include "profile/profile.h"

enum { TTM_PROGRAM_KINDS = 3 }; /* circular, dataflow, scratchpad: TTM_EVENT_CIRCULAR and the two behind it */

/* One core at one moment. */
typedef struct ttm_core_moment {
  uint64_t total;                      /* everything below together; 0: there was none */
  uint64_t program[TTM_PROGRAM_KINDS]; /* the running program's buffers on this core, by kind */
  uint64_t tensors, small;             /* L1 and L1_SMALL, reserved on every core alike */
  uint32_t event;                      /* that made it so; TTM_NONE */
  uint8_t x, y;
} ttm_core_moment;

/* An operation's fullest moment. */
typedef struct ttm_core_step {
  uint32_t op, event;
  uint64_t program, tensors; /* of the fullest core; tensors with L1_SMALL */
} ttm_core_step;

/* An L1 tensor's buffer, and where it lies or would lie. */
typedef struct ttm_core_tensor {
  uint32_t buffer;
  uint64_t at;
} ttm_core_tensor;

typedef struct ttm_core_use {
  ttm_core_moment fullest;                  /* the fullest core of all moments */
  uint64_t peak_program[TTM_PROGRAM_KINDS]; /* most of each kind on one core */
  uint64_t peak_program_all;                /* most of all kinds together on one core */
  uint64_t peak_tensors, peak_small;        /* L1, L1_SMALL per core */
  uint64_t peak_l1;                         /* both together at one time */
  uint64_t peak_dram, peak_trace;           /* per bank */
  uint64_t peak_kernels;                    /* of DRAM per bank, by programs' kernels */
  uint64_t before_l1, before_dram;          /* per bank, from before the capture */
  uint64_t before_buffers;
  uint64_t dram_allocated, dram_freed; /* sums over the capture, per bank */
  /* The highest sum of one program's buffers on all cores and the tensors of its time: tt-metal's total without programs that
   * are over. */
  uint64_t summed;
  uint32_t devices;  /* that have program buffers */
  uint64_t unplaced; /* program buffers whose cores cannot be read: counted on every core */
  uint64_t limit;    /* what a core has for programs and tensors; 0 when not known */
  /* Where the buffers of a program end at most, and how near they come to a tensor at least. */
  uint64_t region_end; /* 0 when no program has buffers */
  int64_t gap;         /* bytes between; below 0: the program could not run */
  uint64_t gap_end;    /* where the buffers of that program end */
  uint32_t gap_event;
  TTM_VEC(ttm_core_tensor) gap_tensors; /* alive then */
  TTM_VEC(ttm_core_step) steps;         /* per operation that touched L1 */
  TTM_VEC(uint32_t) tightest;           /* steps, fullest first, ten at most, each function and size once */
  ttm_l1_map map;                       /* of the program with the smallest gap; `size` 0 when there is none */
} ttm_core_use;

/* 0 or TTM_ENOMEM; freed in any case with ttm_core_use_free. */
int ttm_core_use_make(ttm_core_use *out, const ttm_profile *p);
void ttm_core_use_free(ttm_core_use *use);

#endif
