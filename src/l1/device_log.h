/* SPDX-License-Identifier: Apache-2.0 */
/* What a TT-Metal log or one of its memory-report CSV files says about L1 and circular buffers. Read once, forward only. */
#ifndef TTM_L1_DEVICE_LOG_H
#define TTM_L1_DEVICE_LOG_H

#include "base/error.h"
#include "base/intern.h"
#include "parse/incident_text.h"
#include "parse/memory_csv.h"
#include "parse/metal_log.h"

/* L1 as the allocator was set up. */
typedef struct ttm_device_partition {
  uint64_t worker_l1, base, small;
  uint64_t line, times;
} ttm_device_partition;

/* One kernel binary; loaded again, it counts once more. */
typedef struct ttm_device_kernel {
  uint32_t name;
  uint64_t processor, bytes; /* the largest seen */
  uint64_t line, times;
} ttm_device_kernel;

/* Buffers of one memory, as TT_METAL_SHM_VERBOSE prints them (frees are not printed). */
typedef struct ttm_device_buffers {
  uint64_t times, bytes, largest, largest_line;
} ttm_device_buffers;

typedef struct ttm_device_incident {
  ttm_incident_text what;           /* its views live as long as the log */
  const ttm_metal_mistake *mistake; /* or NULL */
  uint64_t line, copies;
  uint32_t op; /* operation in flight, 0 when not known */
  bool logged;
} ttm_device_incident;

/* A remark that came so many times. */
typedef struct ttm_device_remark {
  uint64_t times, line; /* first line */
  uint32_t text;
} ttm_device_remark;

typedef struct ttm_device_block {
  uint32_t memory;
  uint64_t address, size;
  bool allocated;
} ttm_device_block;

/* A row of a CSV report. */
typedef struct ttm_device_usage {
  uint32_t program; /* 0 for none */
  uint32_t memory;
  uint64_t allocatable, allocated, free, largest; /* TTM_UNKNOWN where the report has none */
  uint64_t line;
} ttm_device_usage;

typedef struct ttm_device_log {
  ttm_intern strings;
  uint64_t bytes, lines;
  uint64_t era_lines[TTM_METAL_ERAS];
  uint64_t level_lines[TTM_SEV_FATAL + 1];
  bool coloured;
  TTM_VEC(ttm_device_partition) partitions;
  TTM_VEC(ttm_device_kernel) kernels;
  ttm_device_buffers buffers[TTM_METAL_MEMORIES];
  TTM_VEC(ttm_device_incident) incidents;
  TTM_VEC(ttm_device_remark) warnings; /* different texts; capped */
  ttm_device_remark indices;           /* gaps in the buffer indices */
  uint64_t compiled, ops;
  ttm_csv_kind csv;
  TTM_VEC(ttm_device_usage) usage;
  TTM_VEC(ttm_device_block) blocks;
  const char *damage; /* why a compressed input ended early, or NULL */
} ttm_device_log;

enum { TTM_DEVICE_WARNINGS = 20, TTM_DEVICE_INCIDENTS = 1000 };

/* Reads a file ("-" for standard input, compressed or not), or bytes in memory. 0, TTM_EIO or TTM_ENOMEM. Freed with
 * ttm_device_log_free in any case. */
int ttm_device_log_read(ttm_device_log *out, const char *path, ttm_error *err);
int ttm_device_log_read_bytes(ttm_device_log *out, ttm_str bytes, ttm_error *err);
void ttm_device_log_free(ttm_device_log *log);

/* True when it is neither a TT-Metal log nor a report: nothing to say. */
bool ttm_device_log_is_empty(const ttm_device_log *log);

/* The kernels of all processors together, each at its largest: what one program with all of them would put into the kernel ring. */
uint64_t ttm_device_kernel_bytes(const ttm_device_log *log);

#endif
