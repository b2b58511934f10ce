/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes from anywhere: a file, standard input, gzip or zstd (told by content, not by name). Read once, forward only. */
#ifndef TTM_BASE_SOURCE_H
#define TTM_BASE_SOURCE_H

#include <stdint.h>

#include "base/frames.h"
#include "ttmem/error.h"

typedef struct ttm_source ttm_source;

/* `path` "-" is standard input. 0, or TTM_EIO / TTM_ENOMEM with a message that names the file. */
int ttm_source_open(ttm_source **out, const char *path, ttm_error *err);
void ttm_source_close(ttm_source *source);

/* Up to `cap` decompressed bytes; *got 0 means the end. A compressed stream that is cut or damaged ends there: see
 * ttm_source_damage. */
int ttm_source_read(ttm_source *source, char *buf, size_t cap, size_t *got, ttm_error *err);

/* Appends a whole small file; what is longer than `most` is cut a little behind it. TTM_EFORMAT when it is packed and damaged. */
int ttm_source_read_small(ttm_buf *out, const char *path, size_t most, ttm_error *err);

/* A plain file can also be read at any place, by several threads at once; that does not move ttm_source_read's place. */
bool ttm_source_is_seekable(const ttm_source *source);
/* Up to `cap` bytes from `offset` on; *got 0 means the end. */
int ttm_source_read_at(const ttm_source *source, uint64_t offset, char *buf, size_t cap, size_t *got, ttm_error *err);

/* Whether the source is zstd of several frames that can be decompressed apart, each of at most `most` bytes. The source then stands at
 * its start again, whatever was read of it. */
int ttm_source_split(ttm_source *source, size_t most, bool *split, ttm_error *err);
/* After ttm_source_split, instead of ttm_source_read: the next frames. None when the next one is none of these or the source ends: only
 * ttm_source_read goes on from there. */
int ttm_source_take_frames(ttm_source *source, ttm_frames *out, ttm_error *err);

/* The descriptor of a plain or compressed file, whose place is the source's; -1 for standard input. */
int ttm_source_file(const ttm_source *source);

/* Bytes taken from the input so far, and its whole size (0 when unknown), both as stored. */
uint64_t ttm_source_position(const ttm_source *source);
uint64_t ttm_source_size(const ttm_source *source);

/* NULL, or why a compressed stream ended early. */
const char *ttm_source_damage(const ttm_source *source);
/* Says so of frames that were taken; NULL says nothing. */
void ttm_source_set_damage(ttm_source *source, const char *damage);

#endif
