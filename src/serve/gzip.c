/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "serve/gzip.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <unistd.h>
#include <zlib.h>

#include "base/alloc.h"

enum {
  LEVEL = 3,            /* reports shrink to a tenth; more effort would only keep the reader waiting */
  GZIP_WINDOW = 15 + 16 /* zlib's way of asking for a gzip header */
};

struct ttm_gzip {
  int fd;
  bool read_all, ended;
  z_stream z;
  unsigned char input[32 * 1024];
};

static void *take(void *opaque, unsigned n, unsigned size) {
  (void)opaque;
  return ttm_alloc((size_t)n * size);
}

static void give_back(void *opaque, void *p) {
  (void)opaque;
  ttm_free(p);
}

ttm_gzip *ttm_gzip_open(int fd) {
  ttm_gzip *gzip = ttm_alloc(sizeof *gzip);
  if (gzip) {
    gzip->fd = fd;
    gzip->z.zalloc = take;
    gzip->z.zfree = give_back;
    if (deflateInit2(&gzip->z, LEVEL, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) == Z_OK) return gzip;
  }
  ttm_free(gzip);
  close(fd);
  return NULL;
}

static bool refill(ttm_gzip *gzip) {
  ssize_t got;
  do got = read(gzip->fd, gzip->input, sizeof gzip->input);
  while (got < 0 && errno == EINTR);
  if (got < 0) return false;
  gzip->z.next_in = gzip->input;
  gzip->z.avail_in = (unsigned)got;
  gzip->read_all = got == 0;
  return true;
}

ssize_t ttm_gzip_read(ttm_gzip *gzip, char *out, size_t room) {
  if (room > INT_MAX) room = INT_MAX;
  gzip->z.next_out = (unsigned char *)out;
  gzip->z.avail_out = (unsigned)room;
  while (!gzip->ended && gzip->z.avail_out == room) { /* until there is something to send */
    if (!gzip->z.avail_in && !gzip->read_all && !refill(gzip)) return -1;
    int state = deflate(&gzip->z, gzip->read_all ? Z_FINISH : Z_NO_FLUSH);
    if (state == Z_STREAM_ERROR) return -1;
    gzip->ended = state == Z_STREAM_END;
  }
  return (ssize_t)(room - gzip->z.avail_out);
}

void ttm_gzip_close(ttm_gzip *gzip) {
  if (!gzip) return;
  deflateEnd(&gzip->z);
  close(gzip->fd);
  ttm_free(gzip);
}
