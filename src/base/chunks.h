/* SPDX-License-Identifier: Apache-2.0 */
/* A source cut into pieces of whole lines. A line longer than a piece makes the piece grow, up to a limit. */
#ifndef TTM_BASE_CHUNKS_H
#define TTM_BASE_CHUNKS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/source.h"

/* Small enough to stay in the processor's cache between being read and being scanned. */
enum { TTM_CHUNK_BYTES = 256 * 1024 };
enum { TTM_LONGEST_LINE = 64 * 1024 * 1024 };

/* Zero is empty; reused from piece to piece. */
typedef struct ttm_chunk {
  const char *data; /* the lines, in `room` */
  size_t n;
  char *room; /* owned */
  size_t cap;
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
/* The lines that start in piece number `index` of a seekable source: pieces can be read in any order and by several threads. A
 * line over the limit is cut there. `last` when the source ended; later pieces then hold nothing, or what was written since. */
int ttm_chunk_read(ttm_chunk *chunk, const ttm_source *source, uint64_t index, ttm_error *err);
/* The text of frames, which may begin and end inside a line; the last one when *damage says why it ends. */
int ttm_chunk_unpack(ttm_chunk *chunk, ttm_frames *frames, const char **damage, ttm_error *err);
/* Every line of a file, without its end, in one thread. A status of `take` ends it; TTM_ENOMEM is then told. TTM_EFORMAT
 * when a packed file is damaged. */
int ttm_lines_read(const char *path, int (*take)(void *context, ttm_str line), void *context, ttm_error *err);
void ttm_chunker_free(ttm_chunker *chunker);
void ttm_chunk_free(ttm_chunk *chunk);

#endif
