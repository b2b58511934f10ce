/* SPDX-License-Identifier: Apache-2.0 */
/* What a profile means: every conclusion of the reports, made once.
 * The caller owns ttm_findings and frees them. They keep what they need of the profile: both may be freed in any order. Read-only, and
 * safe to use from several threads at once. */
#ifndef TTMEM_FINDINGS_H
#define TTMEM_FINDINGS_H

#include "ttmem/profile.h"
#include "ttmem/str.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ttm_findings ttm_findings;

/* 0 or TTM_ENOMEM. The findings are the same for any number of threads; 0: one per processor. */
TTM_API int ttm_findings_make(ttm_findings **out, const ttm_profile *profile, unsigned threads, ttm_error *err);
/* NULL is fine. */
TTM_API void ttm_findings_free(ttm_findings *findings);

/* The text of NAME_findings.json (docs/outputs.md): *n bytes and a NUL, freed with ttm_text_free. 0 or TTM_ENOMEM. */
TTM_API int ttm_findings_json(const ttm_findings *findings, char **out, size_t *n, ttm_error *err);

/* The number under which reports print an operation ("index" in the JSON files); TTM_NONE for deallocate and get_device. */
TTM_API uint32_t ttm_findings_index(const ttm_findings *findings, uint32_t operation);
/* The operation of such a number; TTM_NONE when there are not that many. */
TTM_API uint32_t ttm_findings_op(const ttm_findings *findings, uint32_t index);

/* The highest state of a memory. Start from TTM_PEAK_INFO_INIT. */
typedef struct ttm_peak_info {
  size_t size;        /* of this struct as the caller knows it */
  uint32_t state;     /* the first state of that height; TTM_NONE when the log tells nothing of this memory */
  uint32_t raised_by; /* the operation that raised it; TTM_NONE: there from the start, or nothing tells who */
  int64_t delta;      /* what that operation added, bytes per bank */
  ttm_memory_use use; /* as the state says */
} ttm_peak_info;
#define TTM_PEAK_INFO_INIT \
  { .size = sizeof(ttm_peak_info) }

TTM_API int ttm_peak_get(const ttm_findings *findings, ttm_memory memory, ttm_peak_info *out, ttm_error *err);

/* A failure as the log tells it, and the verdict on it. Numbers are bytes, TTM_UNKNOWN where the message has none. Start from
 * TTM_INCIDENT_INFO_INIT. */
typedef struct ttm_incident_info {
  size_t size;                            /* of this struct as the caller knows it */
  ttm_str kind;                           /* "oom", "l1_clash", "l1_overflow", "l1_buffers", "fatal" */
  ttm_str text;                           /* the sentence of the log */
  ttm_str memory;                         /* "DRAM", "L1", ...; empty when unknown */
  ttm_str verdict;                        /* why there was no room, as in findings.json; empty without one */
  uint32_t operation;                     /* that was running, TTM_NONE */
  uint32_t state;                         /* the last state before it, TTM_NONE */
  uint32_t rank, line;                    /* as in ttm_operation_info */
  uint64_t shortfall;                     /* per bank: what was missing; of a clash the overlap */
  uint64_t buffer;                        /* the buffer that was asked for, over all banks */
  uint64_t banks;                         /* their number */
  uint64_t needed, bank_size;             /* per bank */
  uint64_t allocated, free, largest_free; /* per bank, inside the operation */
} ttm_incident_info;
#define TTM_INCIDENT_INFO_INIT \
  { .size = sizeof(ttm_incident_info) }

/* Rows 0 to count - 1 in the order of the log. 0, or TTM_EUSAGE for a row past the end and a struct without its size. */
TTM_API uint32_t ttm_incident_count(const ttm_findings *findings);
TTM_API int ttm_incident_get(const ttm_findings *findings, uint32_t row, ttm_incident_info *out, ttm_error *err);

#ifdef __cplusplus
}
#endif
#endif
