/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of TT-Metal's own logger, in the three forms it has had, and the few messages that carry memory facts.
 *   A, until v0.58:      "                  Metal | INFO     | message"
 *   B, some v0.59 rc:    "[2025-06-06 03:52:41.386] [info] [mesh_device.cpp:518] [Metal] message"
 *   C, since v0.59:      "2026-05-14 01:00:31.755 | critical |          Always | message (assert.hpp:104)"
 * Any bytes are fine. Colours must be taken out first (ttm_metal_plain). */
#ifndef TTM_PARSE_METAL_LOG_H
#define TTM_PARSE_METAL_LOG_H

#include "base/buf.h"
#include "parse/log_line.h"

typedef enum ttm_metal_era { TTM_METAL_NONE, TTM_METAL_A, TTM_METAL_B, TTM_METAL_C, TTM_METAL_ERAS } ttm_metal_era;

/* Views point into the line. */
typedef struct ttm_metal_line {
  ttm_metal_era era;
  ttm_log_severity severity;
  ttm_str logger;  /* "Metal" */
  ttm_str message; /* without the source place */
  ttm_str source;  /* "assert.hpp:104"; empty in era A */
} ttm_metal_line;

/* The line without terminal escapes: itself when it has none, else copied into `scratch`. */
ttm_str ttm_metal_plain(ttm_str line, ttm_buf *scratch);

/* False when the line is none of TT-Metal's logger; *out is then empty. */
bool ttm_metal_line_read(ttm_str line, ttm_metal_line *out);

typedef enum ttm_metal_kind {
  TTM_METAL_NOTHING,
  TTM_METAL_PARTITION,  /* "Configured partition params: ..." of L1 */
  TTM_METAL_KERNEL,     /* "RISC=1, name=reader, size=1234 (bytes)" */
  TTM_METAL_COMPILED,   /* "compiled reader in 12 ms" */
  TTM_METAL_ALLOCATION, /* a buffer, printed with TT_METAL_SHM_VERBOSE=1 */
  TTM_METAL_INDICES,    /* "Circular buffer indices are not contiguous starting at 0." */
  TTM_METAL_OP_BEGIN,   /* "Begin op: ttnn::add" */
  TTM_METAL_OP_END,     /* "End op: ttnn::add (duration: 5 ns)" */
} ttm_metal_kind;

enum { TTM_METAL_MEMORIES = 5 }; /* buffer types: 0 DRAM, 1 L1, 2 system memory, 3 L1_SMALL, 4 TRACE */

/* What one message says; only the fields of its kind are set. */
typedef struct ttm_metal_event {
  ttm_metal_kind kind;
  ttm_str name;                    /* kernel, operation, indices */
  uint64_t bytes;                  /* kernel, allocation */
  uint64_t processor;              /* kernel: RISC */
  uint64_t memory;                 /* allocation: buffer type */
  uint64_t device;                 /* allocation */
  uint64_t worker_l1, base, small; /* partition */
} ttm_metal_event;

/* Kind TTM_METAL_NOTHING (false) for any message without memory facts, and for one that is cut. */
bool ttm_metal_event_read(ttm_str message, ttm_metal_event *out);

/* Mistakes in the configuration of circular buffers, which TT-Metal reports as a fatal error. */
typedef struct ttm_metal_mistake {
  const char *needle; /* part of the sentence */
  const char *cure;   /* what to do */
} ttm_metal_mistake;

/* The mistake a sentence speaks of, or NULL. */
const ttm_metal_mistake *ttm_metal_mistake_find(ttm_str sentence);

#endif
