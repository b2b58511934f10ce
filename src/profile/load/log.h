/* SPDX-License-Identifier: Apache-2.0 */
/* A log on its way into a profile: what the scanner found in each chunk, joined in order. Private to the loader of logs.
 *
 * Every rank has, beside its stream, at most one memory block being put together and one module dump being collected. */
#ifndef TTM_PROFILE_LOAD_LOG_H
#define TTM_PROFILE_LOAD_LOG_H

#include "parse/log_scan.h"
#include "profile/builder.h"

/* A module dump whose lines are still coming. */
typedef struct ttm_open_dump {
  bool open;
  bool closed; /* the module's last brace was seen: logs without an END line end here */
  bool overflow;
  ttm_dump row;
  ttm_buf text;
} ttm_open_dump;

typedef struct ttm_log_rank {
  uint16_t tag; /* rank as tagged, TTM_NO_RANK */
  ttm_stream *stream;
  bool block_open;
  bool block_told; /* that a line of it is missing */
  ttm_block block; /* whose lines are still coming */
  ttm_open_dump dump;
} ttm_log_rank;

typedef struct ttm_log {
  ttm_builder *builder;
  TTM_VEC(ttm_log_rank *) ranks;
  ttm_map rank_ids; /* tag -> which of them */
  ttm_log_rank *last_rank;
  uint64_t base_line; /* lines before the current chunk */
  bool last_line_bad; /* the last operation line did not parse */
  uint32_t open_dumps;
  uint64_t empty_blocks;      /* headers without a memory line */
  uint32_t place, place_line; /* string: where the last traceback was in the user's program; of its line */
  uint32_t info_wait;         /* lines to look at for "info:" and its sentence; 0 = none awaited */
  bool info_next;             /* "info:" was seen ... */
  uint8_t info_before;        /* ... behind so many bytes, which a logger puts before every line: */
  char info_prefix[128];
  uint16_t info_tag;
  struct {
    const ttm_rest *rest; /* of the current chunk */
    const ttm_log_rank *rank;
    uint32_t base;
  } last_whole;       /* the last whole block: many after it end with the same lines, and so have its state base */
  ttm_op_line parsed; /* reused */
  ttm_buf location;   /* reused */
} ttm_log;

/* Joins one scanned chunk; chunks come in order. Zero but for `builder` is a log at its start. 0 or TTM_ENOMEM. */
int ttm_log_take(ttm_log *log, const ttm_chunk *chunk, const ttm_scanned *scanned);
/* After the last chunk: closes what is open. 0, TTM_ENOMEM, or TTM_ENODATA with the reason why there is nothing to report on. */
int ttm_log_end(ttm_log *log, ttm_error *err);
void ttm_log_free(ttm_log *log);

#endif
