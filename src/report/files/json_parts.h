/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of JSON that several of the report's files share. */
#ifndef TTM_REPORT_JSON_PARTS_H
#define TTM_REPORT_JSON_PARTS_H

#include "analyze/findings.h"
#include "base/out_file.h"
#include "report/write/json_writer.h"

/* A profile string; null for id 0. */
void ttm_json_id(ttm_buf *buf, const ttm_profile *p, uint32_t id);

/* "DRAM": and so on, with the colon. */
void ttm_json_memory_key(ttm_buf *buf, ttm_memory memory);

/* Name (string id) of the const-eval program around a call, itself included; 0 when there is none. */
uint32_t ttm_const_eval_name(const ttm_profile *p, uint32_t call);

/* Number of a dense rank. */
uint32_t ttm_rank_number(const ttm_profile *p, uint32_t rank);

/* "shape":..,"dtype":.. of a type id, with a comma before each; nulls when it is no tensor. */
void ttm_json_type_members(ttm_buf *buf, const ttm_profile *p, uint32_t type);

/* "4000x256"; null for rank 0. */
void ttm_json_shape(ttm_buf *buf, const ttm_dims *dims);
/* [4000,256] */
void ttm_json_dims(ttm_buf *buf, const ttm_dims *dims);

/* {"dot.0":4,...}: where the locations of a module text stand. 0 or TTM_ENOMEM. */
int ttm_json_loc_index(ttm_out *out, ttm_str module_text);

/* What the cost of a tensor depends on besides its type. */
typedef struct ttm_json_sizes {
  ttm_alignment align;
  uint32_t banks[TTM_MEMORIES]; /* 0 when the log never says */
} ttm_json_sizes;
ttm_json_sizes ttm_json_sizes_of(const ttm_profile *p);

/* The layout object of a tensor type: shapes, tiles, buffer, bytes without and with padding, bytes per bank. */
void ttm_json_layout(ttm_buf *buf, const ttm_tensor_type *type, const ttm_json_sizes *sizes);

/* "index":..,"mlir_op":..,"loc":..,"line":.. of an operation: the way every finding names one. Index is null for
 * operations that are no elements. */
void ttm_json_op_members(ttm_buf *buf, const ttm_findings *f, uint32_t op);
/* An object of them; null for no operation. With its key. */
void ttm_json_key_op(ttm_buf *buf, const ttm_findings *f, const char *key, uint32_t op);

/* A figure in 0.001 MB behind its key; null for TTM_NONE. */
void ttm_json_key_milli(ttm_buf *buf, const char *key, uint32_t value);

#endif
