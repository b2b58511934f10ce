/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of JSON that several of the report's files share. */
#ifndef TTM_REPORT_JSON_PARTS_H
#define TTM_REPORT_JSON_PARTS_H

#include "analyze/findings.h"
#include "base/out_file.h"
#include "report/write/json.h"

/* A profile string; null for id 0. */
static inline void ttm_json_put_id(ttm_json *j, const char *key, const ttm_profile *p, uint32_t id) {
  id ? ttm_json_put_str(j, key, ttm_profile_string(p, id)) : ttm_json_put_null(j, key);
}
/* null for TTM_NONE. */
static inline void ttm_json_put_index(ttm_json *j, const char *key, uint32_t index) {
  ttm_json_put_known(j, key, index == TTM_NONE ? UINT64_MAX : index);
}
/* A figure in 0.001 MB; null for TTM_NONE. */
static inline void ttm_json_put_figure(ttm_json *j, const char *key, uint32_t value) {
  value == TTM_NONE ? ttm_json_put_null(j, key) : ttm_json_put_milli(j, key, value);
}

/* Name (string id) of the const-eval program around a call, itself included; 0 when there is none. */
uint32_t ttm_const_eval_name(const ttm_profile *p, uint32_t call);

/* Number of a dense rank. */
uint32_t ttm_rank_number(const ttm_profile *p, uint32_t rank);

/* "shape" and "dtype" of a tensor type; nulls for NULL. */
void ttm_json_put_tensor_type(ttm_json *j, const ttm_tensor_type *type);
/* The same of a type id; nulls when it is no tensor. */
void ttm_json_put_type(ttm_json *j, const ttm_profile *p, uint32_t type);

/* "4000x256"; null for rank 0. */
void ttm_json_put_shape(ttm_json *j, const char *key, const ttm_dims *dims);

/* {"dot.0":4,...}: where the locations of a module text stand. 0 or TTM_ENOMEM. */
int ttm_json_put_locations(ttm_json *j, const char *key, ttm_out *out, ttm_str module_text);

/* What the cost of a tensor depends on besides its type. */
typedef struct ttm_json_sizes {
  ttm_alignment align;
  uint32_t banks[TTM_MEMORIES]; /* 0 when the log never says */
} ttm_json_sizes;
/* On the device that the operation ran on; TTM_NONE: on every device of the log, 0 banks where they differ. */
ttm_json_sizes ttm_json_sizes_of(const ttm_profile *p, uint32_t op);

/* The layout object of a type: shapes, tiles, buffer, bytes without and with padding, bytes per bank; null when it is no tensor. */
void ttm_json_put_layout(ttm_json *j, const char *key, const ttm_type *type, const ttm_json_sizes *sizes);

/* "index", "mlir_op", "loc" and "line" of an operation: the way every finding names one, and "weight" where that is its name instead of "loc"
 * (ttm_words_weight). Index is null for operations that are no elements; all are for no operation. */
void ttm_json_put_op_members(ttm_json *j, const ttm_findings *f, uint32_t op);
/* An object of them; null for no operation. */
void ttm_json_put_op(ttm_json *j, const char *key, const ttm_findings *f, uint32_t op);

#endif
