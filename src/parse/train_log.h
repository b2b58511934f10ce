/* SPDX-License-Identifier: Apache-2.0 */
/* Logs of tt-train: every `=== Memory Usage Summary ===` of MemoryUsageTracker, every `=== DRAM footprint ===` of the allocator,
 * and what the trainer says about the model and the device. Any bytes are read; what a summary should hold and does not is
 * counted. */
#ifndef TTM_PARSE_TRAIN_LOG_H
#define TTM_PARSE_TRAIN_LOG_H

#include "base/intern.h"
#include "base/str.h"
#include "base/vec.h"
#include "ttmem/error.h"

/* Sizes are kept as printed: hundredths of a MB (of 1024 * 1024 bytes). Beyond what is sane a number is not read. */
#define TTM_TRAIN_UNKNOWN INT64_MIN

typedef struct ttm_train_phase {
  uint32_t name; /* in ttm_train_log.names */
  uint64_t line;
  bool has_segment, has_cumulative, has_l1;
  int64_t segment_peak, allocations, deallocations, change; /* with has_segment */
  int64_t cumulative_peak, cumulative_current;              /* with has_cumulative */
  int64_t peak_cb, peak_buffer, peak_total;                 /* with has_l1 */
} ttm_train_phase;

/* A number the trainer printed somewhere, and where. */
typedef struct ttm_train_fact {
  uint64_t value; /* parameters as a count; device memory in hundredths of a MB */
  uint64_t line;  /* 0: not in the log */
} ttm_train_fact;

typedef struct ttm_train_summary {
  uint32_t name; /* the last line of text before it; 0 when there is none */
  uint16_t rank; /* from a tag like [1,3]<stdout>:, or TTM_NO_RANK */
  uint64_t line, last_line;
  TTM_VEC(ttm_train_phase) phases;
  int64_t overall_peak, final_usage; /* TTM_TRAIN_UNKNOWN when the log ends before */
  ttm_train_fact parameters, device_memory;
} ttm_train_summary;

/* What the allocator itself saw, per device. Unknown where its line is missing. */
typedef struct ttm_train_footprint {
  uint16_t rank;
  uint64_t line;
  int64_t peak, arena, reserved, largest_block;
} ttm_train_footprint;

typedef struct ttm_train_log {
  ttm_intern names;
  TTM_VEC(ttm_train_summary) summaries;
  TTM_VEC(ttm_train_footprint) footprints;
  uint64_t lines, bytes;
  uint64_t torn; /* lines inside a summary that start like one of its own and cannot be read, lines of one outside */
  uint64_t first_torn_line; /* 0 when there is none */
  const char *damage;       /* why it is not whole; NULL */
} ttm_train_log;

/* A path (plain, .gz or .zst) or "-". 0, TTM_EIO or TTM_ENOMEM; `out` is freed with ttm_train_log_free in any case. Finding
 * nothing is not an error here. */
int ttm_train_log_read(ttm_train_log *out, const char *path, ttm_error *err);
int ttm_train_log_read_bytes(ttm_train_log *out, ttm_str text, ttm_error *err);
void ttm_train_log_free(ttm_train_log *log);

/* What a phase is for, whatever `_micro_0` and `__000042` follow its name. */
typedef enum ttm_train_role {
  TTM_ROLE_OTHER,
  TTM_ROLE_MODEL,
  TTM_ROLE_OPTIMIZER,
  TTM_ROLE_FORWARD,
  TTM_ROLE_BACKWARD
} ttm_train_role;
ttm_train_role ttm_train_role_of(ttm_str phase_name);

#endif
