/* SPDX-License-Identifier: Apache-2.0 */
/* A profile fed piece by piece while its log is being written: the caller pushes bytes as they come, may ask at any moment how
 * memory stands, and gets the profile at the end. The result is the one ttm_profile_read gives for the same bytes.
 * One thread at a time; the caller owns the feed until ttm_feed_end or ttm_feed_free. */
#ifndef TTM_PROFILE_FEED_H
#define TTM_PROFILE_FEED_H

#include "profile/profile.h"

typedef struct ttm_feed ttm_feed;

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

/* `path` names the log in messages and reports. Of `options` only keep_ir counts; NULL: the defaults. 0 or TTM_ENOMEM. */
int ttm_feed_begin(ttm_feed **out, const char *path, const ttm_read_options *options, ttm_error *err);

/* Takes any bytes; a line may come in pieces. 0 or TTM_ENOMEM, after which the feed is only good for ttm_feed_free. */
int ttm_feed_put(ttm_feed *feed, const char *bytes, size_t n, ttm_error *err);

/* The figures of now; borrowed, changed by the next put. */
const ttm_feed_figures *ttm_feed_now(const ttm_feed *feed);

/* The log is over. Frees the feed in every case. 0 and *out, or TTM_ENODATA with the reason, as ttm_profile_read. */
int ttm_feed_end(ttm_feed *feed, ttm_profile **out, ttm_error *err);

/* Gives up; NULL is fine. */
void ttm_feed_free(ttm_feed *feed);

#endif
