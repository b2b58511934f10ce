/* SPDX-License-Identifier: Apache-2.0 */
/* The conclusions in words: what failed, by how much, what to change, how sure that is. Every report prints these sentences. */
#ifndef TTMEM_STATEMENT_H
#define TTMEM_STATEMENT_H

#include "ttmem/findings.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One conclusion. Start from TTM_STATEMENT_INFO_INIT. Texts are UTF-8 on one line each and live as long as the findings. */
typedef struct ttm_statement_info {
  size_t size;                         /* of this struct as the caller knows it */
  ttm_str id;                          /* stable: "oom.fragmented" */
  ttm_str topic;                       /* "failure", "peak", "freed_late", ...: as in findings.json */
  ttm_str severity;                    /* "failure", "warning", "note", "ok", "unknown" */
  ttm_str basis;                       /* "measured", "derived", "estimated", "predicted" */
  ttm_str headline;                    /* one sentence without its full stop: what, and by how much */
  ttm_str detail;                      /* further sentences; may be empty */
  uint32_t operation;                  /* what it is about, a row of ttm_operation_get; TTM_NONE */
  uint32_t line;                       /* of the log; 0 */
  uint32_t first_quantity, quantities; /* rows of ttm_quantity_get */
  uint32_t first_point, points;        /* rows of ttm_point_get: the evidence */
  uint32_t first_fix, fixes;           /* rows of ttm_fix_get */
} ttm_statement_info;
#define TTM_STATEMENT_INFO_INIT \
  { .size = sizeof(ttm_statement_info) }

/* What to change. Start from TTM_FIX_INFO_INIT. */
typedef struct ttm_fix_info {
  size_t size;        /* of this struct as the caller knows it */
  ttm_str kind;       /* stable */
  ttm_str text;       /* what to change and what it frees */
  ttm_str verified;   /* "replayed" on the recorded allocations, "derived" from measured numbers, "estimated" */
  uint64_t bytes;     /* per bank it frees, or the number the text is about */
  uint64_t count;     /* tensors, parts or chips it is about; 0 */
  uint32_t operation; /* a row of ttm_operation_get, TTM_NONE */
  uint32_t statement; /* it belongs to */
  uint32_t rank;      /* among all fixes, 0 the best; TTM_NONE: another statement's, which is ranked, says the same */
} ttm_fix_info;
#define TTM_FIX_INFO_INIT \
  { .size = sizeof(ttm_fix_info) }

/* A named number. Start from TTM_QUANTITY_INFO_INIT. */
typedef struct ttm_quantity_info {
  size_t size;  /* of this struct as the caller knows it */
  ttm_str name; /* "needed_per_bank" */
  ttm_str unit; /* "B", "MB", "%"; empty for counts */
  double value;
} ttm_quantity_info;
#define TTM_QUANTITY_INFO_INIT \
  { .size = sizeof(ttm_quantity_info) }

/* A line of evidence. Start from TTM_POINT_INFO_INIT. */
typedef struct ttm_point_info {
  size_t size;         /* of this struct as the caller knows it */
  ttm_str text;        /* of the line */
  uint64_t bank_bytes; /* the figure of the line, bytes per bank; TTM_UNKNOWN when it has none */
  uint32_t operation;  /* a row of ttm_operation_get, TTM_NONE */
} ttm_point_info;
#define TTM_POINT_INFO_INIT \
  { .size = sizeof(ttm_point_info) }

/* Rows 0 to count - 1, in the order reports tell them. 0, or TTM_EUSAGE for a row past the end and a struct without its size. */
TTM_API uint32_t ttm_statement_count(const ttm_findings *findings);
TTM_API int ttm_statement_get(const ttm_findings *findings, uint32_t row, ttm_statement_info *out, ttm_error *err);
TTM_API uint32_t ttm_fix_count(const ttm_findings *findings);
TTM_API int ttm_fix_get(const ttm_findings *findings, uint32_t row, ttm_fix_info *out, ttm_error *err);
TTM_API uint32_t ttm_quantity_count(const ttm_findings *findings);
TTM_API int ttm_quantity_get(const ttm_findings *findings, uint32_t row, ttm_quantity_info *out, ttm_error *err);
TTM_API uint32_t ttm_point_count(const ttm_findings *findings);
TTM_API int ttm_point_get(const ttm_findings *findings, uint32_t row, ttm_point_info *out, ttm_error *err);

#ifdef __cplusplus
}
#endif
#endif
