/* SPDX-License-Identifier: Apache-2.0 */
/* zstd frames. One says where it ends without being decompressed, so that several can be decompressed at once. */
#ifndef TTM_BASE_FRAMES_H
#define TTM_BASE_FRAMES_H

#include <stdbool.h>
#include <zstd.h>

#include "base/buf.h"
#include "ttmem/error.h"

/* A decoder that is fed one block at a time: a damaged block then takes none of the text before it along. */
typedef struct ttm_zstd {
  ZSTD_DCtx *decoder; /* owned */
  size_t wanted;      /* stored bytes up to the next block; 0 between frames */
  size_t head;        /* stored bytes of the frame so far */
  bool full;          /* the decoder may hold text for which there was no room */
} ttm_zstd;

/* Decompresses from `in` into `out`, as ZSTD_decompressStream does. */
size_t ttm_zstd_step(ttm_zstd *zstd, ZSTD_inBuffer *in, ZSTD_outBuffer *out);
/* What an error of the decoder says about the file. */
const char *ttm_zstd_damage(size_t error);

typedef enum ttm_frame_state {
  TTM_FRAME_WHOLE, /* can be decompressed for itself */
  TTM_FRAME_PART,  /* goes on behind the bytes at hand */
  TTM_FRAME_OTHER  /* too large, or no frame: only the decoder can tell */
} ttm_frame_state;

typedef struct ttm_frame {
  size_t stored; /* bytes of the file */
  size_t text;   /* at most so many bytes decompressed */
} ttm_frame;

/* Looks at the frame that begins with these bytes, by the heads of its blocks. It may have `most` bytes of text, and as many stored. */
ttm_frame_state ttm_frame_measure(ttm_str bytes, size_t most, ttm_frame *out);

/* Some whole frames, one behind the other. Zero is none; reused. */
typedef struct ttm_frames {
  ttm_buf stored;
  size_t text; /* at most */
  ttm_zstd zstd;
} ttm_frames;

/* Decompresses them into `room` of `text` bytes. *damage when they are damaged: the text then ends there. 0 or TTM_ENOMEM. */
int ttm_frames_unpack(ttm_frames *frames, char *room, size_t *n, const char **damage);
void ttm_frames_free(ttm_frames *frames);

#endif
