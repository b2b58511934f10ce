/* SPDX-License-Identifier: Apache-2.0 */
#include "base/frames.h"

#include <string.h>
#include <zstd_errors.h>

/* ---- Decoding --------------------------------------------------------------------------------------------------------- */

/* Frames of a zstd before 0.8 are not for us: their decoders, which libzstd may have, claim text that they did not write. It knows them by the
 * first four bytes that it is given at once, so nobody gets four before the head of a frame is known to be one. */
static size_t most_fed(const ttm_zstd *zstd) {
  enum { SHORTEST_HEAD = 5, UNKNOWN_TO_OLD = 3 };
  if (zstd->full) return 0;
  if (zstd->head >= SHORTEST_HEAD) return zstd->wanted;
  return SHORTEST_HEAD - zstd->head < UNKNOWN_TO_OLD ? SHORTEST_HEAD - zstd->head : UNKNOWN_TO_OLD;
}

size_t ttm_zstd_step(ttm_zstd *zstd, ZSTD_inBuffer *in, ZSTD_outBuffer *out) {
  size_t fed = most_fed(zstd);
  ZSTD_inBuffer part = {in->src, in->size - in->pos > fed ? in->pos + fed : in->size, in->pos};
  size_t rc = ZSTD_decompressStream(zstd->decoder, out, &part);
  zstd->head = rc ? zstd->head + (part.pos - in->pos) : 0;
  in->pos = part.pos;
  zstd->full = out->pos == out->size;
  zstd->wanted = rc;
  return rc;
}

const char *ttm_zstd_damage(size_t error) {
  return ZSTD_getErrorCode(error) == ZSTD_error_frameParameter_windowTooLarge
             ? "its zstd window is larger than 128 MB; pack it again with zstd --long=27 at most"
             : "the zstd data is damaged";
}

int ttm_frames_unpack(ttm_frames *f, char *room, size_t *n, const char **damage) {
  if (!f->zstd.decoder && !(f->zstd.decoder = ZSTD_createDCtx())) return TTM_ENOMEM;
  *n = ZSTD_decompressDCtx(f->zstd.decoder, room, f->text, f->stored.at, f->stored.n);
  if (!ZSTD_isError(*n)) return TTM_OK;
  /* Again, step by step: what stands before the damage counts. */
  ZSTD_inBuffer in = {f->stored.at, f->stored.n, 0};
  ZSTD_outBuffer out = {room, f->text, 0};
  size_t rc, before;
  ZSTD_DCtx_reset(f->zstd.decoder, ZSTD_reset_session_only);
  f->zstd.wanted = f->zstd.head = f->zstd.full = 0;
  do {
    before = in.pos + out.pos;
    rc = ttm_zstd_step(&f->zstd, &in, &out);
  } while (!ZSTD_isError(rc) && in.pos + out.pos > before);
  if (ZSTD_getErrorCode(rc) == ZSTD_error_memory_allocation) return TTM_ENOMEM;
  *n = out.pos;
  *damage = ttm_zstd_damage(rc);
  return TTM_OK;
}

void ttm_frames_free(ttm_frames *f) {
  ZSTD_freeDCtx(f->zstd.decoder);
  ttm_buf_free(&f->stored);
}

/* ---- Measuring (RFC 8878) --------------------------------------------------------------------------------------------- */

enum { HEAD = 5, BLOCK_HEAD = 3, LARGEST_BLOCK = 128 * 1024, LARGEST_WINDOW_LOG = 27 };

/* A number of `n` bytes, the lowest first. */
static uint64_t number(const char *p, size_t n) {
  uint64_t value = 0;
  while (n) value = value << 8 | (unsigned char)p[--n];
  return value;
}

static ttm_frame_state state_of(size_t n, size_t most, const ttm_frame *f) {
  if (f->stored > most || f->text > most) return TTM_FRAME_OTHER;
  return f->stored > n ? TTM_FRAME_PART : TTM_FRAME_WHOLE;
}

/* Adds the blocks and the checksum behind the head. */
static ttm_frame_state add_blocks(ttm_str bytes, size_t most, bool sized, bool checked, ttm_frame *f) {
  ttm_frame_state state;
  uint64_t head;
  do {
    f->stored += BLOCK_HEAD;
    if ((state = state_of(bytes.n, most, f))) return state;
    head = number(bytes.p + f->stored - BLOCK_HEAD, BLOCK_HEAD);
    unsigned kind = head >> 1 & 3; /* raw, one byte repeated, compressed, reserved */
    if (kind == 3 || head >> 3 > LARGEST_BLOCK) return TTM_FRAME_OTHER;
    f->stored += kind == 1 ? 1 : head >> 3;
    if (!sized) f->text += kind == 2 ? LARGEST_BLOCK : head >> 3;
  } while (!(head & 1));
  f->stored += checked ? 4 : 0;
  return state_of(bytes.n, most, f);
}

ttm_frame_state ttm_frame_measure(ttm_str bytes, size_t most, ttm_frame *f) {
  *f = (ttm_frame){.stored = HEAD + 3};
  if (f->stored > bytes.n) return TTM_FRAME_PART; /* no frame is shorter */
  uint64_t magic = number(bytes.p, 4);
  if (magic >> 4 == 0x184d2a5) { /* to be skipped */
    uint64_t skipped = number(bytes.p + 4, 4);
    f->stored += skipped > most ? most : skipped;
    return state_of(bytes.n, most, f);
  }
  if (magic != 0xfd2fb528) return TTM_FRAME_OTHER;
  unsigned flags = (unsigned char)bytes.p[4];
  bool single = flags & 0x20, reserved = flags & 0x08;
  size_t size_bytes = (size_t)1 << (flags >> 6);
  bool sized = size_bytes > 1 || single;
  if ((flags & 3) || reserved) return TTM_FRAME_OTHER; /* a dictionary is needed */
  if (!single && (unsigned char)bytes.p[HEAD] >> 3 > LARGEST_WINDOW_LOG - 10) return TTM_FRAME_OTHER;
  f->stored = HEAD + !single + (sized ? size_bytes : 0);
  if (f->stored > bytes.n) return TTM_FRAME_PART;
  if (sized) {
    uint64_t text = number(bytes.p + f->stored - size_bytes, size_bytes) + (size_bytes == 2 ? 256 : 0);
    if (text > most) return TTM_FRAME_OTHER;
    f->text = (size_t)text;
  }
  return add_blocks(bytes, most, sized, flags & 4, f);
}
