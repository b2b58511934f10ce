/* SPDX-License-Identifier: Apache-2.0 */
/* The tensors of a run: who made them, who used them last, who freed them, what they cost. */
#ifndef TTMEM_TENSOR_H
#define TTMEM_TENSOR_H

#include "ttmem/findings.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Dimensions of a tensor; a tensor of more is no tensor to the runtime. */
enum { TTM_TENSOR_DIMS = 12 };

/* One tensor. Operations are rows of ttm_operation_get. Start from TTM_TENSOR_INFO_INIT. Texts live as long as the findings. */
typedef struct ttm_tensor_info {
  size_t size;           /* of this struct as the caller knows it */
  ttm_str name;          /* of the argument it is or comes from; else location or name of the operation that made it */
  ttm_str category;      /* "weights", "activations", ...: the classes of live_at_peak in findings.json */
  ttm_str dtype;         /* as it is stored: "bf16", "bfp8"; empty when unknown */
  ttm_str layout;        /* "tile", "row_major"; empty when unknown */
  ttm_str memory_layout; /* "interleaved", "height_sharded", ...; empty when unknown */
  ttm_memory memory;     /* TTM_MEMORIES: on the host, or unknown */
  uint32_t rank;         /* number of dimensions */
  uint64_t shape[TTM_TENSOR_DIMS]; /* logical; the first `rank` of them */
  uint64_t logical_bytes;          /* without padding, all banks; TTM_UNKNOWN like the next two */
  uint64_t stored_bytes;           /* tiles, shards and rows padded, all banks */
  uint64_t bank_bytes;             /* what every bank gives up for it */
  uint64_t address;   /* of its buffer in a graph capture or recording; TTM_UNKNOWN elsewhere: logs print none */
  uint32_t birth;     /* the operation that made it; TTM_NONE: an argument that the host had put there before */
  uint32_t result;    /* which of its results */
  uint32_t last_use;  /* the operation that took it last; birth when none did; TTM_NONE for an argument */
  uint32_t freed_by;  /* a deallocate; TTM_NONE: never, or nothing tells */
  uint32_t same_as;   /* this result is a tensor that already lived (load_cached): its row; else TTM_NONE */
  bool alive_at_peak; /* when its memory, DRAM or L1, was fullest: its bytes are in that peak */
} ttm_tensor_info;
#define TTM_TENSOR_INFO_INIT \
  { .size = sizeof(ttm_tensor_info) }

/* Rows 0 to count - 1: results of operations in the order of the log, then the arguments that are alive at a peak. 0, or TTM_EUSAGE for a
 * row past the end and a struct without its size. */
TTM_API uint32_t ttm_tensor_count(const ttm_findings *findings);
TTM_API int ttm_tensor_get(const ttm_findings *findings, uint32_t row, ttm_tensor_info *out, ttm_error *err);

#ifdef __cplusplus
}
#endif
#endif
