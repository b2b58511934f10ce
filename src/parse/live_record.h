/* SPDX-License-Identifier: Apache-2.0 */
/* A recording of `ttmem live --record`, line by line (format: docs/outputs.md). */
#ifndef TTM_PARSE_LIVE_RECORD_H
#define TTM_PARSE_LIVE_RECORD_H

#include "parse/shm_segment.h"

typedef enum ttm_live_kind {
  TTM_LIVE_BAD,     /* torn, or nothing we know */
  TTM_LIVE_FIRST,   /* "ttmem-live 1" */
  TTM_LIVE_START,   /* time (of day), interval */
  TTM_LIVE_DEVICE,  /* number, device_id, asic_id, name of the board ("-": not known) */
  TTM_LIVE_PROCESS, /* number, pid, name */
  TTM_LIVE_SAMPLE,  /* time, number of the device, bytes, parts */
  TTM_LIVE_FULL,    /* time: nothing was written after it */
  TTM_LIVE_END,     /* time */
} ttm_live_kind;

typedef struct ttm_live_line {
  ttm_live_kind kind;
  uint64_t time_ms; /* since the start; START: since 1970 */
  uint64_t interval_ms;
  uint64_t number, device_id, asic_id, pid;
  ttm_str name;             /* of a board or process, foreign */
  uint64_t bytes[TTM_USES]; /* held on the device */
  ttm_str parts;            /* of the processes that changed, for ttm_live_part_next */
} ttm_live_line;

typedef struct ttm_live_part {
  uint64_t process; /* number */
  uint64_t bytes[TTM_USES];
} ttm_live_part;

/* True when the input begins as a recording does. */
bool ttm_live_record_detect(ttm_str first);

/* Takes any line, without its end. */
ttm_live_line ttm_live_line_read(ttm_str line);

/* The next of the parts; false at their end, or where they are torn. */
bool ttm_live_part_next(ttm_str *parts, ttm_live_part *out);

#endif
