/* SPDX-License-Identifier: Apache-2.0 */
#include "base/chunks.h"

#include <string.h>

#include "base/error.h"

static int make_room(ttm_chunk *chunk, size_t cap) {
  return cap <= chunk->cap ? TTM_OK : ttm_vec_grow_((void **)&chunk->room, &chunk->cap, cap, 1);
}

/* Appends to the chunk until it holds `target` bytes or the source ends. */
static int fill(ttm_chunker *c, ttm_chunk *chunk, size_t target, ttm_error *err) {
  if (make_room(chunk, target)) return ttm_error_nomem(err);
  while (chunk->n < target) {
    size_t got;
    int rc = ttm_source_read(c->source, chunk->room + chunk->n, target - chunk->n, &got, err);
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
  if (c->carry.n) memcpy(chunk->room, c->carry.at, c->carry.n);
  chunk->n = c->carry.n;
  ttm_buf_clear(&c->carry);

  size_t line_end = TTM_NOT_FOUND;
  while (!c->ended && line_end == TTM_NOT_FOUND && chunk->n < TTM_LONGEST_LINE) {
    int rc = fill(c, chunk, chunk->n * 2 > TTM_CHUNK_BYTES ? chunk->n + chunk->n / 2 : TTM_CHUNK_BYTES, err);
    if (rc) return rc;
    line_end = ttm_str_find_last((ttm_str){chunk->room + searched, chunk->n - searched}, '\n');
    if (line_end != TTM_NOT_FOUND) line_end += searched;
    searched = chunk->n;
  }
  chunk->data = chunk->room;
  chunk->last = c->ended;
  chunk->cut_line = chunk->n && chunk->data[chunk->n - 1] != '\n';
  if (!c->ended && line_end != TTM_NOT_FOUND) {
    size_t whole = line_end + 1;
    ttm_buf_put(&c->carry, (ttm_str){chunk->data + whole, chunk->n - whole});
    if (c->carry.failed) return ttm_error_nomem(err);
    chunk->n = whole;
    chunk->cut_line = false;
  }
  return TTM_OK;
}

/* ---- Pieces of a seekable source ------------------------------------------------------------------------------------- */

/* Room behind a piece for the rest of its last line; longer ones cost another read. */
enum { TAIL_BYTES = 4096 };

/* Reads on from `offset` until the chunk's room holds `target` bytes or the source ends. */
static int fill_at(ttm_chunk *chunk, const ttm_source *source, uint64_t offset, size_t target, ttm_error *err) {
  if (make_room(chunk, target)) return ttm_error_nomem(err);
  while (chunk->n < target) {
    size_t got;
    int rc = ttm_source_read_at(source, offset + chunk->n, chunk->room + chunk->n, target - chunk->n, &got, err);
    if (rc) return rc;
    if (got == 0) return chunk->last = true, TTM_OK;
    chunk->n += got;
  }
  return TTM_OK;
}

/* A line over the limit: looks for its end, so that the lines after it keep their numbers. `at` is where the room ends. */
static int skip_long_line(ttm_chunk *chunk, const ttm_source *source, uint64_t at, ttm_error *err) {
  char skipped[TAIL_BYTES];
  size_t got = 0;
  do {
    int rc = ttm_source_read_at(source, at, skipped, sizeof skipped, &got, err);
    if (rc) return rc;
    at += got;
  } while (got && !memchr(skipped, '\n', got));
  if (got)
    chunk->room[chunk->n - 1] = '\n';
  else
    chunk->last = true;
  return TTM_OK;
}

int ttm_chunk_read(ttm_chunk *chunk, const ttm_source *source, uint64_t index, ttm_error *err) {
  /* One byte early: when it is a line end, the piece starts with a line. */
  size_t early = index > 0;
  uint64_t offset = index * TTM_CHUNK_BYTES - early;
  size_t own = TTM_CHUNK_BYTES + early; /* lines that start in here are ours */
  chunk->n = 0;
  chunk->last = chunk->cut_line = false;
  int rc = fill_at(chunk, source, offset, own + TAIL_BYTES, err);
  if (rc) return rc;

  size_t start = 0;
  if (early) {
    const char *before = chunk->n ? memchr(chunk->room, '\n', chunk->n < own ? chunk->n : own) : NULL;
    start = before ? (size_t)(before + 1 - chunk->room) : own;
  }
  chunk->data = chunk->room;
  if (start >= own || start >= chunk->n) { /* inside one long line, or past the end */
    chunk->last = chunk->last && chunk->n < own;
    chunk->n = 0;
    return TTM_OK;
  }
  size_t end = own - 1; /* a line end from here on ends our last line */
  const char *line_end = NULL;
  for (;;) {
    if (chunk->n > end) line_end = memchr(chunk->room + end, '\n', chunk->n - end);
    if (line_end || chunk->last) break;
    end = chunk->n;
    if (chunk->n >= TTM_LONGEST_LINE) {
      if ((rc = skip_long_line(chunk, source, offset + chunk->n, err))) return rc;
      break;
    }
    if ((rc = fill_at(chunk, source, offset, chunk->n * 2, err))) return rc;
  }
  if (line_end) {
    chunk->n = (size_t)(line_end + 1 - chunk->room);
    chunk->last = false; /* the next piece tells */
  }
  chunk->data = chunk->room + start;
  chunk->n -= start;
  chunk->cut_line = chunk->data[chunk->n - 1] != '\n';
  return TTM_OK;
}

/* ---- Both ------------------------------------------------------------------------------------------------------------ */

int ttm_chunk_unpack(ttm_chunk *chunk, ttm_frames *frames, const char **damage, ttm_error *err) {
  if (make_room(chunk, frames->text + 1) || ttm_frames_unpack(frames, chunk->room, &chunk->n, damage))
    return ttm_error_nomem(err);
  chunk->data = chunk->room;
  chunk->last = *damage;
  return TTM_OK;
}

void ttm_chunker_free(ttm_chunker *c) { ttm_buf_free(&c->carry); }

void ttm_chunk_free(ttm_chunk *chunk) {
  ttm_free(chunk->room);
  *chunk = (ttm_chunk){0};
}

/* ---- Line by line ------------------------------------------------------------------------------------------------------ */

static int take_lines(ttm_str text, int (*take)(void *context, ttm_str line), void *context, ttm_error *err) {
  int status = TTM_OK;
  while (text.n && !status) status = take(context, ttm_str_take_to(&text, '\n'));
  return status == TTM_ENOMEM ? ttm_error_nomem(err) : status;
}

int ttm_lines_read(const char *path, int (*take)(void *context, ttm_str line), void *context, ttm_error *err) {
  ttm_chunker chunker = {0};
  ttm_chunk chunk = {0};
  int status = ttm_source_open(&chunker.source, path, err);
  while (!status && !chunk.last) {
    status = ttm_chunker_next(&chunker, &chunk, err);
    if (!status) status = take_lines((ttm_str){chunk.data, chunk.n}, take, context, err);
  }
  if (!status && ttm_source_damage(chunker.source))
    status = ttm_error_set(err, TTM_EFORMAT, "%s: %s.", path, ttm_source_damage(chunker.source));
  ttm_chunk_free(&chunk);
  ttm_chunker_free(&chunker);
  ttm_source_close(chunker.source);
  return status;
}
