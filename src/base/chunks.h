/* SPDX-License-Identifier: Apache-2.0 */
/* A source cut into pieces of whole lines. A line longer than a piece makes the piece grow, up to a limit. */
#ifndef TTM_BASE_CHUNKS_H
#define TTM_BASE_CHUNKS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/source.h"

/* Small enough to stay in the processor's cache between being read and being scanned. */
enum { TTM_CHUNK_BYTES = 512 * 1024 };
enum { TTM_LONGEST_LINE = 64 * 1024 * 1024 };

/* Zero is empty; reused from piece to piece. */
typedef struct ttm_chunk {
  char *data;
  size_t n, cap;
  bool last;     /* nothing comes after it */
  bool cut_line; /* does not end with a line end: the input's last line, or one over the limit */
} ttm_chunk;

typedef struct ttm_chunker {
  ttm_source *source;
  ttm_buf carry; /* the partial last line of the piece before */
  bool ended;
} ttm_chunker;

/* The next piece (n may be 0 for the last one). After the last one it must not be called again. */
int ttm_chunker_next(ttm_chunker *chunker, ttm_chunk *chunk, ttm_error *err);
void ttm_chunker_free(ttm_chunker *chunker);
void ttm_chunk_free(ttm_chunk *chunk);

#endif
