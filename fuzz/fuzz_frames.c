/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a .zst file: what its frames hold, each decompressed apart, is what the stream holds, and a frame ends where the decoder says. */
#define _GNU_SOURCE /* memfd_create */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/chunks.h"
#include "fuzz.h"

enum { MOST = 4 << 20 };

static void read_on(ttm_source *source, ttm_buf *out) {
  ttm_error err;
  size_t got = 1;
  while (got && out->n < MOST) {
    check(ttm_buf_room(out, 10000) && !ttm_source_read(source, out->at + out->n, 10000, &got, &err));
    out->n += got;
  }
}

/* True when they end with damage. */
static bool read_frames(ttm_source *source, ttm_buf *out) {
  ttm_error err;
  ttm_frames frames = {0};
  ttm_chunk chunk = {0};
  const char *damage = NULL;
  do {
    check(!ttm_source_take_frames(source, &frames, &err));
    if (!frames.stored.n) break;
    check(!ttm_chunk_unpack(&chunk, &frames, &damage, &err) && chunk.n <= frames.text);
    ttm_buf_put(out, (ttm_str){chunk.data, chunk.n});
  } while (!damage && out->n < MOST);
  ttm_frames_free(&frames);
  ttm_chunk_free(&chunk);
  return damage;
}

static void check_measure(const uint8_t *data, size_t size) {
  ttm_frame frame;
  if (ttm_frame_measure((ttm_str){(const char *)data, size}, MOST, &frame) != TTM_FRAME_WHOLE) return;
  check(frame.stored <= size && frame.text <= MOST && ZSTD_findFrameCompressedSize(data, size) == frame.stored);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char path[40];
  ttm_error err;
  ttm_source *stream, *divided;
  ttm_buf wanted = {0}, got = {0};
  bool split;
  check_measure(data, size);
  int fd = memfd_create("zst", MFD_CLOEXEC);
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
  check(!ttm_source_open(&stream, path, &err));
  check(!ttm_source_open(&divided, path, &err));
  read_on(stream, &wanted);
  check(!ttm_source_split(divided, MOST / 4, &split, &err));
  bool damaged = split && read_frames(divided, &got);
  if (!damaged) read_on(divided, &got);
  damaged = damaged || ttm_source_damage(divided);
  size_t n = wanted.n < got.n ? wanted.n : got.n;
  check(!n || !memcmp(wanted.at, got.at, n));
  check(n >= MOST || ttm_source_damage(stream) || (!damaged && wanted.n == got.n));
  ttm_source_close(stream);
  ttm_source_close(divided);
  ttm_buf_free(&wanted);
  ttm_buf_free(&got);
  close(fd);
  return 0;
}
