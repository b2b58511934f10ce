/* SPDX-License-Identifier: Apache-2.0 */
/* The decision trace of tt-mlir's greedy optimizer (FUNCTION_decision_trace.json, version 3): the layout chosen for every operation, and how the spill
 * pass kept L1 within its budget. What was tried and not chosen is passed over. */
#ifndef TTM_PARSE_DECISION_TRACE_H
#define TTM_PARSE_DECISION_TRACE_H

#include "base/vec.h"
#include "parse/json_fields.h"
#include "parse/tensor_type.h"
#include "ttmem/error.h"

/* "l1/#ttnn.tensor_memory_layout<height_sharded>/8x4". Zero: the compiler chose none. */
typedef struct ttm_plan_layout {
  ttm_buffer_kind buffer;
  ttm_placement placement;
  ttm_dims grid;
} ttm_plan_layout;

ttm_plan_layout ttm_plan_layout_read(ttm_str text);

typedef struct ttm_plan_op {
  ttm_str name;     /* "ttnn.matmul" */
  ttm_str location; /* as people name it; empty when unknown */
  ttm_plan_layout layout;
  uint64_t l1;   /* what its result takes of each core's L1 */
  bool fallback; /* nothing else was valid: DRAM */
  bool in_place; /* without a result: no layout */
} ttm_plan_op;

typedef enum ttm_spill_action {
  TTM_SPILL_DEAD,
  TTM_SPILL_LIVE,
  TTM_SPILL_OOM,
  TTM_SPILL_DEMOTED,
  TTM_SPILL_NOT_DEMOTED,
  TTM_SPILL_EVICTED,
  TTM_SPILL_FRAGMENTED, /* demoted, as circular buffers would reach into it */
  TTM_SPILL_SELF,
  TTM_SPILL_REVALIDATED,
  TTM_SPILL_OTHER
} ttm_spill_action;

/* In the order in which the pass made them: it may go back to an earlier position. */
typedef struct ttm_spill_event {
  ttm_spill_action action;
  uint32_t position; /* in its schedule */
  ttm_str op;        /* as MLIR prints it; of an eviction the victim */
  uint64_t after;    /* bytes of L1 occupied on each core */
  uint64_t usage;    /* of the operation; of an eviction what it freed */
} ttm_spill_event;

/* Freed with ttm_decision_trace_free. Texts live in it. */
typedef struct ttm_decision_trace {
  ttm_field_texts texts;
  ttm_str function;
  uint64_t version;
  uint64_t budget; /* bytes of L1 on each core; 0 when the spill pass did not run */
  uint64_t spills;
  TTM_VEC(ttm_plan_op) ops;
  TTM_VEC(ttm_spill_event) events;
} ttm_decision_trace;

/* 0; TTM_EFORMAT when it is no such file, or is cut; TTM_EIO; TTM_ENOMEM. Freed with ttm_decision_trace_free in any case. */
int ttm_decision_trace_read(ttm_decision_trace *out, const char *path, ttm_error *err);
int ttm_decision_trace_read_bytes(ttm_decision_trace *out, ttm_str text, ttm_error *err);
void ttm_decision_trace_free(ttm_decision_trace *trace);

#endif
