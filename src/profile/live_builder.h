/* SPDX-License-Identifier: Apache-2.0 */
/* A recording of `ttmem live` -> the Profile. Private to src/profile.
 *
 * Each device is a rank. Every sample is a state; what happened until the next one is an operation, named after the process that
 * changed most, with the time as its location. Nothing is known between samples, and nothing is made up: no tensors, no frees. */
#ifndef TTM_PROFILE_LIVE_BUILDER_H
#define TTM_PROFILE_LIVE_BUILDER_H

#include "base/chunks.h"
#include "parse/live_record.h"
#include "profile/builder.h"

typedef struct ttm_live_device {
  uint64_t asic_id;
  const ttm_board *board;
  ttm_stream *stream;
  uint64_t bytes[TTM_USES]; /* of the last sample */
  uint32_t line;            /* of it */
  uint32_t ever;            /* bit per ttm_use that was ever above 0 */
  bool any;
} ttm_live_device;

typedef struct ttm_live_process {
  uint32_t name;            /* string, with the process id */
  uint64_t bytes[TTM_USES]; /* last seen */
} ttm_live_process;

typedef struct ttm_live_builder {
  ttm_builder base;
  ttm_profile *profile;
  TTM_VEC(ttm_live_device) devices;
  /* Numbers of the running session. */
  TTM_VEC(uint32_t) device_of_number;
  TTM_VEC(ttm_live_process) processes;
  bool started;
  uint64_t first_start_ms, start_ms, interval_ms;
  uint64_t last_ms; /* since the first start */
  ttm_buf scratch;
} ttm_live_builder;

/* A new profile in b->profile, and all that fills it; both are to be freed in any case. 0 or TTM_ENOMEM. */
int ttm_live_builder_begin(ttm_live_builder *b, const char *path);
/* Whole lines; the last one may lack its end when `last` is true: it is torn then, and left out. */
int ttm_live_builder_put(ttm_live_builder *b, ttm_str lines, bool last);
int ttm_live_builder_finish(ttm_live_builder *b, ttm_error *err);
void ttm_live_builder_free(ttm_live_builder *b);

#endif
