/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* memrchr */
#include "base/chunks.h"

#include <string.h>

#include "base/error.h"

static int make_room(ttm_chunk *chunk, size_t cap) {
  return cap <= chunk->cap ? TTM_OK : ttm_vec_grow_((void **)&chunk->data, &chunk->cap, cap, 1);
}

/* Appends to the chunk until it holds `target` bytes or the source ends. */
static int fill(ttm_chunker *c, ttm_chunk *chunk, size_t target, ttm_error *err) {
  if (make_room(chunk, target)) return ttm_error_nomem(err);
  while (chunk->n < target) {
    size_t got;
    int rc = ttm_source_read(c->source, chunk->data + chunk->n, target - chunk->n, &got, err);
    if (rc) return rc;
    if (got == 0) return c->ended = true, TTM_OK;
    chunk->n += got;
  }
  return TTM_OK;
}

int ttm_chunker_next(ttm_chunker *c, ttm_chunk *chunk, ttm_error *err) {
  size_t searched = 0; /* the first bytes of an input may be carried too, so there may be line ends */
  chunk->n = 0;
  if (make_room(chunk, c->carry.n)) return ttm_error_nomem(err);
  if (c->carry.n) memcpy(chunk->data, c->carry.at, c->carry.n);
  chunk->n = c->carry.n;
  ttm_buf_clear(&c->carry);

  const char *line_end = NULL;
  while (!c->ended && !line_end && chunk->n < TTM_LONGEST_LINE) {
    int rc = fill(c, chunk, chunk->n * 2 > TTM_CHUNK_BYTES ? chunk->n + chunk->n / 2 : TTM_CHUNK_BYTES, err);
    if (rc) return rc;
    if (chunk->n > searched) line_end = memrchr(chunk->data + searched, '\n', chunk->n - searched);
    searched = chunk->n;
  }
  chunk->last = c->ended;
  chunk->cut_line = chunk->n && chunk->data[chunk->n - 1] != '\n';
  if (!c->ended && line_end) {
    size_t whole = (size_t)(line_end + 1 - chunk->data);
    ttm_buf_put(&c->carry, (ttm_view){chunk->data + whole, chunk->n - whole});
    if (c->carry.failed) return ttm_error_nomem(err);
    chunk->n = whole;
    chunk->cut_line = false;
  }
  return TTM_OK;
}

void ttm_chunker_free(ttm_chunker *c) { ttm_buf_free(&c->carry); }

void ttm_chunk_free(ttm_chunk *chunk) {
  ttm_free(chunk->data);
  *chunk = (ttm_chunk){0};
}
