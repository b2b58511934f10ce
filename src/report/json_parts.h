/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of JSON that several of the report's files share. */
#ifndef TTM_REPORT_JSON_PARTS_H
#define TTM_REPORT_JSON_PARTS_H

#include "analyze/findings.h"
#include "report/json_writer.h"

/* A profile string; null for id 0. */
void ttm_json_id(ttm_buf *buf, const ttm_profile *p, uint32_t id);

/* "DRAM": and so on, with the colon. */
void ttm_json_memory_key(ttm_buf *buf, ttm_memory memory);

/* Name (string id) of the const-eval program around a frame, itself included; 0 when there is none. */
uint32_t ttm_const_eval_name(const ttm_profile *p, uint32_t frame);

/* Number of a dense rank. */
uint32_t ttm_rank_number(const ttm_profile *p, uint32_t rank);

/* "shape":..,"dtype":.. of a type id, with a comma before each; nulls when it is no tensor. */
void ttm_json_type_members(ttm_buf *buf, const ttm_profile *p, uint32_t type);

/* "4000x256"; null for rank 0. */
void ttm_json_shape(ttm_buf *buf, const ttm_dims *dims);
/* [4000,256] */
void ttm_json_dims(ttm_buf *buf, const ttm_dims *dims);

/* "index":..,"mlir_op":..,"loc":..,"line":.. of an operation: the way every finding names one. Index is null for
 * operations that are no elements. */
void ttm_json_op_members(ttm_buf *buf, const ttm_findings *f, uint32_t op);

#endif
