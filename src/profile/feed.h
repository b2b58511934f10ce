/* SPDX-License-Identifier: Apache-2.0 */
/* What a feed (ttmem/profile.h) knows on the way, in the figures of the log. */
#ifndef TTM_PROFILE_FEED_H
#define TTM_PROFILE_FEED_H

#include "profile/profile.h"

/* One memory as it stands: the fullest rank where several run. */
typedef struct ttm_feed_memory {
  bool seen;
  ttm_level now;        /* of the last state */
  uint32_t peak;        /* highest `allocated`, 0.001 MB per bank */
  uint32_t low_largest; /* smallest largest-free-block so far, 0.001 MB per bank */
  uint32_t low_line;    /* log line of that state */
} ttm_feed_memory;

/* What is known after the last whole line. */
typedef struct ttm_feed_figures {
  uint64_t bytes, lines;
  uint64_t operations; /* without deallocations and get_device */
  uint64_t incidents;
  ttm_feed_memory memory[TTM_MEMORIES];
} ttm_feed_figures;

/* The figures of now; borrowed, changed by the next put. */
const ttm_feed_figures *ttm_feed_now(const ttm_feed *feed);

#endif
