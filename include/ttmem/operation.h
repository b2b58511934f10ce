/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of a run, as the device executed them. */
#ifndef TTMEM_OPERATION_H
#define TTMEM_OPERATION_H

#include "ttmem/profile.h"
#include "ttmem/str.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One executed operation. Start from TTM_OPERATION_INFO_INIT; one struct serves a whole loop. Texts live as long as the profile. */
typedef struct ttm_operation_info {
  size_t size;        /* of this struct as the caller knows it */
  ttm_str name;       /* "ttnn.add"; the type of its memory block ("RepeatOp") where the log has no operation line */
  ttm_str location;   /* "layers.0|mlp|dot.1"; of a load_cached without one the weight it brings; empty when unknown */
  ttm_str attributes; /* as printed, without the brackets */
  ttm_str program;    /* the compiled program it ran in; empty outside of every program */
  uint32_t run;       /* 0, 1, ...: which top-level program run of its rank */
  uint32_t rank;      /* as the log numbers its processes; 0 in a log of one */
  uint32_t line;      /* 1-based line of the log; 0 where there is none */
  uint32_t state;     /* the state printed before it; TTM_NONE */
  uint32_t tensor;    /* first of its results; of a deallocate the tensor it freed; TTM_NONE */
  uint32_t results;   /* how many results it has */
  /* What it did to each bank by itself, in bytes: the next state minus its own. What runs inside a load_cached has rows of its own.
   * TTM_NO_DELTA where a state is missing. */
  int64_t dram_delta, l1_delta;
  bool is_deallocate; /* frees `tensor`, if it freed anything: see retained */
  bool in_reports;    /* counted by the reports, which leave deallocate and get_device out */
  bool const_eval;    /* ran inside a const-eval program */
  bool cache_hit;     /* a load_cached answered from the cache */
  bool retained;      /* a deallocate that freed nothing */
  bool failed;        /* a failure stopped it: its results never came to be */
} ttm_operation_info;
#define TTM_OPERATION_INFO_INIT \
  { .size = sizeof(ttm_operation_info) }
#define TTM_NO_DELTA INT64_MIN

/* Rows 0 to count - 1 are the operations in the order of the log, deallocations included. 0, or TTM_EUSAGE for a row past the end and a
 * struct without its size. The number that reports print ("#74") is ttm_findings_index. */
TTM_API uint32_t ttm_operation_count(const ttm_profile *profile);
TTM_API int ttm_operation_get(const ttm_profile *profile, uint32_t row, ttm_operation_info *out, ttm_error *err);

#ifdef __cplusplus
}
#endif
#endif
