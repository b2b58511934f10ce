/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/feed.h"

#include "base/error.h"
#include "base/sized.h"
#include "profile/load/log.h"

struct ttm_feed {
  ttm_builder builder;
  ttm_log log;
  ttm_scanner scanner;
  ttm_scanned scanned; /* reused */
  ttm_buf carry;       /* a line whose end has not come yet */
  ttm_feed_figures figures;
  size_t ops_counted, states_counted;
};

int ttm_feed_begin(ttm_feed **out, const char *path, const ttm_read_options *given, ttm_error *err) {
  ttm_read_options options = TTM_READ_OPTIONS_INIT;
  int rc = ttm_sized_take(&options, sizeof options, given, err);
  if (rc) return rc;
  ttm_feed *feed = ttm_alloc(sizeof *feed);
  if (!feed) return ttm_error_nomem(err);
  feed->log.builder = &feed->builder;
  if (ttm_builder_begin(&feed->builder, path, options.keep_ir)) {
    ttm_feed_free(feed);
    return ttm_error_nomem(err);
  }
  *out = feed;
  return TTM_OK;
}

/* ---- Figures ------------------------------------------------------------------------------------------------------ */

static void count_state(ttm_feed *feed, uint32_t state) {
  const ttm_profile *p = feed->builder.profile;
  for (int m = 0; m < TTM_MEMORIES; m++) {
    ttm_feed_memory *memory = &feed->figures.memory[m];
    ttm_level level;
    if (!ttm_state_level(p, state, (ttm_memory)m, &level)) continue;
    if (!memory->seen || level.largest < memory->low_largest) {
      memory->low_largest = level.largest;
      memory->low_line = p->states.at[state].line;
    }
    memory->seen = true;
    memory->now = level;
    if (level.allocated > memory->peak) memory->peak = level.allocated;
  }
}

/* Counts the rows that came since the last time: every row is looked at once. */
static void count_new(ttm_feed *feed) {
  const ttm_profile *p = feed->builder.profile;
  ttm_feed_figures *f = &feed->figures;
  for (; feed->ops_counted < p->ops.n; feed->ops_counted++)
    f->operations += ttm_op_is_element(p, (uint32_t)feed->ops_counted);
  for (; feed->states_counted < p->states.n; feed->states_counted++) count_state(feed, (uint32_t)feed->states_counted);
  f->bytes = p->seen.bytes;
  f->lines = p->seen.lines;
  f->incidents = p->incidents.n;
}

const ttm_feed_figures *ttm_feed_now(const ttm_feed *feed) { return &feed->figures; }

/* ---- Bytes -------------------------------------------------------------------------------------------------------- */

static int take_chunk(ttm_feed *feed, const char *bytes, size_t n, bool last) {
  ttm_chunk chunk = {.data = bytes, .n = n, .last = last};
  chunk.cut_line = n && bytes[n - 1] != '\n';
  int rc = ttm_scanner_scan(&feed->scanner, &chunk, &feed->scanned);
  if (!rc) rc = ttm_log_take(&feed->log, &chunk, &feed->scanned);
  if (!rc) count_new(feed);
  return rc;
}

/* Whole lines, in pieces that stay in the processor's cache. */
static int take_lines(ttm_feed *feed, const char *bytes, size_t n) {
  int rc = TTM_OK;
  while (n && !rc) {
    size_t piece = n;
    if (n > TTM_CHUNK_BYTES) {
      const char *end = memchr(bytes + TTM_CHUNK_BYTES, '\n', n - TTM_CHUNK_BYTES);
      if (end) piece = (size_t)(end + 1 - bytes);
    }
    rc = take_chunk(feed, bytes, piece, false);
    bytes += piece;
    n -= piece;
  }
  return rc;
}

/* Appends to the unfinished line and takes it when it is whole, or longer than any line may be. */
static int carry_on(ttm_feed *feed, const char *bytes, size_t n, bool whole) {
  ttm_buf_put(&feed->carry, (ttm_str){bytes, n});
  if (feed->carry.failed) return TTM_ENOMEM;
  if (!whole && feed->carry.n < TTM_LONGEST_LINE) return TTM_OK;
  int rc = take_chunk(feed, feed->carry.at, feed->carry.n, false);
  ttm_buf_clear(&feed->carry);
  return rc;
}

int ttm_feed_put(ttm_feed *feed, const char *bytes, size_t n, ttm_error *err) {
  if (!n) return TTM_OK;                                           /* `bytes` may be NULL then */
  size_t whole = ttm_str_find_last((ttm_str){bytes, n}, '\n') + 1; /* 0 when there is none */
  size_t head = 0;
  int rc = TTM_OK;
  if (whole && feed->carry.n) {
    head = (size_t)((const char *)memchr(bytes, '\n', whole) + 1 - bytes);
    rc = carry_on(feed, bytes, head, true);
  }
  if (!rc) rc = take_lines(feed, bytes + head, whole - head);
  if (!rc && whole < n) rc = carry_on(feed, bytes + whole, n - whole, false);
  return rc ? ttm_error_nomem(err) : TTM_OK;
}

int ttm_feed_end(ttm_feed *feed, ttm_profile **out, ttm_error *err) {
  ttm_str rest = ttm_buf_str(&feed->carry);
  int rc = take_chunk(feed, rest.p, rest.n, true);
  rc = rc ? ttm_error_nomem(err) : ttm_log_end(&feed->log, err);
  if (!rc) *out = ttm_builder_take(&feed->builder);
  ttm_feed_free(feed);
  return rc;
}

void ttm_feed_free(ttm_feed *feed) {
  if (!feed) return;
  ttm_scanner_free(&feed->scanner);
  ttm_scanned_free(&feed->scanned);
  ttm_log_free(&feed->log);
  ttm_builder_free(&feed->builder);
  ttm_buf_free(&feed->carry);
  ttm_free(feed);
}
