/* SPDX-License-Identifier: Apache-2.0 */
/* Follows a log while it is written, and tells when DRAM comes higher than ever before.
 *
 *   $ follow < tests/data/small.log
 *   line 66: DRAM at 0.002 MB per bank after 3 operations
 *   line 72: DRAM at 0.004 MB per bank after 3 operations
 *   line 100: DRAM at 0.008 MB per bank after 6 operations
 *   18 operations, 21 states
 */
#include <stdio.h>

#include "ttmem/ttmem.h"

static void tell(const ttm_feed *feed, uint64_t *highest) {
  ttm_feed_info now = TTM_FEED_INFO_INIT;
  ttm_feed_get(feed, &now, NULL);
  uint64_t peak = now.peak[TTM_DRAM];
  if (peak == TTM_UNKNOWN || peak <= *highest) return;
  *highest = peak;
  printf("line %llu: DRAM at %.3f MB per bank after %llu operations\n", (unsigned long long)now.lines,
         (double)peak / 1048576, (unsigned long long)now.operations);
}

int main(void) {
  ttm_feed *feed;
  ttm_profile *profile;
  ttm_error err;
  char piece[256];
  uint64_t highest = 0;
  size_t n;
  if (ttm_feed_begin(&feed, "standard input", NULL, &err)) return fprintf(stderr, "%s\n", err.message), 1;
  while ((n = fread(piece, 1, sizeof piece, stdin)) > 0) {
    if (ttm_feed_put(feed, piece, n, &err)) return fprintf(stderr, "%s\n", err.message), 1;
    tell(feed, &highest);
  }
  if (ttm_feed_end(feed, &profile, &err)) return fprintf(stderr, "%s\n", err.message), 1;
  printf("%u operations, %u states\n", ttm_operation_count(profile), ttm_state_count(profile));
  ttm_profile_free(profile);
  return 0;
}
